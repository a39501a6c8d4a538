"""A phone's browser as a camera: its page sends records, each an encoded picture with the time at which it was taken.

The conversation has no network of its own: ``referee.web.phone`` hands over what was posted. The phone says that it
begins, answers round trips that tie its clock (``clock_sync``), and sends H.264 as its encoder makes it, or JPEG files.
A picture's time is what the browser calls its capture time, by the tied clock; that is when the browser got it, and the
exposure was ``EXPOSED_S`` before that. It is never the arrival: after a cut of the network pictures come late.
"""

import math
import queue
import secrets
import struct
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import av
import cv2
import numpy as np
import simplejpeg
from av.codec.context import Flags

from cards.sentences import sentence
from referee.devices.camera import ThreadedCamera, empty_picture
from referee.devices.page_clock import MOST_MS, BadRecords, PageClock
from referee.devices.ports import Clock, Frame

PHONE = "phone"
HEAD = struct.Struct("<BBHIIIdd")
"""Kind, flags, run, sequence, bytes, number of the picture, when it was captured and sent (ms of the page's clock)."""

RUNS = 1 << 16
JPEG, H264 = 0, 1
KEY, CAPTURED = 1, 2
"""Flags: it can be decoded by itself; its time is the browser's capture time and not that of its being shown."""

MOST_BYTES, MOST_RECORDS = 2 << 20, 8
"""Of one post. A key frame of 1280x720 at 6 Mbit/s takes 0.2 MB, and the page sends four records at most."""

MOST_PIXELS = 3840 * 2160
WAITING_POSTS = 2
SILENT_S = 1.0
"""Without a record for so long the phone is lost."""

LATE_S = 1.0
"""An older picture is recorded and never passes for the latest."""

EXPOSED_S, SHOWN_S = (0.0, 0.06), (0.0, 0.12)
"""From exposure to capture time, and to the time at which a browser without capture times shows the picture: estimates,
of up to two frames at 30 a second in the phone's own pipeline, and two more until it is shown."""


@dataclass(frozen=True)
class Record:
    """One encoded picture. ``captured_ms`` is by the page's clock; ``seq`` counts records, ``number`` pictures."""

    kind: int
    flags: int
    run: int
    seq: int
    number: int
    captured_ms: float
    payload: bytes


def read_records(body: bytes) -> tuple[Record, ...]:
    """The records of a post, in their order. Raises BadRecords."""
    found: list[Record] = []
    at, sound = 0, 0 < len(body) <= MOST_BYTES
    while sound and at < len(body):
        if len(body) - at < HEAD.size:
            raise BadRecords(sentence("phone_records"))
        kind, flags, run, seq, size, number, captured_ms, sent_ms = HEAD.unpack_from(body, at)
        at += HEAD.size + size
        in_order = not found or (run, seq) == (found[-1].run, found[-1].seq + 1)
        sound = kind in (JPEG, H264) and size > 0 and at <= len(body) and in_order and len(found) < MOST_RECORDS
        sound = sound and 0 <= captured_ms <= sent_ms < MOST_MS
        found.append(Record(kind, flags, run, seq, number, captured_ms, body[at - size : at]))
    if not sound:
        raise BadRecords(sentence("phone_records"))
    return tuple(found)


class PictureDecoder:
    """Records in, pictures out: each with its record. After a gap it waits for a key frame."""

    def __init__(self) -> None:
        self._codec: Any = None
        self._next = 0
        self._waiting: dict[int, Record] = {}

    def pictures(self, record: Record) -> Iterator[tuple[Record, np.ndarray]]:
        """What that record completes; nothing for one that is older than the last, or follows none that was lost."""
        if record.seq < self._next:
            return
        if record.seq != self._next:
            self._codec = None
        self._next = record.seq + 1
        try:
            if record.kind == JPEG:
                yield record, _jpeg_picture(record.payload)
            else:
                yield from self._h264_pictures(record)
        except (av.error.FFmpegError, ValueError):
            self._codec = None

    def _h264_pictures(self, record: Record) -> Iterator[tuple[Record, np.ndarray]]:
        if self._codec is None:
            if not record.flags & KEY:
                return
            self._codec = av.CodecContext.create("h264", "r")
            self._codec.thread_type, self._codec.thread_count = "SLICE", 2  # by frames a picture would wait for others
            self._codec.flags |= Flags.low_delay
            self._codec.options = {"max_pixels": str(MOST_PIXELS)}
            self._waiting = {}
        if len(self._waiting) >= MOST_RECORDS:
            raise ValueError("no picture for so many records")
        packet = av.Packet(record.payload)
        packet.pts = record.seq
        self._waiting[record.seq] = record
        for picture in self._codec.decode(packet):
            if its := self._waiting.pop(picture.pts, None):
                self._waiting = {seq: other for seq, other in self._waiting.items() if seq > picture.pts}
                yield its, _bgr(picture)


def _bgr(picture: av.VideoFrame) -> np.ndarray:
    """In the colours that the stream says it has; OpenCV converts the usual ones quicker, and does not round."""
    usual = picture.format.name == "yuv420p" and picture.colorspace not in (1, 9, 10) and picture.color_range != 2
    if not usual:  # BT.709, BT.2020, or the full range of a byte
        return picture.to_ndarray(format="bgr24")
    into = empty_picture(picture.height, picture.width)
    return cv2.cvtColor(picture.to_ndarray(), cv2.COLOR_YUV2BGR_I420, dst=into)


def _jpeg_picture(payload: bytes) -> np.ndarray:
    """Raises ValueError for what is none, or larger than any camera's."""
    height, width, *_ = simplejpeg.decode_jpeg_header(payload)
    if height * width > MOST_PIXELS:
        raise ValueError("too many pixels")
    picture: np.ndarray = simplejpeg.decode_jpeg(payload, "BGR", buffer=empty_picture(height, width))
    return picture


class PhoneCamera(ThreadedCamera):
    """The camera of whichever phone takes the place first; ``key`` is what that phone got when it did, ``taken`` that
    one did.

    ``secret`` is the part of the page's address that is told only to who may be the camera. ``link`` is that address,
    ``fingerprint`` that of its certificate; whoever serves the page ends with ``server``, as the camera is closed.
    """

    def __init__(self, clock: Clock) -> None:
        super().__init__(PHONE, clock)
        self.address = self.fingerprint = ""
        self.server = ExitStack()
        self._inbox: queue.Queue[tuple[Record, ...]] = queue.Queue(WAITING_POSTS)
        self._lock = threading.Lock()
        self._decoder, self._decoded_run = PictureDecoder(), 0
        self._page_run, self._first, self._last = 0, 0, -1
        self.free()
        self.start()

    @property
    def link(self) -> str:
        """The whole address of the phone's page."""
        return f"{self.address}{self.secret}/"

    def free(self) -> None:
        """Give the place to the next phone that comes, by a new address; the old one is worth nothing any more."""
        with self._lock:
            self.secret, self.taken, self._key = secrets.token_urlsafe(16), False, secrets.token_urlsafe(16)
            self._begin_run()
        self._lose(sentence("phone_awaited"))

    def holds(self, key: str) -> bool:
        """Whether that key is the phone's that is the camera."""
        return secrets.compare_digest(key.encode(), self._key.encode())

    def begin(self, key: str) -> tuple[str, int]:
        """The key and the run of a phone whose page starts, with a clock and a count of its own. Raises BadRecords when
        another phone is the camera."""
        with self._lock:
            if self.taken and not self.holds(key):
                raise BadRecords(sentence("phone_taken"))
            self.taken = True
            self._begin_run()
            return self._key, self._page_run

    def take(self, body: bytes) -> None:
        """The records of a post; waits while the decoder is behind, and raises BadRecords when that lasts."""
        try:
            self._inbox.put(read_records(body), timeout=SILENT_S)
        except queue.Full:
            raise BadRecords(sentence("phone_behind")) from None

    def close(self) -> None:
        """End the thread, and whoever serves the page."""
        super().close()
        self.server.close()

    def _begin_run(self) -> None:
        """The page's clock and its counts start anew."""
        self._page_run = (self._page_run + 1) % RUNS
        self.page_clock = PageClock(self.clock)

    def _read_all(self) -> None:
        while not self._closing.is_set():
            try:
                records = self._inbox.get(timeout=SILENT_S)
            except queue.Empty:
                if self.taken and not self._lost:
                    self._lose(sentence("phone_silent"))
                continue
            for record in records:
                if record.run == self._page_run:
                    self._decode(record)

    def _decode(self, record: Record) -> None:
        """Publish what the record completes. The error is half of the round trips' window, and half of what the
        exposure may have been before the capture time."""
        if record.run != self._decoded_run:
            self._decoder, self._decoded_run = PictureDecoder(), record.run
            self._first = self._last + 1 - record.number
        for its, image in self._decoder.pictures(record):
            delay_s = EXPOSED_S if its.flags & CAPTURED else SHOWN_S
            exposed_s, error_s = self.page_clock.to_host(its.captured_ms, delay_s)
            number = self._first + its.number
            if math.isinf(error_s) or number <= self._last:
                continue
            self.frame_error_s = error_s
            self.dropped, self._last = self.dropped + number - self._last - 1, number
            self._publish(Frame(image, number, exposed_s))

    def _publish(self, frame: Frame) -> None:
        if self.clock.now_s() - frame.at_s < LATE_S:
            return super()._publish(frame)
        for callback in self._listeners:
            callback(frame)
