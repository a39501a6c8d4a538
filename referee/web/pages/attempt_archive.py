"""The archive behind ``/attempts``: records read once, time lines worked out on a thread, few pictures kept.

A name from a URL is only ever looked up among the folders that are there; it never becomes a path.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cards.errors import RefereeError
from referee.recording import Attempt, find_attempts, load_attempt
from referee.recording.errors import BadAttempt
from referee.recording.folder import META, REVIEW, STOP, VIDEO, Quarrel, contested, read_image
from referee.recording.video import read_frame
from referee.recording.writer import UNFINISHED
from referee.review.observer import observer_of
from referee.review.timeline import is_stored, stored_timeline
from referee.vision.render.overlay import draw

THUMB_WIDTH = 480
OVERLAYS_KEPT = 64


@dataclass(frozen=True)
class Row:
    """One attempt in the grid. ``margin``: the least confidence of its verdicts; ``why`` it is contested."""

    name: str
    card: str
    players: tuple[str, ...]
    caller: str | None
    award: str | None
    verdicts: tuple[tuple[str, str, float], ...]
    margin: float
    why: tuple[Quarrel, ...]
    reviewed_by: tuple[str, ...]
    overruled: bool
    cut_short: str | None
    simulated: bool
    at: str
    match: str
    running: bool = False


def row_of(attempt: Attempt, ruled: Collection[tuple[str, int]] = (), began: datetime | None = None) -> Row:
    """What the grid shows of an attempt; ``ruled``: (match, duel number) on which people have ruled since; ``began``
    when this program did: what it has begun itself and not finished is being recorded now."""
    meta, reviews = attempt.meta, attempt.reviews()
    running = attempt.cut_short == UNFINISHED and began is not None and _at(meta) >= began
    verdicts = tuple((z, v["verdict"], float(v.get("confidence", 0))) for z, v in sorted(attempt.verdicts.items()))
    return Row(
        attempt.name,
        meta["card"] or "?",
        tuple(attempt.players.values()),
        attempt.players.get(attempt.caller or ""),
        meta.get("award"),
        verdicts,
        min((c for _, _, c in verdicts), default=0.0),
        tuple(contested(meta, reviews)),
        tuple(dict.fromkeys(r["who"] for r in reviews if r.get("kind") in ("reviewed", "ruling"))),
        bool(meta.get("human"))
        or any(r.get("kind") == "ruling" for r in reviews)
        or (meta.get("match_id"), meta.get("duel")) in ruled,
        None if running else attempt.cut_short,
        bool(meta.get("simulated")),
        str(meta.get("recorded_at", "")),
        str(meta.get("match_id", "")),
        running,
    )


def _at(meta: Mapping[str, Any]) -> datetime:
    """When the recording began; the beginning of time where nothing says so."""
    try:
        at = datetime.fromisoformat(str(meta.get("recorded_at")))
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


SHOWN: Mapping[str, Callable[[Row], bool]] = {
    "undecided": lambda r: any(v == "undecided" for _, v, _ in r.verdicts),
    "overruled": lambda r: r.overruled,
    "close": lambda r: any(quarrel.kind == "close" for quarrel in r.why),
    "cut_short": lambda r: bool(r.cut_short),
    "unreviewed": lambda r: not r.reviewed_by,
}
"""What the grid can be narrowed down to, besides player, card and verdict."""


def chosen(rows: list[Row], wanted: Mapping[str, str]) -> list[Row]:
    """The rows that fit, contested and hardest first. ``wanted``: player, card, verdict, show (of SHOWN)."""
    player, card, verdict = (wanted.get(k, "") for k in ("player", "card", "verdict"))
    test = SHOWN.get(wanted.get("show", ""), lambda row: True)
    fitting = [
        r
        for r in rows
        if test(r)
        and player in (*r.players, "")
        and card in (r.card, "")
        and (not verdict or any(v == verdict for _, v, _ in r.verdicts))
    ]
    newest = sorted(fitting, key=lambda r: r.name, reverse=True)
    return sorted(newest, key=lambda r: (not r.why, r.margin))


def match_words(rows: Collection[Row], language: str) -> str:
    """A match by who played in it and when its first duel was recorded: what people know it by. ``rows``: its own."""
    names = ", ".join(dict.fromkeys(player for row in sorted(rows, key=lambda r: r.at) for player in row.players))
    try:
        first = datetime.fromisoformat(min(row.at for row in rows if row.at)).astimezone()
    except ValueError:
        return names
    return f"{names} · {first:%d.%m.%Y, %H:%M}" if language == "de" else f"{names} · {first:%Y-%m-%d %H:%M}"


class Archive:
    """All attempts under ``root``. Safe from any thread; time lines are worked out one at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, Path] = {}
        self._read: dict[Path, tuple[tuple[int, ...], Attempt]] = {}
        self._lock, self._seeing = threading.Lock(), threading.Lock()
        self._queue: queue.SimpleQueue[Attempt] = queue.SimpleQueue()
        self._asked: dict[str, str] = {}
        self._worker: threading.Thread | None = None
        self.thumb = lru_cache(512)(self._thumb)
        self.overlay = lru_cache(OVERLAYS_KEPT)(self._overlay)

    def attempts(self) -> dict[str, Attempt]:
        """Every attempt that can be read, by name."""
        found = {}
        for folder in find_attempts(self.root):
            try:
                found[folder.name] = self._load(folder)
            except BadAttempt:
                continue  # being written this instant: it is there the next time
            self._known[folder.name] = folder
        return found

    def get(self, name: str) -> Attempt | None:
        """The attempt of that name, or None."""
        folder = self._known.get(name)
        if folder is None or not (folder / META).exists():
            return self.attempts().get(name)
        return self._load(folder)

    def _load(self, folder: Path) -> Attempt:
        stamp = tuple((folder / n).stat().st_mtime_ns if (folder / n).exists() else 0 for n in (META, REVIEW))
        with self._lock:
            kept = self._read.get(folder)
            if kept is None or kept[0] != stamp:
                kept = self._read[folder] = (stamp, load_attempt(folder))
            return kept[1]

    def story(self, name: str) -> dict[str, Any]:
        """The time line, ``{"pending": true}`` while it is worked out, or ``{"problem": text}``."""
        attempt = self.get(name)
        if attempt is None:
            return {"problem": "no such attempt"}
        if is_stored(attempt):
            return stored_timeline(attempt)
        with self._lock:
            if name not in self._asked:
                self._asked[name] = ""
                self._queue.put(attempt)
                self._start()
        return {"problem": self._asked[name]} if self._asked[name] else {"pending": True}

    def _start(self) -> None:
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, name="time lines", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        """Until nothing is asked for any more."""
        while True:
            with self._lock:
                if self._queue.empty():
                    self._worker = None
                    return
            attempt = self._queue.get()
            problem = ""
            try:
                stored_timeline(attempt)
            except (RefereeError, OSError) as error:
                problem = str(error)
            with self._lock:
                self._asked[attempt.name] = problem
                if not problem:
                    del self._asked[attempt.name]

    def _thumb(self, name: str, stamp: int) -> bytes | None:
        attempt = self.get(name)
        image = _still(attempt) if attempt else None
        if image is None:
            return None
        height = round(image.shape[0] * THUMB_WIDTH / image.shape[1])
        return jpeg(cv2.resize(image, (THUMB_WIDTH, height), interpolation=cv2.INTER_AREA))

    def _overlay(self, name: str, index: int, language: str) -> bytes:
        """JPEG of a frame with what is understood of it, said in a language. Raises RefereeError when it cannot be."""
        attempt = self.get(name)
        if attempt is None:
            raise BadAttempt("no such attempt")
        frame = read_frame(attempt.folder / VIDEO, index).image
        with self._seeing:
            judgement = observer_of(attempt).judge([frame], attempt.card, attempt.meta.get("zones"))
        return jpeg(draw(frame, judgement, attempt.card, language, details=False))


def _still(attempt: Attempt) -> np.ndarray | None:
    """The judged frame, or the first one of the video; None when there is neither."""
    try:
        if (attempt.folder / STOP).exists():
            return read_image(attempt.folder / STOP)
        return read_frame(attempt.folder / VIDEO, 0).image
    except (BadAttempt, OSError):
        return None


def jpeg(image: np.ndarray) -> bytes:
    """The picture (h, w, 3) uint8 BGR as JPEG."""
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 85])[1].tobytes()
