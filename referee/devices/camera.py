"""Cameras: a webcam by name, path or index, a phone's MJPEG or RTSP address, or a recorded file that plays as one.

Each owns one reader thread. It opens the source, hands every frame to the listeners and to whoever waits
in ``latest``, and opens the source again when it fails; until then ``latest`` raises DeviceLost.
"""

import math
import mmap
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np

from cards.sentences import sentence
from referee.devices.camera_settings import CameraSettings, Controls
from referee.devices.clock_sync import FrameTie
from referee.devices.ports import Clock, Frame
from referee.devices.webcams import Webcam, find_webcam
from referee.errors import DeviceLost
from referee.workers import Background

RETRY_S = 0.7
"""Wait between two tries to open a source that is gone."""

URL_TIMEOUT_MS = 4000
HISTORY = 40
"""Frames over which their rate is taken: over a second at 30 a second."""

EVEN_FRAMES = 12
"""From so many arrivals on the frames' rate is known."""

RATE_FRAMES = 6
"""Over so many frames the rate is taken, again and again: those that come in pairs or threes come evenly over six."""

UNEVEN_S = 0.2
"""By so much a frame may be late while the rate is not known."""

PAUSED_S, IN_TIME_FRAMES = 0.5, 3
"""A frame that is later than this came after a pause; if so many after it take their time, nothing was waiting."""

BACKLOG_S, OPENING_S = 0.015, 3.0
"""As a stream is opened, frames that follow one another sooner were made a while ago and are left out, for so long."""

STAMPS = 100
"""Frames by which a stream's stamps are held against its arrivals: three seconds at 30 a second."""

EARLY = 0.25
"""A frame counts as the next but one when it is later than 0.75 periods after the next was due."""

UNSTAMPED = ("http://", "https://")
"""Streams without time stamps of their own: FFmpeg numbers the frames of an MJPEG stream at 25 a second, however many
come, and its ``use_wallclock_as_timestamps`` is the arrival as well, rounded to 40 ms."""

WIRE_S = (0.005, 0.035)
"""From exposure to arrival of a webcam's frame: at least its transfer, at most one frame at 30 a second."""

NETWORK_S = (0.0, 0.28)
"""The same for a network camera, which encodes and sends first, when nothing holds the frame up. On one machine
GStreamer's RTSP server takes 0.001 to 0.155 s."""

STAMPED_WITHIN_S = 1.0
"""A webcam's stamp that is at most so old by the monotonic clock is by that clock."""

END_PACE_S = 0.2
"""After its end a recorded file shows its last picture this often."""


def empty_picture(height: int, width: int) -> np.ndarray:
    """A black picture (height, width, 3) uint8 in pages of its own.

    A frame lives for seconds among thousands of short-lived arrays: on the heap it would keep all that is freed
    around it from being given back.
    """
    return np.frombuffer(mmap.mmap(-1, height * width * 3), np.uint8).reshape(height, width, 3)


class LateArrivals:
    """By how much a frame may have been held up: it came so long after the line that the last frames' even rate draws
    through the quickest of them. Frames may also have been left out meanwhile, so this is a bound."""

    def __init__(self) -> None:
        self._arrived: deque[float] = deque(maxlen=HISTORY)
        self._before_s = self._late_s = 0.0
        self._in_time = 0

    def late_s(self, arrived_s: float) -> float:
        """At most so many seconds for the frame that arrived now (host seconds)."""
        since_s, self._before_s = arrived_s - self._before_s, arrived_s
        if self._late_s > 0:
            self._late_s += since_s - self._period_s()
            self._in_time = 0 if since_s < self._period_s() / 2 else self._in_time + 1
            if self._late_s > 0 and self._in_time < IN_TIME_FRAMES:
                return self._late_s
            self._arrived.clear()
        self._arrived.append(arrived_s)
        late_s = UNEVEN_S
        if len(self._arrived) >= EVEN_FRAMES:
            period_s, newest = self._period_s(), len(self._arrived) - 1
            late_s = arrived_s - min(at + (newest - n) * period_s for n, at in enumerate(self._arrived))
        self._late_s, self._in_time = (late_s if late_s > PAUSED_S else 0.0), 0
        return late_s

    @property
    def starts_anew(self) -> bool:
        """Whether the newest frame is the first of an even rate: of the source, or after a pause."""
        return len(self._arrived) == 1

    def _period_s(self) -> float:
        arrived = list(self._arrived)
        spans = zip(arrived, arrived[RATE_FRAMES:], strict=False)
        return statistics.median((b - a) / RATE_FRAMES for a, b in spans)

    def restart(self) -> None:
        """The source was opened again: its rate may be another."""
        self._arrived.clear()
        self._late_s = 0.0


class FrameCounter:
    """Numbers frames, with gaps where their stamps show that some never came (``dropped``): what arrives unevenly, or
    has no stamps, proves no loss."""

    def __init__(self) -> None:
        self._periods_us: deque[float] = deque(maxlen=HISTORY)
        self._stamp_us = 0
        self._next = self.dropped = 0

    def count(self, stamp_us: int) -> int:
        """The number of the next frame, of that stamp; 0 for none."""
        gap_us, missed = stamp_us - self._stamp_us, 0
        if stamp_us and self._stamp_us and gap_us > 0:
            if len(self._periods_us) >= 11:
                missed = max(0, math.floor(gap_us / statistics.median(self._periods_us) + EARLY) - 1)
            self._periods_us.append(gap_us / (missed + 1))
        self._stamp_us = stamp_us
        self.dropped += missed
        number, self._next = self._next + missed, self._next + missed + 1
        return number

    def restart(self) -> None:
        """The source was opened again: its rate may be another, the numbers go on."""
        self._periods_us.clear()
        self._stamp_us = 0


class DriverStamps:
    """A driver's time stamps, told by the host's clock.

    Linux stamps a webcam's frames by the monotonic clock, which NTP slews and the host's clock does not follow: what
    both showed at the last frames says what a stamp between them was on the host's. Stamps of any other clock are
    given back as they are.
    """

    def __init__(self) -> None:
        self._shown: deque[tuple[float, float]] = deque(maxlen=HISTORY)

    def to_host_us(self, stamp_us: int, host_s: float) -> int:
        """The stamp of a frame that arrived at ``host_s``, now."""
        now_s = time.monotonic()
        self._shown.append((now_s, host_s))
        if not now_s - STAMPED_WITHIN_S <= stamp_us * 1e-6 <= now_s:
            return stamp_us
        back_s = min(0.0, stamp_us * 1e-6 - self._shown[0][0])  # longer ago than what is remembered
        shown = np.array(self._shown)
        return int((np.interp(stamp_us * 1e-6, shown[:, 0], shown[:, 1]) + back_s) * 1e6)


class ThreadedCamera(Background):
    """The common part: one reader thread, waiting readers, listeners. Subclasses give ``_read_all``, in ``dropped`` how
    many frames the source made and nobody got, and in ``frame_error_s`` a bound of the error of the newest one's time.

    ``source`` opens the same camera again, ``name`` is for people; ``settings`` are those of its device.
    """

    simulated = False

    def __init__(self, source: str, clock: Clock) -> None:
        super().__init__(f"camera {source}")
        self.source = self.name = source
        self.clock, self.settings = clock, CameraSettings()
        self._news = threading.Condition()
        self._frame: Frame | None = None
        self._lost: str | None = None
        self._listeners: list[Callable[[Frame], None]] = []
        self._frames, self.dropped, self.frame_error_s = 0, 0, 0.0
        self._recent: deque[tuple[float, float]] = deque(maxlen=30)

    def adjust(self, how: Callable[[Controls], None]) -> None:
        """Have that done to the device between two frames; nothing to one without settings, or that gives no frame."""

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame | None:
        """The newest frame with a number above ``after``; None when the time runs out.

        Raises DeviceLost while the source cannot be read and after ``close``.
        """
        with self._news:
            self._news.wait_for(lambda: self._lost or self._closing.is_set() or self._newer(after), timeout_s)
            if self._newer(after) and not self._lost:
                return self._frame
            if self._lost or self._closing.is_set():
                raise DeviceLost(sentence("camera_lost", name=self.name, fault=self._lost or sentence("camera_closed")))
            return None

    def listen(self, callback: Callable[[Frame], None]) -> None:
        """Call back with every frame, on the reader thread."""
        self._listeners.append(callback)

    def status(self) -> dict:
        """Frames read and lost, frames a second, how old they are as they come, and why there are none (or None)."""
        recent = list(self._recent)
        times = [at_s for at_s, _ in recent]
        rate = (len(times) - 1) / (times[-1] - times[0]) if len(times) > 1 and times[-1] > times[0] else 0.0
        return {
            "name": self.name,
            "simulated": self.simulated,
            "frames": self._frames,
            "dropped": self.dropped,
            "fps": round(rate, 1),
            "lost": self._lost,
            "frame_error_s": round(self.frame_error_s, 4),
            "delay_s": round(statistics.median(late_s for _, late_s in recent), 3) if recent else 0.0,
        }

    def close(self) -> None:
        """End the reader thread and let the source go."""
        self._closing.set()
        with self._news:
            self._news.notify_all()
        self._thread.join(timeout=URL_TIMEOUT_MS / 1000 + 2)

    def _newer(self, after: int) -> bool:
        return self._frame is not None and self._frame.number > after

    def _publish(self, frame: Frame) -> None:
        with self._news:
            self._frame, self._lost = frame, None
            self._frames += 1
            self._recent.append((frame.at_s, self.clock.now_s() - frame.at_s))
            self._news.notify_all()
        for callback in self._listeners:
            callback(frame)

    def _lose(self, reason: str) -> None:
        with self._news:
            self._lost = reason
            self._news.notify_all()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._read_all()
            self._closing.wait(RETRY_S)

    def _read_all(self) -> None:
        """Open the source and publish its frames until it fails (then ``_lose``) or closing."""
        raise NotImplementedError


class VideoCamera(ThreadedCamera):
    """A webcam by its index, its name or a path (``referee.devices.webcams``), or a network camera by its address."""

    def __init__(self, source: str, clock: Clock, size: tuple[int, int] = (1280, 720)) -> None:
        super().__init__(source, clock)
        self._network, self._size = "://" in source, size
        self._recognise()
        self._late, self._counter = LateArrivals(), FrameCounter()
        self._latency_s = NETWORK_S if self._network else WIRE_S
        self._tie = FrameTie(self._latency_s, window=STAMPS)
        self.frame_error_s = self._latency_s[1]
        self._stamp_us, self._stamps = 0, DriverStamps()
        self._in_use = threading.Lock()
        self._device: Controls | None = None
        self.start()

    def adjust(self, how: Callable[[Controls], None]) -> None:
        """By whoever asks: a driver takes settings while a frame is read."""
        with self._in_use:
            if self._device is not None:
                how(self._device)

    def _placed(self, stamp_us: int, arrived_s: float) -> tuple[int, float]:
        """The frame's number, and the host time of its exposure: by the driver's own time stamp where it has one that
        runs as the arrivals do, else by arrival. Its error is half of what the latency may vary, and what the driver's
        clock may drift or the line hold up."""
        low_s, high_s = self._latency_s
        late_s, latest_s = self._late.late_s(arrived_s), arrived_s - low_s
        if self._late.starts_anew:
            self._tie.clear()
        if self._stamped(stamp_us, arrived_s):
            at_s, self.frame_error_s = self._tie.to_host(stamp_us)
            if latest_s - at_s > PAUSED_S:  # held up, or the stamps count frames and none were made for a while
                at_s, self.frame_error_s = (at_s + latest_s) / 2, self.frame_error_s + (latest_s - at_s) / 2
        else:
            stamp_us, self.frame_error_s = 0, (high_s - low_s + late_s) / 2
            at_s = latest_s - self.frame_error_s
        number = self._counter.count(stamp_us)
        self.dropped = self._counter.dropped
        return number, at_s

    def _stamped(self, stamp_us: int, arrived_s: float) -> bool:
        """Whether that is a stamp to go by."""
        known, self._stamp_us = self._stamp_us, stamp_us
        if stamp_us <= 0 or stamp_us == known or self.source.startswith(UNSTAMPED):
            return False
        self._tie.add(stamp_us, arrived_s)
        return self._tie.keeps_time()

    def _recognise(self) -> Webcam | None:
        """The webcam that is meant, from now on by the path that stays its own; None while it is not there."""
        webcam = None if self._network else find_webcam(self.source)
        if webcam:
            self.source, self.name = webcam.path, webcam.name or self.source
        return webcam

    def _open(self) -> cv2.VideoCapture | None:
        """None for a webcam that is not there: its index may be another's meanwhile."""
        if self._network:
            limits = [cv2.CAP_PROP_OPEN_TIMEOUT_MSEC, URL_TIMEOUT_MS]
            limits += [cv2.CAP_PROP_READ_TIMEOUT_MSEC, URL_TIMEOUT_MS]
            limits += [cv2.CAP_PROP_N_THREADS, 1]  # each more holds back a frame
            return cv2.VideoCapture(self.source, cv2.CAP_FFMPEG, limits)
        webcam = self._recognise()
        if webcam is None and not self.source.isdigit():
            return None
        quiet = cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)  # we say ourselves what is wrong
        try:
            capture = cv2.VideoCapture(webcam.index if webcam else int(self.source))
        finally:
            cv2.utils.logging.setLogLevel(quiet)
        if capture.isOpened():
            capture.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*"MJPG"))
            capture.set(cv2.CAP_PROP_FRAME_WIDTH, self._size[0])
            capture.set(cv2.CAP_PROP_FRAME_HEIGHT, self._size[1])
            capture.set(cv2.CAP_PROP_BUFFERSIZE, 2)
        return capture

    def _read_all(self) -> None:
        capture = self._open()
        if capture is None or not capture.isOpened():
            self._lose(sentence("camera_shut"))
            return
        self._late.restart()
        self._counter.restart()
        before_s = opened_s = self.clock.now_s()
        backlog = self._network
        while not self._closing.is_set():
            there = capture.grab()
            arrived_s = self.clock.now_s()
            backlog = backlog and arrived_s < before_s + BACKLOG_S and arrived_s < opened_s + OPENING_S
            before_s = arrived_s
            if there and backlog:
                continue
            image = capture.retrieve()[1] if there else None
            if image is None:
                self._lose(sentence("camera_ended"))
                break
            if self._device is None:  # now that its stream has started: until then a webcam forgets its settings
                self._device = capture
                self.adjust(self.settings.enforce)
            stamp_us = int(capture.get(cv2.CAP_PROP_POS_MSEC) * 1000)
            if not self._network:
                stamp_us = self._stamps.to_host_us(stamp_us, arrived_s)
            self._publish(Frame(image, *self._placed(stamp_us, arrived_s)))
        with self._in_use:
            self._device = None
            capture.release()


class FileCamera(ThreadedCamera):
    """A recorded file, played once at its own pace; then its last picture stays."""

    def __init__(self, path: str | Path, clock: Clock) -> None:
        super().__init__(str(path), clock)
        self.start()

    def _read_all(self) -> None:
        capture = cv2.VideoCapture(self.source, cv2.CAP_FFMPEG)
        if not capture.isOpened():
            self._lose(sentence("camera_no_video"))
            return
        last = self._play(capture)
        capture.release()
        if last is None and not self._closing.is_set():
            self._lose(sentence("camera_empty"))
        while last is not None and not self._closing.wait(END_PACE_S):
            last = Frame(last.image, last.number + 1, self.clock.now_s())
            self._publish(last)

    def _play(self, capture: cv2.VideoCapture) -> Frame | None:
        begin_s, last, number = self.clock.now_s(), None, -1
        while not self._closing.is_set():
            there, image = capture.read()
            if not there:
                break
            number += 1
            due_s = begin_s + capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
            self._closing.wait(max(0.0, due_s - self.clock.now_s()))
            last = Frame(image, number, due_s)
            self._publish(last)
        return last


def open_camera(source: str, clock: Clock) -> ThreadedCamera:
    """The camera that a user names: a webcam, an address or a file. What is none of them may yet be plugged in."""
    return FileCamera(source, clock) if Path(source).is_file() else VideoCamera(source, clock)
