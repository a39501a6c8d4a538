"""What lists, filters and the disk budget know of an attempt, as its folder says it."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.recording.errors import BadAttempt
from referee.recording.folder import META, REVIEW, Quarrel, contested, load_attempt


@dataclass(frozen=True)
class Entry:
    """One attempt as lists show it. ``margin``: the least confidence of its verdicts; ``why`` it is contested;
    ``may_go``: whether it may ever be removed to make room; ``overruled``: by people, as its folder says; ``cut_said``:
    the sentence of ``cut_short``, if it is one; ``at``: ISO time of the recording, ``recorded_s`` the same in seconds
    since 1970, without a record of it its file's time; ``players`` in the order of zones."""

    card: str
    players: tuple[str, ...]
    award: str | None
    verdicts: tuple[tuple[str, str, float], ...]
    margin: float
    why: tuple[Quarrel, ...]
    may_go: bool
    reviewed_by: tuple[str, ...]
    overruled: bool
    cut_short: str | None
    cut_said: Mapping[str, Any] | None
    simulated: bool
    at: str
    recorded_s: float
    match: str
    duel: int | None


UNREADABLE = Entry("", (), None, (), 0.0, (), False, (), False, None, None, False, "", 0.0, "", None)


def stamp_of(folder: str | Path) -> str:
    """What changes whenever the folder's record, its reviews or its list of files does; empty where there is no record.

    A record that is replaced has another number and time, a review that is appended another size.
    """
    told: list[tuple[int, int, int]] = []
    for name in (META, "", REVIEW):
        try:
            found = os.stat(os.path.join(folder, name))
            told.append((found.st_ino, found.st_mtime_ns, found.st_size))
        except OSError:
            if name == META:
                return ""
    return repr(told)


def read_entry(folder: Path) -> Entry | None:
    """What the folder says, None where it cannot be read; may raise OSError where it has gone."""
    file_s = os.stat(folder / META).st_mtime
    with suppress(BadAttempt, TypeError, ValueError, AttributeError, KeyError):  # a record that only looks like one
        attempt = load_attempt(folder)
        try:
            reviews, readable = attempt.reviews(), True
        except (BadAttempt, OSError):
            reviews, readable = [], False
        rows = [_showable(row) for row in reviews if isinstance(row, dict)]
        return _entry(_showable(attempt.meta), rows, readable, file_s)
    return None


def bytes_of(folder: Path) -> int:
    """Bytes of everything under the folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(FileNotFoundError):  # a draft that has just got its name
                total += os.lstat(os.path.join(place, name)).st_size
    return total


def _showable(row: Any) -> Any:
    """The same with '?' for halves of letters, which neither a page nor a database takes."""
    return json.loads(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))


def _entry(meta: Mapping[str, Any], reviews: list[dict], readable: bool, file_s: float) -> Entry:
    verdicts = tuple((z, v["verdict"], _sure(v)) for z, v in sorted((meta.get("verdicts") or {}).items()))
    why, duel = tuple(contested(meta, reviews)), meta.get("duel")
    return Entry(
        str(meta["card"] or "?"),
        tuple((meta.get("players") or {}).values()),
        meta.get("award"),
        verdicts,
        min((sure for _, _, sure in verdicts), default=0.0),
        why,
        readable and not why,
        tuple(dict.fromkeys(str(r.get("who", "?")) for r in reviews if r.get("kind") in ("reviewed", "ruling"))),
        bool(meta.get("human")) or any(r.get("kind") == "ruling" for r in reviews),
        meta.get("cut_short"),
        meta.get("cut_short_said"),
        bool(meta.get("simulated")),
        str(meta.get("recorded_at", "")),
        _seconds(meta, file_s),
        str(meta.get("match_id") or ""),
        duel if isinstance(duel, int) and abs(duel) < 1 << 31 else None,
    )


def _sure(row: Mapping[str, Any]) -> float:
    sure = float(row.get("confidence", 0))
    return sure if math.isfinite(sure) else 0.0


def _seconds(meta: Mapping[str, Any], file_s: float) -> float:
    """When it was recorded, as its record says: a copied file's time is the copy's."""
    try:
        said = datetime.fromisoformat(str(meta.get("recorded_at")))
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return file_s
