"""Schedules: printed ones to the letter, the others spread evenly."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import pytest
from click.testing import CliRunner

from referee.cli import cli
from referee.errors import IllegalCommand
from referee.match.schedule import pairings, round_robin, schedule, schedule_text, with_seats

NAMES = "ABCDEFGHIJKL"
MANY = range(5, 13)

PRINTED = {  # RULES.md, read off the table
    3: "A–C A–B B–C A–C A–B B–C",
    4: "A–D B–C A–B C–D A–C B–D",
    2: "A–B A–B",  # six duels: two rounds of three
}


@pytest.mark.parametrize("n", PRINTED)
def test_few_players_play_the_printed_table(n):
    rounds = schedule(NAMES[:n])
    assert " ".join("–".join(sorted(r.players)) for r in rounds) == PRINTED[n]
    assert {r.duels for r in rounds} == {3}


@pytest.mark.parametrize("n", MANY)
def test_everyone_meets_everyone_once(n):
    assert sorted(pairings(n)) == list(combinations(range(n), 2))


def rests(n: int) -> list[int]:
    last, found = {}, []
    for t, pair in enumerate(pairings(n)):
        found += [t - last[p] - 1 for p in pair if p in last]
        last |= dict.fromkeys(pair, t)
    return found


@pytest.mark.parametrize("n", MANY)
def test_waits_are_spread_evenly(n):
    """Odd numbers rest (n-3)/2 or one more; even ones n/2 - 2 to n/2: the best guaranteed rest."""
    shortest, longest = (n - 3) // 2 if n % 2 else n // 2 - 2, (n - 1) // 2 if n % 2 else n // 2
    assert min(rests(n)) == shortest
    assert max(rests(n)) == longest


@pytest.mark.parametrize("n", MANY)
def test_nobody_is_more_than_two_rounds_ahead(n):
    played = Counter(dict.fromkeys(range(n), 0))
    for pair in pairings(n):
        played.update(pair)
        assert max(played.values()) - min(played.values()) <= (1 if n % 2 else 2)


@pytest.mark.parametrize("n", range(2, 13))
def test_sides_are_spread_evenly(n):
    balance = Counter()
    for a, b in with_seats(pairings(n)):
        balance.update({a: 1})
        balance.subtract({b: 1})
    rounds_each = 2 * len(pairings(n)) // n
    assert {abs(x) for x in balance.values()} == {rounds_each % 2}


@pytest.mark.parametrize("n", range(2, 13))
def test_nobody_keeps_a_side_for_long(n):
    for player in range(n):
        sides = "".join("AB"[pair.index(player)] for pair in with_seats(pairings(n)) if player in pair)
        assert "AAAA" not in sides
        assert "BBBB" not in sides


@pytest.mark.parametrize("n", [2, 3])
def test_who_meet_twice_swap_sides(n):
    rounds = with_seats(pairings(n))
    assert set(rounds) == {pair[::-1] for pair in rounds}


@pytest.mark.parametrize("n", [0, 1, 13])
def test_too_few_or_too_many_are_refused(n):
    with pytest.raises(IllegalCommand, match="2 to 12 players"):
        schedule(["p"] * n)


@pytest.mark.parametrize("n", range(2, 13))
def test_an_extra_round_robin_meets_once(n):
    pairs = [frozenset(r.players) for r in round_robin(NAMES[:n], 1, "extra")]
    assert len(pairs) == len(set(pairs)) == n * (n - 1) // 2


def test_the_schedule_prints_as_text():
    said = CliRunner().invoke(cli, ["schedule", "4", "--players", "Ann,Ben,Cem,Dia"])
    assert said.exit_code == 0
    assert said.output == (
        "4 players, 6 rounds of 3 duels; A is the youngest, the first named sits at zone A\n"
        "\n"
        "round  1  A–D  Ann – Dia  waiting: Ben, Cem\n"
        "round  2  B–C  Ben – Cem  waiting: Ann, Dia\n"
        "round  3  A–B  Ann – Ben  waiting: Cem, Dia\n"
        "round  4  C–D  Cem – Dia  waiting: Ann, Ben\n"
        "round  5  A–C  Cem – Ann  waiting: Ben, Dia\n"
        "round  6  B–D  Dia – Ben  waiting: Ann, Cem\n"
    )


def test_without_names_players_are_letters():
    assert "A – B" in schedule_text("AB")
    said = CliRunner().invoke(cli, ["schedule", "2"])
    assert "round  1  A–B  A – B" in said.output


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["schedule", "1"], "2 to 12"),
        (["schedule", "3", "--players", "Ann,Ben"], "3 players, but 2 names"),
        (["schedule", "2", "--players", "Ann,Ann"], "different names"),
    ],
)
def test_a_bad_list_is_one_clear_line(arguments, message):
    said = CliRunner().invoke(cli, arguments)
    assert said.exit_code != 0
    assert message in said.output + str(said.exception)
