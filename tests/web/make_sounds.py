"""Writes the sounds of the board: ``python tests/web/make_sounds.py``. Nothing else is in them.

Each is a row of tones (Hz, seconds) with a soft beginning and end, mono, 16 bit, 16 kHz.
"""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np

RATE = 16_000
LOUD = 0.6
SOUNDS = {
    "count": ((660, 0.12),),
    "go": ((1320, 0.45),),
    "stop": ((880, 0.12), (440, 0.3)),
    "right": ((523, 0.12), (659, 0.12), (784, 0.3)),
    "wrong": ((311, 0.2), (233, 0.4)),
    "ask": ((587, 0.18), (587, 0.18)),
    "win": ((523, 0.15), (659, 0.15), (784, 0.15), (1047, 0.5)),
}


def tone(hertz: float, seconds: float) -> np.ndarray:
    """(n,) float in -1 to 1: the tone with two of its overtones, faded in 5 ms and out over its second half."""
    t = np.arange(round(RATE * seconds)) / RATE
    wave_ = sum(np.sin(2 * np.pi * hertz * k * t) / k**2 for k in (1, 2, 3)) / 1.36
    return wave_ * np.minimum(1, t / 0.005) * np.minimum(1, (seconds - t) / (seconds / 2))


def write(name: str, tones: tuple[tuple[float, float], ...], folder: Path) -> None:
    """One file ``<name>.wav``."""
    samples = np.concatenate([tone(hertz, seconds) for hertz, seconds in tones])
    with wave.open(str(folder / f"{name}.wav"), "wb") as file:
        file.setparams((1, 2, RATE, 0, "NONE", ""))
        file.writeframes((LOUD * 32767 * samples).astype("<i2").tobytes())


if __name__ == "__main__":
    place = Path(__file__).parents[2] / "referee" / "web" / "static" / "sounds"
    for sound, tones in SOUNDS.items():
        write(sound, tones, place)
