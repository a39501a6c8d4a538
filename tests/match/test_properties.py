"""Random matches by hypothesis: what must hold after every command, legal or not."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import IllegalCommand
from referee.match import commands
from referee.match.evolve import KINDS, evolve, fold
from referee.match.house_rules import HouseRules
from referee.match.schedule import schedule
from referee.match.state import public_match
from referee.match.verdict import zone_verdict

NAMES = ("Ann", "Ben", "Cem", "Dia", "Eva", "Fin", "Gus", "Hal", "Ida", "Jan", "Kim", "Leo")
zones, why = st.sampled_from("AB"), st.sampled_from(["seen", "photo", ""])
who = st.sampled_from(["Ref", "Ref", ""])
anyone = st.sampled_from([*NAMES[:6], "Zoe"])
card_ids = st.sampled_from([f"C{i:02}" for i in range(10)] + ["nope"])
rulings = st.sampled_from(["match", "mismatch", "void", "award_A", "award_B", "perhaps"])
saids = st.sampled_from(["match", "match", "mismatch", "mismatch", "undecided"]).map(lambda v: {"verdict": v})
clues = st.sampled_from([(), (), (), ("hand_at_stop",), ("bumped",), ("fell_after_stop", "bumped")])
boxes = st.one_of(st.none(), st.integers(3_000_000, 3_008_000))
times = st.sampled_from([100.5, 103.0, 103.001, 110.0])
sanctions = st.sampled_from([None, "none", "warning", "duel"])

faulty = st.sampled_from([{}, {}, {}, {"A": "not_empty"}, {"A": "hand", "B": "hand"}])
touched = st.sampled_from([(), (), ("A",)])

COMMAND = {
    commands.CreateMatch: st.builds(commands.CreateMatch, st.just(("Ann", "Ben"))),
    commands.DrawCard: st.builds(commands.DrawCard, st.one_of(st.none(), st.none(), card_ids), st.booleans()),
    commands.DrawByHand: st.builds(commands.DrawByHand),
    commands.NameCard: st.builds(commands.NameCard, card_ids),
    commands.Ready: st.builds(commands.Ready),
    commands.Go: st.builds(commands.Go, st.just(100.0), st.none(), faulty, touched),
    commands.PressStop: st.builds(commands.PressStop, zones, times, st.just(0.0005), boxes),
    commands.BeginJudging: st.builds(commands.BeginJudging),
    commands.CameraVerdict: st.builds(commands.CameraVerdict, zones, saids.map(zone_verdict), clues),
    commands.HumanRuling: st.builds(commands.HumanRuling, rulings, who, why, st.one_of(st.none(), zones)),
    commands.Overrule: st.builds(commands.Overrule, rulings, who, why, st.one_of(st.none(), st.integers(1, 9))),
    commands.OpenReview: st.builds(commands.OpenReview, who, why),
    commands.CloseReview: st.builds(commands.CloseReview, who),
    commands.Foul: st.builds(commands.Foul, anyone, why, who, sanctions),
    commands.FoulRuling: st.builds(commands.FoulRuling, st.integers(0, 2), sanctions.filter(bool), who),
    commands.VoidDuel: st.builds(commands.VoidDuel, who, why),
    commands.CallTimeout: st.builds(commands.CallTimeout, st.sampled_from([110.0, 190.0])),
    commands.NextDuel: st.builds(commands.NextDuel),
    commands.Undo: st.builds(commands.Undo, who),
    commands.PlayerLeaves: st.builds(commands.PlayerLeaves, anyone, who, why),
    commands.PlayerJoins: st.builds(commands.PlayerJoins, anyone, who),
    commands.PlayerLate: st.builds(commands.PlayerLate, anyone, who),
    commands.RenamePlayer: st.builds(commands.RenamePlayer, anyone, st.sampled_from(["Zoe", "ann", "Ben"]), who),
    commands.ReplayDuel: st.builds(commands.ReplayDuel, st.integers(1, 9), who, why),
    commands.LeaveMatch: st.builds(commands.LeaveMatch, st.just("older"), who),
    commands.TakeUpMatch: st.builds(commands.TakeUpMatch, who),
    commands.ReplayRound: st.builds(commands.ReplayRound, st.integers(0, 3), who, why),
    commands.ChangeMode: st.builds(commands.ChangeMode, st.sampled_from([*commands.MODES, "wild"]), who),
    commands.SignSetup: st.builds(
        commands.SignSetup, st.sampled_from([("Ann", "Ben"), ("Ann", ""), ("Ann", "Ann")]), who
    ),
    commands.OpenSetup: st.builds(commands.OpenSetup, who, why),
    commands.GoUnsigned: st.builds(commands.GoUnsigned, who),
    commands.RuleByHand: st.builds(commands.RuleByHand, st.booleans(), who),
    commands.WaiveFields: st.builds(commands.WaiveFields, who, why),
    commands.SealRecording: st.builds(commands.SealRecording, st.just("m-001"), st.just("0" * 64)),
    commands.ChangeLens: st.builds(commands.ChangeLens, st.just({"image_width": 1280}), who),
}
FORWARD = (
    commands.DrawCard,
    commands.Ready,
    commands.Go,
    commands.PressStop,
    commands.BeginJudging,
    commands.CameraVerdict,
    commands.HumanRuling,
    commands.NextDuel,
)
RARE = (
    commands.PlayerLeaves,
    commands.RenamePlayer,
    commands.ReplayRound,
    commands.PlayerJoins,
    commands.CreateMatch,
    commands.LeaveMatch,
    commands.TakeUpMatch,
)
house = st.builds(
    HouseRules,
    time_limit_s=st.sampled_from([None, 30.0]),
    foul=st.sampled_from(["human", "duel"]),
    both_right=st.sampled_from(["fresh_card", "human"]),
    camera_decides=st.sampled_from(["at_once", "proposes"]),
    leaver_points=st.sampled_from(["kept", "annulled"]),
    tie_of_many=st.sampled_from(["round_robin", "shared"]),
    duels_per_round=st.sampled_from([1, 3]),
    sign_off=st.sampled_from(["free", "free", "asked"]),
)


def test_every_command_is_tried():
    assert set(COMMAND) == set(commands.COMMANDS)


@st.composite
def command_for(draw, state):
    """Mostly something that leads on, often anything the phase allows, at times anything at all."""
    allowed = [c for c in commands.COMMANDS if state.can(c)]
    onward = [c for c in allowed if c in FORWARD]
    common = [c for c in allowed if c not in RARE]
    groups = [onward or allowed] * 6 + [common or allowed] * 2 + [allowed, list(commands.COMMANDS)]
    kinds = draw(st.sampled_from([g for g in groups if g]))
    return draw(COMMAND[draw(st.sampled_from(kinds))])


def check_points(state):
    """The points in play are the values of the cards awarded: none appears, none is lost."""
    counted = [d for d in state.history if d.award is not None and not d.annulled]
    assert sum(state.scores.values()) == sum(state.cards[d.card_id].value for d in counted)
    assert set(state.scores) == set(state.players)
    assert sum(row.score for row in state.standings) == sum(state.scores.values())


def check_cards(state):
    """Every card of the mode is in one place: in a pile, returned, on the table, or has been played."""
    lying = [c for pile in state.piles.values() for c in pile] + [c for c in state.returned]
    assert len(lying) == len(set(lying))
    played = {d.card_id for d in (*state.past, state.duel)}
    wanted = {c for c, row in state.cards.items() if row.value in commands.MODES[state.mode]}
    assert wanted <= set(lying) | played
    if not state.duel.ended:
        assert state.card_id not in lying


def check_view(state):
    assert json.loads(json.dumps(state.to_json())) == json.loads(json.dumps(state.to_json()))
    public = public_match(state.to_json())
    if state.phase in ("card_drawn", "ready"):
        assert public["card_id"] is None
        assert public["duel"]["card_id"] is None
    assert set(state.allowed()) == {c.__name__ for c in commands.COMMANDS if state.can(c)}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_commands_keep_every_law(table, data):
    players = data.draw(st.integers(2, 6))
    t = table(players, data.draw(st.sampled_from(list(commands.MODES))), data.draw(st.integers(0, 99)), create=False)
    few = dict(list(table().state.cards.items())[: data.draw(st.sampled_from([5, 80]))])
    t.do(commands.CreateMatch(NAMES[:players], "all", 1, "d", data.draw(house), few))
    for _ in range(data.draw(st.integers(1, 60))):
        command, before, length = data.draw(command_for(t.state)), t.state, len(t.log)
        try:
            t.do(command)
        except IllegalCommand as refusal:
            assert str(refusal)
            assert (t.state, len(t.log)) == (before, length)
            continue
        assert len(t.log) > length
        assert (t.state.seq, t.state.step) == (len(t.log), before.step + 1)
        check_points(t.state)
        check_cards(t.state)
        check_view(t.state)
    assert {e.kind for e in t.log} <= set(KINDS)
    assert t.replayed() == t.state
    check_prefixes(t.log)


def check_prefixes(log):
    """Any prefix of the log is a valid state, and the next event leads to the next prefix's."""
    state = fold([])
    for i, event in enumerate(log):
        state = evolve(state, event)
        assert state.seq == i + 1
        check_points(state)
    assert state == fold(log)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(n=st.integers(2, 12), seed=st.integers(0, 9999), mode=st.sampled_from(list(commands.MODES)), data=st.data())
def test_every_pair_meets_as_often_as_the_schedule_says(table, n, seed, mode, data):
    dice = data.draw(st.randoms(use_true_random=False))
    state = table(n, mode, seed).play_on(lambda s: dice.choice(sorted(s.seats.values())))
    listed = [d for d in state.history if state.rounds[d.round_index].kind not in ("extra", "sudden")]
    met = Counter(frozenset(d.seats.values()) for d in listed)
    planned = Counter()
    for r in schedule(NAMES[:n]):
        planned[frozenset(r.players)] += r.duels
    assert met == planned
    assert state.winner is not None
    assert state.scores[state.winner] == max(state.scores.values())
    top = [p for p in state.players if state.scores[p] == state.scores[state.winner]]
    assert top == [state.winner]


def test_the_deciding_duel_is_the_one_after_which_the_winner_led_to_the_end(table):
    state = table(players=2).play_on(lambda s: "Ann" if s.round_index else "Ben")
    totals, lead = Counter(), []
    for duel in state.history:
        totals[duel.award] += duel.points
        lead.append(totals["Ann" if state.winner == "Ann" else "Ben"] > sum(totals.values()) / 2)
    deciding = state.finished["deciding_duel"]
    assert all(lead[deciding - 1 :])
    assert deciding == 1 or not lead[deciding - 2]


@pytest.mark.parametrize("command", commands.COMMANDS)
def test_every_command_says_what_it_is_and_where_it_is_legal(command):
    assert command.PHASES
    assert command.__doc__
    assert {f.name for f in fields(command)} >= set(command.NEEDS)
