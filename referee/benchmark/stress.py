"""The observer under stress: each frame of sessions with truth is drawn upon by the effects, judged, and scored.

A frame that crashes is a row like any other; one that is refused with a typed fault counts as undecided.
"""

import dataclasses
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np
from pydantic import TypeAdapter

from calibration.errors import CannotSee
from calibration.markers import find_markers
from calibration.mat import Mats, detect_mats
from cards.card import Card
from cards.deck import load_deck
from referee.benchmark.effects.catalogue import EFFECTS, Level
from referee.benchmark.effects.scene import Inputs, Truth
from referee.benchmark.run import ALL_KNOWLEDGE, Knowledge, observer_of, read_inputs, run_all, truth_of
from referee.benchmark.scoring import ZoneScore, score_frame, true_pieces, unjudged_score
from referee.errors import RefereeError
from referee.vision.image.files import read_picture, write_picture
from referee.vision.observer import Observer


@dataclass(frozen=True)
class StressJob:
    """One frame under one effect. ``other`` is the session whose aids come when aids are mixed up; with ``pictures``
    what the observer is given is kept there. The observer has no more than its ``knowledge`` of the aids."""

    folder: Path
    index: int
    effect: str
    level: Level
    seed: int = 0
    other: Path | None = None
    pictures: Path | None = None
    knowledge: Knowledge = ALL_KNOWLEDGE

    @property
    def name(self) -> str:
        """What tells it from every other job."""
        given = asdict(self.knowledge).items()
        lacking = "".join(f"/no {aid}" for aid, there in given if not there)
        return f"{self.folder.name}/{self.index}/{self.effect}/{self.level}/{self.seed}{lacking}"


@dataclass(frozen=True)
class StressScore:
    """One zone's score under an effect; ``crash`` names the exception that a stressed frame ended in."""

    effect: str
    level: Level
    score: ZoneScore
    crash: str = ""

    @property
    def outcome(self) -> str:
        """The score's outcome, or ``crash``."""
        return "crash" if self.crash else self.score.outcome


Row = TypeVar("Row")
"""What a job's picture gives: a score, say."""

_LATTICE = np.array([0.8191725, 0.6710436, 0.5497005])
"""Steps of session, frame and effect whose sums spread evenly over 0..1 (Roberts' R3 sequence)."""


def stress_jobs(
    folders: Sequence[Path],
    effects: Sequence[str],
    every: int,
    seed: int,
    pictures: Path | None = None,
    knowledge: Knowledge = ALL_KNOWLEDGE,
) -> list[StressJob]:
    """Every frame under every effect at one of its levels, in turn; of these one in ``every``, so that all effects,
    levels and sessions keep their share."""
    out, turns = [], Counter(effects)
    for k, folder in enumerate(folders):
        other = folders[(k + 1) % len(folders)] if len(folders) > 1 else None
        for i in range(len(truth_of(folder)["frames"])):
            for e, name in enumerate(effects):
                if (np.array((k, i, e)) @ _LATTICE) % 1.0 < 1 / every:
                    levels = EFFECTS[name].levels
                    level = levels[turns[name] % len(levels)]
                    out.append(StressJob(folder, i, name, level, seed, other, pictures, knowledge))
                    turns[name] += 1
    return out


session_inputs = lru_cache(maxsize=32)(read_inputs)
"""``read_inputs``, each folder once: frames of all sessions come in turn."""


@lru_cache(maxsize=4)
def clean_inputs(folder: Path, index: int) -> tuple[Inputs, Mats]:
    """A frame unspoilt with all that is given beside it, and where its mats are by its markers."""
    image = folder / truth_of(folder)["frames"][index]["image"]
    inputs = dataclasses.replace(session_inputs(folder), frame=read_picture(image))
    known = {} if inputs.empty is None else find_markers(_gray(inputs.empty))
    return inputs, detect_mats(_gray(inputs.frame), inputs.camera, known)


def _gray(image: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def perturbed_inputs(job: StressJob) -> tuple[Inputs, str]:
    """What the observer is given for a job, and the zone that an effect of one field hits. Raises RefereeError where
    a file is spoilt beyond reading, or no mat is in view anyway."""
    truth = truth_of(job.folder)["frames"][job.index]
    inputs, mats = clean_inputs(job.folder, job.index)
    zones = sorted(mats.poses.keys() & truth["zones"].keys())
    if not zones:
        raise CannotSee("no mat is in view before any effect")
    name = f"{job.folder.name}/{truth['image']}/{job.effect}/{job.level}"
    rng = np.random.default_rng([job.seed, zlib.crc32(name.encode())])
    zone = zones[int(rng.integers(len(zones)))]
    builds = {z: true_pieces(row, "build") + true_pieces(row, "loose") for z, row in truth["zones"].items()}
    other = session_inputs(job.other) if job.other else None
    scene = Truth(mats.camera, mats.poses, builds, inputs.piece_set, zone, other)
    return EFFECTS[job.effect].draw(inputs, scene, job.level, rng), zone


@lru_cache(maxsize=32)  # learning a rig takes longer than judging a frame
def _rig_observer(folder: Path, knowledge: Knowledge) -> Observer:
    return observer_of(session_inputs(folder), knowledge)


def stress_observer(job: StressJob, inputs: Inputs) -> Observer:
    """The observer of a job's rig, or one that has learnt what an effect made of its aids."""
    own = session_inputs(job.folder)
    same = all(getattr(inputs, name) is getattr(own, name) for name in ("piece_set", "camera", "empty", "colors"))
    return _rig_observer(job.folder, job.knowledge) if same else observer_of(inputs, job.knowledge)


def run_stress(job: StressJob) -> list[StressScore]:
    """Judge one stressed frame: a score for each zone that the effect hits. Nothing that goes wrong leaves here."""
    truth = truth_of(job.folder)["frames"][job.index]
    card = load_deck(job.folder / "deck.json").card(truth["card"])
    name = f"{job.folder.name}/{truth['image']}"
    effect, zones, crash = EFFECTS[job.effect], truth["zones"], ""
    try:
        inputs, hit = perturbed_inputs(job)
        if effect.one_field:
            zones = {hit: zones[hit]}
        if job.pictures is not None:
            stem = name.replace("/", "_").removesuffix(".jpg")
            write_picture(job.pictures / f"{job.effect}_{job.level}_{stem}.jpg", inputs.frame)
        observer = stress_observer(job, inputs)
        judgement = observer.judge([inputs.frame], card, list(zones))
        scores = score_frame(judgement, name, card, zones, observer.piece_set)
    except RefereeError as fault:
        scores = _refused(name, card, zones, str(fault))
    except Exception as fault:  # broad on purpose: a crash, whatever its kind, is a row of the report, not its end
        crash = f"{type(fault).__name__}: {fault}".splitlines()[0]
        scores = _refused(name, card, zones, crash)
    return [StressScore(job.effect, job.level, score, crash) for score in scores]


def kept_rows(file: Path | None, kind: type[Row]) -> dict[str, list[Row]]:
    """By the job's name the rows in a file of them, none where there is no file."""
    read, rows = TypeAdapter(kind).validate_python, dict[str, list[Row]]()
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.exists() else []
    for row in map(json.loads, lines):
        rows.setdefault(row["job"], []).append(read(row["row"]))
    return rows


def stress_rows(
    work: Sequence[StressJob],
    processes: int,
    kind: type[Row],
    do: Callable[[StressJob], list[Row]],
    rows_file: Path | None = None,
) -> Iterator[Row]:
    """What ``do`` makes of every job, rows of a ``kind``, as they come. With a file ``rows_file`` (one JSON object a
    line) those in it are not made again, and new ones are added to it: a long run may be cut short and taken up again.
    Frames come in an order of no meaning, so that what is cut short is still of every kind."""
    judged = kept_rows(rows_file, kind)
    yield from (row for job in work for row in judged.get(job.name, ()))
    todo = [job for job in work if job.name not in judged]
    todo.sort(key=lambda job: zlib.crc32(f"{job.folder.name}/{job.index}".encode()))
    for rows in run_all(todo, processes, partial(run_named, do)):
        for name, row in rows:
            if rows_file:
                with rows_file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"job": name, "row": asdict(row)}) + "\n")
            yield row


def run_named(do: Callable[[StressJob], list[Row]], job: StressJob) -> list[tuple[str, Row]]:
    """What a job gives, with its name beside each row."""
    return [(job.name, row) for row in do(job)]


def _refused(name: str, card: Card, zones: dict, why: str) -> list[ZoneScore]:
    return [unjudged_score(name, zone, card, row, why) for zone, row in sorted(zones.items())]


def effect_names(wanted: str | None) -> list[str]:
    """The effects of a list with commas, all when none is given. Raises KeyError with a name that is none."""
    names = [name.strip() for name in wanted.split(",")] if wanted else list(EFFECTS)
    for name in names:
        EFFECTS[name]
    return names
