"""How many frames a second the live gate keeps up with on one core: labels of the whole frame, motion, hands, mats.

    python tests/vision/bench_gate.py          bar: 60 frames a second of 1280 x 720

Frames of the simulated table, in every seventh a hand; processor seconds, so that a busy machine counts little.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import cv2
import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))

from posed_table import PosedTable

from calibration.palette import nominal_palette
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.devices.ports import Frame
from referee.simulator.table import Hand
from referee.vision.image.color_lut import label_frame, label_table
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer

FRAMES, BAR = 240, 60.0


def main() -> None:
    """Print the rate beside the bar."""
    pieces, card = builtin_piece_set(), builtin_deck().card("L09")
    table = PosedTable(pieces, 3, seating="across")
    builds = {"A": card.pieces, "B": card.pieces}
    built, hand = table.picture(builds), table.picture(builds, hands={"A": Hand((20.0, 0.0, 40.0))})
    gate = Gate(Observer(pieces, empty=table.empty()))
    labels = label_table(nominal_palette(pieces), np.array([0.8, 0.8, 0.8]))
    for number in range(2):
        gate.look(Frame(built, number, number / BAR))
    cv2.setNumThreads(1)
    before = time.process_time()
    for number in range(2, FRAMES):
        seen = built if number % 7 else hand
        label_frame(seen, labels)
        gate.look(Frame(seen, number, number / BAR))
    rate = (FRAMES - 2) / (time.process_time() - before)
    print(f"{rate:.0f} frames/s on one core (bar {BAR:g})")


if __name__ == "__main__":
    main()
