"""A table proves itself: builds of known truth are asked for one after another and judged as a duel's are.

What is judged is what is kept: each picture as a settled view's frames together show it, by an observer that has learnt
this rig from the kept pictures. So ``referee bench`` on the folder says the same, and ``referee rejudge`` on it.
"""

import json
import math
import secrets
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import scipy

from cards.sentences import Sentence, sentence
from referee.benchmark.run import judge_frame, rig_observer
from referee.benchmark.scoring import ZoneScore
from referee.core import refuse_if
from referee.devices.ports import Frame
from referee.errors import IllegalCommand
from referee.match.stop_views import SETTLED_FRAMES
from referee.match.verdict import Verdict
from referee.recording.folder import META, STOP, hash_files, of_camera, write_json
from referee.recording.writer import versions, write_file
from referee.session.duel_recording import kept_files
from referee.session.ports import RunningSession
from referee.session.practising import FREE_PHASES, build_picture
from referee.session.proof_tasks import TASKS, BuildTask, draw_tasks
from referee.session.second_view import settled_beside
from referee.vision.image.files import write_picture
from referee.vision.live.gate import GateState
from referee.vision.live.gate_history import is_clear
from referee.vision.observer import Observer, mean_frame

PROOFS, PROOF, TRUTH = "proofs", "proof.json", "truth.json"
SEEDS = 10**6
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Figures:
    """How many builds were judged right, wrong and not at all; ``at`` is when the proof was begun."""

    right: int
    wrong: int
    undecided: int
    at: str = ""

    @property
    def count(self) -> int:
        """All builds."""
        return self.right + self.wrong + self.undecided

    @property
    def at_least(self) -> float:
        """The share that is judged right, with 95 % confidence at least: the exact bound of Clopper and Pearson."""
        tried = scipy.stats.binomtest(self.right, self.count, alternative="greater") if self.count else None
        return float(tried.proportion_ci(CONFIDENCE, "exact").low) if tried else 0.0

    @property
    def text(self) -> Sentence:
        """In words, wrong and undecided apart."""
        told = {"right": self.right, "wrong": self.wrong, "undecided": self.undecided}
        return sentence("prove_figures", n=self.count, low=math.floor(100 * self.at_least), **told)


def last_figures(data_dir: Path) -> Figures | None:
    """Those of the latest proof in a data folder; None where there is none."""
    kept = sorted(data_dir.glob(f"{PROOFS}/*/{PROOF}"))
    return Figures(**json.loads(kept[-1].read_text(encoding="utf-8"))["figures"]) if kept else None


@dataclass(frozen=True)
class Proved:
    """One build that was judged: its row of ``truth.json``, what was said of it, how that compares with the truth, and
    its picture (JPEG)."""

    task: BuildTask
    zone: str
    row: dict[str, Any]
    verdict: Verdict | None
    score: ZoneScore
    jpeg: bytes | None

    @property
    def outcome(self) -> str:
        """``right``, ``wrong`` or ``undecided``."""
        return self.score.outcome if self.score.outcome in ("right", "undecided") else "wrong"


class TableProof:
    """The proof of one table. Commands from any thread; ``look`` from the one that sees.

    ``results`` has None for a build that was skipped; ``taken_back`` counts those that were asked for again because who
    built erred; ``looking``: it stands, and its settled view is waited for.
    """

    def __init__(self, session: RunningSession) -> None:
        self._session, self._lock = session, threading.RLock()
        self._calm: list[Frame] = []
        self._from_s = 0.0
        self._listeners: list[Callable[[TableProof], None]] = []
        self.folder, self.seed, self.begun_at = Path(), 0, ""
        self.tasks: tuple[BuildTask, ...] = ()
        self.zones: tuple[str, ...] = ()
        self.results: tuple[Proved | None, ...] = ()
        self.taken_back, self.looking = 0, False

    @property
    def task(self) -> BuildTask | None:
        """What is asked for now."""
        return self.tasks[len(self.results)] if len(self.results) < len(self.tasks) else None

    @property
    def zone(self) -> str:
        """At which mat: they take turns."""
        return self.zones[len(self.results) % len(self.zones)]

    @property
    def judged(self) -> tuple[Proved, ...]:
        """The builds that were not skipped."""
        return tuple(one for one in self.results if one)

    @property
    def figures(self) -> Figures:
        """Those of the builds so far."""
        said = [one.outcome for one in self.judged]
        return Figures(said.count("right"), said.count("wrong"), said.count("undecided"), self.begun_at)

    def listen(self, listener: Callable[["TableProof"], None]) -> None:
        """Call it with this after each build that was judged or skipped."""
        self._listeners.append(listener)

    # --- what people ask

    def begin(self, seed: int | None = None, builds: int = TASKS, tasks: Sequence[BuildTask] = ()) -> None:
        """Ask for the first ``builds`` that the seed draws, or for these ``tasks``. Raises IllegalCommand while a duel
        is in play, and where the pictures of the empty table and of the colours are lacking."""
        session, observers = self._session, [view.observer for view in self._session.views]
        refuse_if(session.state.phase not in FREE_PHASES, "practice_duel")
        learnt = [(one.empty, one.colors) for one in observers if one.empty is not None and one.colors is not None]
        if len(learnt) < len(observers):
            raise IllegalCommand(sentence("prove_setup"))
        zones = tuple(sorted(observers[0].look(learnt[0][0]).poses))
        refuse_if(not zones, "mats_unseen", zones=["A", "B"])
        seed = secrets.randbelow(SEEDS) if seed is None else seed
        tasks, now = tuple(tasks) or draw_tasks(session.deck, session.piece_set, seed)[:builds], session.clock.utc()
        with self._lock:
            self.folder = session.data_dir / PROOFS / f"{now:%Y%m%d-%H%M%S}-{seed}"
            self.folder.mkdir(parents=True)
            self._keep_rig(self.folder, observers)
            for number, (empty, colors) in enumerate(learnt, 1):
                write_picture(self.folder / of_camera("empty.jpg", number), empty)
                write_picture(self.folder / of_camera("colours.jpg", number), colors)
            self.seed, self.begun_at, self.tasks, self.zones = seed, now.isoformat(), tasks, zones
            self.results, self.taken_back, self.looking = (), 0, False
        session.touch()

    def stand(self) -> None:
        """What is asked for stands; pressed twice is once. Raises IllegalCommand where nothing is asked for."""
        if self.looking:  # also while it is judged, which holds the lock: the next one does not stand yet
            return
        with self._lock:
            refuse_if(self.task is None, "prove_nothing")
            self.looking, self._calm, self._from_s = True, [], self._session.clock.now_s()
        self._session.touch()

    def press(self, zone: str) -> bool:
        """A button of the box; whether it was one of a proof."""
        if self.task and zone == self.zone and not self.looking:
            self.stand()
        return self.task is not None

    def skip(self) -> None:
        """Not this one: the next. Raises IllegalCommand where nothing is asked for."""
        with self._lock:
            refuse_if(self.task is None, "prove_nothing")
            self._add(None)

    def again(self) -> None:
        """Whoever built it erred: the last one is asked for anew. Raises IllegalCommand where there is none."""
        with self._lock:
            refuse_if(not self.results, "prove_nothing")
            if last := self.results[-1]:
                self.taken_back += 1
                shutil.rmtree((self.folder / last.row["image"]).parent, ignore_errors=True)
            self.results, self.looking = self.results[:-1], False
            self._write()
        self._session.touch()

    def end(self) -> None:
        """No more builds; what was judged stays."""
        with self._lock:
            self.tasks, self.looking = self.tasks[: len(self.results)], False
        self._session.touch()

    # --- what the camera sees

    def look(self, frame: Frame, look: GateState) -> None:
        """One more frame and what the gate says of it. Raises OSError where a build cannot be kept: it is not judged,
        and waits until it is said again to stand."""
        with self._lock:
            if not self.looking or frame.at_s < self._from_s:
                return
            self._calm = [*self._calm, frame] if is_clear(look, self.zone) else []
            if len(self._calm) >= SETTLED_FRAMES:
                frames, self._calm = self._calm, []
                try:
                    self._judge(frames)
                except OSError:  # a full disk: told as what cannot be seen is
                    self.looking = False
                    raise

    def _judge(self, frames: Sequence[Frame]) -> None:
        task, zone, session = self.tasks[len(self.results)], self.zone, self._session
        name = f"duel_{len(self.results):02d}"
        shutil.rmtree(self.folder / name, ignore_errors=True)
        (self.folder / name).mkdir()
        views = [frames, *([beside] if (beside := settled_beside(session, frames)) else [])]
        image, *others = (mean_frame([frame.image for frame in of]) for of in views)
        for number, shown in enumerate((image, *others), 1):
            write_file(self.folder / name / of_camera(STOP, number), shown)
        truth = task.truth(session.piece_set)
        row = {"image": f"{name}/{STOP}", "card": task.card.id, "zones": {zone: truth}}
        judged, (score,) = judge_frame(self.folder, row)
        verdict = judged.zones.get(zone)
        self._keep_attempt(self.folder / name, task, zone, verdict)
        jpeg = build_picture(session, image, judged, task.card, zone)
        self._add(Proved(task, zone, row, verdict, score, jpeg))

    def _add(self, result: Proved | None) -> None:
        self.results, self.looking = (*self.results, result), False
        self._write()
        for listener in self._listeners:
            listener(self)
        self._session.touch()

    # --- what is kept

    def _keep_rig(self, folder: Path, observers: Sequence[Observer]) -> None:
        for name, content in kept_files(self._session.deck, self._session.piece_set, *observers).items():
            write_file(folder / name, content)

    def _keep_attempt(self, folder: Path, task: BuildTask, zone: str, verdict: Verdict | None) -> None:
        """The build as an attempt of its own, for ``referee rejudge``."""
        stops = [name for number in (1, 2) if (folder / (name := of_camera(STOP, number))).exists()]
        self._keep_rig(folder, [rig_observer(self.folder, camera_number=n) for n, _ in enumerate(stops, 1)])
        verdicts = {zone: verdict.to_json()} if verdict else {}
        judged = [{"files": [STOP], "zones": [zone]} | ({"second": {"files": stops[1:]}} if stops[1:] else {})]
        meta = {"card": task.card.id, "zones": [zone], "players": {}, "verdicts": verdicts, "judged": judged}
        told = {"recorded_at": self.begun_at, "simulated": self._session.simulated, "versions": versions()}
        write_json(folder / META, {**meta, **told, "cut_short": None, "hashes": hash_files(folder)})

    def _write(self) -> None:
        told: dict[str, Any] = {"seed": self.seed, "simulated": self._session.simulated}
        write_json(self.folder / TRUTH, {**told, "frames": [one.row for one in self.judged]})
        skipped = len(self.results) - len(self.judged)
        told |= {"figures": asdict(self.figures), "skipped": skipped, "taken_back": self.taken_back}
        write_json(self.folder / PROOF, told | {"versions": versions()})
