"""Clips and clocks for the tests of recorded attempts."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import numpy as np
import pytest

from referee.ports import Frame


class HandClock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def now_s(self) -> float:
        return self.now

    def utc(self) -> datetime:
        return datetime.fromtimestamp(1_800_000_000 + self.now, UTC)

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def picture(number: int, width: int = 160, height: int = 120) -> np.ndarray:
    """A picture (height, width, 3) that tells its number: eight bars, white where the bit is set."""
    image = np.full((height, width, 3), 60, np.uint8)
    for bit in range(8):
        if number >> bit & 1:
            image[:40, bit * 20:(bit + 1) * 20] = 230
    image[60:100, (number * 3) % (width - 20):][:, :20] = (30, 40, 200)
    return image


def number_in(image: np.ndarray) -> int:
    """The number that ``picture`` wrote."""
    return sum(1 << bit for bit in range(8) if image[10:30, bit * 20 + 5:bit * 20 + 15].mean() > 140)


def shot(number: int, clock: HandClock, fps: float = 25.0) -> Frame:
    """The next frame; the clock goes on by one frame's time."""
    clock.sleep(1 / fps)
    return Frame(picture(number), number, clock.now_s())


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def kit() -> SimpleNamespace:
    """The functions above, for tests that import by path."""
    return SimpleNamespace(picture=picture, number_in=number_in, shot=shot, HandClock=HandClock)
