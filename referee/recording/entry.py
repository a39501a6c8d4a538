"""What lists, filters and the disk budget know of an attempt: read from its folder once, kept in the index."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from referee.recording.errors import BadAttempt
from referee.recording.folder import META, REVIEW, Quarrel, contested, load_attempt


@dataclass(frozen=True)
class Entry:
    """One attempt as lists show it. ``margin``: the least confidence of its verdicts; ``why`` it is contested;
    ``overruled``: by people, as its folder says; ``cut_said``: the sentence of ``cut_short``, if it is one; ``at``: ISO
    time of the recording; ``players`` in the order of zones.
    """

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
    cut_said: Mapping[str, Any] | None
    simulated: bool
    at: str
    match: str
    duel: int | None

    def to_json(self) -> str:
        """The text that ``entry_from_json`` reads back; halves of letters, which no page could show, become '?'."""
        return json.dumps(asdict(self), ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")


def entry_from_json(text: str) -> Entry:
    """The inverse of ``Entry.to_json``."""
    told = json.loads(text)
    lists = {key: tuple(told[key]) for key in ("players", "reviewed_by")}
    verdicts = tuple((zone, ruling, sure) for zone, ruling, sure in told["verdicts"])
    return Entry(**{**told, **lists, "verdicts": verdicts, "why": tuple(Quarrel(**q) for q in told["why"])})


@dataclass(frozen=True)
class Read:
    """What reading a folder gave: its ``entry``, or None where it cannot be read; when it was recorded, in seconds
    since 1970 (without a record that says so, its file's time); whether it may ever go to make room; its bytes; whether
    a draft lies in it, as a killed program leaves one."""

    entry: Entry | None
    recorded_s: float
    may_go: bool
    bytes: int
    draft: bool


def stamp_of(folder: str | Path) -> str:
    """What changes whenever the folder's record, its reviews or its list of files does; empty where there is no record.

    A record that is replaced has another number and time, a review that is appended another size.
    """
    try:
        told = [_stamp(os.path.join(folder, META)), _stamp(folder)]
    except OSError:
        return ""
    with suppress(OSError):
        told.append(_stamp(os.path.join(folder, REVIEW)))
    return repr(told)


def _stamp(path: str | Path) -> tuple[int, int, int]:
    found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_entry(folder: Path) -> Read:
    """Read one attempt folder. Never raises for what is in it; may raise OSError where it has gone."""
    size, draft = bytes_of(folder), any(child.suffix == ".tmp" for child in folder.iterdir())
    file_s = os.stat(folder / META).st_mtime
    try:
        attempt = load_attempt(folder)
    except BadAttempt:
        return Read(None, file_s, False, size, draft)
    try:
        reviews, readable = attempt.reviews(), True
    except (BadAttempt, OSError):
        reviews, readable = [], False
    reviews = [row for row in reviews if isinstance(row, dict)]
    at_s = _seconds(attempt.meta)
    try:
        entry = _entry(folder.name, attempt.meta, reviews)
    except (TypeError, ValueError, AttributeError, KeyError):  # a record that only looks like one
        return Read(None, file_s, False, size, draft)
    return Read(entry, file_s if at_s is None else at_s, readable and not entry.why, size, draft)


def bytes_of(folder: Path) -> int:
    """Bytes of everything under the folder."""
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except FileNotFoundError:  # a draft that has just got its name
                continue
    return total


def _entry(name: str, meta: Mapping[str, Any], reviews: list[dict]) -> Entry:
    verdicts = tuple((z, v["verdict"], _sure(v)) for z, v in sorted((meta.get("verdicts") or {}).items()))
    players, duel = meta.get("players") or {}, meta.get("duel")
    return Entry(
        name,
        str(meta["card"] or "?"),
        tuple(players.values()),
        players.get((meta.get("stop") or {}).get("zone") or ""),
        meta.get("award"),
        verdicts,
        min((sure for _, _, sure in verdicts), default=0.0),
        tuple(contested(meta, reviews)),
        tuple(dict.fromkeys(str(r.get("who", "?")) for r in reviews if r.get("kind") in ("reviewed", "ruling"))),
        bool(meta.get("human")) or any(r.get("kind") == "ruling" for r in reviews),
        meta.get("cut_short"),
        meta.get("cut_short_said"),
        bool(meta.get("simulated")),
        str(meta.get("recorded_at", "")),
        str(meta.get("match_id") or ""),
        duel if isinstance(duel, int) and abs(duel) < 1 << 31 else None,
    )


def _sure(row: Mapping[str, Any]) -> float:
    sure = float(row.get("confidence", 0))
    return sure if math.isfinite(sure) else 0.0


def _seconds(meta: Mapping[str, Any]) -> float | None:
    """When it was recorded, as its record says: a copied file's time is the copy's."""
    try:
        said = datetime.fromisoformat(str(meta.get("recorded_at")))
        return (said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
