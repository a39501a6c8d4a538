"""Swiss pairings against a printed table, ``swiss_table.txt``."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from organised import over

from referee.tournament.pairing import floats_of, meeting_counts, swiss
from referee.tournament.state import Entrant, Tournament

TABLE = (Path(__file__).parent / "swiss_table.txt").read_text(encoding="utf-8")
ROWS = re.findall(
    r"^(\d+)(?:; points ([\d ]+))?(?:; met ([\d -]+))?(?:; rested (\d+))?"
    r"(?:; down ([\d ]+))?(?:; up ([\d ]+))?: (.+)$",
    TABLE,
    re.MULTILINE,
)


def player(number: str | int) -> int:
    """Who stands at this place of the table; that the best have the highest numbers makes no difference."""
    return 100 - int(number)


def pairs_of(text: str) -> list[tuple[int, int]]:
    """``1-6 2-7`` as pairs of players."""
    return [(player(a), player(b)) for a, b in re.findall(r"(\d+)-(\d+)", text)]


@pytest.mark.parametrize(("size", "points", "met", "rested", "down", "up", "wanted"), ROWS)
def test_a_pairing_is_the_printed_one(size, points, met, rested, down, up, wanted):
    games = [over(n, *pair) for n, pair in enumerate(pairs_of(met), 1)]
    games += [over(len(games) + 1, player(rested))] if rested else []
    floats = {player(n): way for numbers, way in ((down, 1), (up, -1)) for n in numbers.split()}
    order = [player(n) for n in range(1, int(size) + 1)]
    made = dict(zip(order, map(int, points.split()), strict=True)) if points else dict.fromkeys(order, 0)
    pairs, resting = swiss(order, made, Tournament(games=tuple(games)), [floats, {}])
    told = " ".join(f"{100 - a}-{100 - b}" for a, b in pairs) + (f", {100 - resting} rests" if resting else "")
    assert told == wanted


def test_the_table_holds_every_size_from_2_to_17_and_later_rounds():
    assert [int(row[0]) for row in ROWS if not row[1]] == list(range(2, 18))
    assert sum(line.startswith(tuple("0123456789")) for line in TABLE.splitlines()) == len(ROWS)


def test_who_met_more_points_in_a_round_who_fewer_and_who_rested():
    first = (over(1, 1, 0), over(2, 3, 2), over(3, 4, 5), over(4, 6))
    second = [replace(over(5 + n, *players), round=2) for n, players in enumerate([(1, 3), (4, 0), (2, 7), (5,), (6,)])]
    second[3] = replace(second[3], result=replace(second[3].result, by="requested"))
    third = replace(over(10, 3, 0), round=3)  # of a round to come: changes nothing
    state = Tournament(games=(*first, *second, third), round=2, entrants=tuple(Entrant(p) for p in "ABCDEFGH"))
    assert floats_of(state, 1) == {0: 0, 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 1, 7: 1}
    assert floats_of(state, 2) == {0: -1, 1: 0, 2: 0, 3: 0, 4: 1, 5: 1, 6: 1, 7: 0}
    assert floats_of(state, 3) == {0: -1, 3: 1} | dict.fromkeys((1, 2, 4, 5, 6, 7), 1)
    assert floats_of(state, 0) == {}


def test_a_walkover_is_no_meeting():
    walkover = replace(over(2, 1, 3), result=replace(over(2, 1, 3).result, by="left"))
    assert meeting_counts(Tournament(games=(over(1, 1, 2), walkover, over(3, 2, 1)))) == {frozenset((1, 2)): 2}
