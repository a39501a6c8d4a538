"""Measures recording beside vision: ``python tests/review/bench_recorder.py [SECONDS [BUSY]]``.

1280 x 720 at 30 frames a second with a webcam's noise, for SECONDS (default 20), in one process with the real
live vision, as in play: until the Stop at half time the gate looks at every frame it can, from then on builds
are judged without a pause, which no duel asks for. BUSY processes (default none) compute beside it and want nothing.
The Stop is told 0.2 s after the press. Prints frames recorded and dropped, within NEAR_STOP_S of the Stop and farther,
the gaps between them, how long ``frame`` kept the camera's thread waiting, and what vision got done.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import tempfile
import threading
import time
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np

from calibration.camera import CameraModel
from referee.devices.ports import Frame, SystemClock
from referee.recording import Attempt, Budget, Recorder, load_attempt
from referee.recording.recorder import NEAR_STOP_S
from referee.recording.video import read_video
from referee.review.film import observer_of
from referee.vision.live.gate import Gate

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
WIDTH, HEIGHT, FPS = 1280, 720, 30
TOLD_S = 0.2


class Vision:
    """Looks at the newest frame on a thread of its own; told so, it judges instead."""

    def __init__(self, attempt: Attempt):
        self.observer = observer_of(attempt)
        self.observer.camera = resized(attempt.camera)
        self.newest: Frame | None = None
        self.judging = False
        self.looks: list[float] = []
        self.judgements: list[float] = []
        self._card, self._gate, self._over = attempt.card, Gate(self.observer), threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        seen = -1
        while not self._over.is_set():
            frame = self.newest
            if frame is None or frame.number == seen:
                self._over.wait(0.001)
                continue
            seen, begun = frame.number, time.perf_counter()
            if self.judging:
                self.observer.judge([frame.image], self._card)
            else:
                self._gate.look(frame)
            (self.judgements if self.judging else self.looks).append(time.perf_counter() - begun)


def resized(camera: CameraModel) -> CameraModel:
    """The lens for pictures of WIDTH x HEIGHT."""
    scale = np.diag([WIDTH / camera.width, HEIGHT / camera.height, 1.0])
    return CameraModel(WIDTH, HEIGHT, scale @ camera.matrix, camera.distortion)


def noisy_frames(count: int = 60) -> list[np.ndarray]:
    """The last frames of the golden clip, in which the build stands, at 720p with a sensor's noise."""
    rng, found = np.random.default_rng(1), []
    for frame in list(read_video(GOLDEN / "video.mp4"))[-count:]:
        big = cv2.resize(frame.image, (WIDTH, HEIGHT)).astype(np.int16)
        found.append(np.clip(big + rng.normal(0, 3, big.shape), 0, 255).astype(np.uint8))
    return found


def film(recorder: Recorder, vision: Vision, seconds: float) -> tuple[Path, list[float], float]:
    """Offer frames at FPS as a camera's thread does, of which one that comes late loses frames; gives the folder, how
    long each call took, and the time of the Stop."""
    frames, clock, waits, folder = noisy_frames(), SystemClock(), [], None
    begun_s, stop_s, n, told = clock.now_s(), math.inf, -1, False
    while (now_s := clock.now_s()) < begun_s + seconds:
        number = int((now_s - begun_s) * FPS)  # what a late thread finds is the newest frame
        if number == n:
            time.sleep(max(0.0, begun_s + (n + 1) / FPS - now_s))
            continue
        n = number
        frame = Frame(frames[n % len(frames)], n, now_s)
        if folder is None and n >= 2 * FPS:
            folder = recorder.begin({"match_id": "bench", "card": "X"})
        if stop_s == math.inf and n >= seconds * FPS / 2:
            stop_s, vision.judging = now_s, True
        if now_s >= stop_s + TOLD_S and not told:
            recorder.mark("stop", stop_s, zone="A")
            told = True
        begun = time.perf_counter()
        recorder.frame(frame)
        waits.append(time.perf_counter() - begun)
        vision.newest = frame
    assert folder is not None
    return folder, waits, stop_s


def said(attempt: Attempt, near: bool) -> str:
    """What was recorded and lost near the Stop, or far from it."""
    stop = attempt.stop_s or 0.0

    def fits(seconds: float) -> bool:
        return (abs(seconds - stop) <= NEAR_STOP_S) == near

    gaps = [b - a for a, b in pairwise(attempt.seconds) if fits(a) and fits(b)]
    rows = [(d["where"], d["frames"]) for d in attempt.meta["dropped"] if fits(d["seconds"])]
    camera, recorder = (sum(count for at, count in rows if at == where) for where in ("camera", "recorder"))
    kept = sum(map(fits, attempt.seconds))
    share = f"{recorder / max(1, kept + recorder):.0%}"
    gap = f"gaps {np.median(gaps):.3f} s in the middle, {max(gaps):.3f} s at most" if gaps else "no gaps"
    return f"{kept} recorded, {recorder} dropped by the recorder ({share}), {camera} by the camera; {gap}"


def main(seconds: float, busy: int) -> None:
    """Record and print."""
    vision = Vision(load_attempt(GOLDEN))
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(busy)]
    with tempfile.TemporaryDirectory() as root:
        recorder = Recorder(Path(root), SystemClock(), budget=Budget(free_bytes=0))
        try:
            folder, waits, _ = film(recorder, vision, seconds)
        finally:
            for other in others:
                other.kill()
                other.wait()
        late = recorder.status()["waiting"]
        recorder.finish()
        vision.close()
        recorder.close()
        attempt = load_attempt(folder)
        told = [said(attempt, near) for near in (True, False)]
        size = (folder / "video.mp4").stat().st_size / 1e6
    waits_ms = np.array(waits) * 1e3
    print(
        f"{busy} busy processes beside, load {os.getloadavg()[0]:.0f}: {len(waits)} frames offered, {late} waiting at "
        f"the end, {size:.1f} MB; frame() took {np.median(waits_ms):.3f} ms, {waits_ms.max():.1f} ms at most"
    )
    print(f"within {NEAR_STOP_S} s of the Stop: {told[0]}\nfarther: {told[1]}")
    print(
        f"beside it {len(vision.looks) / seconds * 2:.1f} looks a second of the gate, then "
        f"{len(vision.judgements)} judgements of both fields in {np.median(vision.judgements or [np.nan]):.2f} s each"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0, int(sys.argv[2]) if len(sys.argv) > 2 else 0)
