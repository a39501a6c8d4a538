"""What the referee rules of duels with worn pieces, a camera that drifts, clutter, and people in the pieces' colours.

python tests/session/bench_worn.py ROWS [--duels N] [--first SEED] [--pictures FOLDER]

ROWS is a file of one line a duel: what it holds is not played again, so that a run that was ended goes on, and the
table is of all it holds. N duels are played, six on each rig (``worn.WornRig``); seeds of rigs count from SEED, and
everything is drawn by the duel's number and SEED. Simulated players build; the caller is right in 60 % of the duels,
and else errs as people do. What a camera sees before the go renews the empty table, as in the live program.

Every duel is judged three times. *film*: by the live program's own eyes, all that they see from 3 s before the go; the
gate has watched the table before. *settled frame alone*: by the frames that the film's verdict rests on (without any,
the film's last) with the colours and lens of the set-up, no empty table and no earlier pictures. *set-up's empty
table*: the same frames against the empty table of the set-up instead of the renewed one. Each is right, wrong, or left
to a human: undecided, void, or held up by a finding. Wrong is a match on a build that is wrong, or the reverse, whoever
then gets the card. Exit status 1 when the film is ruled wrongly in any.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cv2
import numpy as np
from staged import DECK, FPS, OTHER, SET, StagedSession, at_once
from worn import WornRig

from cards.build import Build, Piece, rest_height
from cards.card import Card
from cards.errors import BadCard
from cards.pieces import PieceSet
from cards.stability import check_stability
from referee.devices.ports import Frame
from referee.errors import IllegalCommand
from referee.match.commands import Go, PressStop
from referee.match.state import MatchState
from referee.session.live_judging import LiveJudging
from referee.simulator.build_plans import SAFE_POSES, in_field, plan_build, with_mistake
from referee.simulator.players import Players
from referee.vision.observer import Observer
from referee.vision.search.stances import can_rest

SEATINGS = ("across", "beside", "facing")
PER_RIG = 6
GO_S, AFTER_PRESS_S = 3.0, 14.0
WAITS_S, EVERY = 100.0, 7
"""So long the gate has watched the table at rest before the film, every seventh frame of it: in the live program it
watches from the start on, and knows wood from a hand only by having seen it at rest (``gate.WARM_REST_S``)."""
RIGHT, TURNED = 0.6, 0.3
"""Shares of the duels in which the caller is right, and of those in which not that a piece is turned."""
TRIES = 60
KEPT = 40
"""Frames kept after the press: more than pass between a settled view and its verdict."""

JUDGINGS = ("film", "settled frame alone", "set-up's empty table")
RESULTS = ("right", "wrong", "human")


@dataclass(frozen=True)
class Duel:
    """One duel to play: the builds by zone in the order of placing, the caller's whole and the other's in part;
    ``match`` says whether the caller's is right, ``seed`` is the players'."""

    card: Card
    caller: str
    builds: dict[str, tuple[Piece, ...]]
    match: bool
    seed: int


def turned(built: Sequence[Piece], pieces: PieceSet, rng: np.random.Generator) -> tuple[Piece, ...]:
    """The build with one of its pieces turned, and what is on it let down again."""
    n, settled = int(rng.integers(len(built))), list[Piece]()
    shape = pieces.shapes[built[n].shape]
    poses = [p for p in SAFE_POSES[shape.kind] if can_rest(shape, p) and not shape.same_pose(p, built[n].pose)]
    for k, piece in enumerate(built):
        piece = replace(piece, pose=poses[rng.integers(len(poses))]) if k == n and poses else piece
        settled.append(piece.at(z=rest_height(pieces, piece, settled)))
    return tuple(settled)


def planned(card: Card, pieces: PieceSet, right: bool, rng: np.random.Generator) -> tuple[Piece, ...]:
    """A build that stands, right or wrong by the rules with the lengths of the file and the true ones alike; empty
    where none is found."""
    errs = rng.random() < TURNED
    for _ in range(TRIES):
        built = plan_build(card, pieces, rng)
        if not right:
            built = turned(built, pieces, rng) if errs else with_mistake(built, card, pieces, rng)
        alike = all(right == (not card.faults(Build(lengths, built))) for lengths in (SET, pieces))
        if built and alike and in_field(built, pieces) and check_stability(pieces, built, None).stable:
            return built
    return ()


def drawn(number: int, first_seed: int, pieces: PieceSet) -> Duel:
    """The duel of that number, its pieces of these true lengths."""
    rng = np.random.default_rng((8, first_seed, number))
    caller, right = str(rng.choice(["A", "B"])), bool(rng.random() < RIGHT)
    while True:
        card = DECK.cards[rng.integers(len(DECK.cards))]
        with suppress(BadCard):
            mine, other = planned(card, pieces, right, rng), planned(card, pieces, True, rng)
            if mine and other:
                break
    builds = {caller: mine, OTHER[caller]: other[: rng.integers(0, len(other))]}
    return Duel(card, caller, builds, right, int(rng.integers(10**6)))


class Film(StagedSession):
    """A duel as the live program sees it, from before its go: ``frames`` are the last, ``before_go`` what was wrong
    with a field then."""

    def __init__(self, rig: WornRig, card: Card) -> None:
        super().__init__(rig, card.id, go_s=None)
        self.frames: deque[Frame] = deque(maxlen=KEPT)
        self.before_go: dict[str, str] = {}

    def attempt(self, command) -> None:
        with suppress(IllegalCommand):
            self.command(command)

    def settled(self) -> list[np.ndarray]:
        """The frames that the verdict rests on, or without any the last."""
        judged = [f.image for f in self.frames if f.number in self.judged]
        return judged or [f.image for f in list(self.frames)[-3:]]


def filmed(duel: Duel, rig: WornRig) -> Film:
    """The duel, played to its end."""
    players, film = Players(rig.table.piece_set, "AB", duel.seed), Film(rig, duel.card)
    for zone, built in duel.builds.items():
        players.build(zone, built, GO_S)
    press_s, eyes = players.presses()[duel.caller], LiveJudging(film, at_once)
    looked, shown = (-1, 0.0), players.world(0.0)
    for number in range(-round(WAITS_S * FPS), 0, EVERY):
        film.gate.look(Frame(rig.picture(shown, number), number, number / FPS))
    for number in range(1, round((press_s + AFTER_PRESS_S) * FPS)):
        at_s = number / FPS
        if film.state.phase == "ready" and at_s > GO_S:
            film.before_go = dict(eyes.fields())
            film.command(Go(GO_S))
        if film.state.phase == "building" and at_s > press_s:
            film.command(PressStop(duel.caller, press_s))
            players.stop(press_s)
        world, looked, changed = players.look(at_s, looked)
        shown = world if changed else shown
        film.frames.append(Frame(rig.picture(shown, number), number, at_s))
        eyes._see(film.frames[-1])
        if film.state.phase in ("decided", "undecided", "void"):
            break
    return film


def result(ruling: str, match: bool, held_up: bool = False) -> str:
    """What a ruling on a build is, of which the truth is ``match`` or not; ``held_up``: a human rules after all."""
    if ruling in ("match", "mismatch") and (ruling == "match") != match:
        return "wrong"
    return "human" if ruling not in ("match", "mismatch") or held_up else "right"


def of_film(duel: Duel, state: MatchState) -> tuple[str, list[str]]:
    """The result of the film, and why."""
    verdict = state.duel.verdicts.get(duel.caller)
    why = [reason.code for reason in verdict.reasons] if verdict else []
    findings = [name for names in state.duel.findings.values() for name in names]
    why += [f"finding {name}" for name in findings] + [f"foul {f.seen.kind}" for f in state.fouls if f.seen]
    why += [] if state.phase == "decided" else [state.phase, str(state.duel.reason)]
    return result(verdict.ruling if verdict else "", duel.match, state.phase != "decided"), why


def of_frames(duel: Duel, observer: Observer, frames: list[np.ndarray]) -> tuple[str, list[str]]:
    """The result of these frames by themselves, and why."""
    verdict = observer.judge(frames, duel.card, [duel.caller]).zones.get(duel.caller)
    return result(verdict.ruling if verdict else "", duel.match), [r.code for r in verdict.reasons] if verdict else []


@lru_cache(maxsize=2)
def worn_rig(seed: int) -> WornRig:
    """One rig per seed for its duels."""
    return WornRig(seed, SEATINGS[seed % 3])


def row(number: int, first_seed: int, pictures: Path | None = None) -> dict:
    """What came of one duel."""
    started_s, rig = time.perf_counter(), worn_rig(first_seed + number // PER_RIG)
    duel = drawn(number, first_seed, rig.table.piece_set)
    today = rig.at(rig.table.later(number % PER_RIG, np.random.default_rng((9, first_seed, number))))
    film = filmed(duel, today)
    alone = Observer(SET, rig.lens, rig.observer.palette)
    frames = film.settled()
    results = [of_film(duel, film.state), *(of_frames(duel, one, frames) for one in (alone, rig.observer))]
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(pictures / f"worn_{number}.png"), frames[-1])
    return {
        "name": f"{rig.table.seed} {duel.card.id} {duel.card.kind} {duel.caller}",
        "match": duel.match,
        "results": {name: is_right for name, (is_right, _) in zip(JUDGINGS, results, strict=True)},
        "why": {name: why for name, (is_right, why) in zip(JUDGINGS, results, strict=True) if is_right != "right"},
        "before_go": film.before_go,
        "renewed": today.observer.empty is not rig.observer.empty,
        "frames": film.frames[-1].number,
        "seconds": round(time.perf_counter() - started_s, 1),
    }


def table_of(rows: Sequence[dict]) -> str:
    """The table, one line a judging, and below it what the film is not right about."""
    lines = [f"{'judged by':24}{'duels':>7}" + "".join(f"{head:>7}" for head in RESULTS) + f"{'ruled':>9}"]
    for name in JUDGINGS:
        count = Counter(told["results"][name] for told in rows)
        ruled = 100 * (len(rows) - count["human"]) / max(1, len(rows))
        lines.append(f"{name:24}{len(rows):7}" + "".join(f"{count[head]:7}" for head in RESULTS) + f"{ruled:7.1f} %")
    for told in (told for told in rows if told["results"]["film"] != "right"):
        build = "right build" if told["match"] else "wrong build"
        what = ", ".join(told["why"]["film"])
        lines.append(f"{told['number']}: {told['results']['film']}: {told['name']}, {build}: {what}")
    return "\n".join(lines)


def main() -> int:
    """Play what the file lacks and print the table; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("rows", type=Path)
    ask.add_argument("--duels", type=int, default=300)
    ask.add_argument("--first", type=int, default=3)
    ask.add_argument("--pictures", type=Path, help="a folder for the settled frame of each duel")
    asked = ask.parse_args()
    done = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    known = {told["number"] for told in done}
    for n in range(asked.duels):
        number = f"{n} {asked.first}"
        if number not in known:
            done.append({"number": number} | row(n, asked.first, asked.pictures))
            with asked.rows.open("a") as file:
                file.write(json.dumps(done[-1]) + "\n")
            print(*done[-1].values(), flush=True)
    print(table_of(done))
    return int(any(told["results"]["film"] == "wrong" for told in done))


if __name__ == "__main__":
    sys.exit(main())
