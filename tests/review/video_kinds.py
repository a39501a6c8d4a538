"""Thirty and more kinds of video of one recorded duel, as phones, cameras, messengers and careless people make them.

Each kind is a function of the source folder and a scratch folder; what it gives says how it is imported and what must
come of it. All are made here with PyAV; nothing is kept.
"""

from __future__ import annotations

import shutil
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np

from referee.recording import Attempt, load_attempt
from referee.recording.video import read_video, remux

MS = Fraction(1, 1000)
FAST: Mapping[str, str] = {"preset": "veryfast", "crf": "20"}
SHAKE_PX = 12.0


@dataclass(frozen=True)
class Case:
    """A video and how it is imported. ``words``: more options of ``referee import``; ``beside``: files of the source
    that are named; ``verdict`` of the caller (None: refused in one line that holds ``says``); ``finding``: what must
    be found of the caller's field, or None."""

    video: Path
    verdict: str | None
    words: tuple[str, ...] = ()
    stop_by_s: float = 0.0
    beside: tuple[str, ...] = ("deck.json", "pieces.json", "camera.yaml")
    finding: str | None = None
    says: str = ""


Shown = tuple[float, np.ndarray]
"""Seconds and the picture (h, w, 3) uint8 BGR."""


@dataclass(frozen=True)
class Coding:
    """How a film is encoded: the codec with its options, pixel format, the container's options, tags of the stream."""

    codec: str = "libx264"
    options: Mapping[str, str] = field(default_factory=lambda: dict(FAST))
    pixels: str = "yuv420p"
    container: Mapping[str, str] = field(default_factory=dict)
    late_s: float = 0.0
    audio: bool = False


def frames(source: Path) -> Iterator[Shown]:
    """The source's pictures with their times."""
    for shown in read_video(source / "video.mp4"):
        yield shown.seconds, shown.image


def encode(path: Path, shown: Iterable[Shown], coding: Coding = Coding()) -> Path:
    """Write a film, its picture ``late_s`` into the file, with a tone from the file's begin on if there is audio."""
    with av.open(str(path), "w", options=dict(coding.container)) as out:
        sound = out.add_stream("aac", rate=16000) if coding.audio else None
        stream, last = None, 0.0
        for last, image in shown:
            if stream is None:
                stream = out.add_stream(coding.codec, rate=60, options=dict(coding.options))
                stream.height, stream.width = image.shape[0] // 2 * 2, image.shape[1] // 2 * 2
                stream.pix_fmt = coding.pixels
                stream.time_base = stream.codec_context.time_base = MS
                if sound is not None:
                    _tone(out, sound, 20.0)
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[: stream.height, : stream.width]), "bgr24")
            frame = frame.reformat(format=coding.pixels)
            frame.pts, frame.time_base = round((last + coding.late_s) / MS), MS
            out.mux(stream.encode(frame))
        assert stream is not None, "no pictures"
        out.mux(stream.encode(None))
    return path


def _tone(out: av.container.OutputContainer, stream: av.AudioStream, seconds: float) -> None:
    for n in range(int(seconds * 16000 / 1024)):
        wave = np.sin(np.arange(n * 1024, (n + 1) * 1024) * 0.1).astype(np.float32)[None] * 0.1
        frame = av.AudioFrame.from_ndarray(wave, "fltp", "mono")
        frame.sample_rate, frame.pts, frame.time_base = 16000, n * 1024, Fraction(1, 16000)
        out.mux(stream.encode(frame))
    out.mux(stream.encode(None))


def changed(shown: Iterable[Shown], change: Callable[[np.ndarray], np.ndarray]) -> Iterator[Shown]:
    """The same with every picture changed."""
    return ((seconds, change(image)) for seconds, image in shown)


def at_rate(shown: Iterable[Shown], fps: float) -> Iterator[Shown]:
    """Another rate: each instant shows the latest picture."""
    number = 0
    before = None
    for seconds, image in shown:
        while before is not None and number / fps < seconds:
            yield number / fps, before
            number += 1
        before = image


def gain(by: float) -> Callable[[np.ndarray], np.ndarray]:
    """Brighter or darker by that factor, clipped."""
    table = np.clip(np.arange(256) * by, 0, 255).astype(np.uint8)
    return lambda image: table[image]


def scaled(width: int) -> Callable[[np.ndarray], np.ndarray]:
    """Another width, the same shape."""

    def change(image: np.ndarray) -> np.ndarray:
        size = (width, round(image.shape[0] * width / image.shape[1] / 2) * 2)
        return cv2.resize(image, size, interpolation=cv2.INTER_AREA if width < image.shape[1] else cv2.INTER_CUBIC)

    return change


def portrait(image: np.ndarray) -> np.ndarray:
    """As a messenger shows a landscape film upright, 540 wide: black above and below."""
    small = scaled(540)(image)
    out = np.zeros((960, 540, 3), np.uint8)
    top = (960 - len(small)) // 2
    out[top : top + len(small)] = small
    return out


def shaken(shown: Iterable[Shown], seed: int = 1) -> Iterator[Shown]:
    """Held by hand: a slow walk of up to SHAKE_PX pixels and half a degree."""
    rng = np.random.default_rng(seed)
    rates, phases = rng.uniform(0.3, 2.2, (3, 4)), rng.uniform(0, 6.28, (3, 4))
    for seconds, image in shown:
        x, y, turn = np.sin(rates * 6.28 * seconds + phases).sum(1) / 2.5
        height, width = image.shape[:2]
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), 0.4 * float(turn), 1.0)
        matrix[:, 2] += SHAKE_PX * np.clip([x, y], -1, 1)
        yield seconds, cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REFLECT)


def woven(shown: Iterable[Shown]) -> Iterator[Shown]:
    """Interlaced: every other line is a frame later."""
    before = None
    for seconds, image in shown:
        both = image.copy()
        if before is not None:
            both[::2] = before[::2]
        before = image
        yield seconds, both


def tagged(path: Path, matrix: list[int]) -> Path:
    """The MP4 with another display matrix in its track header (ISO 14496-12)."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 44
    data[at : at + 36] = struct.pack(">9i", *matrix)
    path.write_bytes(data)
    return path


def trimmed(source: Path, target: Path, begin_s: float) -> Path:
    """What cutting without encoding leaves: packets from the key frame on, an edit list that hides the first ones."""
    with av.open(str(source)) as given, av.open(str(target), "w", format="mp4") as made:
        stream = given.streams.video[0]
        assert stream.time_base is not None
        begin = int(begin_s / stream.time_base)
        given.seek(begin, stream=stream)
        out = made.add_stream_from_template(stream)
        out.time_base = stream.time_base
        for packet in given.demux(stream):
            if packet.dts is None or packet.pts is None:
                continue
            packet.pts, packet.dts, packet.stream = packet.pts - begin, packet.dts - begin, out
            made.mux(packet)
    return target


def duel(source: Path) -> Attempt:
    """The source as it was recorded."""
    return load_attempt(source)


def _kind(coding: Coding, suffix: str = "mp4") -> Callable[[Path, Path], Case]:
    return lambda source, at: Case(encode(at / f"film.{suffix}", frames(source), coding), "match")


def _look(change: Callable[[np.ndarray], np.ndarray], **how: object) -> Callable[[Path, Path], Case]:
    return lambda source, at: Case(encode(at / "film.mp4", changed(frames(source), change)), "match", **how)  # type: ignore[arg-type]


def _one_mat(source: Path, at: Path) -> Case:
    """Only the caller's mat is in the picture."""
    from calibration.mat import detect_mats

    told = duel(source)
    first = next(frames(source))[1]
    mats = detect_mats(cv2.cvtColor(first, cv2.COLOR_BGR2GRAY), told.camera)
    middle = {z: mats.camera.project(p.to_camera(np.zeros((1, 3))))[0] for z, p in mats.poses.items()}
    other = next(z for z in middle if z != told.caller)
    left = middle[other][0] < middle[told.caller or "A"][0]
    half = int((middle["A"][0] + middle["B"][0]) / 2)

    def hide(image: np.ndarray) -> np.ndarray:
        out = image.copy()
        out[:, :half] = (90, 90, 90) if left else out[:, :half]
        out[:, half:] = out[:, half:] if left else (90, 90, 90)
        return out

    return Case(encode(at / "film.mp4", changed(frames(source), hide)), "match")


NINETY_CLOCKWISE = [0, 1 << 16, 0, -(1 << 16), 0, 0, 720 << 16, 0, 1 << 30]


def _turned(source: Path, at: Path) -> Case:
    """A phone held upright: the pictures lie on their side, a tag says so."""
    lying = changed(frames(source), lambda image: np.ascontiguousarray(np.rot90(image)))
    return Case(tagged(encode(at / "film.mp4", lying), NINETY_CLOCKWISE), "match")


def _edit_list(source: Path, at: Path) -> Case:
    whole = encode(at / "whole.mp4", frames(source), Coding(options={**FAST, "g": "25", "bf": "2"}))
    return Case(trimmed(whole, at / "film.mp4", 1.3), "match", stop_by_s=-1.3, words=("--go", "0.2"))


def _torn(source: Path, at: Path) -> Case:
    remux(source / "video.mp4", at / "whole.mp4")
    data = (at / "whole.mp4").read_bytes()
    (at / "film.mp4").write_bytes(data[: int(0.95 * len(data))])
    return Case(at / "film.mp4", "match")


def _broken_inside(source: Path, at: Path) -> Case:
    data = bytearray((source / "video.mp4").read_bytes())
    for place in np.random.default_rng(3).integers(len(data) // 3, len(data) // 2, 60):
        data[place] ^= 0xFF
    (at / "film.mp4").write_bytes(data)
    whole = _key_between(source / "video.mp4", len(data) // 2, duel(source).stop_s or 0.0)
    return Case(at / "film.mp4", "match") if whole else Case(at / "film.mp4", None, says="broken from")


def _key_between(film: Path, byte: int, seconds: float) -> bool:
    """Whether a key frame stands after that byte of a film and is shown before that time."""
    with av.open(str(film)) as given:
        keys = [p for p in given.demux(video=0) if p.is_keyframe and p.pts is not None and (p.pos or 0) >= byte]
        return any(float(key.pts * key.time_base) < seconds for key in keys)


def _photo(source: Path, at: Path) -> Case:
    cv2.imwrite(str(at / "film.png"), next(frames(source))[1])
    return Case(at / "film.png", None, says="photo")


def _no_video(source: Path, at: Path) -> Case:
    folder = at / "folder"
    folder.mkdir()
    shutil.copyfile(source / "deck.json", folder / "deck.json")
    return Case(folder, None, says="video.mp4")


def _copied(name: str) -> Callable[[Path, Path], Path]:
    def copy(source: Path, at: Path) -> Path:
        return Path(shutil.copyfile(source / "video.mp4", at / name))

    return copy


_as_is = _copied("film.mp4")


def _last_placed(source: Path) -> float:
    """Seconds before the Stop at which the caller's last piece came, from the truth beside the recording."""
    import json

    told, truth = duel(source), json.loads((source / "truth.json").read_text())
    rows = [p["seconds"] for p in truth["placed"][told.caller] if p.get("finished", True)]
    return (told.stop_s or 0.0) - rows[-1]


HEVC = Coding("libx265", {"preset": "ultrafast", "crf": "20", "x265-params": "log-level=error"})
KINDS: dict[str, Callable[[Path, Path], Case]] = {
    "as recorded": lambda s, at: Case(_as_is(s, at), "match"),
    "no lens file": lambda s, at: Case(_as_is(s, at), "match", beside=("deck.json", "pieces.json")),
    "turned by a tag": _turned,
    "upside down": _look(lambda image: np.ascontiguousarray(image[::-1, ::-1])),
    "VFR, half gone": lambda s, at: Case(
        encode(at / "film.mp4", (f for n, f in enumerate(frames(s)) if n % 7 not in (1, 3, 4))), "match"
    ),
    "60 fps": lambda s, at: Case(encode(at / "film.mp4", at_rate(frames(s), 60)), "match"),
    "25 fps": lambda s, at: Case(encode(at / "film.mp4", at_rate(frames(s), 25)), "match"),
    "interlaced": lambda s, at: Case(
        encode(
            at / "film.mp4", woven(frames(s)), Coding(options={**FAST, "flags": "+ilme+ildct", "x264-params": "tff=1"})
        ),
        "match",
    ),
    "one mat in view": _one_mat,
    "edit list": _edit_list,
    "torn at 95 %": _torn,
    "broken in the middle": _broken_inside,
    "B-frames": _kind(Coding(options={"preset": "medium", "crf": "20", "bf": "3"})),
    "audio first": lambda s, at: Case(encode(at / "film.mp4", frames(s), Coding(audio=True, late_s=0.7)), "match"),
    "1440p": _look(scaled(2560)),
    "640 wide": _look(scaled(640), beside=("deck.json", "pieces.json")),
    "300 kbit/s": _kind(Coding(options={"preset": "veryfast", "b": "300000"})),
    "100 kbit/s": _kind(Coding(options={"preset": "veryfast", "b": "100000"})),
    "HEVC": _kind(HEVC),
    "HEVC, 10 bit": _kind(Coding("libx265", HEVC.options, "yuv420p10le")),
    "VP9, WebM": _kind(Coding("libvpx-vp9", {"deadline": "realtime", "cpu-used": "8", "crf": "24", "b": "0"}), "webm"),
    "AV1, MKV": _kind(Coding("libsvtav1", {"preset": "12", "crf": "28"}), "mkv"),
    "MJPEG, AVI": _kind(Coding("mjpeg", {"q": "3", "qmin": "2", "qmax": "5"}, "yuvj420p"), "avi"),
    "MPEG-TS": _kind(Coding(options={**FAST, "bf": "2"}), "ts"),
    "ProRes": _kind(Coding("prores_ks", {"profile": "0"}, "yuv422p10le"), "mov"),
    "letterbox, 540 wide": _look(portrait, beside=("deck.json", "pieces.json")),
    "held by hand": lambda s, at: Case(encode(at / "film.mp4", shaken(frames(s))), "match"),
    "Stop after which one acts": lambda s, at: Case(
        _as_is(s, at), "mismatch", stop_by_s=-_last_placed(s) - 0.65, finding="touched_after_stop"
    ),
    "Stop 2 s late": lambda s, at: Case(_as_is(s, at), "match", stop_by_s=2.0),
    "dark, x0.5": _look(gain(0.5)),
    "dark, x0.35": _look(gain(0.35)),
    "bright, x1.3": _look(gain(1.3)),
    "mirrored": lambda s, at: Case(
        encode(at / "film.mp4", changed(frames(s), lambda i: np.ascontiguousarray(i[:, ::-1]))), None, says="mirrored"
    ),
    "a photo": _photo,
    "a folder without film": _no_video,
    "a zone that is none": lambda s, at: Case(_as_is(s, at), None, words=("--zone", "Q"), says="--zone"),
}
