"""The table of issue 15: cheats after the Stop and clean duels, staged before the real eyes; prints who gets the card.

python tests/session/bench_freeze.py ROWS [--cards N] [--seeds N] [--first SEED] [--clean]

ROWS is a file of one line a duel: what it holds is not played again, so that a run that was ended goes on, and the
table is of all it holds. Each cheat on both sides of the table (A and B call), late by 0.15, 0.3 and 0.6 s in turn;
seeds take the seatings in turn; with ``--clean`` clean duels only. An award is wrong when a build that was not right
at the press is awarded to its builder, or a build that was knocked over to who did it; a clean duel is *held up* when
the two views are the reason why a human has to rule. Exit status 1 when there is any of them.

A right build that is knocked over only after the judged view was right in both views (``referee.match.stop_views``):
what happens to it then decides nothing, and its builder gets the card, no matter whose hand came. Such duels are
in a row of their own. The view's time is that of the last frame on which the verdict is recorded to rest; the hand has
come, by the staging, as soon as its tongs are over the field.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from staged import (
    DECK,
    PLAYERS,
    Stage,
    finishing_late,
    hand_in_the_way,
    knocked_over,
    played,
    rig,
    touched_s,
    untouched,
)

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


def to_whom(stage: Stage, award: str | None) -> str:
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

KNOCKS = ("knocked over", "knocked over from in front", "own hand knocks it over")
"""What befalls a build that was right at the press."""

AFTER = "touched only after the judged view"


def is_wrong(staging: str, whom: str, after_the_view: bool) -> bool:
    """Whether who must not get the card got it; ``after_the_view``: the build was knocked over after it was judged."""
    return whom == ("other" if after_the_view else WRONG[staging])


HELD_UP = {"press_hidden", "press_unseen", "bumped", "bumped_somebody", "mat_shaken", "hand_at_stop"}
"""Codes of the reasons for which the views around a Stop leave a duel to a human."""

HEADS = ("caller", "other", "human", "wrong", "held up")


@dataclass(frozen=True)
class Duel:
    """One duel to play: everything that varies."""

    seed: int
    card: str
    caller: str
    staging: str
    late_s: float

    def __str__(self) -> str:
        return f"{self.seed} {self.card} {self.caller} {self.staging} {self.late_s}"


def duels(cards: int, seed: int, clean: bool) -> Iterator[Duel]:
    """What is played at one rig; of each card and caller one clean duel, right and wrong in turn."""
    for n, card in enumerate(CARDS[:cards]):
        for caller in "AB":
            for name in [*([] if clean else CHEATS), list(CLEAN)[(n + seed) % 2]]:
                yield Duel(seed, card, caller, name, DELAYS_S[(n + seed) % 3])


def row(duel: Duel) -> dict:
    """What came of one duel."""
    stage = Stage(rig(duel.seed, SEATINGS[duel.seed % 3]), DECK.card(duel.card), duel.caller)
    happens = (CHEATS | CLEAN)[duel.staging](stage, duel.late_s)
    state, judged_s = played(stage, happens)
    whom = to_whom(stage, state.award[0])
    came_s = touched_s(stage, happens) if duel.staging in KNOCKS else None
    after = came_s is not None and judged_s is not None and judged_s < came_s
    said = state.duel.verdicts.get(duel.caller)
    why = [reason["code"] for reason in said.to_json()["reasons"]] if said else []
    return {
        "name": str(duel),
        "staging": duel.staging,
        "whom": whom,
        "phase": state.phase,
        "findings": [f for names in state.duel.findings.values() for f in names],
        "why": why,
        "judged_s": judged_s,
        "touched_s": came_s,
        "after the view": after,
        "wrong": is_wrong(duel.staging, whom, after),
        "held up": (duel.staging in CLEAN or after) and whom == "human" and bool(HELD_UP & {*why}),
    }


def table_of(rows: list[dict]) -> str:
    """The table, one line a staging; each duel is in one line."""
    lines = [f"{'staging':36}{'duels':>6}" + "".join(f"{head:>9}" for head in HEADS)]
    for name in (*CHEATS, AFTER, *CLEAN):
        of = [told for told in rows if name == (AFTER if told["after the view"] else told["staging"])]
        count = Counter(told["whom"] for told in of) + Counter(h for told in of for h in HEADS[3:] if told[h])
        lines.append(f"{name:36}{len(of):6}" + "".join(f"{count[head]:9}" for head in HEADS))
    return "\n".join(lines)


def main() -> int:
    """Play what the file lacks and print the table; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("rows", type=Path)
    ask.add_argument("--cards", type=int, default=10)
    ask.add_argument("--seeds", type=int, default=3)
    ask.add_argument("--first", type=int, default=3)
    ask.add_argument("--clean", action="store_true")
    asked = ask.parse_args()
    done = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    known = {told["name"] for told in done}
    for seed in range(asked.first, asked.first + asked.seeds):
        for duel in duels(asked.cards, seed, asked.clean):
            if str(duel) not in known:
                done.append(row(duel))
                with asked.rows.open("a") as file:
                    file.write(json.dumps(done[-1]) + "\n")
                print(*done[-1].values(), flush=True)
    print(table_of(done))
    return int(any(told["wrong"] or told["held up"] for told in done))


if __name__ == "__main__":
    sys.exit(main())
