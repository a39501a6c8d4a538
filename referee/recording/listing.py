"""What the pages ask of an archive's index: filters, pages in their order, neighbours, matches and who played."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from referee.recording.entry import Entry
from referee.recording.index import Index
from referee.recording.writer import UNFINISHED

RANK = "calm, margin, name DESC, path"
"""Contested first, the hardest of them first, of equals the newest."""

Values = list[object]

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

    @property
    def is_all(self) -> bool:
        """Whether every attempt fits."""
        return not (self.player or self.card or self.verdict or self.show)


@dataclass(frozen=True)
class Listed:
    """An attempt in a list: its path in the archive, its entry, when it was recorded."""

    path: bytes
    entry: Entry
    recorded_s: float

    @property
    def address(self) -> str:
        """What pages call it: its name, with the folders above it where it stands deeper."""
        return address_of(self.path)


def address_of(path: bytes) -> str:
    """A path as one part of a URL."""
    return os.fsdecode(path).replace(os.sep, "~").encode("utf-8", "replace").decode("utf-8")


def found(index: Index, wanted: Wanted, first: int, most: int) -> list[Listed]:
    """``most`` attempts that fit, in their order, from the ``first`` on."""
    where, values = _where(wanted)
    page = f"SELECT path FROM attempts WHERE {where} ORDER BY {RANK} LIMIT ? OFFSET ?"  # reads no more than the order
    asked = f"SELECT path, recorded_s FROM attempts WHERE path IN ({page}) ORDER BY {RANK}"
    return _listed(index, index.store.rows(asked, [*values, most, first]))


def count(index: Index, wanted: Wanted) -> int:
    """How many attempts fit."""
    if wanted.is_all:
        return index.count()
    where, values = _where(wanted)
    return int(index.store.rows(f"SELECT count(*) FROM attempts WHERE {where}", values)[0][0])


def at_address(index: Index, address: str) -> Listed | None:
    """The attempt of that address, or the only one of that name."""
    asked = "SELECT path, recorded_s FROM attempts WHERE listed AND name = ? LIMIT ?"
    rows = index.store.rows(asked, (address.rpartition("~")[2], 1 << 20))
    fitting = _fitting(rows, address) or (rows if len(rows) == 1 and "~" not in address else [])
    return next(iter(_listed(index, fitting[:1])), None)


def _fitting(rows: list[tuple], address: str) -> list[tuple]:
    return [row for row in rows if address_of(row[0]) == address]


def neighbours(index: Index, path: bytes) -> tuple[str | None, str | None]:
    """Addresses of the attempts before and after that one, among all in their order."""
    place = index.store.rows("SELECT calm, margin, name, path FROM attempts WHERE path = ? AND listed", (path,))
    if not place:
        return None, None
    return _next(index, place[0], ("<", ">"), "calm DESC, margin DESC, name, path DESC"), _next(
        index, place[0], (">", "<"), RANK
    )


def _next(index: Index, place: tuple, signs: tuple[str, str], order: str) -> str | None:
    up, down = signs
    beyond = [(f"calm = ? AND margin = ? AND name = ? AND path {up} ?", place)]
    beyond.append((f"calm = ? AND margin = ? AND name {down} ?", place[:3]))
    beyond += [(f"calm = ? AND margin {up} ?", place[:2]), (f"calm {up} ?", place[:1])]
    for where, values in beyond:
        asked = f"SELECT path FROM attempts WHERE listed = 1 AND {where} ORDER BY {order} LIMIT 1"
        if rows := index.store.rows(asked, values):
            return address_of(rows[0][0])
    return None


def players(index: Index) -> list[str]:
    """Everybody who played."""
    return _each(index, "players", "player")


def cards(index: Index) -> list[str]:
    """Every card that was built."""
    return _each(index, "attempts", "card", "listed = 1 AND ")


def _each(index: Index, table: str, column: str, where: str = "") -> list[str]:
    """What is in a column, in order: one look into its index for each, where DISTINCT reads all of it."""
    least = f"SELECT min({column}) FROM {table} WHERE {where}{column}"
    every = f"WITH RECURSIVE e(v) AS ({least} >= '' UNION ALL SELECT ({least} > v) FROM e WHERE v IS NOT NULL)"
    return [row[0] for row in index.store.rows(f"{every} SELECT v FROM e WHERE v IS NOT NULL")]


def of_match(index: Index, match_id: str) -> list[Listed]:
    """The attempts of one match."""
    asked = "SELECT path, recorded_s FROM attempts WHERE match_id = ? AND listed ORDER BY path"
    return _listed(index, index.store.rows(asked, (match_id,)))


@dataclass(frozen=True)
class Played:
    """A match by its attempts: who played in it, in the order in which they came to the table; ISO time of the first,
    empty where no record says so."""

    players: tuple[str, ...]
    at: str


def matches(index: Index, wanted: Wanted, most: int) -> tuple[dict[str, Played], int]:
    """The latest matches with an attempt that fits, and how many older ones there are."""
    if wanted.is_all:
        every = index.store.rows("SELECT match_id FROM matches ORDER BY began_s DESC LIMIT ?", (most,))
        total = int(index.store.rows("SELECT count(*) FROM matches")[0][0])
    else:
        where, values = _where(wanted)
        fitting = f"SELECT match_id FROM attempts WHERE {where} AND match_id <> '' GROUP BY match_id"
        every = index.store.rows(f"{fitting} ORDER BY min(recorded_s) DESC", values)
        total = len(every)
    latest = sorted(match_id for (match_id,) in every[:most])
    return {match_id: played(index, match_id) for match_id in latest}, max(0, total - most)


def played(index: Index, match_id: str) -> Played:
    """The match as far as it was recorded."""
    asked = (
        "SELECT attempts.path, player FROM attempts JOIN players ON players.path = attempts.path "
        "WHERE match_id = ? AND listed ORDER BY recorded_s, name, seat"
    )
    rows = index.store.rows(asked, (match_id,))
    first = index.entries([path for path, _ in rows[:1]])
    return Played(tuple(dict.fromkeys(player for _, player in rows)), first[0].at if first else "")


def _listed(index: Index, rows: list[tuple]) -> list[Listed]:
    entries = ((path, at_s, index.entries([path])) for path, at_s in rows)
    return [Listed(path, entry[0], at_s) for path, at_s, entry in entries if entry]


def _where(wanted: Wanted) -> tuple[str, Values]:
    """The condition of a filter, and the values in it."""
    where, values = ["listed = 1"], Values()
    if wanted.player:
        where.append("path IN (SELECT path FROM players WHERE player = ?)")
        values.append(wanted.player)
    if wanted.card:
        where.append("card = ?")
        values.append(wanted.card)
    if wanted.verdict:
        where.append("instr(rulings, ?) > 0")
        values.append(f" {wanted.verdict} ")
    if wanted.show == "overruled":
        duels = ", ".join("?" * len(wanted.ruled))
        since = f"SELECT path FROM attempts WHERE match_id = ? AND duel IN ({duels})"
        where.append(f"path IN (SELECT path FROM attempts WHERE overruled UNION ALL {since})")  # few, found by indexes
        values += [wanted.match, *wanted.ruled]
    elif wanted.show == "cut_short":
        where.append("cut_short <> '' AND NOT (cut_short = ? AND recorded_s >= ?)")
        values += [UNFINISHED, wanted.began_s]
    elif wanted.show in SHOWN:
        where.append(SHOWN[wanted.show])
    return " AND ".join(where), values
