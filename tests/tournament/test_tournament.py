"""A tournament by examples: groups, brackets, ties, walkovers, games played again, the time plan, refusals."""

from __future__ import annotations

import random
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from organised import NAMES, Organised

from referee.errors import IllegalCommand
from referee.tournament.commands import (
    CallGame,
    CloseTable,
    CreateTournament,
    Enter,
    GameBegins,
    GameEnds,
    Leave,
    OpenTable,
    PairRound,
    Rename,
    Rerun,
    Return,
    RuleGame,
    SitOut,
    decide,
)
from referee.tournament.evolve import fold
from referee.tournament.pairing import (
    knockout,
    knockout_size,
    rounds_off,
    split_into_groups,
    swiss_rounds,
)
from referee.tournament.plan import CHANGE_S, DUEL_S, remaining_s, time_plan
from referee.tournament.results import result_of
from referee.tournament.standings import points, ranked_entrants, standings
from referee.tournament.state import GameResult, ResultRow, TournamentOptions


def names(cup, numbers):
    return [cup.state.entrants[n].name for n in numbers]


@pytest.mark.parametrize(
    ("players", "size", "sizes"),
    [(4, 4, [4]), (5, 4, [3, 2]), (8, 4, [4, 4]), (9, 4, [3, 3, 3]), (10, 4, [4, 3, 3]), (3, 2, [3]), (2, 4, [2]),
     (5, 2, [3, 2]), (7, 2, [3, 2, 2]), (6, 2, [2, 2, 2]), (1, 4, [1])],
)  # fmt: skip
def test_groups_are_dealt_in_a_snake(players, size, sizes):
    dealt = split_into_groups(range(players), size)
    assert sorted(map(len, dealt), reverse=True) == sizes
    assert sorted(p for g in dealt for p in g) == list(range(players))


def test_a_snake_gives_each_group_its_share_of_the_strong():
    assert split_into_groups(range(8), 4) == ((0, 3, 4, 7), (1, 2, 5, 6))
    assert split_into_groups(range(9), 3) == ((0, 5, 6), (1, 4, 7), (2, 3, 8))


def test_the_two_best_of_a_bracket_meet_in_the_final_only():
    assert knockout(range(2), {}) == ((0, 1),) and knockout(range(4), {}) == ((0, 3), (1, 2))
    assert knockout(range(8), {}) == ((0, 7), (3, 4), (1, 6), (2, 5))


@pytest.mark.parametrize(
    ("order", "group_of", "wanted"),
    [
        ("10 11 12 13", "10:1 13:1 11:2 12:2", "10-12 11-13"),
        ("10 11", "10:1 11:1", "10-11"),  # nobody to change with
        ("0 1 2 3 4 5 6 7", "", "0-7 3-4 1-6 2-5"),  # nobody of one group
        ("0 1 2 3 4 5 6 7", "0:1 1:2 2:3 3:4 4:1 5:2 6:3 7:4", "0-6 3-5 1-7 2-4"),  # each runner-up in the other half
        ("0 1 2 3 4 5 6 7", "0:1 1:2 2:3 3:4 4:2 5:4 6:3 7:1", "0-6 3-4 1-7 2-5"),  # the nearest places change
        ("0 1 2 3 4 5 6 7", "0:1 1:2 2:3 3:4 4:2 5:4 6:1 7:1", "0-5 3-4 1-7 2-6"),  # 5, 6 and 7 want two places
        (
            "0 1 2 3 4 5 6 7",
            "0:1 1:1 2:3 3:4 4:2 5:4 6:3 7:1",
            "0-6 3-4 1-5 2-7",
        ),  # 7 has one of his group in each half
        ("0 1 2 3 4 5 6 7", "0:1 1:2 2:2 3:3 4:3 5:4 6:4 7:1", "0-6 2-4 1-7 3-5"),  # 2 and 3 change too
        ("0 1 2 3", "0:1 1:1 2:1 3:1", "0-3 1-2"),  # all of one group
        ("8 9 6 7", "", "8-7 9-6"),  # who played in no group is of nobody's
        ("8 9 6 7", "9:1 6:2", "8-7 9-6"),
        ("3 0 1 2", "0:0 1:1 2:2", "3-2 0-1"),
        ("1 3 5 0", "0:0 3:3 5:5", "1-0 3-5"),
        ("5 1 2 0", "1:1 2:2", "5-0 1-2"),
        ("2 1 3 0", "1:1 3:3", "2-0 1-3"),
        ("0 1 3 2", "1:1 3:3", "0-2 1-3"),
        ("2 1 0 3", "0:0 1:1 2:2", "2-3 1-0"),
    ],
)
def test_two_of_one_group_meet_in_the_knock_out_as_late_as_possible(order, group_of, wanted):
    of = {int(p): int(group) for p, group in re.findall(r"(\d+):(\d+)", group_of)}
    assert " ".join(f"{a}-{b}" for a, b in knockout([int(p) for p in order.split()], of)) == wanted


@pytest.mark.parametrize("groups", [2, 4, 8])
def test_winner_and_runner_up_of_a_group_can_meet_in_the_final_only(groups):
    for seed in range(60):
        runners_up = random.Random(seed).sample(range(groups), groups)
        bracket = [
            p for pair in knockout(range(2 * groups), dict(enumerate([*range(groups), *runners_up]))) for p in pair
        ]
        of = [p if p < groups else runners_up[p - groups] for p in bracket]
        assert sorted(of[:groups]) == sorted(of[groups:]) == list(range(groups))
        assert (bracket.index(0) < groups) != (bracket.index(1) < groups)


@pytest.mark.parametrize(("wanted", "players", "size"), [(8, 30, 8), (6, 30, 4), (8, 5, 4), (3, 3, 2), (2, 9, 2)])
def test_a_knock_out_takes_as_many_as_a_bracket_holds(wanted, players, size):
    assert knockout_size(wanted, players) == size


@pytest.mark.parametrize(("players", "rounds"), [(1, 1), (2, 1), (3, 2), (4, 2), (5, 3), (8, 3), (9, 4), (40, 6)])
def test_a_swiss_has_as_many_rounds_as_leave_one_without_a_loss(players, rounds):
    assert swiss_rounds(players) == rounds


def test_groups_then_knock_out():
    cup = Organised(8, 2, format="groups")
    cup.do(PairRound())
    assert [len(g.players) for g in cup.state.games] == [4, 4] and cup.state.rounds == 3
    cup.play_round()
    best = [row.player for row in standings(cup.state)]
    places = {row.player: row.group_place for row in standings(cup.state)}
    assert [places[p] for p in best] == [1, 1, 2, 2, 3, 3, 4, 4]
    cup.do(PairRound())
    semi = cup.state.of_round(2)
    assert [g.stage for g in semi] == ["knockout"] * 2 and {p for g in semi for p in g.players} == set(best[:4])
    cup.play_on()
    final = cup.state.of_round(3)[0]
    first, second = standings(cup.state)[:2]
    assert {first.player, second.player} == set(final.players) and first.player == final.result.winner


def test_who_won_and_went_home_lets_the_other_one_through():
    cup = Organised(4, 1, format="groups", group_size=2, advance=4)
    cup.do(PairRound())
    cup.play_round()
    cup.do(PairRound())
    cup.play_round()
    winner = cup.state.of_round(2)[0].result.winner
    cup.do(Leave(winner, "train"), PairRound())
    final = cup.state.of_round(3)[0]
    assert final.bye and final.result.by == "bye" and winner not in final.players
    cup.do(PairRound())
    assert cup.state.phase == "finished" and standings(cup.state)[0].player == final.players[0]


def test_ties_of_a_swiss_are_broken_by_buchholz_then_by_card_points():
    cup = Organised(4, 2, rounds=2)
    cup.do(PairRound())
    for number, game in enumerate(cup.state.of_round(1)):
        cup.call_all()
        cup.begin(game.number)
        a, b = game.players
        rows = (ResultRow(a, 9 + number, 4, 6, 1), ResultRow(b, 3, 2, 6, 2))
        cup.do(GameEnds(game.number, cup.state.game(game.number).match_id, GameResult(rows)))
    one, two = (g.players[0] for g in cup.state.of_round(1))
    assert ranked_entrants(cup.state)[:2] == [two, one], "as many points and as much of Buchholz: more card points"
    assert points(cup.state)[one] == 2 and {row.buchholz for row in standings(cup.state)[:2]} == {0}
    cup.do(PairRound())
    assert {frozenset(g.players) for g in cup.state.of_round(2)} >= {frozenset((one, two))}


def played(cup, *wins):
    """A round in which these players win, all others who are named first; the game numbers are the pairing's."""
    cup.do(PairRound())
    for game in cup.state.of_round(cup.state.round):
        if game.result is None:
            cup.call_all()
            cup.begin(game.number)
            first = next((p for p in game.players if p in wins), game.players[0])
            cup.end(game.number, *sorted(game.players, key=lambda p: p != first))


def buchholz_of(cup):
    return {row.name: row.buchholz for row in standings(cup.state)}


def test_a_round_missed_before_one_came_counts_as_against_ones_own_points():
    cup = Organised(8, 4, rounds=3)
    played(cup)
    cup.do(Enter("Zoe"), Enter("Yan"))
    played(cup, 8)
    played(cup, 8)
    made = points(cup.state)
    games = [g for g in cup.state.games if 8 in g.players]
    assert made[8] == 4 and len(games) == 2 and all(len(g.players) == 2 for g in games)
    met = [p for g in games for p in g.players if p != 8]
    assert buchholz_of(cup)["Zoe"] == sum(made[p] for p in met) + made[8]


def test_who_goes_home_drags_nobody_down_and_a_walkover_counts_as_against_ones_own_points():
    cup = Organised(8, 4, rounds=3)
    played(cup)
    one, other = (g.players for g in cup.state.of_round(1)[:2])
    cup.do(Leave(one[1], "train"), PairRound())
    open_game = next(g for g in cup.state.of_round(2) if other[1] in g.players and len(g.players) == 2)
    cup.do(Leave(other[1], "ill"))
    winner = cup.state.game(open_game.number).result.winner
    cup.play_round()
    played(cup)
    made, sums = points(cup.state), {n: buchholz_of(cup)[cup.state.entrants[n].name] for n in range(8)}

    def own(player, missed):
        """Opponents who missed no round at the end by their points, with what these missed."""
        met = [p for g in cup.state.games if player in g.players and g.played for p in g.players if p != player]
        return sum(made[p] + missed.get(p, 0) for p in met) + (3 - len(met)) * made[player]

    missed = {one[1]: 2, other[1]: 1}  # a shared game for each round they were not there for
    assert sums == {n: own(n, missed) for n in range(8)} and winner is not None
    assert all(len(g.players) == 2 for g in cup.state.of_round(3))


def test_who_sits_out_gets_half_of_a_win_once_and_may_rest_all_the_same():
    cup = Organised(6, 3, rounds=3)
    cup.do(SitOut(2), SitOut(4), Return(4))
    played(cup)
    off = {g.players[0]: g.result.by for g in cup.state.of_round(1) if g.bye}
    assert off.pop(2) == "requested" and list(off.values()) == ["bye"]
    assert points(cup.state)[2] == 1 and rounds_off(cup.state) == dict.fromkeys(off, 1)
    assert {row.player: row.wins for row in standings(cup.state)}[2] == 0
    for command in (SitOut(2), Return(2)):
        with pytest.raises(IllegalCommand, match=r"only once|has not left"):
            cup.do(command)
    cup.do(Leave(2, "phone"), Return(2))
    with pytest.raises(IllegalCommand, match="only once"):
        cup.do(SitOut(2))
    cup.do(SitOut(4))
    played(cup)
    assert next(g for g in cup.state.of_round(2) if 4 in g.players).result.by == "requested"
    played(cup)
    with pytest.raises(IllegalCommand, match="before its last round"):
        cup.do(SitOut(0))
    cup.do(PairRound())
    assert cup.state.phase == "finished"


def test_nobody_sits_out_of_a_group_and_a_round_may_be_sat_out_by_all():
    with pytest.raises(IllegalCommand, match="in a Swiss"):
        Organised(4, 1, format="groups").do(SitOut(0))
    cup = Organised(2, 1, rounds=2)
    cup.do(SitOut(0), SitOut(1), PairRound())
    assert cup.state.phase == "between" and points(cup.state) == {0: 1, 1: 1}


def test_groups_of_three_and_of_four_are_compared_by_points_a_duel():
    cup = Organised(7, 2, format="printed")
    cup.do(PairRound())
    for game in cup.state.games:
        cup.call_all()
        cup.begin(game.number)
        big = len(game.players) == 4
        rows = [
            ResultRow(p, (30 if big else 36) - n * 9, 6 - n, 9 if big else 12, n + 1)
            for n, p in enumerate(game.players)
        ]
        cup.do(GameEnds(game.number, cup.state.game(game.number).match_id, GameResult(tuple(rows))))
    table = standings(cup.state)
    assert [row.group_place for row in table] == [1, 1, 2, 2, 3, 3, 4]
    assert table[0].cards == 30 and table[0].duels == 9, "30 in 9 duels are more than 36 in 12"
    assert (table[0].cards_per_duel, table[1].cards_per_duel) == (30 / 9, 3.0)


def test_who_goes_home_loses_the_open_game_and_is_not_paired_again():
    cup = Organised(6, 3)
    cup.do(PairRound())
    cup.call_all()
    game = cup.state.games[0]
    leaver, other = game.players
    cup.do(Leave(leaver, "ill", "Org"))
    over = cup.state.game(game.number)
    assert over.result.by == "left" and over.result.winner == other and points(cup.state)[other] == 2
    cup.play_round()
    cup.do(PairRound())
    assert leaver not in {p for g in cup.state.of_round(2) for p in g.players}
    assert standings(cup.state)[-1].place is None
    cup.play_round()
    cup.do(Return(leaver), PairRound())
    assert leaver in {p for g in cup.state.of_round(3) for p in g.players}


def test_a_group_plays_on_without_who_goes_home():
    cup = Organised(4, 1, format="printed")
    cup.do(PairRound(), Leave(2, "ill"))
    assert cup.state.sitting(cup.state.games[0]) == tuple(p for p in cup.state.games[0].players if p != 2)
    cup.play_round()
    assert len(cup.state.games[0].result.rows) == 3 and standings(cup.state)[-1].player == 2


def test_who_comes_late_plays_from_the_next_round_on():
    cup = Organised(4, 2)
    cup.do(PairRound(), Enter("Zoe"))
    assert cup.state.entrants[4].joined == 1
    cup.play_round()
    cup.do(PairRound())
    assert 4 in {p for g in cup.state.of_round(2) for p in g.players}


def test_a_game_is_played_again_and_the_first_match_counts_no_longer():
    cup = Organised(4, 2)
    cup.do(PairRound())
    cup.play_round()
    was = cup.state.games[0]
    cup.do(Rerun(1, "the card was torn", "Org"))
    again = cup.state.games[0]
    assert again.phase == "waiting" and again.void == (was.match_id,) and cup.state.phase == "round"
    cup.call_all()
    with pytest.raises(IllegalCommand, match="another game"):
        cup.do(GameBegins(1, was.match_id, was.players))
    cup.play_round()
    assert cup.state.games[0].match_id != was.match_id


def test_a_result_that_was_changed_at_the_table_counts_until_a_knock_out_was_drawn_from_it():
    cup = Organised(4, 1, format="groups")
    cup.do(PairRound())
    cup.play_round()
    game = cup.state.games[0]
    turned = GameResult(tuple(ResultRow(r.player, r.points, r.won, r.played, 5 - r.place) for r in game.result.rows))
    cup.do(GameEnds(1, game.match_id, turned))
    assert cup.state.games[0].result == turned
    cup.do(PairRound())
    for command in (GameEnds(1, game.match_id, turned), Rerun(1, "too late", "Org")):
        with pytest.raises(IllegalCommand, match="was drawn from it"):
            cup.do(command)


def test_a_table_that_is_given_up_gives_its_game_back():
    cup = Organised(4, 1)
    cup.do(PairRound())
    cup.call_all()
    cup.begin(1)
    cup.do(CloseTable("T1", "camera broke"))
    assert cup.state.games[0].phase == "waiting" and not cup.state.tables
    assert cup.state.games[0].void == ("m1.0",)
    assert time_plan(cup.state, {}) == () and remaining_s(cup.state, {}) == 0
    cup.do(OpenTable("T9"))
    cup.play_on()
    assert cup.state.phase == "finished"


def test_a_game_that_was_called_and_never_began_leaves_no_match_behind():
    cup = Organised(4, 1)
    cup.do(PairRound())
    cup.call_all()
    cup.do(CloseTable("T1", "camera broke"))
    assert cup.state.games[0].phase == "waiting" and cup.state.games[0].void == ()


def test_a_player_is_renamed_and_nobody_else():
    cup = Organised(3, 1)
    cup.do(Rename(1, "Benjamin"))
    assert names(cup, range(3)) == ["Ann", "Benjamin", "Cem"]


def test_the_time_plan_learns_from_the_duels_seen():
    cup = Organised(4, 1, rounds=2)
    cup.do(PairRound())
    first, second = time_plan(cup.state, {})
    assert first.begins_s == 0 and first.ends_s == 6 * DUEL_S and second.begins_s == first.ends_s + CHANGE_S
    guess = remaining_s(cup.state, {})
    cup.call_all()
    cup.begin(1)
    rows = (ResultRow(cup.state.games[0].players[0], 9, 4, 6, 1), ResultRow(cup.state.games[0].players[1], 3, 2, 6, 2))
    cup.do(GameEnds(1, cup.state.games[0].match_id, GameResult(rows, seconds=120.0)))
    (slot,) = time_plan(cup.state, {})
    assert slot.ends_s - slot.begins_s == 120 and remaining_s(cup.state, {}) < guess / 2


def test_the_result_of_a_real_match_is_read_by_seat(table):
    match = table(players=3)
    with pytest.raises(ValueError, match="not over"):
        result_of(match.log, (7, 5, 6))
    match.play_on(lambda state: "Ben" if "Ben" in state.seats.values() else "Ann")
    result = result_of(match.log, (7, 5, 6))
    assert result.winner == 5 and result.row(5).won == 12 and result.row(7).won == 6 and result.row(6).won == 0
    assert sum(row.points for row in result.rows) == sum(d.points for d in match.state.history)


@pytest.mark.parametrize(
    "command",
    [
        Enter(""), Enter(" \n "), Enter("ann"), Enter("A\x00"), Enter("x" * 61), Leave(99, "home"), Leave(0, " "),
        Leave(-1, "home"), Return(0), Rename(0, "Ben"), Rename(0, "Ann"), OpenTable("T1"), OpenTable("a/b"),
        OpenTable("tournament"), CloseTable("T7", "why"), CallGame(1, "T7"), CallGame(9, "T1"), CallGame(3, "T1"),
        GameBegins(1, "m", (0, 1)), GameEnds(1, "m", GameResult(())), RuleGame(99, 0, "why", "Org"),
        RuleGame(1, 99, "why", "Org"), RuleGame(1, 0, "", "Org"), RuleGame(1, 0, "why", ""), Rerun(1, "why", "Org"),
        Rerun(0, "why", "Org"), PairRound(), CreateTournament("t2", "Cup"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_one_line_and_changes_nothing(command):
    cup = Organised(5, 1)
    cup.do(PairRound())
    before = cup.state
    with pytest.raises(IllegalCommand) as refused:
        cup.do(command)
    assert "\n" not in str(refused.value) and str(refused.value).strip() and cup.state is before


@pytest.mark.parametrize(
    "given",
    [
        {"players": ("Ann", "ANN")},
        {"players": ("Ann", "")},
        {"options": TournamentOptions("chess")},
        {"tables": ("T", "T")},
        {"options": TournamentOptions(rounds=-1)},
        {"options": TournamentOptions(rounds=99)},
        {"options": TournamentOptions(group_size=1)},
        {"options": TournamentOptions(group_size=13)},
        {"options": TournamentOptions(advance=1)},
        {"name": " "},
        {"id": ""},
        {"players": tuple(f"P{n}" for n in range(257))},
    ],
)  # fmt: skip
def test_a_tournament_that_cannot_be_is_refused(given):
    with pytest.raises(IllegalCommand) as refused:
        decide(fold([]), CreateTournament(**{"id": "t", "name": "Cup", **given}), "2026-01-01T00:00:00+00:00")
    assert "\n" not in str(refused.value)


def test_one_player_alone_begins_nothing():
    with pytest.raises(IllegalCommand, match="two players"):
        Organised(NAMES[:1]).do(PairRound())
