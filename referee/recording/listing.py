"""What the pages ask of an archive's index: filters, pages in their order, neighbours, matches and who played."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from referee.recording.index import Index
from referee.recording.writer import UNFINISHED

RANK = "calm, margin, newer, path"
"""Contested first, the hardest of them first, of equals the newest."""

SHOWN: Mapping[str, str] = {
    "undecided": "instr(rulings, ' undecided ') > 0",
    "overruled": "",
    "close": "close",
    "cut_short": "",
    "unreviewed": "NOT reviewed",
}
"""What lists can be narrowed down to, besides player, card and verdict, as far as the index alone can tell."""


@dataclass(frozen=True)
class Wanted:
    """What is to be shown: a player's, a card's, with a verdict, of ``SHOWN``; empty: all.

    ``ruled``: duels of the match ``match`` on which people have ruled since they were recorded; ``began_s``: when this
    program began, seconds since 1970: what is unfinished and began later is being recorded now, and not cut short.
    """

    player: str = ""
    card: str = ""
    verdict: str = ""
    show: str = ""
    match: str = ""
    ruled: Collection[int] = ()
    began_s: float = math.inf


def address_of(path: bytes) -> str:
    """A path as one part of a URL."""
    return os.fsdecode(path).replace(os.sep, "~").encode("utf-8", "replace").decode("utf-8")


def found(index: Index, wanted: Wanted, first: int, most: int) -> list[bytes]:
    """Paths of ``most`` attempts that fit, in their order, from the ``first`` on."""
    where, values = _where(wanted)
    page = f"SELECT path FROM attempts WHERE {where} ORDER BY {RANK} LIMIT ? OFFSET ?"
    return [path for (path,) in index.rows(page, [*values, most, first])]


def count(index: Index, wanted: Wanted) -> int:
    """How many attempts fit."""
    where, values = _where(wanted)
    return int(index.rows(f"SELECT count(*) FROM attempts WHERE {where}", values)[0][0])


def at_address(index: Index, address: str) -> bytes | None:
    """The path of the attempt of that address, or of the only one of that name."""
    rows = index.rows("SELECT path FROM attempts WHERE listed = 1 AND name = ?", (address.rpartition("~")[2],))
    alone = len(rows) == 1 and "~" not in address
    return next((path for (path,) in rows if alone or address_of(path) == address), None)


def neighbours(index: Index, path: bytes) -> tuple[str | None, str | None]:
    """Addresses of the attempts before and after that one, among all in their order."""
    place = f"(SELECT {RANK} FROM attempts WHERE path = ? AND listed = 1)"
    asked = f"SELECT path FROM attempts WHERE listed = 1 AND ({RANK})"
    back = RANK.replace(",", " DESC,") + " DESC"
    before = index.rows(f"{asked} < {place} ORDER BY {back} LIMIT 1", (path,))
    after = index.rows(f"{asked} > {place} ORDER BY {RANK} LIMIT 1", (path,))
    first, second = (address_of(rows[0][0]) if rows else None for rows in (before, after))
    return first, second


def players(index: Index) -> list[str]:
    """Everybody who played."""
    rows = index.rows("SELECT DISTINCT players FROM attempts WHERE listed = 1")
    return sorted({player for (players,) in rows for player in json.loads(players)})


def cards(index: Index) -> list[str]:
    """Every card that was built."""
    return [card for (card,) in index.rows("SELECT DISTINCT card FROM attempts WHERE listed = 1 ORDER BY card")]


def of_match(index: Index, match_id: str) -> list[bytes]:
    """The paths of the attempts of one match."""
    asked = "SELECT path FROM attempts WHERE listed = 1 AND match_id = ? ORDER BY path"
    return [path for (path,) in index.rows(asked, (match_id,))]


@dataclass(frozen=True)
class Played:
    """A match by its attempts: who played in it, in the order in which they came to the table; ISO time of the first,
    empty where no record says so."""

    players: tuple[str, ...]
    at: str


def matches(index: Index, wanted: Wanted, most: int) -> tuple[dict[str, Played], int]:
    """The latest matches with an attempt that fits, and how many older ones there are."""
    where, values = _where(wanted)
    fitting = f"SELECT match_id FROM attempts WHERE {where} AND match_id <> '' GROUP BY match_id"
    every = index.rows(f"{fitting} ORDER BY min(recorded_s) DESC", values)
    latest = sorted(match_id for (match_id,) in every[:most])
    return {match_id: played(index, match_id) for match_id in latest}, max(0, len(every) - most)


def played(index: Index, match_id: str) -> Played:
    """The match as far as it was recorded."""
    asked = "SELECT players, at FROM attempts WHERE listed = 1 AND match_id = ? ORDER BY recorded_s, name"
    rows = index.rows(asked, (match_id,))
    names = dict.fromkeys(name for players, _ in rows for name in json.loads(players))
    return Played(tuple(names), rows[0][1] if rows else "")


def _where(wanted: Wanted) -> tuple[str, list[object]]:
    """The condition of a filter, and the values in it."""
    where, values = ["listed = 1"], list[object]()
    if wanted.player:
        where.append("instr(players, ?) > 0")
        values.append(json.dumps(wanted.player, ensure_ascii=False))
    if wanted.card:
        where.append("card = ?")
        values.append(wanted.card)
    if wanted.verdict:
        where.append("instr(rulings, ?) > 0")
        values.append(f" {wanted.verdict} ")
    if wanted.show == "overruled":
        where.append(f"(overruled OR match_id = ? AND duel IN ({', '.join('?' * len(wanted.ruled))}))")
        values += [wanted.match, *wanted.ruled]
    elif wanted.show == "cut_short":
        where.append("cut_short <> '' AND NOT (cut_short = ? AND recorded_s >= ?)")
        values += [UNFINISHED, wanted.began_s]
    elif wanted.show in SHOWN:
        where.append(SHOWN[wanted.show])
    return " AND ".join(where), values
