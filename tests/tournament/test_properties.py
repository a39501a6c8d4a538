"""Whatever is done to a tournament: pairings are legal, nobody meets twice in vain, rounds off are fair, sums agree."""

from __future__ import annotations

import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from organised import NAMES, Organised

from referee.errors import IllegalCommand
from referee.events import event_from_json
from referee.tournament.commands import (
    CloseTable,
    Enter,
    Leave,
    OpenTable,
    PairRound,
    Rename,
    Rerun,
    Return,
    RuleGame,
    SitOut,
)
from referee.tournament.evolve import fold
from referee.tournament.pairing import floats_of, meeting_counts, rounds_off, swiss
from referee.tournament.plan import next_calls, time_plan
from referee.tournament.standings import knockout_winner, points, ranked_entrants, standings
from referee.tournament.state import FORMATS, WIN

FEW = settings(max_examples=60, deadline=None)

formats = st.sampled_from(FORMATS)
steps = st.lists(st.tuples(st.integers(0, 10), st.integers(0, 40)), max_size=25)


def one_step(cup: Organised, what: int, n: int) -> None:
    """Something that an organiser may try, sensible or not."""
    player, games = n % max(1, len(cup.state.entrants)), cup.state.games
    number = games[n % len(games)].number if games else 1
    tries = (
        lambda: cup.do(Enter(f"{NAMES[n]} late")),
        lambda: cup.do(Leave(player, "home", "Org")),
        lambda: cup.do(Return(player)),
        lambda: cup.do(Rename(player, f"{NAMES[n]} new")),
        lambda: cup.do(CloseTable(f"T{n % 3 + 1}", "light fell down")),
        lambda: cup.do(OpenTable(f"T{n % 3 + 1}")),
        lambda: cup.do(Rerun(number, "card was torn", "Org")),
        lambda: cup.do(RuleGame(number, cup.state.game(number).players[0], "did not come", "Org")) if games else None,
        lambda: cup.do(PairRound()),
        lambda: played_some(cup, n),
        lambda: cup.do(SitOut(player)),
    )
    tries[what]()


def played_some(cup: Organised, n: int) -> None:
    cup.call_all()
    for game in cup.state.games:
        if game.phase == "called":
            cup.begin(game.number)
            if n % 2:
                cup.end(game.number)


def legal(state) -> None:
    """What holds after every command."""
    for game in state.games:
        assert len(set(game.players)) == len(game.players)
        assert game.bye or len(game.players) != 1
    for number in range(1, state.round + 1):
        seats = Counter(p for g in state.of_round(number) for p in g.players)
        assert all(count == 1 for count in seats.values()), "somebody plays twice in a round"
    here = [g for g in state.games if g.phase in ("called", "playing")]
    assert len({g.table for g in here}) == len(here) and {g.table for g in here} <= set(state.tables)
    assert all(n == 1 for n in Counter(p for g in here for p in state.sitting(g)).values())
    used = [m for g in state.games for m in (*g.void, g.match_id) if m]
    assert len(used) == len(set(used)), "a match counts twice"
    lines = standings(state)
    assert sorted(line.player for line in lines) == list(range(len(state.entrants)))
    assert [line.place for line in lines if line.place] == list(range(1, len(state.present) + 1))
    assert len({e.name.casefold() for e in state.entrants}) == len(state.entrants)
    recounted(state, lines)


def recounted(state, lines) -> None:
    """Sums, counted the other way round: from the games' rows, not the players'."""
    cards, won, made = Counter(), Counter(), Counter()
    for game in state.games:
        if game.result:
            for row in game.result.rows:
                cards[row.player] += row.points
                won[row.player] += row.won
                made[row.player] += game.match_points(row.player)
            if len(game.players) == 2 and game.result.by == "match":
                assert sum(game.match_points(p) for p in game.players) == WIN
    assert {line.player: line.cards for line in lines} == {n: cards[n] for n in range(len(lines))}
    assert {line.player: line.duels_won for line in lines} == {n: won[n] for n in range(len(lines))}
    assert {line.player: line.match_points for line in lines} == {n: made[n] for n in range(len(lines))}


@FEW
@given(formats, st.integers(2, 17), st.integers(1, 4), steps, st.integers(0, 9))
def test_whatever_an_organiser_tries_the_tournament_stays_whole(form, players, tables, tried, seed):
    cup = Organised(players, tables, seed, format=form, group_size=3 + seed % 2)
    for what, n in tried:
        before = cup.state
        try:
            one_step(cup, what, n)
        except IllegalCommand as refused:
            assert "\n" not in str(refused)
            if what != 9:
                assert cup.state is before or cup.state == before
        legal(cup.state)
    assert fold(event_from_json(json.loads(json.dumps(e.to_json()))) for e in cup.log) == cup.state


@FEW
@given(formats, st.integers(2, 40), st.integers(1, 16), st.integers(0, 99))
def test_every_tournament_comes_to_an_end_with_one_winner(form, players, tables, seed):
    cup = Organised(players, tables, seed, format=form)
    state = cup.play_on()
    legal(state)
    assert [line.place for line in standings(state)][:2] == [1, 2]
    if form == "groups":
        final = state.games[-1]
        assert final.stage == "knockout" and standings(state)[0].player == knockout_winner(final)
    if form == "swiss":
        assert state.round == state.rounds


def perfect(players, forbidden) -> bool:
    """Whether all can be paired without a forbidden pair, by trying every way."""
    if not players:
        return True
    first, *rest = players
    return any(
        frozenset((first, other)) not in forbidden and perfect([p for p in rest if p != other], forbidden)
        for other in rest
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(2, 9), st.integers(0, 999), st.lists(st.integers(0, 8), max_size=3))
def test_nobody_meets_twice_and_nobody_rests_twice_while_that_can_be_avoided(players, seed, leavers):
    """Held against every way there is; more rounds than that many players can play without meeting again."""
    cup = Organised(players, 4, seed, rounds=9)
    for number in range(6):
        for leaver in leavers[number : number + 1]:
            if leaver < players and cup.state.entrants[leaver].present and len(cup.state.present) > 2:
                cup.do(Leave(leaver, "home"))
        before, off, here = meeting_counts(cup.state), rounds_off(cup.state), list(cup.state.present)
        cup.do(PairRound())
        games = cup.state.of_round(cup.state.round)
        resting = [g.players[0] for g in games if g.bye]
        assert len(resting) == len(here) % 2
        fewest = [p for p in here if off[p] == min(off[q] for q in here)]
        assert set(resting) <= set(fewest)
        options = [[p for p in here if p != r] for r in fewest] if resting else [here]
        avoidable = any(perfect(rest, set(before)) for rest in options)
        again = [g for g in games if len(g.players) == 2 and before[frozenset(g.players)]]
        assert not (avoidable and again)
        assert {p for g in games for p in g.players} == set(here)
        cup.play_round()


@FEW
@given(st.integers(4, 32), st.integers(0, 999))
def test_as_many_points_meet_where_nothing_speaks_against_it(players, seed):
    """In the second round of a Swiss of 2^n players all winners can meet each other, and so they do."""
    cup = Organised(players - players % 4, 8, seed)
    cup.do(PairRound())
    cup.play_round()
    made = points(cup.state)
    cup.do(PairRound())
    assert all(made[a] == made[b] for g in cup.state.of_round(2) for a, b in [g.players])


@FEW
@given(st.integers(2, 30), st.integers(1, 6), st.integers(0, 99), formats)
def test_a_free_table_never_waits_and_the_plan_gives_no_table_two_games_at_once(players, tables, seed, form):
    cup = Organised(players, tables, seed, format=form)
    cup.do(PairRound())
    slots = time_plan(cup.state, {})
    assert {s.game for s in slots} == {g.number for g in cup.state.games if g.phase == "waiting"}
    for a, b in combinations(slots, 2):
        assert a.table != b.table or a.ends_s <= b.begins_s or b.ends_s <= a.begins_s
    calls = next_calls(cup.state)
    waiting = [g for g in cup.state.games if g.phase == "waiting"]
    assert len(calls) == min(tables, len(waiting)) and len({t for _, t in calls}) == len(calls)


def test_a_pairing_is_the_same_for_the_same_tournament():
    one, two = (Organised(17, 4, 5) for _ in range(2))
    assert one.play_on() == two.play_on()
    state, made = one.state, points(one.state)
    floats = [floats_of(state, state.round - n) for n in (0, 1)]
    ranked = ranked_entrants(state)
    assert swiss(ranked, made, state, floats) == swiss(ranked_entrants(two.state), made, two.state, floats)
