"""Swiss pairings against a printed table, ``swiss_table.txt``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from organised import over

from referee.tournament.pairing import latest_floats, swiss
from referee.tournament.state import Tournament

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
    pairs, resting = swiss(order, made, Tournament(games=tuple(games)), floats)
    told = " ".join(f"{100 - a}-{100 - b}" for a, b in pairs) + (f", {100 - resting} rests" if resting else "")
    assert told == wanted


def test_the_table_holds_every_size_from_2_to_17_and_later_rounds():
    assert [int(row[0]) for row in ROWS if not row[1]] == list(range(2, 18))
    assert sum(line.startswith(tuple("0123456789")) for line in TABLE.splitlines()) == len(ROWS)


def test_who_met_more_points_in_the_latest_round_who_fewer_and_who_rested():
    games = (over(1, 1, 2), over(2, 4, 3), over(3, 5, 6), over(4, 7))
    win = max(games[0].match_points(p) for p in (1, 2))
    before = {1: 3, 2: 1, 3: 3, 4: 1, 5: 2, 6: 2, 7: 0, 8: 0}
    made = {p: n + win * (p in (1, 4, 5, 7)) for p, n in before.items()}
    floats = latest_floats(Tournament(games=games, round=1), made)
    assert floats == {1: 1, 2: -1, 3: 1, 4: -1, 5: 0, 6: 0, 7: 1, 8: 1}
    assert latest_floats(Tournament(), before) == {}
