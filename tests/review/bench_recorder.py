"""Measures recording beside vision: ``python tests/review/bench_recorder.py [SECONDS]``.

1280 x 720 at 30 frames a second with a webcam's noise, for SECONDS (default 20), in one process with the real
live vision, as in play: until the Stop at half time the gate looks at every frame it can, from then on builds
are judged without a pause, which no duel asks for. Prints frames recorded and dropped, how long ``frame`` kept
the camera's thread waiting, and what vision got done.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

import cv2
import numpy as np

from calibration.camera import CameraModel
from referee.devices.ports import Frame, SystemClock
from referee.recording import Attempt, Budget, Recorder, load_attempt
from referee.recording.video import read_video
from referee.review.observer import observer_of
from referee.vision.live.gate import Gate

GOLDEN = Path(__file__).parents[1] / "golden" / "attempt_collapse"
WIDTH, HEIGHT, FPS = 1280, 720, 30


class Vision:
    """Looks at the newest frame on a thread of its own; told so, it judges instead."""

    def __init__(self, attempt: Attempt):
        self.observer = observer_of(attempt)
        self.observer.camera = resized(attempt.camera)
        self.observer.warm_up()
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


def film(recorder: Recorder, vision: Vision, seconds: float) -> tuple[Path, list[float]]:
    """Offer frames at FPS as a camera's thread does; gives the folder and how long each call took."""
    frames, clock, waits, folder = noisy_frames(), SystemClock(), [], None
    due = clock.now_s()
    for n in range(round(seconds * FPS)):
        frame = Frame(frames[n % len(frames)], n, clock.now_s())
        if n == 2 * FPS:
            folder = recorder.begin({"match_id": "bench", "card": "X"})
        if n == round(seconds * FPS / 2):
            recorder.mark("stop", frame.at_s, zone="A")
            vision.judging = True
        begun = time.perf_counter()
        recorder.frame(frame)
        waits.append(time.perf_counter() - begun)
        vision.newest = frame
        due += 1 / FPS
        clock.sleep(max(0.0, due - clock.now_s()))
    return folder, waits


def main(seconds: float) -> None:
    """Record and print."""
    vision = Vision(load_attempt(GOLDEN))
    with tempfile.TemporaryDirectory() as root:
        recorder = Recorder(Path(root), SystemClock(), budget=Budget(free_bytes=0))
        folder, waits = film(recorder, vision, seconds)
        late = recorder.status()["waiting"]
        recorder.finish()
        vision.close()
        recorder.close()
        kept = len(load_attempt(folder).seconds)
        size = (folder / "video.mp4").stat().st_size / 1e6
    waits_ms = np.array(waits) * 1e3
    print(
        f"{len(waits)} frames offered, {kept} recorded, {recorder.dropped} dropped, {late} waiting at the end, "
        f"{size:.1f} MB; frame() took {np.median(waits_ms):.3f} ms, {waits_ms.max():.1f} ms at most"
    )
    print(
        f"beside it {len(vision.looks) / seconds * 2:.1f} looks a second of the gate, then "
        f"{len(vision.judgements)} judgements of both fields in {np.median(vision.judgements):.2f} s each"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
