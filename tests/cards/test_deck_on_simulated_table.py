"""The deck seen by the camera: every card's own build is judged right, and fits no other layout.

Vision reads each picture once, for the card it shows; what it read is then held against all other
layouts by the rules alone, which gives the whole 80 x 80 table without 6400 readings.
"""

import cv2
import numpy as np
import pytest
from posed_table import PosedTable

from cards.build import Build
from cards.deck import builtin_deck
from cards.drawing import card_png
from cards.kinds.layout import LayoutCard
from cards.pieces import builtin_piece_set
from referee.session.card_reader import read_card_markers
from referee.simulator.table import SEATINGS
from referee.vision.observer import Observer

PIECES, DECK = builtin_piece_set(), builtin_deck()
LAYOUTS = [card for card in DECK.cards if isinstance(card, LayoutCard)]
LEAST_MATCHES = 68
"""Of 80, on this one rig. The rest are builds of which a piece is hidden behind another or that reach out
of the picture, for which one camera gives no ruling; that share is vision's to lower."""


@pytest.fixture(scope="module")
def table():
    return PosedTable(PIECES, 3, seating="beside")


def readings(table):
    """(card, verdict) for each card of the deck, two to a picture."""
    observer = Observer(PIECES)
    observer.learn_empty(table.empty())
    for k in range(0, len(DECK.cards), 2):
        pair = dict(zip("AB", DECK.cards[k : k + 2], strict=True))
        picture = table.picture({zone: card.example(PIECES) for zone, card in pair.items()}, number=k)
        for zone, card in pair.items():
            yield card, observer.judge([picture], card, zones=[zone]).zones[zone]


@pytest.mark.slow
def test_every_card_is_told_from_all_others_on_the_simulated_table(table, capsys):
    read = list(readings(table))
    rulings = {card.id: verdict.ruling for card, verdict in read}
    seen = {card.id: Build(PIECES, verdict.build.pieces) for card, verdict in read if verdict.ruling == "match"}
    confused = [
        (b, card.id) for b, build in seen.items() for card in LAYOUTS if card.id != b and not card.faults(build)
    ]
    undecided = sorted(i for i, r in rulings.items() if r == "undecided")
    with capsys.disabled():
        print(
            f"\n80 builds on the simulated table: {len(seen)} match, undecided {undecided}, wrong "
            f"{sorted(i for i, r in rulings.items() if r == 'mismatch')}; {len(confused)} confusions"
        )
    assert len(confused) <= 1
    assert len([card.id for card in LAYOUTS if rulings[card.id] == "mismatch"]) <= 1  # vision's own bar is 1 in 100
    assert len(seen) >= LEAST_MATCHES


@pytest.mark.slow
@pytest.mark.parametrize("seating", sorted(SEATINGS))
def test_the_card_in_the_holder_is_read_on_the_simulated_table(seating):
    table = PosedTable(PIECES, 5, seating=seating)
    for card in DECK.cards[::13]:
        picture = table.picture(card=card_png(card, DECK, PIECES, 440))
        assert read_card_markers(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY), DECK).card == card.id


def in_holder(card, distance_mm, turn_deg, tilt_deg):
    """A card's face as a 720p webcam of 70 degrees sees it, behind plastic with a bright reflection."""
    face = card_png(card, DECK, PIECES, 704)
    focal = 640 / np.tan(np.radians(35))
    corners = np.array([(-44, -60, 0), (44, -60, 0), (44, 60, 0), (-44, 60, 0)], float)
    turn = cv2.Rodrigues(np.radians([tilt_deg, turn_deg, 4.0]))[0]
    seen = corners @ turn.T + (20, 15, distance_mm)
    image = (seen[:, :2] / seen[:, 2:] * focal + (640, 360)).astype(np.float32)
    size = face.shape[1], face.shape[0]
    square = np.array([(0, 0), (size[0], 0), size, (0, size[1])], np.float32)
    room = np.full((720, 1280, 3), 96, np.uint8)
    cv2.warpPerspective(
        face, cv2.getPerspectiveTransform(square, image), (1280, 720), room, cv2.INTER_AREA, cv2.BORDER_TRANSPARENT
    )
    return behind_plastic(room, image.mean(0))


def behind_plastic(picture, middle):
    """Contrast lost to haze, a bright band across the face, blur and noise of a webcam."""
    ys, xs = np.mgrid[:720, :1280]
    band = np.exp(-((((xs - middle[0]) + 0.6 * (ys - middle[1]) - 25) / 22.0) ** 2))
    hazy = picture * 0.72 + 38 + 90 * band[..., None]
    noisy = cv2.GaussianBlur(hazy, (0, 0), 0.7) + np.random.default_rng(1).normal(0, 3, picture.shape)
    return cv2.cvtColor(noisy.clip(0, 255).astype(np.uint8), cv2.COLOR_BGR2GRAY)


@pytest.mark.parametrize("distance_mm", [600, 800])
@pytest.mark.parametrize("turn_deg", [-25, 0, 25])
def test_a_card_is_read_from_either_face_behind_plastic(distance_mm, turn_deg):
    # both faces are alike, so the other side is the same picture turned the other way; other cards for each place
    for card in DECK.cards[(distance_mm // 100 + turn_deg // 5) % 27 :: 27]:
        assert read_card_markers(in_holder(card, distance_mm, turn_deg, -25), DECK).card == card.id
