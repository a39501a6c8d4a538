"""Measures recording beside vision: ``python tests/attempts/bench_recorder.py [SECONDS] [LOADS]``.

1280 x 720 at 30 frames a second with a webcam's noise, for SECONDS (default 20), while LOADS processes
(default 1) keep a core each busy as vision would. Prints frames recorded and dropped, and how long ``frame``
kept the camera's thread waiting.
"""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
import time
from pathlib import Path

import cv2
import numpy as np

from referee.attempt import Budget, Recorder, load_attempt
from referee.attempt.video import read_video
from referee.ports import Frame, SystemClock

GOLDEN = Path(__file__).parents[1] / "golden" / "attempt_collapse" / "video.mp4"


def busy() -> None:
    """Use one core as vision does."""
    cv2.setNumThreads(1)
    image = np.random.default_rng(0).integers(0, 255, (720, 1280), np.uint8)
    while True:
        cv2.GaussianBlur(image, (0, 0), 5)


def noisy_frames(count: int = 60) -> list[np.ndarray]:
    """Frames of the golden clip at 720p with a sensor's noise."""
    rng, found = np.random.default_rng(1), []
    for frame in read_video(GOLDEN):
        big = cv2.resize(frame.image, (1280, 720)).astype(np.int16)
        found.append(np.clip(big + rng.normal(0, 3, big.shape), 0, 255).astype(np.uint8))
        if len(found) == count:
            return found
    return found


def main(seconds: float, loads: int) -> None:
    """Record and print."""
    frames, clock, waits = noisy_frames(), SystemClock(), []
    context = multiprocessing.get_context("spawn")
    load = [context.Process(target=busy, daemon=True) for _ in range(loads)]
    for process in load:
        process.start()
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(Path(folder), clock, budget=Budget(free_bytes=0))
        due, made = clock.now_s(), None
        for n in range(int(seconds * 30)):
            if n == 60:
                made = recorder.begin({"match_id": "bench", "card": "X"})
            begun = time.perf_counter()
            recorder.frame(Frame(frames[n % len(frames)], n, clock.now_s()))
            waits.append(time.perf_counter() - begun)
            due += 1 / 30
            clock.sleep(due - clock.now_s())
        late = recorder.status()["waiting"]
        recorder.finish()
        recorder.close()
        kept = len(load_attempt(made).seconds)
        size = (made / "video.mp4").stat().st_size / 1e6
    for process in load:
        process.kill()
    waits_ms = np.array(waits) * 1e3
    print(f"{n + 1} frames offered, {kept} recorded, {recorder.dropped} dropped, {late} waiting at the end,"
          f" {size:.1f} MB, frame() took {np.median(waits_ms):.3f} ms, {waits_ms.max():.1f} ms at most")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
