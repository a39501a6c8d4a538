"""What the referee does with what happens around a Stop: stagings before the real eyes; prints who gets the card.

python tests/session/bench_freeze.py ROWS [--each N] [--first SEED] [--only WORDS]

ROWS is a file of one line a duel: what it holds is not played again, so that a run that was ended goes on, and the
table is of all it holds. Of each staging N duels are played; card, rig, seating, side, delay and frame rate are drawn
by the duel's number, which its line begins with. Seeds of rigs count from SEED. An award is wrong when a build that was
not right at the press is awarded to its builder, one that was knocked over to who did it, or one that somebody else
had a hand in to anybody before a human has ruled; a clean duel is *held up* when what was seen around the Stop is the
reason why a human has to rule. Exit status 1 when there is any of them.

A right build that is knocked over only after the judged view was right in both views (``referee.match.stop_views``):
what happens to it then decides nothing, and its builder gets the card, no matter whose hand came. Such duels are
in a row of their own. The view's time is that of the last frame on which the verdict is recorded to rest; the hand has
come, by the staging, as soon as its tongs are over the field. Where a piece is hidden behind another (row 7) the film
alone shows it, from while the build grew: the right award is to the caller, or to the other.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hidden import played_hiding
from staged import (
    BRINGS_S,
    DARK,
    DECK,
    LOST,
    PLAYERS,
    PRESS_S,
    Happens,
    Stage,
    between,
    blurred,
    by_a_third_person,
    changes,
    every_nth,
    finishing_late,
    gripped,
    hand_in_the_way,
    knocked_over,
    mat_pulled,
    neighbours_arm,
    played,
    pushed_in,
    rig,
    touched_s,
    untouched,
)
from streamed import RATES, played_over_stream

from referee.match.state import MatchState

CARDS = ("L09", "L01", "L05", "L14", "L20", "L27", "L33", "L38", "L43", "L48")
SEATINGS = ("across", "beside", "facing")
DELAYS_S = (0.15, 0.3, 0.6)
RIGS = 12
AFTER_PRESS_S = 6.0
STEPS = (1, 1, 2, 3)
"""Every so manieth frame comes: 10, 5 and 3 a second."""


@dataclass(frozen=True)
class Staging:
    """``make`` gives what happens, by the stage and how late, None where a piece is hidden behind another and players
    of their own build it; ``never`` is who must not get the card: the caller, the other or any; ``clean``: nothing
    happens that a human has to rule on."""

    make: Callable[[Stage, float], Happens] | None
    never: str
    clean: bool = False
    press_s: float = PRESS_S
    until_s: float = 9.0
    knocks: bool = False
    """Whether a build that was right at the press is knocked over."""
    streamed: bool = False
    """Whether it comes over http, at another rate each time."""


def finished(stage: Stage, late_s: float) -> Happens:
    """The highest piece is suddenly there, a second after the press."""
    return changes(stage.world(stage.full_without_last()), stage.world(stage.full), PRESS_S + 1)


def fallen(stage: Stage, late_s: float) -> Happens:
    """The highest piece has suddenly fallen, a second after the press."""
    return changes(stage.world(stage.full), stage.world(stage.fallen), PRESS_S + 1)


def long_covered(stage: Stage, late_s: float) -> Happens:
    """The build is finished in front of a camera that is covered from the go until after the Stop."""
    happens = changes(stage.world(stage.full_without_last()), stage.world(stage.full), 11.0)
    return between(happens, DARK, 1.0, 13.0)


def put_on(stage: Stage, after_s: float) -> Happens:
    """The highest piece is in its place so long after the press."""
    return finishing_late(stage, after_s - BRINGS_S)


def unseen(of: Callable[[Stage, float], Happens], from_s: float, to_s: float) -> Callable[[Stage, float], Happens]:
    """The same, of which no pictures come for a while around the press."""
    return lambda stage, late: between(of(stage, late), LOST, PRESS_S + from_s, PRESS_S + to_s)


STAGINGS = {
    "finished late": Staging(finishing_late, "caller"),
    "knocked over": Staging(knocked_over, "other", knocks=True),
    "knocked over from in front": Staging(lambda s, late: knocked_over(s, late, front=True), "other", knocks=True),
    "own hand knocks it over": Staging(lambda s, late: knocked_over(s, late, own=True), "caller", knocks=True),
    "own hand beside, finished late": Staging(lambda s, late: hand_in_the_way(s, late, False, "finishes"), "caller"),
    "own hand before, finished late": Staging(lambda s, late: hand_in_the_way(s, late, True, "finishes"), "caller"),
    "1 finished 0.3 s late, slow stream": Staging(lambda s, late: put_on(s, 0.3), "caller", streamed=True),
    "1 finished 3 s late, slow stream": Staging(lambda s, late: put_on(s, 3.0), "caller", streamed=True, until_s=11.0),
    "1 slow stream, right": Staging(lambda s, late: untouched(s, s.full), "other", clean=True, streamed=True),
    "2 finished before no camera": Staging(unseen(finished, -0.5, 3.0), "caller", until_s=12.0),
    "2 knocked over before no camera": Staging(unseen(fallen, -0.5, 3.0), "other", until_s=12.0),
    "2 knocked over in a hole after it": Staging(unseen(fallen, 0.05, 2.0), "other", until_s=12.0),
    "2 finished before a covered camera": Staging(long_covered, "caller", press_s=11.0, until_s=17.0),
    "3 gripped at the press": Staging(gripped, "caller"),
    "4 mat pulled, it falls": Staging(mat_pulled, "other", until_s=12.0),
    "4 knocked over before the press": Staging(lambda s, late: knocked_over(s, -1 - late), "other"),
    "5 a third person's hand": Staging(lambda s, late: by_a_third_person(s), "any"),
    "5 pushed in from outside": Staging(lambda s, late: pushed_in(s), "any"),
    "6 out of focus at the Stop, right": Staging(
        lambda s, late: blurred(s, PRESS_S - late, PRESS_S + 1 - late), "other", clean=True, until_s=12.0
    ),
    "6 neighbour's arm at the Stop, right": Staging(
        lambda s, late: neighbours_arm(s, PRESS_S - 0.5 - late, PRESS_S + 2), "other", clean=True, until_s=12.0
    ),
    "7 a piece hidden, right": Staging(None, "other"),
    "7 a piece hidden, extra or wrong": Staging(None, "caller"),
    "clean, right": Staging(lambda s, late: untouched(s, s.full), "other", clean=True),
    "clean, wrong": Staging(lambda s, late: untouched(s, s.full_without_last()), "caller", clean=True),
}
"""Those of a number are that row of issue 37."""

AFTER = "touched only after the judged view"

HELD_UP = {"press_hidden", "press_unseen", "bumped", "bumped_somebody", "mat_shaken", "hand_at_stop", "unproven"}
"""Codes of the reasons for which what was seen around a Stop leaves a duel to a human."""

HEADS = ("caller", "other", "human", "wrong", "held up")


def to_whom(stage: Stage, award: str | None) -> str:
    """The cell of the table that the result of one duel counts in."""
    if award is None:
        return "human"
    return "caller" if award == PLAYERS[stage.caller] else "other"


def is_wrong(staging: str, whom: str, after_the_view: bool) -> bool:
    """Whether who must not get the card got it; ``after_the_view``: the build was knocked over after it was judged."""
    never = "other" if after_the_view else STAGINGS[staging].never
    return whom in ("caller", "other") if never == "any" else whom == never


@dataclass(frozen=True)
class Duel:
    """One duel to play: everything that varies; only every ``step``-th frame comes."""

    seed: int
    card: str
    caller: str
    staging: str
    late_s: float
    step: int = 1
    fps: int | None = None
    """Pictures a second, where it comes over a stream."""

    def __str__(self) -> str:
        rate = f"{self.fps}/s" if self.fps else f"1/{self.step}"
        return f"{self.seed} {self.card} {self.caller} {self.staging} {self.late_s} {rate}"


def drawn(staging: str, number: int, first_seed: int) -> Duel:
    """The duel of that number."""
    rng = random.Random(f"{staging} {number} {first_seed}")
    seed = first_seed + number * RIGS // 60 % RIGS  # in turn: a rig is slow to make
    step = 1 if STAGINGS[staging].clean or STAGINGS[staging].make is None else rng.choice(STEPS)
    duel = Duel(seed, rng.choice(CARDS), rng.choice("AB"), staging, rng.choice(DELAYS_S), step)
    return replace(duel, step=1, fps=rng.choice(RATES)) if STAGINGS[staging].streamed else duel


def outcome(duel: Duel) -> tuple[Stage, MatchState, float | None]:
    """Its stage, the match at its end, and the time of the last frame that its verdict rests on."""
    staging, table = STAGINGS[duel.staging], rig(duel.seed, SEATINGS[duel.seed % 3])
    if staging.make is None:
        stage, happens, press_s = played_hiding(table, duel.caller, staging.never == "other", random.Random(str(duel)))
        return stage, *played(stage, happens, press_s + AFTER_PRESS_S, press_s, fouls=True)
    stage = Stage(table, DECK.card(duel.card), duel.caller)
    happens = staging.make(stage, duel.late_s)
    if duel.fps:
        return stage, played_over_stream(stage, happens, staging.until_s, duel.fps), None
    return stage, *played(stage, every_nth(happens, duel.step), staging.until_s, staging.press_s, fouls=True)


def row(duel: Duel) -> dict:
    """What came of one duel."""
    staging, (stage, state, judged_s) = STAGINGS[duel.staging], outcome(duel)
    whom = to_whom(stage, state.award[0])
    came_s = touched_s(stage, staging.make(stage, duel.late_s)) if staging.make and staging.knocks else None
    after = came_s is not None and judged_s is not None and judged_s < came_s
    verdict = state.duel.verdicts.get(duel.caller)
    why = [reason["code"] for reason in verdict.to_json()["reasons"]] if verdict else []
    open_finding = state.duel.reason == "open_finding"
    held_up = whom == "human" and (open_finding or verdict is None or bool(HELD_UP & {*why}))
    return {
        "name": str(duel),
        "staging": duel.staging,
        "whom": whom,
        "phase": state.phase,
        "findings": [f for names in state.duel.findings.values() for f in names],
        "fouls": [[f.seen.kind, f.seen.zone, f.seen.culprit] for f in state.fouls if f.seen],
        "why": [*why, *(["open_finding"] if open_finding else [])],
        "judged_s": judged_s,
        "touched_s": came_s,
        "after the view": after,
        "wrong": is_wrong(duel.staging, whom, after),
        "held up": (staging.clean or after) and held_up,
    }


def table_of(rows: list[dict]) -> str:
    """The table, one line a staging; each duel is in one line."""
    lines = [f"{'staging':38}{'duels':>6}" + "".join(f"{head:>9}" for head in HEADS)]
    for name in (*STAGINGS, AFTER):
        of = [told for told in rows if name == (AFTER if told["after the view"] else told["staging"])]
        count = Counter(told["whom"] for told in of) + Counter(h for told in of for h in HEADS[3:] if told[h])
        lines.append(f"{name:38}{len(of):6}" + "".join(f"{count[head]:9}" for head in HEADS))
    return "\n".join(lines)


def main() -> int:
    """Play what the file lacks and print the table; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("rows", type=Path)
    ask.add_argument("--each", type=int, default=60)
    ask.add_argument("--first", type=int, default=3)
    ask.add_argument("--only", default="", help="stagings whose name has this in it")
    asked = ask.parse_args()
    done = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    known = {told["number"] for told in done}
    for n in range(asked.each):
        for staging in (name for name in STAGINGS if asked.only in name):
            number = f"{staging} {n} {asked.first}"
            if number not in known:
                done.append({"number": number} | row(drawn(staging, n, asked.first)))
                with asked.rows.open("a") as file:
                    file.write(json.dumps(done[-1]) + "\n")
                print(*done[-1].values(), flush=True)
    print(table_of(done))
    return int(any(told["wrong"] or told["held up"] for told in done))


if __name__ == "__main__":
    sys.exit(main())
