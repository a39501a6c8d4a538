"""Card faces: the marker reads back, the picture is the card's, SVG is well formed."""

import xml.etree.ElementTree as ET
from dataclasses import replace

import cv2
import numpy as np
import pytest

from cards.deck import builtin_deck
from cards.drawing import CARD_MM, card_png, card_svg, target_png, target_svg
from cards.elevation import elevation, hidden_arch
from cards.pieces import Pose, builtin_piece_set
from cards.scene import bounds

PIECES = builtin_piece_set()
DECK = builtin_deck()


def read_ids(image):
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    _, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
    return [] if ids is None else ids.ravel().tolist()


@pytest.mark.parametrize("n", range(0, 80, 7))
def test_the_marker_on_the_face_is_the_cards(n):
    card = DECK.cards[n]
    face = card_png(card, DECK, PIECES, 220)
    assert read_ids(face) == [50 + n]
    assert face.shape == (round(220 * CARD_MM[1] / CARD_MM[0]), 220, 3) and face.dtype == np.uint8


def test_pieces_wear_the_sets_colours():
    card = next(c for c in DECK.cards if c.kind == "layout")
    picture = target_png(card, PIECES).reshape(-1, 3)
    for piece in card.pieces:
        near = np.abs(picture.astype(int) - PIECES.rgb(piece.color)[::-1]).max(1) < 40
        assert near.sum() > 50, f"{piece.color} is not in the picture"


@pytest.mark.parametrize("card", DECK.cards[::9], ids=lambda c: c.id)
def test_svg_is_well_formed_and_in_millimetres(card):
    root = ET.fromstring(card_svg(card, DECK, PIECES))
    assert root.get("width") == "88mm" and root.get("height") == "120mm"
    assert ET.fromstring(target_svg(card, PIECES)).get("viewBox").startswith("0 0 ")


@pytest.mark.parametrize(
    ("shape", "pose", "size"),
    [
        ("rectangle", Pose(90), (25, 75)),
        ("rectangle", Pose(0, "side"), (30, 25)),
        ("cylinder", Pose(90, "side"), (30, 30)),  # points at the player: a disc
        ("cylinder", Pose(90), (45, 30)),
        ("triangle", Pose(180), (40, 35)),
    ],
)
def test_elevation_has_the_size_the_player_sees(shape, pose, size):
    outline = elevation(PIECES.shapes[shape], pose)
    assert np.ptp(outline, axis=0) == pytest.approx(size, abs=0.1)


@pytest.mark.parametrize(
    ("shape", "pose", "width", "height"),
    [
        ("bridge", Pose(0, "top"), 30, 15),  # as wide as it is
        ("crescent", Pose(0, "top"), 20, 12),  # the face that shows is 30 high, the piece 25
        ("bridge", Pose(0, "side"), 15, 15),  # half as wide: the face that shows is
    ],
)
def test_a_hidden_arch_is_dashed_within_the_face_that_shows(shape, pose, width, height):
    (dashes,) = hidden_arch(PIECES.shapes[shape], pose, (238, 125, 26))
    x0, y0, x1, y1 = bounds([dashes])
    assert (x1 - x0, y1 - y0) == pytest.approx((width, height), abs=0.6) and x0 == pytest.approx(-x1)
    assert y0 == pytest.approx(-PIECES.shapes[shape].size(pose)[2] / 2)
    assert all(len(dash) == 2 for dash in dashes.contours) and len(dashes.contours) >= 4
    assert (
        hidden_arch(PIECES.shapes[shape], Pose(0), (0, 0, 0))
        == hidden_arch(PIECES.shapes["cube"], pose, (0, 0, 0))
        == ()
    )


def test_the_id_stands_in_the_lower_left_corner_for_whoever_names_the_card():
    card = DECK.card("L17")
    foot = card_png(card, DECK, PIECES, 880)[-60:, :300].min(2)
    other = card_png(DECK.card("L27"), DECK, PIECES, 880)[-60:, :300].min(2)
    ink = np.nonzero(foot < 200)
    assert 40 <= ink[1].min() <= 60 and ink[1].max() < 200 and np.ptp(ink[0]) > 20
    assert (foot != other).any()


def test_an_id_with_signs_the_font_lacks_is_still_drawn():
    card = replace(DECK.card("H03"), id="größe-π" * 6)
    deck = replace(DECK, cards=(card,))
    assert card_png(card, deck, PIECES, 220).shape == (300, 220, 3)
