"""How many staged fouls are proposed, when, and how many clean duels are wrongly accused; prints the table.

python tests/review/bench_fouls.py [rigs] [clean duels a rig] [first seed]
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from staged_fouls import Staged, Table, seen, staged

from referee.match.foul import KINDS
from referee.vision.live.arms import tongs_show

CARDS = ("L01", "L05", "L14", "L20", "L27", "L09", "L33")
SEATINGS = ("across", "beside", "facing")
WITHIN_S = 0.15
HIDDEN = ("bare_hand", "second_hand", "neighbours_hand")
"""What a player's own arm hides from a camera behind that player."""


def main(rigs: int = 3, clean: int = 4, first: int = 11) -> int:
    """Print the table; gives the number of false proposals."""
    count: dict[str, Counter[str]] = {kind: Counter() for kind in (*KINDS, "clean")}
    for seed in range(first, first + rigs):
        seating = SEATINGS[seed % 3]
        table = Table(seed, seating)
        shows = {z: tongs_show(p) for z, p in table.observer.look(table.sim.empty()).poses.items()}
        for n in range(clean):
            card = CARDS[(seed + n) % len(CARDS)]
            found = seen(table, staged(table, Staged(card, seed=n)))
            count["clean"]["duels"] += 1
            count["clean"]["false"] += len(found)
            print(seating, seed, card, "clean", [f.to_json() for f in found], flush=True)
        for k, kind in enumerate(KINDS):
            for zone in "AB":
                card = CARDS[(seed + k) % len(CARDS)]
                shown = staged(table, Staged(card, zone, kind, seed=k))
                found = seen(table, shown)
                hits = [f for f in found if f.kind == kind]
                row = count[kind]
                row["duels"] += 1
                row["from behind"] += kind in HIDDEN and not shows[zone]
                row["proposed"] += bool(hits)
                late = min((abs(f.from_s - shown.foul_s) for f in hits), default=9.0)
                row["in time"] += late <= WITHIN_S
                also = ("bare_hand",) if kind == "second_hand" else ()  # the second hand holds no tongs
                row["false"] += sum(f not in hits[:1] and f.kind not in also for f in found)
                told = [f.to_json() for f in found]
                print(seating, seed, card, kind, zone, round(shown.foul_s, 2), told, flush=True)
    heads = ("duels", "proposed", "from behind", "in time", "false")
    print(f"{'staged':20}" + "".join(f"{h:>16}" for h in heads))
    for kind, row in count.items():
        print(f"{kind:20}" + "".join(f"{row[h]:16}" for h in heads))
    return sum(row["false"] for row in count.values())


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
