"""Builds practised at the simulated table: how far the finish that the camera sees is from the truth.

    python tests/session/bench_practice.py [builds] [first]

Rigs and seatings in turn, both mats, every kind of card; players who build straight on, whose hands go away before the
last piece, and who put right what was wrong first. A finish is false when the last piece was not yet in its place.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

from practised import WAYS, practise
from staged import DECK, rig

SEATINGS = ("across", "beside", "facing")
LATE_S = 0.5
"""A finish this far from the truth is off."""


def main(builds: int = 40, first: int = 0) -> int:
    """Print a line a build and the sums; gives how many are false or off."""
    kinds = ("layout", "layout", "height", "shapes", "organ_pipes")
    off: list[float] = []
    counts: Counter[str] = Counter()
    began = time.process_time()
    with TemporaryDirectory() as folder:
        for n in range(first, first + builds):
            cards = [card for card in DECK.cards if card.kind == kinds[n % len(kinds)]]
            card, way = cards[(n * 7) % len(cards)], list(WAYS)[n % len(WAYS)]
            at = rig(3 + n % 3, SEATINGS[n % 3])
            done = practise(at, "AB"[n // 3 % 2], card, way, n, Path(folder))
            said, ended_s = done.seconds, done.ended_s
            if said is None or ended_s is None:
                counts["not finished"] += 1
                print(f"{n:3d} {card.id:4s} {way:9s} truth {done.truth_s:6.2f}  not finished: {last(done.practice)}")
                continue
            off.append(said - done.truth_s)
            counts["false finish"] += ended_s < done.truth_s
            counts["finished"] += 1
            print(f"{n:3d} {card.id:4s} {way:9s} truth {done.truth_s:6.2f}  camera {said:6.2f}  off {off[-1]:+5.2f}")
    wide = sum(abs(x) > LATE_S for x in off)
    print(f"{builds} builds: {dict(counts)}; off by more than {LATE_S} s: {wide}")
    if off:
        print(f"camera minus truth: {min(off):+.2f} to {max(off):+.2f} s, mean {sum(off) / len(off):+.2f} s")
    print(f"{time.process_time() - began:.0f} s of processor")
    return wide + counts["false finish"] + counts["not finished"]


def last(practice) -> str:
    """What the camera said last."""
    views = [row.view for row in practice.fields.values() if row.view]
    return "; ".join(f"{v.ruling} {[r.text for r in v.reasons]}" for v in views) or practice.phase


if __name__ == "__main__":
    sys.exit(1 if main(*map(int, sys.argv[1:])) else 0)
