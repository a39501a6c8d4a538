"""Printed cards are read by their markers: from the real sheets, laid out on a table and seen from the side."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import cv2
import numpy as np
import pypdfium2
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from playing import faces, kinds_of

from calibration.game_sheets import CARD_MM, COLUMNS, ROWS, faces_pdf
from referee.games.catalogue import GAMES
from referee.vision.image.game_cards import open_cards

PX_PER_MM = 6.0
TABLE_MM = (420.0, 300.0)
SIZE = (1280, 720)


def printed(game: str, chosen: list[int]) -> list[np.ndarray]:
    """These cards of the deck, cut from the printed page, (h, w) grey."""
    deck = faces(game)
    page = pypdfium2.PdfDocument(faces_pdf("deck", [deck[k] for k in chosen]))[0]
    grey = page.render(scale=PX_PER_MM * 25.4 / 72, grayscale=True).to_numpy().squeeze()
    (width, height), (high, wide) = (v * PX_PER_MM for v in CARD_MM), grey.shape
    left, top = (wide - COLUMNS * width) / 2, (high - ROWS * height) / 2
    spots = [divmod(n, COLUMNS) for n in range(len(chosen))]
    return [
        grey[round(top + r * height) : round(top + (r + 1) * height), round(left + c * width) :][:, : round(width)]
        for r, c in spots
    ]


def table(cards: list[np.ndarray], rng: random.Random) -> tuple[np.ndarray, list[np.ndarray]]:
    """A picture of the cards on a dark cloth, turned at will, from the side, noisy; and each card's middle in it."""
    cloth = np.full((round(TABLE_MM[1] * PX_PER_MM), round(TABLE_MM[0] * PX_PER_MM)), 70, np.uint8)
    middles = []
    for k, card in enumerate(cards):
        x, y = (70 + 95 * (k % 4)) * PX_PER_MM, (75 + 130 * (k // 4)) * PX_PER_MM
        turn = cv2.getRotationMatrix2D((card.shape[1] / 2, card.shape[0] / 2), rng.uniform(-25, 25), 1.0)
        turn[:, 2] += (x - card.shape[1] / 2, y - card.shape[0] / 2)
        size = cloth.shape[::-1]
        there = cv2.warpAffine(np.full_like(card, 255), turn, size)
        cloth = np.where(there > 127, cv2.warpAffine(card, turn, size), cloth)
        middles.append((x, y))
    w, h = cloth.shape[::-1]
    seen = np.array([(210, 90), (1070, 60), (1240, 690), (40, 700)], np.float32)
    view = cv2.getPerspectiveTransform(np.array([(0, 0), (w, 0), (w, h), (0, h)], np.float32), seen)
    picture = cv2.warpPerspective(cloth, view, SIZE, flags=cv2.INTER_AREA, borderValue=90)
    noise = np.random.default_rng(rng.randrange(1 << 30)).normal(0, 3, picture.shape)
    noisy = np.clip(cv2.GaussianBlur(picture, (0, 0), 0.7) * 0.85 + noise, 0, 255).astype(np.uint8)
    return noisy, list(cv2.perspectiveTransform(np.array([middles], np.float32), view)[0])


@pytest.mark.parametrize("game", GAMES)
def test_every_open_card_is_read_where_it_lies(game):
    rng = random.Random(game)
    deck, kinds = faces(game), kinds_of(game)
    for _ in range(3):
        chosen = rng.sample(range(len(deck)), 8)
        picture, middles = table(printed(game, chosen), rng)
        found = open_cards(picture, len(kinds))
        left = [(deck[k].marker, middle) for k, middle in zip(chosen, middles, strict=True)]
        assert sorted(card.marker for card in found) == sorted(marker for marker, _ in left)
        for card in found:
            near = min(left, key=lambda row, at=card.middle: np.linalg.norm(row[1] - at))
            assert near[0] == card.marker and np.linalg.norm(near[1] - card.middle) < 12
            left.remove(near)


def test_two_cards_of_one_kind_are_two():
    deck = faces("city_towers")
    twice = [k for k, face in enumerate(deck) if face.marker == 4][:2]
    picture, _ = table(printed("city_towers", twice), random.Random(1))
    assert [card.marker for card in open_cards(picture, 9)] == [4, 4]


def test_a_card_with_a_covered_marker_is_not_made_up_nor_is_one_of_another_deck():
    picture, _ = table(printed("nine_sum_towers", [0, 9, 20]), random.Random(2))
    first = open_cards(picture, len(kinds_of("nine_sum_towers")))
    x, y = (round(v) for v in first[0].middle)
    covered = picture.copy()
    cv2.circle(covered, (x, y + 40), 45, 150, -1)
    assert len(open_cards(covered, len(kinds_of("nine_sum_towers")))) == 2
    assert open_cards(picture, 0) == []
