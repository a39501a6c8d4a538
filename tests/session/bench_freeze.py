"""The table of issue 15: cheats after the Stop and clean duels, staged before the real eyes; prints who gets the card.

    python tests/session/bench_freeze.py [cards] [seeds] [first seed]

Each cheat on both sides of the table (A and B call), late by 0.15, 0.3 and 0.6 s in turn; seeds take the seatings in
turn. An award is wrong when a build that was not right at the press is awarded to its builder, or a build that was
knocked over to who did it.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from staged import DECK, PLAYERS, Stage, finishing_late, hand_in_the_way, knocked_over, play, rig, untouched

CARDS = ("L09", "L01", "L05", "L14", "L20", "L27", "L33", "L38", "L43", "L48")
SEATINGS = ("across", "beside", "facing")
DELAYS_S = (0.15, 0.3, 0.6)

CHEATS = {
    "finished late": lambda stage, late: finishing_late(stage, late),
    "knocked over": lambda stage, late: knocked_over(stage, late),
    "knocked over from in front": lambda stage, late: knocked_over(stage, late, front=True),
    "own hand knocks it over": lambda stage, late: knocked_over(stage, late, own=True),
    "own hand beside, finished late": lambda stage, late: hand_in_the_way(stage, late, False, "finishes"),
    "own hand before, finished late": lambda stage, late: hand_in_the_way(stage, late, True, "finishes"),
}
CLEAN = {
    "clean, right": lambda stage, late: untouched(stage, stage.full),
    "clean, wrong": lambda stage, late: untouched(stage, stage.full_without_last()),
}


def to_whom(name: str, stage: Stage, award: str | None) -> str:
    """The cell of the table that the result of one duel counts in."""
    if award is None:
        return "human"
    return "caller" if award == PLAYERS[stage.caller] else "other"


WRONG = {
    "finished late": "caller",
    "knocked over": "other",
    "knocked over from in front": "other",
    "own hand knocks it over": "caller",
    "own hand beside, finished late": "caller",
    "own hand before, finished late": "caller",
    "clean, right": "other",
    "clean, wrong": "caller",
}
"""Who must never get the card."""


def main(cards: int = 10, seeds: int = 3, first: int = 3) -> int:
    """Print the table; gives the number of wrong awards."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in (*CHEATS, *CLEAN)}
    for seed in range(first, first + seeds):
        at = rig(seed, SEATINGS[seed % 3])
        for n, card in enumerate(CARDS[:cards]):
            for caller in "AB":
                stage = Stage(at, DECK.card(card), caller)
                names = list(CHEATS) + (list(CLEAN)[(n + seed) % 2 :][:1])
                for name in names:
                    late = DELAYS_S[(n + seed) % 3]
                    state = play(stage, (CHEATS | CLEAN)[name](stage, late))
                    whom = to_whom(name, stage, state.award[0])
                    counts[name][whom] += 1
                    counts[name]["wrong"] += whom == WRONG[name]
                    found = [f for names in state.duel.findings.values() for f in names]
                    print(seed, at.table.seed, card, caller, name, late, state.phase, whom, found, flush=True)
    print(f"{'staging':32}{'duels':>6}{'caller':>8}{'other':>7}{'human':>7}{'wrong':>7}")
    for name, row in counts.items():
        n = row["caller"] + row["other"] + row["human"]
        print(f"{name:32}{n:6}{row['caller']:8}{row['other']:7}{row['human']:7}{row['wrong']:7}")
    return sum(row["wrong"] for row in counts.values())


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
