"""Clips and clocks for the tests of recorded attempts."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from cards.build import Build, parse_build
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.match.verdict import build_to_json


class HandClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def now_s(self) -> float:
        return self.now

    def boot_id(self) -> str:
        return "one run of the machine"

    def utc(self) -> datetime:
        return datetime.fromtimestamp(1_800_000_000 + self.now, UTC)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def picture(number: int, width: int = 160, height: int = 120) -> np.ndarray:
    """A picture (height, width, 3) that tells its number: eight bars, white where the bit is set."""
    image = np.full((height, width, 3), 60, np.uint8)
    for bit in range(8):
        if number >> bit & 1:
            image[:40, bit * 20 : (bit + 1) * 20] = 230
    image[60:100, (number * 3) % (width - 20) :][:, :20] = (30, 40, 200)
    return image


def number_in(image: np.ndarray) -> int:
    """The number that ``picture`` wrote."""
    return sum(1 << bit for bit in range(8) if image[10:30, bit * 20 + 5 : bit * 20 + 15].mean() > 140)


def shot(number: int, clock: HandClock, fps: float = 25.0) -> Frame:
    """The next frame; the clock goes on by one frame's time."""
    clock.sleep(1 / fps)
    return Frame(picture(number), number, clock.now_s())


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


DECK = {
    "name": "small",
    "cards": [
        {"id": "H02", "kind": "height", "value": 2, "count": 2},
        {"id": "H03", "kind": "height", "value": 3, "count": 3},
    ],
}
TOWER = "blue cube 0 front @ 0.0 0.0 15.0; blue cube 0 front @ 0.0 0.0 45.0"


def make_attempt(folder: Path, number: int = 0, **changes) -> Path:
    """A small attempt folder without video: two cubes on one another, card H02, called by Ann in A."""
    folder.mkdir(parents=True)
    pieces = builtin_piece_set()
    row = {"verdict": "match", "confidence": 0.97, "reasons": []}
    meta = {
        "card": "H02",
        "match_id": "M1",
        "players": {"A": "Ann", "B": "Ben"},
        "zones": ["A"],
        "go": 1.0,
        "stop": {"zone": "A", "seconds": 4.0},
        "cut_short": None,
        "award": "Ann",
        "verdicts": {"A": row | build_to_json(Build(pieces, parse_build(TOWER)))},
    } | changes
    (folder / "attempt.json").write_text(json.dumps(meta))
    (folder / "deck.json").write_text(json.dumps(DECK))
    (folder / "pieces.json").write_text(json.dumps(pieces.to_json()))
    cv2.imwrite(str(folder / "stop.png"), picture(number))
    return folder


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """The functions above, for tests that import by path."""
    return SimpleNamespace(
        picture=picture, number_in=number_in, shot=shot, HandClock=HandClock, DECK=DECK, make_attempt=make_attempt
    )
