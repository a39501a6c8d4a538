"""Runs the observer over folders like the dev set: one job a frame, on as many processes as wanted."""

import json
import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import cv2

from calibration.camera import load_camera
from calibration.errors import FewPieces
from cards.deck import load_deck
from cards.pieces import load_piece_set
from referee.benchmark.effects.scene import Inputs
from referee.benchmark.scoring import ZoneScore, score_frame
from referee.errors import BadImage
from referee.recording.folder import CAMERA, DECK, PIECES, PLACED, of_camera, read_placed
from referee.vision.image.files import read_picture
from referee.vision.observer import Judgement, Observer, judge_views
from referee.workers import end_with_parent


@dataclass(frozen=True)
class Knowledge:
    """What the observer is given of a rig beside its pieces; ``second``: another camera's pictures, where there are."""

    empty: bool = True
    colors: bool = True
    camera: bool = True
    second: bool = True


ALL_KNOWLEDGE = Knowledge()


@dataclass(frozen=True)
class Job:
    """One frame of one session folder."""

    folder: Path
    index: int
    knowledge: Knowledge = ALL_KNOWLEDGE


def sessions(folders: Sequence[Path]) -> list[Path]:
    """Session folders among and in the given ones. Raises BadImage when there are none."""
    found = [
        d
        for f in folders
        for d in ([f] if (f / "truth.json").is_file() else sorted(p.parent for p in f.glob("*/truth.json")))
    ]
    frames = [d for d in found if "frames" in truth_of(d)]
    if not frames:
        raise BadImage(f"{', '.join(map(str, folders))}: no folder with a truth.json of frames in it")
    return frames


@lru_cache(maxsize=64)
def truth_of(folder: Path) -> dict:
    """A session's ``truth.json``. Raises BadImage."""
    try:
        return json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadImage(f"{folder / 'truth.json'}: not to be read ({error})") from None


def jobs(folders: Sequence[Path], knowledge: Knowledge, every: int = 1) -> list[Job]:
    """A job for every (``every``-th) frame."""
    return [Job(folder, i, knowledge) for folder in folders for i in range(0, len(truth_of(folder)["frames"]), every)]


def read_inputs(folder: Path, camera_number: int = 1) -> Inputs:
    """What a session's folder gives of the first camera or the second, with its empty frame as the picture to judge."""
    names = ("empty.jpg", "colours.jpg", CAMERA, PLACED)
    empty_path, colors_path, lens, placed = (folder / of_camera(name, camera_number) for name in names)
    empty, colors = read_picture(empty_path), read_picture(colors_path)
    camera = load_camera(lens) if lens.exists() else None
    return Inputs(empty, load_piece_set(folder / PIECES), camera, empty, colors, read_placed(placed))


def observer_of(inputs: Inputs, knowledge: Knowledge = ALL_KNOWLEDGE, kind: type[Observer] = Observer) -> Observer:
    """An observer that has learnt what the inputs give, as far as its ``knowledge`` goes."""
    empty = inputs.empty if knowledge.empty else None
    observer = kind(inputs.piece_set, inputs.camera if knowledge.camera else None, empty=empty)
    observer.placed = dict(inputs.placed)
    if knowledge.colors and inputs.colors is not None:
        with suppress(FewPieces):  # then it judges without, as ``referee judge`` does
            observer.learn_colors(inputs.colors)
            observer.learn_sizes(inputs.colors)
    return observer


@lru_cache(maxsize=4)
def rig_observer(folder: Path, knowledge: Knowledge = ALL_KNOWLEDGE, camera_number: int = 1) -> Observer:
    """The observer of a session's folder, of its first camera or its second."""
    return observer_of(read_inputs(folder, camera_number), knowledge)


def judge_frame(folder: Path, truth: dict, knowledge: Knowledge = ALL_KNOWLEDGE) -> tuple[Judgement, list[ZoneScore]]:
    """Judge the frame of a session that its ``truth`` is about: what is said, and its zones' scores."""
    observer, image = rig_observer(folder, knowledge), folder / truth["image"]
    card = load_deck(folder / DECK).card(truth["card"])
    views = [(observer, read_picture(image))]
    beside = folder / of_camera(truth["image"], 2)
    if knowledge.second and beside.exists():
        views.append((rig_observer(folder, knowledge, 2), read_picture(beside)))
    judgement = judge_views(views, card)
    name = f"{folder.name}/{truth['image']}"
    return judgement, score_frame(judgement, name, card, truth["zones"], observer.piece_set)


def run(job: Job) -> list[ZoneScore]:
    """Judge one frame: its zones' scores."""
    return judge_frame(job.folder, truth_of(job.folder)["frames"][job.index], job.knowledge)[1]


def run_all(work: Sequence, processes: int, do: Callable = run) -> Iterator[list]:
    """Results of doing each job as they come. With one process everything runs in this one."""
    if processes <= 1:
        yield from map(do, work)
        return
    # Not forked from this process, which may have threads. One thread a worker, or they get in each other's way.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    with ProcessPoolExecutor(processes, context, initializer=_be_one_of_many) as pool:
        for done in as_completed([pool.submit(do, job) for job in work]):
            yield done.result()


def _be_one_of_many() -> None:
    """One thread, and no life after the parent's."""
    cv2.setNumThreads(1)
    end_with_parent()
