"""The pictures of an attempt: H.264 in MP4 that is playable at every instant of being written.

While it is recorded the file is a *fragmented* MP4: each fragment of FRAGMENT_S is complete in itself, so a
process killed or a disk filled at any instant costs the last fragment and no more. When the recording is
finished the packets are copied, not encoded again, into an ordinary MP4 with its index in front, which
browsers can step through by single frames.
"""

import io
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import av
import cv2
import numpy as np
from av.codec.context import Flags
from av.video.frame import PictureType

from referee.errors import BadAttempt

TIME_BASE = Fraction(1, 90_000)
"""The constant time base of every video: the 90 kHz of MPEG, good to 11 microseconds."""

FRAGMENT_S = 0.2
"""Length of a fragment: what a kill can cost, and how often the disk is written."""

KEYFRAME_EVERY = 15
"""Frames from one key frame to the next; a browser decodes at most this many to show one."""

CONTAINER_OPTIONS = {
    "movflags": "frag_keyframe+empty_moov+default_base_moof",
    "frag_duration": str(int(FRAGMENT_S * 1e6)),
    "flush_packets": "1",
}
CRF, HURRIED_CRF = 20, 32
"""Quality of the pictures, and of those that wait in a long queue far from the Stop: two thirds of the time, a tenth of
the bytes, and on top of a webcam's noise of three grey levels an error of one more."""


def encoder_options(crf: int) -> dict[str, str]:
    """One thread of x264 at this setting takes 1280 x 720 at about 180 frames a second on a laptop core, against 60 to
    75 for the next two presets at the same bytes: vision has the other core to itself. ``stitchable`` streams of any
    quality have the same headers, so that one follows the other in a file."""
    return {"preset": "ultrafast", "tune": "zerolatency", "crf": str(crf), "x264-params": "stitchable=1"}


class VideoWriter:
    """Writes frames with their times. Every call may raise OSError when the disk is full."""

    def __init__(self, path: Path, width: int, height: int):
        self.frames = 0
        self._file = open(path, "wb", buffering=0)  # noqa: SIM115 - closed by close()
        self._size = (width, height)
        self._container = av.open(self._file, "w", format="mp4", container_options=CONTAINER_OPTIONS)
        self._stream = self._container.add_stream("libx264", rate=30, options=encoder_options(CRF))
        self._stream.width, self._stream.height = width - width % 2, height - height % 2
        self._stream.pix_fmt = "yuv420p"
        self._stream.codec_context.gop_size = KEYFRAME_EVERY
        self._stream.codec_context.thread_count = 1
        self._stream.time_base = self._stream.codec_context.time_base = TIME_BASE
        self._last = -1
        self._is_hurried, self._since = False, 0

    def write(self, image: np.ndarray, seconds: float, hurried: bool = False) -> int:
        """Append image (h, w, 3) uint8 BGR at that time; gives its index. Times must rise.

        ``hurried``: it may cost little and look it; that begins with a key frame's turn and ends at once.
        """
        if image.shape[1::-1] != self._size:
            raise BadAttempt(f"the camera changed its picture from {self._size} to {image.shape[1::-1]}")
        even = image[: self._stream.height, : self._stream.width]
        usual = av.VideoFrame.from_ndarray
        frame = _cheaply_converted(even) if hurried else usual(even, format="bgr24").reformat(format="yuv420p")
        self._last = frame.pts = max(self._last + 1, round(seconds / TIME_BASE))
        frame.time_base = TIME_BASE
        self._container.mux(self._encoded(frame, hurried))
        self.frames += 1
        return self.frames - 1

    def _encoded(self, frame: av.VideoFrame, hurried: bool) -> list[av.Packet]:
        if hurried != self._is_hurried and (not hurried or self._since >= KEYFRAME_EVERY):
            self._is_hurried, self._since = hurried, 0
            frame.pict_type = PictureType.I
        self._since += 1
        if not self._is_hurried:
            return self._stream.encode(frame)
        packets = self._hurried.encode(frame)
        for packet in packets:
            packet.stream = self._stream
        return packets

    @cached_property
    def _hurried(self) -> av.VideoCodecContext:
        """An encoder of the same stream that costs less."""
        made = av.CodecContext.create("libx264", "w")
        assert isinstance(made, av.VideoCodecContext)
        made.width, made.height, made.pix_fmt = self._stream.width, self._stream.height, "yuv420p"
        made.time_base, made.framerate, made.gop_size = TIME_BASE, Fraction(30), KEYFRAME_EVERY
        made.thread_count, made.options = 1, encoder_options(HURRIED_CRF)
        made.flags |= Flags.global_header
        return made

    def close(self) -> None:
        """Write what is left; the file is whole afterwards."""
        with self._file:
            self._container.mux(self._stream.encode(None))
            self._container.close()
            os.fsync(self._file.fileno())

    def abandon(self) -> None:
        """Let go of the file without writing any more to it, keeping the fragments that are whole."""
        path = Path(self._file.name)
        self._file.close()
        with suppress(OSError, ValueError):  # its file is closed on purpose: no more may be written
            self._container.close()
        cut_to_whole(path)


def _cheaply_converted(image: np.ndarray) -> av.VideoFrame:
    """In less than half the time; of four pixels' colours it takes one, where the other takes their mean."""
    return av.VideoFrame.from_ndarray(np.asarray(cv2.cvtColor(image, cv2.COLOR_BGR2YUV_I420), np.uint8), "yuv420p")


def complete_bytes(path: Path) -> int:
    """How many bytes of an MP4 belong to boxes that are there completely.

    A fragmented file cut anywhere is playable when cut back to this (ISO 14496-12, boxes: a 32-bit
    big-endian size that counts itself, then a four-letter type; size 1 means 64 bits follow).
    """
    end, at, good = path.stat().st_size, 0, 0
    with open(path, "rb") as file:
        while at + 8 <= end:
            file.seek(at)
            head = file.read(16)
            size = int.from_bytes(head[:4], "big")
            if size == 1:
                size = int.from_bytes(head[8:16], "big")
            if size < 8 or at + size > end:
                break
            at += size
            if head[4:8] != b"moof":
                good = at
    return good


def cut_to_whole(path: Path) -> None:
    """Cut a torn fragmented MP4 back to its last whole fragment."""
    os.truncate(path, complete_bytes(path))


def remux(source: Path, target: Path) -> None:
    """Copy the packets of one MP4 into an ordinary one with its index in front. May raise OSError."""
    with (
        av.open(str(source)) as given,
        av.open(str(target), "w", format="mp4", options={"movflags": "faststart"}) as made,
    ):
        stream = made.add_stream_from_template(given.streams.video[0])
        stream.time_base = TIME_BASE
        for packet in given.demux(video=0):
            if packet.dts is not None:
                packet.stream = stream
                made.mux(packet)


@dataclass(frozen=True, eq=False)
class VideoFrame:
    """One decoded picture: index from 0, ``seconds`` in video time; ``broken``: it is not what was filmed."""

    index: int
    seconds: float
    decoded: av.VideoFrame
    broken: bool = False

    @cached_property
    def image(self) -> np.ndarray:
        """(h, w, 3) uint8 BGR, turned upright as the file asks; converted when it is first asked for."""
        image, quarters = self.decoded.to_ndarray(format="bgr24"), round(self.decoded.rotation / 90)
        return np.ascontiguousarray(np.rot90(image, quarters)) if quarters else image


SEEK_BACK_S = 10.0
"""A key frame is looked for from so long before the begin of a part: a stream without an index is sought in roughly."""


@dataclass(frozen=True)
class Clip:
    """Part of a video as an MP4 of its own; ``offset_s`` is its first frame's time in the whole."""

    data: bytes
    offset_s: float


def cut_clip(source: Path, begin_s: float, end_s: float, tick: Callable[[], object] = lambda: None) -> Clip:
    """The packets from the key frame at or before ``begin_s`` to ``end_s``, copied; ``tick`` is called for each. Raises
    BadAttempt."""
    made, packets = io.BytesIO(), list[tuple[av.Packet, int, int]]()
    try:
        with av.open(str(source)) as given, av.open(made, "w", format="mp4") as out:
            stream = given.streams.video[0]
            base = _time_base(stream)
            zero = next(pts for frame in given.decode(stream) if (pts := frame.pts) is not None)
            begin = zero + int(max(begin_s, 0.0) / base)
            given.seek(max(zero, begin - int(SEEK_BACK_S / base)), stream=stream)
            target = out.add_stream_from_template(stream)
            for packet in given.demux(stream):
                if packet.dts is None or packet.pts is None or (packet.dts - zero) * base > end_s:
                    break
                tick()
                if packet.is_keyframe and packet.pts <= begin:
                    packets.clear()
                if packet.pts >= packets[0][1] if packets else packet.is_keyframe:
                    packets.append((packet, packet.pts, packet.dts))
            first = packets[0][1]
            for packet, pts, dts in packets:
                packet.pts, packet.dts, packet.stream = pts - first, dts - first, target
                out.mux(packet)
            offset_s = float((first - zero) * base)
    except (av.error.FFmpegError, LookupError, StopIteration, ValueError) as error:
        raise BadAttempt(f"{source}: not a video that can be read ({error})") from None
    return Clip(made.getvalue(), offset_s)


def _time_base(stream: av.VideoStream) -> Fraction:
    """Seconds of one unit of the stream's times. Raises ValueError for a stream that does not say."""
    if stream.time_base is None:
        raise ValueError("its times have no unit")
    return stream.time_base


def read_video(path: Path, start: int = 0) -> Iterator[VideoFrame]:
    """The frames of a video in order from index ``start``. Raises BadAttempt when it cannot be decoded.

    A video that is torn at its end gives the frames before the tear, one that is broken inside goes on after it. Times
    are what the decoder delivers, from the first frame on: what an edit list hides is no frame.
    """
    index, first, errors = 0, None, list[str]()
    try:
        with av.open(str(path)) as container:
            container.streams.video[0].thread_type = "AUTO"
            for frame, broken in _decoded(container, errors):
                if frame.time is None:
                    raise BadAttempt(f"{path}: its frames carry no times")
                first = frame.time if first is None else first
                if index >= start:
                    yield VideoFrame(index, float(frame.time - first), frame, broken)
                index += 1
    except (av.error.FFmpegError, IndexError) as error:
        errors.append(str(error))
    if errors and not index:
        raise BadAttempt(f"{path}: not a video that can be decoded ({errors[0]})")


def _decoded(container: av.container.InputContainer, errors: list[str]) -> Iterator[tuple[av.VideoFrame, bool]]:
    """The frames of a film and which are broken: where the decoder says so, or gave up on a packet (one more of the
    ``errors``), all up to the next key frame, as each is made of those before it.

    Where a packet is lost, only a key frame that is read after it ends that: one before may be shown after it.
    """
    lost = broken = False
    whole_from: int | None = None
    for packet in container.demux(video=0):
        if lost and whole_from is None and packet.is_keyframe:
            whole_from = packet.pts
        try:
            frames = packet.decode()
        except av.error.InvalidDataError as error:
            errors.append(str(error))
            lost, whole_from = True, None
            continue
        for frame in frames:
            assert isinstance(frame, av.VideoFrame)
            lost = lost and (whole_from is None or frame.pts is None or frame.pts < whole_from)
            broken = lost or frame.is_corrupt or (broken and not frame.key_frame)
            yield frame, broken


def read_frame(path: Path, index: int) -> VideoFrame:
    """One frame by index, decoded from the key frame before it. Raises BadAttempt when there is none."""
    times = packet_times(path)
    if not 0 <= index < len(times):
        raise BadAttempt(f"{path}: has no frame {index}, it has {len(times)}")
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        wanted = times[index]
        container.seek(wanted, stream=stream)
        for frame in container.decode(video=0):
            if frame.pts is not None and frame.pts >= wanted:
                seconds = float((frame.pts - times[0]) * _time_base(stream))
                return VideoFrame(index, seconds, frame)
    raise BadAttempt(f"{path}: frame {index} cannot be decoded")


def packet_times(path: Path) -> list[int]:
    """Presentation times of all frames, ascending, in units of the stream's time base; decodes nothing."""
    try:
        with av.open(str(path)) as container:
            return sorted(p.pts for p in container.demux(video=0) if p.pts is not None)
    except (av.error.FFmpegError, IndexError) as error:
        raise BadAttempt(f"{path}: not a video that can be read ({error})") from None


class Times(NamedTuple):
    """Seconds of every frame that the decoder delivers, from the first; from when to when (seconds) the film is
    broken: from a broken frame to the next whole one, or to the last."""

    seconds: list[float]
    broken: list[tuple[float, float]]


def decoded_times(path: Path, tick: Callable[[], object] = lambda: None) -> Times:
    """When a film shows what; ``tick`` is called per frame. Raises BadAttempt for one without frames."""
    found = Times([], [])
    begun: float | None = None
    for frame in read_video(path):
        tick()
        found.seconds.append(frame.seconds)
        if frame.broken and begun is None:
            begun = frame.seconds
        elif not frame.broken and begun is not None:
            found.broken.append((begun, frame.seconds))
            begun = None
    if not found.seconds:
        raise BadAttempt(f"{path}: has no frames")
    if begun is not None:
        found.broken.append((begun, found.seconds[-1]))
    return found


def video_start_s(path: Path) -> float:
    """How long after the file's own begin, where a player starts to count, the first picture comes."""
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        if stream.start_time is None or container.start_time is None:
            return 0.0
        return max(0.0, float(stream.start_time * _time_base(stream)) - container.start_time / av.time_base)


def frame_seconds(path: Path) -> list[float]:
    """Seconds of every frame from the first, by the video's own clock."""
    times = packet_times(path)
    with av.open(str(path)) as container:
        base = _time_base(container.streams.video[0])
    return [float((t - times[0]) * base) for t in times]
