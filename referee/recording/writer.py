"""One recording being written: the files of an attempt folder, on the recorder's own thread.

Its law: the folder tells the truth at every instant. ``attempt.json`` is written first and says that the
recording was cut short; only ``finish`` takes that back. Some space is set aside, so that on a disk that
fills up there is room to write down that it did.
"""

import hashlib
import json
import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.palette import Palette, palette_text
from cards.sentences import sentence, sentence_json
from referee.devices.ports import Frame
from referee.errors import BadAttempt
from referee.files import put_in_place, sync, write_whole
from referee.recording.folder import META, TIMES, VIDEO, hash_files, of_camera, write_json
from referee.recording.video import VideoWriter, remux

UNFINISHED, NO_RECORD = sentence("cut_unfinished"), sentence("cut_no_record")
RESERVED = "reserve.tmp"
RESERVE_BYTES = 8 << 20
"""Room set aside for the record's last words: a lossless 1080p frame takes up to 5 MB."""

MAX_STOP_GAP_S, MAX_DROPPED_SHARE = 0.1, 0.1
"""A record is thin with no picture so near to the Stop, or with more than this share of all pictures dropped."""

CAMERA_DELAY_S = 0.5
"""A picture has come out of the camera so long after what it shows."""

SILENCE_S = 1.0
"""No frame for so long before the end means that the camera was gone, not that it was slow."""


Look = tuple[Sequence[str], Sequence[Frame]]
"""The frames that were judged of one camera, and the files that hold them."""


class Film:
    """What one camera filmed: its video, and when each frame of it was taken, from the first."""

    def __init__(self, folder: Path, number: int) -> None:
        self.path, self.times = (folder / of_camera(name, number) for name in (VIDEO, TIMES))
        self.taken_s: list[float] = []
        self.dropped: list[tuple[float, int, str]] = []  # host time, how many, where: camera or recorder
        self.broken: str | None = None
        self._last_number: int | None = None
        self._writer: VideoWriter | None = None
        self.times.write_text("index,seconds\n", encoding="ascii")

    @property
    def last_s(self) -> float | None:
        """Host time of the newest frame in the video."""
        return self.taken_s[-1] if self.taken_s else None

    def write(self, frame: Frame, hurried: bool) -> None:
        """Encode one frame, for little where it is ``hurried``, and write its time. May raise OSError; BadAttempt for a
        picture that fits no more."""
        if self._writer is None:
            self._writer = VideoWriter(self.path, frame.image.shape[1], frame.image.shape[0])
        if self._last_number is not None and frame.number > self._last_number + 1:
            self.dropped.append((frame.at_s, frame.number - self._last_number - 1, "camera"))
        seconds = frame.at_s - next(iter(self.taken_s), frame.at_s)
        index = self._writer.write(frame.image, seconds, hurried)
        with open(self.times, "a", encoding="ascii") as rows:
            rows.write(f"{index},{seconds:.4f}\n")
        self.taken_s.append(frame.at_s)
        self._last_number = frame.number

    def skip(self, number: int, at_s: float) -> None:
        """Write down that the frame of that number and host time could not be encoded in time."""
        self.dropped.append((at_s, 1, "recorder"))
        self._last_number = number

    def thin(self, stop_s: float) -> dict[str, float] | None:
        """``AttemptWriter.thin`` of this film alone, the Stop in host time."""
        nearest = min((abs(s - stop_s) for s in self.taken_s), default=-1.0)
        lost = sum(count for _, count, _ in self.dropped)
        dropped = lost / max(1, lost + len(self.taken_s))
        thin = not 0 <= nearest <= MAX_STOP_GAP_S or dropped > MAX_DROPPED_SHARE
        return {"nearest_s": round(nearest, 3), "dropped": round(dropped, 3)} if thin else None

    def abandon(self, why: str) -> None:
        """Stop writing pictures, and keep what is whole."""
        self.broken = why
        if self._writer is not None:
            self._writer.abandon()
            self._writer = None

    def close(self) -> None:
        """End the film, whole. May raise OSError."""
        if self._writer is None:
            return
        self._writer.close()
        self._writer, draft = None, self.path.with_suffix(".tmp")
        try:
            remux(self.path, draft)
            put_in_place(draft, self.path)
        except OSError:  # no room for a second copy: the fragmented one is whole and plays
            draft.unlink(missing_ok=True)


class AttemptWriter:
    """Writes one attempt. Video time 0 is the first camera's first frame; a second one's film begins when it does."""

    def __init__(self, folder: Path, meta: Mapping, go_at_s: float, reserve_bytes: int = RESERVE_BYTES):
        self.folder, self.go_at_s = folder, go_at_s
        self.broken: str | None = None
        self._marks: list[dict] = []
        self._judged: list[dict] = []
        self._films: dict[int, Film] = {}
        self.meta: dict[str, Any] = opening_record(meta) | {"versions": versions()}
        self.save()
        self._film(1)
        with suppress(OSError), open(folder / RESERVED, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, reserve_bytes)
        for name, content in (meta.get("files") or {}).items():
            write_file(folder / name, content)

    def _film(self, number: int) -> Film:
        if number not in self._films:
            self._films[number] = Film(self.folder, number)
        return self._films[number]

    def frame(self, frame: Frame, hurried: bool = False) -> None:
        """Film one frame, for little where it is ``hurried``. May raise OSError, and BadAttempt of the first camera's;
        what is wrong with the second's ends its film alone."""
        film = self._film(frame.camera)
        if film.broken:
            film.skip(frame.number, frame.at_s)
            return
        try:
            film.write(frame, hurried)
        except BadAttempt as fault:
            if film is self._films[1]:
                raise
            film.broken = sentence("cut_stopped", why=str(fault), at=self._video(film.last_s or self.go_at_s))
            film.close()
        if len(film.taken_s) == 1:
            self.save()

    def skip(self, camera: int, number: int, at_s: float) -> None:
        """Write down that a camera's frame of that number and host time could not be encoded in time."""
        self._film(camera).skip(number, at_s)

    def mark(self, name: str, at_s: float, data: Mapping) -> None:
        """Write down that something happened at that host time."""
        self._marks.append({"name": name, "at_s": at_s, **data})
        self.save()

    def judged(self, looks: Sequence[Look], verdicts: Mapping) -> None:
        """Write down which files hold the judged frames, of the first camera and maybe a second, and what was ruled.
        May raise OSError."""
        rows = [
            {
                "files": list(files),
                "seconds": [self._video(f.at_s) for f in frames],
                "pixels": [pixel_hash(f.image) for f in frames],
            }
            for files, frames in looks
        ]
        self._judged.append(rows[0] | {"zones": sorted(verdicts)} | ({"second": rows[1]} if rows[1:] else {}))
        self.meta["verdicts"] = {**self.meta.get("verdicts", {}), **verdicts}
        self.save()

    def at_press(self, zone: str, looks: Sequence[Look], said: Mapping) -> None:
        """Write down which files hold the frames at a zone's press, of the main camera and maybe the other, and what
        was said of them. May raise OSError."""
        rows = [{"files": list(files), "seconds": [self._video(f.at_s) for f in frames]} for files, frames in looks]
        row = {**rows[0], **said} | ({"beside": rows[1]} if rows[1:] else {})
        self.meta["at_press"] = {**self.meta.get("at_press", {}), zone: row}
        self.save()

    def earlier(self, zone: str, files: Sequence[str]) -> None:
        """Write down which files hold pictures from while a build grew that its verdict rests on. May raise OSError."""
        known = self.meta.get("earlier", {})
        self.meta["earlier"] = {**known, zone: list(dict.fromkeys([*known.get(zone, ()), *files]))}
        self.save()

    def finish(self, final: Mapping, now_s: float) -> None:
        """Close the videos, hash everything, and say that the recording is whole. May raise OSError."""
        self.meta |= final
        for film in self._films.values():
            if not film.broken:
                film.close()
        cut_short = self.broken or final.get("cut_short") or self._silence(self._films[1], now_s)
        (self.folder / RESERVED).unlink(missing_ok=True)
        times = [film.times for film in self._films.values()]
        for path in (*times, self.folder, self.folder.parent):  # on the disk before the record says so
            sync(path)
        self.meta["thin"] = self.thin()
        self.meta["hashes"] = hash_files(self.folder)
        self.meta |= truncation_record(cut_short)
        if second := self._films.get(2):
            row = truncation_record(second.broken or self._silence(second, now_s))
            self.meta["second"] = self.meta.get("second", {}) | row
        self.save()

    @property
    def past_stop(self) -> bool:
        """Whether something was filmed or marked so long after the Stop that the pictures around it should be here."""
        rows = [self._in_video_time(mark) for mark in self._marks]
        stop, filmed_s = _stop(rows), self._video(self._films[1].last_s or self.go_at_s)
        return stop is not None and max(filmed_s, *(row["seconds"] for row in rows)) > stop["seconds"] + CAMERA_DELAY_S

    def thin(self) -> dict[str, float] | None:
        """What makes the record of the Stop thin, in every film: ``nearest_s``, how far its nearest picture is from it
        (-1: there is none), and ``dropped``, the share of pictures that are not in the video; None when neither does,
        in one of them."""
        stop = _stop([self._in_video_time(m) for m in self._marks])
        if stop is None:
            return None
        thin = [film.thin(stop["seconds"] + self._zero_s) for film in self._films.values()]
        return thin[0] if all(thin) else None

    def fail(self, why: str) -> None:
        """Stop writing pictures, keep what is whole, and say why; what follows is only noted."""
        if self.broken:
            return
        self.broken = sentence("cut_stopped", why=why, at=self._video(self._films[1].last_s or self.go_at_s))
        for film in self._films.values():
            film.abandon(film.broken or self.broken)
        (self.folder / RESERVED).unlink(missing_ok=True)
        self.meta |= truncation_record(self.broken)
        with suppress(OSError):
            self.save()

    def save(self) -> None:
        """Write ``attempt.json`` as things stand."""
        said = dict(self.meta) | {
            "go": self._video(self.go_at_s),
            "dropped": self._dropped(1),
            "marks": [self._in_video_time(m) for m in self._marks],
            "judged": self._judged,
        }
        if second := self._films.get(2):
            begins = self._video(second.taken_s[0]) if second.taken_s else None
            said["second"] = said.get("second", {}) | {"begins": begins, "dropped": self._dropped(2)}
        said |= {"stop": _stop(said["marks"])} if "stop" not in self.meta else {}
        write_json(self.folder / META, said)

    def _dropped(self, number: int) -> list[dict]:
        film = self._films.get(number)
        rows = film.dropped if film else ()
        return [{"seconds": self._video(at_s), "frames": count, "where": where} for at_s, count, where in rows]

    def _in_video_time(self, mark: Mapping) -> dict:
        return {
            "name": mark["name"],
            "seconds": self._video(mark["at_s"]),
            **{k: v for k, v in mark.items() if k not in ("name", "at_s")},
        }

    def _video(self, at_s: float) -> float:
        return round(at_s - self._zero_s, 4)

    @property
    def _zero_s(self) -> float:
        """Host time of video time 0: until the first camera has given a frame, the go."""
        taken_s = self._films[1].taken_s if self._films else ()
        return next(iter(taken_s), self.go_at_s)

    def _silence(self, film: Film, now_s: float) -> str | None:
        if film.last_s is None:
            return sentence("cut_no_frame")
        if now_s - film.last_s > SILENCE_S:
            return sentence("cut_silence", at=self._video(film.last_s))
        return None


def opening_record(meta: Mapping) -> dict[str, Any]:
    """What ``attempt.json`` says of a recording that has begun and not ended."""
    said = {k: v for k, v in meta.items() if k not in ("files", "go_at_s")}
    return {"card": None} | said | truncation_record(UNFINISHED)


def truncation_record(why: str | None) -> dict[str, Any]:
    """What ``attempt.json`` says of why a recording is not whole (None: it is): in English, and for every language."""
    return {"cut_short": why and str(why), "cut_short_said": why and sentence_json(why)}


def _stop(marks: Sequence[Mapping]) -> dict | None:
    """The contract's ``stop``: zone and seconds of the earliest mark named ``stop``, which may be told late."""
    first = min((m for m in marks if m["name"] == "stop"), key=lambda m: m["seconds"], default=None)
    return None if first is None else {k: v for k, v in first.items() if k != "name"}


def write_file(path: Path, content: object) -> None:
    """Write what a recording carries along, as ``file_bytes`` has it.

    Under its name the file is whole and on the disk, or not there. None writes nothing. May raise OSError.
    """
    if content is None:
        return
    write_whole(path, file_bytes(content))


def file_bytes(content: object) -> bytes:
    """The file of a picture (h, w, 3) or (h, w, 4), PNG, of a palette, text, JSON, a path's bytes, or bytes."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, Path):
        return content.read_bytes()
    if isinstance(content, np.ndarray):
        return cv2.imencode(".png", content)[1].tobytes()
    if isinstance(content, Palette):
        return palette_text(content).encode()
    return (content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False)).encode()


def pixel_hash(image: np.ndarray) -> str:
    """SHA-256 of the pixels, whatever file they travel in."""
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()


def versions() -> dict[str, str]:
    """What judged and recorded: this program and the libraries that could change a verdict."""
    found = {name: metadata.version(name) for name in ("referee", "numpy", "opencv-python", "av")}
    return found | {"python": platform.python_version()}
