"""How long the board waits from a Stop to the verdict: simulated duels at 30 frames a second before the real eyes.

python tests/session/bench_latency.py ROWS [--each N] [--first SEED] [--fps RATE]

Two simulated players build a card, and the first to be done presses. Gate, foul watch, stop judging and observer are
the real ones, builds are seen against the table as it was a moment before the go, and what a verdict rests on is
written to the disk before it counts, as at a table. Frames are worked on in a time of their own: a look takes the
processor time that it took here, frames that come meanwhile are left out but for the newest, and what is drawn of the
table costs nothing. So the figures do not depend on what else runs, but for caches that others fill. Camera, box and
network are not in them, nor the 20 ms of a page.

ROWS is a file of one line a duel: what it holds is not played again. Printed are median and 95th percentile in seconds
of the whole, and of its two parts: *video*, from the Stop to the last frame that is judged, and *processor*, what was
worked from that frame to the verdict; what of the processor time was judging and what writing; and how long was waited
for the disk, which is in none of them and on a busy machine not the disk's. Exit status 1 when the median is over
1.0 s or the 95th percentile over 1.8 s.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import sys
import tempfile
import time
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from bench_freeze import CARDS, SEATINGS
from staged import DECK, SET, StagedSession, rig

from referee.devices.ports import Frame
from referee.match.commands import Foul, PressStop
from referee.match.foul import foul_sentence
from referee.match.state import MatchState
from referee.recording.writer import write_file
from referee.session.stop_judging import StopJudging
from referee.simulator.players import PlayerProfile, Players
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate_history import STOPPED, GateHistory

MEDIAN_S, P95_S = 1.0, 1.8
BEFORE_S, UNTIL_S, SLOW_FPS = 2.5, 9.0, 10.0
"""So long before the Stop and after it every picture comes, earlier so many a second."""


class Timed:
    """Adds up the processor time of a function's calls, and what they took beside it."""

    def __init__(self, call) -> None:
        self._call, self.spent_s, self.waited_s = call, 0.0, 0.0

    def __call__(self, *given, **named):
        begun_s, began_s = time.process_time(), time.monotonic()
        try:
            return self._call(*given, **named)
        finally:
            spent_s = time.process_time() - begun_s
            self.spent_s += spent_s
            self.waited_s += max(0.0, time.monotonic() - began_s - spent_s)


def kept_in(folder: str) -> SimpleNamespace:
    """A recorder that writes evidence as the real one does, on the thread that asks."""

    def keep(frames) -> None:
        for n, frame in enumerate(frames):
            write_file(Path(folder, f"{n}.png"), frame.image)

    return SimpleNamespace(
        judged=lambda frames, rows, **_: keep(frames),
        at_press=lambda zone, frames, said, beside: keep(frames),
        earlier=lambda zone, view, pictures: keep([SimpleNamespace(image=image) for image, _ in pictures]),
    )


def row(number: int, first_seed: int, fps: float) -> dict:
    """What came of the duel of that number."""
    rng = random.Random(f"latency {number} {first_seed}")
    seed, card = first_seed + number // 5, DECK.card(rng.choice(CARDS))
    table = copy.copy(rig(seed, SEATINGS[seed % 3]))
    table.observer = copy.copy(table.observer)
    players = Players(SET, "AB", rng.randrange(10**6), PlayerProfile(errs=0.2, falls=0.0))
    players.begin(card, 0.0)
    zone, press_s = min(players.presses().items(), key=lambda at: at[1])
    table.observer.renew_empty(table.picture(players.world(0.0), 0))  # as the program does a moment before the go
    with tempfile.TemporaryDirectory(prefix="referee-") as folder:
        session = StagedSession(table, card.id)
        session.recording = SimpleNamespace(recorder=kept_in(folder))
        session.observer = SimpleNamespace(
            judge=Timed(table.observer.judge),
            look=table.observer.look,
            read_earlier=table.observer.read_earlier,
            empty=table.observer.empty,
        )
        played = Duel(session, players, zone, press_s)
        played.run(lambda world, n: table.picture(world, n), fps)
    state = session.state
    return {
        "name": f"{number} seed {seed} {card.id} {zone} {fps:g}/s",
        "phase": state.phase,
        "right": players.right(zone, card) == (state.award[0] == state.seats[zone]),
        "why": sorted(state.duel.verdicts[zone].codes) if zone in state.duel.verdicts else [],
        **played.told,
    }


class OtherCore:
    """Stands in for the thread that judges early: what is asked of it is done at once, and known once as much time has
    gone by as it took; ``spent_s`` so far, and ``free_s``, when the last answer is known."""

    def __init__(self) -> None:
        self.now_s = self.free_s = self.spent_s = 0.0

    def begin(self, call) -> Future:
        begun_s, now_s, answer = time.process_time(), self.now_s, Future()
        answer.set_result(call())
        self.now_s = now_s  # what the call waited for was done on its own core before it
        spent_s = time.process_time() - begun_s
        self.spent_s += spent_s
        self.free_s = max(self.now_s, self.free_s) + spent_s
        answer.done = lambda known_s=self.free_s: known_s <= self.now_s
        answer.result = lambda get=answer.result, known_s=self.free_s: self._waited(known_s) or get()
        return answer

    def _waited(self, known_s: float) -> None:
        self.now_s = max(self.now_s, known_s)


class Duel:
    """One duel, frame by frame; ``told``: seconds from the Stop to the verdict, by part."""

    def __init__(self, session: StagedSession, players: Players, zone: str, press_s: float) -> None:
        self._session, self._players, self._zone, self._press_s = session, players, zone, press_s
        self._history, self._fouls = GateHistory(), FoulWatch()
        self._other = OtherCore()
        self._stop = StopJudging(session, self._history, self._other.begin)
        self._stop._evidence = self._kept = Timed(self._stop._evidence)
        self.told: dict = {"total_s": None}

    def run(self, picture, fps: float) -> None:
        free_s, judge = 0.0, self._session.observer.judge
        for n in range(round((self._press_s + UNTIL_S) * fps)):
            at_s = n / fps
            slow = at_s < self._press_s - BEFORE_S and n % max(1, round(fps / SLOW_FPS))
            if slow or free_s > at_s + 1 / fps:  # the next one is newer by when there is time for one
                continue
            if self._session.state.phase == "building" and at_s > self._press_s:
                self._players.stop(self._press_s)
                self._session.command(PressStop(self._zone, self._press_s))
            frame = Frame(picture(self._players.world(at_s), n), n, at_s)
            before = judge.spent_s, self._kept.spent_s, self._kept.waited_s
            begun_s, early_s = time.process_time(), self._other.spent_s
            self._other.now_s = max(free_s, at_s)
            self._look(frame)
            spent_s = time.process_time() - begun_s - (self._other.spent_s - early_s)
            free_s = self._other.now_s + spent_s
            if self._session.state.phase not in ("building", *STOPPED):
                self.told = {
                    "total_s": free_s - self._press_s,
                    "video_s": at_s - self._press_s,
                    "processor_s": free_s - at_s,
                    "judge_s": judge.spent_s - before[0],
                    "early_s": self._other.spent_s,
                    "write_s": self._kept.spent_s - before[1],
                    "disk_s": self._kept.waited_s - before[2],
                }
                return

    def _look(self, frame: Frame) -> None:
        """As ``LiveJudging`` looks at a frame."""
        session = self._session
        look, state = session.gate.look(frame), session.state
        stopped = state.phase in STOPPED
        self._history.add(frame, look, state.phase, self._stop.owners(frame, look, state) if stopped else {})
        self._propose(frame, look, state, self._press_s if stopped else None)
        if stopped:
            self._stop.look(frame, look, state)
        else:
            self._stop.read_ahead(state)

    def _propose(self, frame: Frame, look, state: MatchState, stop_s: float | None) -> None:
        for seen in self._fouls.look(frame, self._session.gate.reduced_frame(), look, stop_s):
            player = state.seats[seen.culprit or seen.zone]
            seen = replace(seen, after_go_s=seen.seconds)
            self._session.attempt(Foul(player, foul_sentence(seen.kind, seen.zone), "camera", seen=seen))


def table_of(rows: list[dict]) -> tuple[str, bool]:
    """The figures of all duels, and whether they are within the bar."""
    timed = [r for r in rows if r["total_s"] is not None]
    lines = [f"{len(rows)} duels, {sum(r['phase'] == 'decided' for r in rows)} decided by the camera"]
    lines[0] += f", {sum(r['phase'] == 'decided' and not r['right'] for r in rows)} of them wrong"
    for part in ("total", "video", "processor", "early", "judge", "write", "disk"):
        seconds = [r[f"{part}_s"] for r in timed]
        median, p95 = np.percentile(seconds, [50, 95])
        lines.append(f"{part:10}  median {median:.2f} s  p95 {p95:.2f} s")
    median, p95 = np.percentile([r["total_s"] for r in timed], [50, 95])
    return "\n".join(lines), bool(median <= MEDIAN_S and p95 <= P95_S)


def main() -> int:
    """Plays what is lacking and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", type=Path)
    parser.add_argument("--each", type=int, default=60, metavar="N")
    parser.add_argument("--first", type=int, default=700, metavar="SEED")
    parser.add_argument("--fps", type=float, default=30.0, metavar="RATE")
    asked = parser.parse_args()
    known = [json.loads(line) for line in asked.rows.read_text().splitlines()] if asked.rows.exists() else []
    for number in range(len(known), asked.each):
        known.append(row(number, asked.first, asked.fps))
        print(known[-1]["name"], known[-1]["phase"], known[-1]["why"], known[-1]["total_s"], flush=True)
        with asked.rows.open("a") as file:
            file.write(json.dumps(known[-1]) + "\n")
    text, within = table_of(known)
    print(f"seeds from {asked.first}\n{text}")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
