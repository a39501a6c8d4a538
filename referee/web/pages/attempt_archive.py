"""The archive behind ``/attempts``: asked by its index, time lines worked out on a thread, few pictures kept.

A name from a URL is only ever looked up among the folders that are there; it never becomes a path.
"""

import math
import queue
import threading
import time
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from cards.errors import RefereeError
from referee.errors import BadAttempt
from referee.recording import Attempt, load_attempt
from referee.recording.address import Mirror
from referee.recording.folder import DECK, META, PIECES, REVIEW, STOP, VIDEO, append_line, read_image
from referee.recording.index import ArchiveFilter, AttemptSummary, Index, RecordedMatch, address_of, read_summary
from referee.recording.video import read_frame
from referee.recording.writer import UNFINISHED
from referee.review.film import observer_of
from referee.review.timeline import kept_timeline, stored_timeline
from referee.vision.observer import NO_EARLIER_PICTURES
from referee.vision.overlay import with_panel
from referee.web.i18n.texts import moment

THUMB_WIDTH = 480
OVERLAYS_KEPT = 64

SMALL_FILES = (META, REVIEW, STOP, DECK, PIECES)
"""What lists, pictures and notes need of an attempt."""

PAGE = 24
"""Attempts on one page of the grid: six rows of four on a projector."""

MATCHES = 40
"""So many matches are offered by name, the latest: more is a list that nobody reads."""

SMALL_ARCHIVE = 2_000
"""Attempts whose folders are all asked whenever a page is shown: a stamp takes about 10 microseconds."""

READ_AT_ONCE_S = 0.1
"""So long a page waits for attempts that have come since; the rest is read beside, and the page says so."""

LOOK_EVERY_S = 60.0
"""How often all folders of a large archive are asked, beside, while its pages are looked at."""

TRIES = 4
"""A page is put together again when what it shows has changed meanwhile; a folder that changes all the time is shown
as it was a moment ago."""


@dataclass(frozen=True)
class AttemptRow:
    """One attempt in the grid: its ``address`` in URLs, what its folder says, and what is known beside that."""

    address: str
    entry: AttemptSummary
    overruled: bool
    cut_short: str | Mapping[str, Any] | None
    running: bool = False


def match_words(match: RecordedMatch, language: str) -> str:
    """A match by who played in it and when its first duel was recorded: what people know it by."""
    return " · ".join(filter(None, (", ".join(match.players), moment(language, match.at))))


@dataclass(frozen=True)
class Page:
    """One page of the grid: its rows, its number and that of the last, how many fit, how many there are, how many have
    still to be read into the index; the latest matches and how many older ones there are."""

    rows: list[AttemptRow]
    number: int
    last: int
    fitting: int
    total: int
    unread: int
    matches: dict[str, RecordedMatch]
    older: int


class Archive:
    """All attempts under ``root``. Safe from any thread; time lines are worked out one at a time."""

    def __init__(self, root: Path, mirror: Mirror | None = None) -> None:
        """``mirror``: what brings the attempts to ``root`` where they lie elsewhere."""
        self.root, self._mirror = root, mirror
        self._made: Index | None = None
        self._looked_s = -math.inf
        self._lock, self._seeing, self._indexing = threading.Lock(), threading.Lock(), threading.Lock()
        self._bringing = threading.Lock()
        self._queue: queue.SimpleQueue[tuple[str, Attempt]] = queue.SimpleQueue()
        self._asked: dict[str, str] = {}
        self._worker: threading.Thread | None = None
        self.thumb = lru_cache(512)(self._thumb)
        self.overlay = lru_cache(OVERLAYS_KEPT)(self._overlay)

    @property
    def index(self) -> Index:
        """The archive's index; opened when it is asked for, so that a program that shows nothing writes nothing."""
        with self._lock:
            if self._made is None:
                self._made = Index(self.root)
            return self._made

    def page(self, wanted: ArchiveFilter, number: int) -> Page:
        """The page of that number, or the last there is. Whatever it shows is what the folders say now."""
        for _ in range(TRIES):
            unread, mended = self._refresh(), self.index.mended
            fitting = self.index.count(wanted)
            last = max(1, math.ceil(fitting / PAGE))
            number = min(last, max(1, number))
            paths = self.index.page(wanted, (number - 1) * PAGE, PAGE)
            if not self._renewed(*paths) and (self.index.mended, self.index.count(wanted)) == (mended, fitting):
                break
        shown = [row for path in paths if (row := self.row(path, wanted))]
        latest, older = self.index.matches(wanted, MATCHES)
        return Page(shown, number, last, fitting, self.index.count(ArchiveFilter()), unread, latest, older)

    def row(self, path: bytes, wanted: ArchiveFilter) -> AttemptRow | None:
        """What the attempt's folder says now; None where it has gone this instant."""
        with suppress(OSError):
            entry = read_summary(self.index.folder(path))
            if entry is None:
                return None
            running = entry.cut_short == UNFINISHED and entry.recorded_s >= wanted.began_s
            cut = None if running else entry.cut_said or entry.cut_short
            ruled = bool(entry.match) and entry.match == wanted.match and entry.duel in wanted.ruled
            return AttemptRow(address_of(path), entry, entry.overruled or ruled, cut, running)
        return None

    def get(self, address: str) -> bytes | None:
        """The path of the attempt of that address as its folder is now, or None."""
        found = self.index.at_address(address)
        if found is None:  # it may have come since
            self._refresh()
            found = self.index.at_address(address)
        if found is not None and self._renewed(found):
            found = self.index.at_address(address)
        return found

    def attempt(self, address: str, whole: bool = True) -> Attempt | None:
        """What is in the folder of that address, or None; for an archive elsewhere, what lists need where not
        ``whole``."""
        found = self.get(address)
        if found is None:
            return None
        folder = self.index.folder(found)
        try:
            with self._bringing if self._mirror is not None else nullcontext():
                if self._mirror is not None:
                    self._mirror.bring(folder, None if whole else SMALL_FILES)
                return load_attempt(folder)
        except BadAttempt:  # removed this instant
            return None

    def note(self, attempt: Attempt, row: Mapping[str, Any]) -> None:
        """Add a line to what people say of the attempt."""
        if self._mirror is None:
            append_line(attempt.folder / REVIEW, row)
        else:
            with self._bringing:
                self._mirror.add_review(attempt.folder, row)
        self.index.put(attempt.folder)

    def of_match(self, match_id: str) -> list[str]:
        """Addresses of the attempts of one match, as their folders are now."""
        self._refresh()
        while self._renewed(*(mine := self.index.of_match(match_id))):
            pass
        return [address_of(path) for path in mine]

    def _renewed(self, *paths: bytes) -> bool:
        """Read those again whose folders have changed; gives whether there were any."""
        stale = [path for path in paths if self.index.is_stale(path)]
        for path in stale:
            self.index.put(self.index.folder(path))
        return bool(stale)

    def _refresh(self) -> int:
        """Take in what has come or gone; gives how many attempts have still to be read, which goes on beside.

        Changes that other programs make inside of folders are looked for at once where there are few, else beside.
        """
        small = self.index.count(ArchiveFilter()) <= SMALL_ARCHIVE
        end_s = time.monotonic() + READ_AT_ONCE_S
        unread = self.index.refresh(thorough=small, enough=lambda *_: time.monotonic() > end_s)
        far = self._mirror is not None
        if unread or ((far or not small) and time.monotonic() - self._looked_s > LOOK_EVERY_S):
            self._look_beside()
        return unread

    def _look_beside(self) -> None:
        """Bring the whole index up to date on a thread, unless one is at it."""
        if self._indexing.acquire(blocking=False):
            self._looked_s = time.monotonic()
            threading.Thread(target=self._index_all, name="archive index", daemon=True).start()

    def _index_all(self) -> None:
        try:
            if self._mirror is not None:
                with self._bringing, suppress(BadAttempt):  # out of reach: what is here is shown
                    self._mirror.refresh()
            self.index.refresh(thorough=True)
        finally:
            self._indexing.release()

    def story(self, name: str) -> dict[str, Any]:
        """The time line, ``{"pending": true}`` while it is worked out, or ``{"problem": text}``."""
        attempt = self.attempt(name)
        if attempt is None:
            return {"problem": "no such attempt"}
        if (kept := kept_timeline(attempt)) is not None:
            return kept
        with self._lock:
            if name not in self._asked:
                self._asked[name] = ""
                self._queue.put((name, attempt))
                if self._worker is None or not self._worker.is_alive():
                    self._worker = threading.Thread(target=self._work, name="time lines", daemon=True)
                    self._worker.start()
        return {"problem": self._asked[name]} if self._asked[name] else {"pending": True}

    def _work(self) -> None:
        """Until nothing is asked for any more."""
        while True:
            with self._lock:
                if self._queue.empty():
                    self._worker = None
                    return
            name, attempt = self._queue.get()
            problem = ""
            try:
                stored_timeline(attempt)
            except (RefereeError, OSError) as error:
                problem = str(error)
            with self._lock:
                self._asked[name] = problem
                if not problem:
                    del self._asked[name]

    def _thumb(self, name: str, stamp: int) -> bytes | None:
        attempt = self.attempt(name, whole=False)
        image = _still(attempt) if attempt else None
        if image is None:
            return None
        height = round(image.shape[0] * THUMB_WIDTH / image.shape[1])
        return jpeg(cv2.resize(image, (THUMB_WIDTH, height), interpolation=cv2.INTER_AREA))

    def _overlay(self, name: str, index: int, language: str) -> bytes:
        """JPEG of a frame with what is understood of it, said in a language. Raises RefereeError when it cannot be."""
        attempt = self.attempt(name)
        if attempt is None:
            raise BadAttempt("no such attempt")
        frame = read_frame(attempt.folder / VIDEO, index).image
        with self._seeing:
            observer, zones = observer_of(attempt), attempt.meta.get("zones")
            judgement = observer.judge([frame], attempt.card, zones, earlier=NO_EARLIER_PICTURES)
        return jpeg(with_panel(frame, judgement, attempt.card, language, details=False))


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
