"""Where the processor seconds of a bench go, by stage of seeing: sessions judged in this process, zone after zone.

    python tests/vision/bench_stages.py SESSION_DIR …

A stage is the time of its own functions without that of other stages within them, but learning, which is all it
takes; ``other`` is reading pictures, scoring, and what lies between.
"""

from __future__ import annotations

import functools
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import cv2

from referee.benchmark import run
from referee.vision import observer as seeing

STAGES = {
    "learning": ("learn_empty", "learn_colors", "learn_sizes"),
    "mats": ("look",),
    "view": ("zones",),
    "light": ("_palette_now", "light_alarms"),
    "evidence": ("gather_evidence",),
    "catalogue": ("catalogue",),
    "search": ("canvas_of", "search", "joint_readings", "joint_fit"),
    "proof": ("shown_of", "visibility_of"),
    "verdict": ("decide",),
}
"""Functions of ``referee.vision.observer`` and methods of its ``Observer``."""

SPENT = dict.fromkeys((*STAGES, "other"), 0.0)
INSIDE, SINCE = ["other"], [time.process_time()]


class AtOnce:
    """A pool that does everything at once, in this thread."""

    map = map

    def __init__(self, max_workers: int) -> None:
        self.max_workers = max_workers

    def __enter__(self) -> AtOnce:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to wait for."""

    def submit(self, do: Callable, *given: Any) -> Future:
        done: Future = Future()
        done.set_result(do(*given))
        return done


def turn() -> None:
    """Count the time since the last turn to the stage that is at work."""
    now = time.process_time()
    SPENT[INSIDE[-1]] += now - SINCE[0]
    SINCE[0] = now


def watched(stage: str, do: Callable) -> Callable:
    """The function, its time counted to a stage."""

    @functools.wraps(do)
    def doing(*given: Any, **options: Any) -> Any:
        turn()
        INSIDE.append("learning" if "learning" in INSIDE else stage)
        try:
            return do(*given, **options)
        finally:
            turn()
            INSIDE.pop()

    return doing


def main(folders: list[str]) -> None:
    """Judge the sessions and print seconds by stage."""
    seeing.ThreadPoolExecutor = AtOnce  # type: ignore[misc,assignment]
    cv2.setNumThreads(1)
    for stage, names in STAGES.items():
        for name in names:
            owner = seeing.Observer if hasattr(seeing.Observer, name) else seeing
            setattr(owner, name, watched(stage, getattr(owner, name)))
    work = run.jobs(run.sessions([Path(folder) for folder in folders]), run.ALL_KNOWLEDGE)
    for job in work:
        run.run(job)
    turn()
    for stage, spent in SPENT.items():
        print(f"{stage:10} {spent:7.2f} s {1000 * spent / len(work):7.1f} ms a picture")
    print(f"{'all':10} {sum(SPENT.values()):7.2f} s {1000 * sum(SPENT.values()) / len(work):7.1f} ms a picture")


if __name__ == "__main__":
    main(sys.argv[1:])
