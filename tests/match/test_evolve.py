"""Events to state, one by one, as an old journal would give them: what each changes, and what it leaves."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cards.law import Reason
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.card_facts import CardFacts
from referee.match.evolve import evolve, fold
from referee.match.foul import FoulNoted, FoulProposal
from referee.match.house_rules import DEFAULT_RULES, BadRules
from referee.match.schedule import Round
from referee.match.state import MatchState

ROUNDS = [
    {"a": "Ann", "b": "Ben", "duels": 3, "kind": "regular"},
    {"a": "Ben", "b": "Cem", "duels": 3, "kind": "regular"},
]
CREATED = {
    "match_id": "m1",
    "players": ["Ann", "Ben", "Cem"],
    "mode": "all",
    "seed": 5,
    "deck_name": "starter",
    "rules": DEFAULT_RULES.model_dump(),
    "cards": {name: {"kind": "height", "value": 2, "count": 3} for name in "KLMN"},
    "piles": {"cards": ["K", "L", "M"], "more": ["N"]},
    "rounds": ROUNDS,
}


class Log:
    """Events in a row; every call to ``add`` is a command of its own unless it says ``also``."""

    def __init__(self, **created):
        self.events, self.state, self.step = [], MatchState(), 0
        self.add("match_created", **CREATED | created)

    def add(self, kind, also=False, who="Ref", at="2026-01-01T10:00:00+00:00", simulated=False, **data):
        self.step += not also
        event = Event(kind, data, at, who, simulated, None, self.step)
        self.state = evolve(self.state, event)
        self.events.append(event)
        return self.state

    def drawn(self, card="K", value=2, pile="cards"):
        return self.add("card_drawn", card_id=card, value=value, pile=pile)

    def gone(self, card="K"):
        self.drawn(card)
        self.add("ready")
        return self.add("go", at_s=10.0, box_us=None, at="2026-01-01T10:00:05+00:00")

    def decided(self, award="Ann", card="K"):
        self.gone(card)
        return self.add("duel_decided", award=award, value=2, by="camera", reason="right")

    def void(self, card="K"):
        self.gone(card)
        return self.add("duel_void", by="human", reason="human")


def test_a_match_begins_as_its_first_event_says():
    state = Log().state
    assert (state.match_id, state.players, state.mode, state.seed) == ("m1", ("Ann", "Ben", "Cem"), "all", 5)
    assert (state.deck_name, state.rules, state.cards) == (
        "starter",
        DEFAULT_RULES,
        {n: CardFacts("height", 2, 3) for n in "KLMN"},
    )
    assert state.piles == {"cards": ("K", "L", "M"), "more": ("N",)}
    assert state.rounds == (Round(**ROUNDS[0]), Round(**ROUNDS[1]))
    assert state.created_at == "2026-01-01T10:00:00+00:00"
    assert (state.round_index, state.duel_index, state.seq, state.step, state.first_seq) == (0, 0, 1, 1, 1)
    duel = state.duel
    assert (duel.number, duel.round_index, duel.duel_index, duel.attempt) == (1, 0, 0, 1)
    assert (duel.seats, duel.phase) == ({"A": "Ann", "B": "Ben"}, "idle")


def test_bad_rules_are_named_by_the_event_they_stand_in():
    with pytest.raises(BadRules, match=r"^match_created: gravity"):
        Log(rules={"gravity": 1})


def test_what_was_seen_before_stays_seen_at_the_next_go():
    log = Log()
    log.void("K")
    assert log.gone("L").seen == {"K", "L"}


def test_without_rounds_nobody_sits():
    assert Log(rounds=[]).state.duel.seats == {}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("match_created", "match_created cannot be event 2 of a match"),
        ("sneezed", "sneezed is no event this version knows"),
        ("stop", "stop cannot follow in phase idle"),
    ],
)
def test_what_cannot_follow_is_refused(kind, message):
    log = Log()
    before = log.state
    with pytest.raises(IllegalCommand) as caught:
        log.add(kind, **CREATED)
    assert (str(caught.value), log.state) == (message, before)


def test_a_log_folds_to_the_state_that_its_events_made_one_by_one():
    log = Log()
    log.decided()
    assert fold(log.events) == log.state and fold([]) == MatchState()


def test_a_match_begins_with_its_creation():
    with pytest.raises(IllegalCommand, match="ready cannot be event 1 of a match"):
        fold([Event("ready")])


# --- Cards ------------------------------------------------------------------------------------------


def test_a_drawn_card_lies_in_no_pile_and_is_seen_at_the_go():
    log = Log()
    state = log.drawn("L")
    assert state.piles == {"cards": ("K", "M"), "more": ("N",)}
    assert (state.duel.card_id, state.duel.value, state.duel.pile) == ("L", 2, "cards")
    assert state.seen == frozenset()
    log.add("ready")
    assert log.state.seen == frozenset()
    assert log.add("go", at_s=1.0).seen == {"L"}


def test_a_go_before_the_card_is_named_shows_it_when_it_is():
    log = Log()
    log.drawn(None, 0, None)
    log.add("ready")
    assert log.add("go", at_s=1.0).seen == frozenset()
    state = log.add("card_named", card_id="M", value=2, source="marker", was=None)
    assert (state.seen, state.duel.card_id, state.returned) == ({"M"}, "M", ())
    assert state.piles == {"cards": ("K", "L"), "more": ("N",)}
    state = log.add("card_named", card_id="L", value=2, source="typed", was="M")
    assert (state.seen, state.returned) == ({"M", "L"}, ("M",))


def test_a_card_named_before_the_go_is_not_seen_and_the_wrong_one_goes_back():
    log = Log()
    log.drawn("K")
    state = log.add("card_named", card_id="N", value=2, source="typed", was="K")
    assert (state.returned, state.seen, state.piles) == (("K",), frozenset(), {"cards": ("L", "M"), "more": ()})
    state = log.add("card_named", card_id="K", value=2, source="typed", was="N")
    assert state.returned == ("N",)
    state = log.add("card_named", card_id="L", value=2, source="typed", was="N")  # N lies there already: not twice
    assert state.returned == ("N",)


def test_a_void_duels_card_goes_back_and_the_next_draw_is_its_second_attempt():
    log = Log()
    log.void("K")
    assert log.state.returned == ()
    state = log.drawn("L")
    assert (state.returned, state.duel.card_id, state.piles["cards"]) == (("K",), "L", ("M",))
    assert (state.duel.number, state.duel.attempt, state.duel.seats) == (2, 2, {"A": "Ann", "B": "Ben"})
    assert (state.duel.round_index, state.duel.duel_index) == (0, 0)
    assert [(d.number, d.phase, d.card_id) for d in state.past] == [(1, "void", "K")]
    log.add("duel_void", by="human", reason="human")
    assert log.drawn("M").returned == ("K", "L")


def test_a_void_duel_without_a_card_gives_none_back():
    log = Log()
    log.drawn(None, 0, None)
    log.add("duel_void", by="human", reason="human")
    assert log.drawn("K").returned == ()


def test_a_void_card_that_lies_there_already_is_not_given_back_twice():
    log = Log()
    log.void("K")
    log.drawn("L")
    log.add("duel_void", by="human", reason="human")
    log.add("reshuffled", pile="cards", order=["L", "K"])
    assert log.drawn("K").returned == ()
    log = Log()
    log.drawn("K")
    log.add("card_named", card_id="L", value=2, source="typed", was="K")
    log.add("card_named", card_id="K", value=2, source="typed", was="L")
    log.add("duel_void", by="human", reason="human")
    assert log.drawn("M").returned == ("L", "K")


def test_the_same_card_drawn_again_after_a_void_is_not_in_the_returned_ones():
    log = Log()
    log.void("K")
    assert log.drawn("K").returned == ()


def test_a_reshuffle_makes_cards_unseen_and_takes_them_from_the_returned():
    log = Log()
    log.void("K")
    log.drawn("L")
    log.add("duel_void", by="human", reason="human")
    log.drawn("M")
    log.add("duel_void", by="human", reason="human")
    log.drawn("N")
    assert (log.state.returned, log.state.seen) == (("K", "L", "M"), {"K"})
    state = log.add("reshuffled", pile="cards", order=["L", "K"])
    assert (state.piles, state.returned) == ({"cards": ("L", "K"), "more": ()}, ("M",))
    assert (state.seen, state.reshuffles) == (frozenset(), 1)
    assert log.add("reshuffled", pile="more", order=["M"]).reshuffles == 2


def test_another_mode_has_other_piles():
    log = Log()
    log.void("K")
    log.drawn("L")
    log.add("duel_void", by="human", reason="human")
    log.drawn("M")
    state = log.add("mode_changed", mode="experts", piles={"value 2": ["K", "N"]})
    assert (state.mode, state.piles, state.returned) == ("experts", {"value 2": ("K", "N")}, ("L",))


# --- Duels and rounds -------------------------------------------------------------------------------


def test_an_ended_duel_knows_the_event_that_ended_it():
    log = Log()
    state = log.decided()
    assert (state.duel.ended_seq, state.seq) == (5, 5)
    assert log.add("duel_void", by="human", reason="human").duel.ended_seq == 6


def test_the_next_duel_is_at_the_place_the_event_says():
    log = Log()
    log.decided()
    state = log.add("next_duel", round_index=1, duel_index=2)
    assert (state.round_index, state.duel_index) == (1, 2)
    duel = state.duel
    assert (duel.number, duel.attempt, duel.round_index, duel.duel_index) == (2, 1, 1, 2)
    assert (duel.seats, duel.phase) == ({"A": "Ben", "B": "Cem"}, "idle")
    assert [(d.number, d.award) for d in state.past] == [(1, "Ann")]


EXTRA = [*ROUNDS, {"a": "Cem", "b": "Ann", "duels": 1, "kind": "extra"}]


def test_rounds_that_are_added_change_no_place_unless_they_say_so():
    log = Log()
    log.decided()
    state = log.add("rounds_added", rounds=EXTRA, round_index=None, duel_index=0)
    assert (len(state.rounds), state.round_index, state.duel.number, state.past) == (3, 0, 1, ())
    state = log.add("rounds_added", rounds=EXTRA, round_index=2, duel_index=0)
    assert (state.round_index, state.duel_index, state.duel.number) == (2, 0, 2)
    assert (state.duel.seats, state.duel.attempt) == ({"A": "Cem", "B": "Ann"}, 1)
    assert [d.number for d in state.past] == [1]


def test_an_idle_duel_that_moves_keeps_its_number_and_ends_the_end():
    log = Log()
    log.add("match_finished", winner="Ann")
    state = log.add("player_late", rounds=EXTRA[::-1], round_index=1, duel_index=2)
    assert (state.finished, state.duel.number, state.past) == (None, 1, ())
    assert (state.duel.round_index, state.duel.duel_index, state.duel_index) == (1, 2, 2)
    assert state.duel.seats == {"A": "Ben", "B": "Cem"}


def test_a_log_without_a_place_for_new_rounds_is_read_too():
    assert Log().add("rounds_added", rounds=EXTRA).round_index == 0


@pytest.mark.parametrize("kind", ["player_left", "round_replayed", "duel_replayed"])
def test_annulled_duels_stay_in_the_record_and_count_no_longer(kind):
    log = Log()
    log.decided("Ann")
    log.add("next_duel", round_index=0, duel_index=1)
    log.decided("Ann", "L")
    more = {"player": "Ben"} if kind == "player_left" else {}
    state = log.add(kind, annulled=[1], why="ill", rounds=ROUNDS, round_index=None, **more)
    assert [(d.number, d.annulled, d.points) for d in state.history] == [(1, "ill", 0), (2, "", 2)]
    assert state.gone == ({"Ben": "ill"} if kind == "player_left" else {})
    state = log.add(kind, annulled=[2], why="late", rounds=ROUNDS, round_index=None, **more)
    assert [d.annulled for d in state.history] == ["ill", "late"]


def test_who_leaves_after_another_leaves_both_gone():
    log = Log()
    for player in ("Ben", "Cem"):
        state = log.add("player_left", player=player, why="ill", annulled=[], rounds=ROUNDS, round_index=None)
    assert (state.gone, state.active) == ({"Ben": "ill", "Cem": "ill"}, ("Ann",))


def test_a_name_that_is_mended_is_right_everywhere_also_in_what_has_ended():
    log = Log()
    log.decided("Ann")
    log.add("next_duel", round_index=0, duel_index=1)
    log.drawn("L")
    log.add("foul", player="Ben", text="x", sanction=None)
    log.add("foul", player="Ann", text="y", sanction=None)
    log.add("setup_signed", names=["Ann", "Ben"], record={})
    log.add("player_left", player="Cem", why="ill", annulled=[], rounds=ROUNDS, round_index=None)
    log.add("review_opened", why="protest")
    before = log.state
    state = log.add("player_renamed", player="Ann", name="Anna")
    assert (state.players, state.signed, state.gone) == (("Anna", "Ben", "Cem"), ("Anna", "Ben"), {"Cem": "ill"})
    assert [(r.a, r.b) for r in state.rounds] == [("Anna", "Ben"), ("Ben", "Cem")]
    assert (state.duel.seats, state.duel.award, state.duel.card_id) == ({"A": "Anna", "B": "Ben"}, None, "L")
    assert [(d.seats, d.award) for d in state.past] == [({"A": "Anna", "B": "Ben"}, "Anna")]
    assert [f.player for f in state.fouls] == ["Ben", "Anna"]
    assert (state.frozen, state.scores) == ({"Anna": 2, "Ben": 0, "Cem": 0}, {"Anna": 2, "Ben": 0, "Cem": 0})
    assert state.finished is None and state.rules == before.rules
    assert log.add("player_renamed", player="Cem", name="Cemal").gone == {"Cemal": "ill"}


def test_without_a_review_or_a_result_a_mended_name_makes_none():
    state = Log().add("player_renamed", player="Ann", name="Anna")
    assert (state.frozen, state.finished, state.players) == (None, None, ("Anna", "Ben", "Cem"))


def test_a_mended_name_is_right_in_the_result_also_in_one_of_before():
    rows = [{"player": "Ann", "score": 4, "rank": 1}, {"player": "Ben", "score": 4, "rank": 1}]
    log = Log()
    log.add("match_finished", winner=None, shared=["Ann", "Ben"], standings=rows, extra=0)
    state = log.add("player_renamed", player="Ann", name="Anna")
    renamed = [{"player": "Anna", "score": 4, "rank": 1}, {"player": "Ben", "score": 4, "rank": 1}]
    assert state.finished == {"winner": None, "shared": ["Anna", "Ben"], "standings": renamed, "extra": 0}
    log = Log()
    log.add("match_finished", winner="Ann")
    assert log.add("player_renamed", player="Ann", name="Anna").finished == {
        "winner": "Anna",
        "shared": [],
        "standings": [],
    }


def test_a_match_that_is_left_says_for_which_until_it_is_taken_up_or_undone():
    log = Log()
    log.drawn()
    log.add("ready")
    assert log.add("match_left", for_match="m0").left_for == "m0"
    assert log.add("match_taken_up").left_for == ""
    log.add("match_left", for_match="m0")
    state = log.add("undone")
    assert (state.left_for, state.phase) == ("", "card_drawn")


def test_who_joins_comes_last():
    state = Log().add("player_joined", player="Dia", rounds=EXTRA, round_index=None)
    assert (state.players, len(state.rounds)) == (("Ann", "Ben", "Cem", "Dia"), 3)


# --- Rulings, fouls, reviews ------------------------------------------------------------------------


def overruled(log, **changes):
    row = {"number": 1, "ruling": "mismatch", "award": "Ben", "why": "photo", "value": 2, "was": {}}
    return log.add("duel_overruled", who="Jury", at="2026-01-01T11:00:00+00:00", **row | changes)


def test_overruling_awards_anew_and_keeps_every_ruling():
    log = Log()
    log.decided("Ann")
    duel = overruled(log).duel
    assert (duel.award, duel.phase, duel.decided_by, duel.reason) == ("Ben", "decided", "human", "overruled")
    assert duel.human == (
        {"ruling": "mismatch", "why": "photo", "overruled": True, "who": "Jury", "at": "2026-01-01T11:00:00+00:00"},
    )
    assert (duel.ended_seq, log.state.seq, duel.rulings) == (6, 6, {})
    duel = overruled(log, award=None, ruling="void").duel
    assert (duel.award, duel.phase, duel.ended_seq, len(duel.human)) == (None, "void", 7, 2)


def test_a_past_duel_is_overruled_where_it_stands():
    log = Log()
    log.decided("Ann")
    log.add("next_duel", round_index=0, duel_index=1)
    state = overruled(log)
    assert (state.past[0].award, state.duel.award, state.duel.phase) == ("Ben", None, "idle")


def test_a_review_freezes_the_score_until_it_is_closed_or_overruled():
    log = Log()
    log.decided("Ann")
    assert log.add("review_opened", why="protest").frozen == {"Ann": 2, "Ben": 0, "Cem": 0}
    assert log.add("review_closed").frozen is None
    log.add("review_opened", why="protest")
    assert overruled(log).frozen is None


def test_fouls_are_kept_in_order_each_with_its_ruling():
    log = Log()
    log.drawn()
    for text in ("one", "two", "three"):
        log.add("foul", player="Ben", text=text, sanction=None, who="Eva", at="2026-01-01T10:01:00+00:00")
    two = FoulNoted("Ben", Reason("", "two"), None, "Eva", "2026-01-01T10:01:00+00:00", 1, 4)
    assert log.state.fouls[1] == two and two.open
    state = log.add("foul_ruled", index=1, sanction="warning", why="seen", who="Jury")
    assert [f.wording.text for f in state.fouls] == ["one", "two", "three"]
    assert [f.sanction for f in state.fouls] == [None, "warning", None]
    assert state.fouls[1] == replace(two, sanction="warning", ruled_by="Jury", why="seen") and not state.fouls[1].open
    ruled = log.add("foul_ruled", index=0, sanction="none", why="").fouls
    assert [f.wording.text for f in ruled] == ["one", "two", "three"]
    assert ruled[1].to_json() == {
        "player": "Ben",
        "text": "two",
        "said": {"code": "", "text": "two"},
        "sanction": "warning",
        "who": "Eva",
        "at": "2026-01-01T10:01:00+00:00",
        "duel": 1,
        "seq": 4,
        "ruled_by": "Jury",
        "why": "seen",
    }


def test_a_foul_keeps_what_the_device_said_and_the_camera_saw():
    log, seen = Log(), {"kind": "shaken", "zone": "B", "culprit": None, "after_go_s": 2.5, "sure": 0.8, "seconds": 4.0}
    log.drawn()
    said = {"code": "seen_shaken", "text": "mat B was moved", "values": {"zone": "B"}}
    log.add("foul", player="Ben", text="mat B was moved", sanction=None, seen=seen | {"newer": 1}, said=said)
    noted = log.state.fouls[0]
    assert noted.seen == FoulProposal("shaken", "B", 2.5, 0.8, None, 4.0)
    assert noted.to_json()["seen"] == seen and noted.to_json()["said"] == said


def test_a_ruling_and_an_undecided_duel_are_events_of_their_own():
    log = Log()
    log.gone()
    log.add("stop", zone="A", at_s=11.0, error_s=0.0, box_us=None, elapsed_s=1.0, callers=["A"])
    assert log.add("duel_undecided", reason="cannot_tell").phase == "undecided"
    assert log.add("ruling", ruling="match", why="seen", zone="A").duel.rulings == {"A": "match"}


def test_an_undo_of_nothing_is_refused():
    with pytest.raises(IllegalCommand, match=r"^there is nothing to undo$"):
        log = Log()
        for _ in range(3):
            log.add("undone")


def test_the_end_is_what_the_event_says():
    assert Log().add("match_finished", winner="Ann", shared=[]).finished == {"winner": "Ann", "shared": []}


# --- Set-up -----------------------------------------------------------------------------------------


def test_the_set_up_is_signed_opened_and_waived():
    log = Log()
    state = log.add("setup_signed", names=["Ann", "Ben"], record={})
    assert (state.setup, state.signed) == ("signed", ("Ann", "Ben"))
    state = log.add("setup_opened", why="moved")
    assert (state.setup, state.signed) == ("open", ())
    log.add("setup_signed", names=["Ann", "Ben"], record={})
    state = log.add("setup_waived")
    assert (state.setup, state.signed) == ("waived", ())
    before = log.state
    after = log.add("lens_changed", lens={"f": 1})
    assert (after.setup, after.duel, after.seq) == (before.setup, before.duel, before.seq + 1)


# --- Steps, undo, simulation ------------------------------------------------------------------------


def test_a_simulated_event_marks_the_match_for_good():
    log = Log()
    assert not log.state.simulated
    assert log.add("card_drawn", card_id="K", value=2, pile="cards", simulated=True).simulated
    assert log.add("ready").simulated


def test_an_undo_goes_back_before_the_last_command_and_keeps_what_was_seen():
    log = Log()
    log.drawn("K")
    before = log.state
    log.add("ready")
    assert (log.state.first_seq, log.state.step) == (3, 3)
    state = log.add("undone")
    assert (state.phase, state.duel.card_id, state.seq, state.step) == ("card_drawn", "K", 4, 4)
    assert state.first_seq == before.first_seq == 2
    log.gone_on = log.add("ready"), log.add("go", at_s=1.0)
    state = log.add("undone")
    assert (state.phase, state.seen) == ("ready", {"K"})


def test_a_card_seen_before_a_go_that_is_undone_stays_seen_beside_that_gos():
    log = Log()
    log.void("K")
    log.gone("L")
    assert log.add("undone").seen == {"K", "L"}


def test_cards_that_an_undone_reshuffle_made_unseen_are_seen_as_before():
    log = Log()
    log.void("K")
    assert log.add("reshuffled", pile="cards", order=["K"]).seen == frozenset()
    assert log.add("undone").seen == {"K"}


def test_an_undo_takes_all_events_of_a_command_back():
    log = Log()
    log.gone()
    log.add("stop", zone="A", at_s=11.0, error_s=0.0, box_us=None, elapsed_s=1.0, callers=["A"])
    first = log.state.seq + 1
    log.add("verdict", zone="A", verdict={"verdict": "match"}, findings=[], ruling="match", evidence={})
    state = log.add("duel_decided", also=True, award="Ann", value=2, by="camera", reason="right")
    assert (state.first_seq, state.step) == (first, log.step)
    state = log.add("undone")
    assert (state.phase, dict(state.verdicts), state.award) == ("stopped", {}, (None, 0))


NOTED = [
    ("press_noted", {"zone": "A", "at_s": 9.0, "error_s": 0, "box_us": None, "elapsed_s": 0.1, "why": "too_early"}),
    ("verdict_noted", {"zone": "B", "verdict": {}, "findings": [], "ruling": "match"}),
    ("card_named", {"card_id": "L", "value": 2, "source": "typed", "was": "K"}),
    ("setup_signed", {"names": ["Ann", "Ben"], "record": {}}),
    ("setup_opened", {"why": "x"}),
    ("setup_waived", {}),
    ("by_hand", {"on": True}),
    ("lens_changed", {"lens": {}}),
    ("recording_sealed", {"attempt": "m-001", "sha256": "0" * 64}),
    ("fields_waived", {"why": "x"}),
    ("match_left", {"for_match": "m0"}),
    ("match_taken_up", {}),
]


@pytest.mark.parametrize(("kind", "data"), NOTED, ids=[kind for kind, _ in NOTED])
def test_an_undo_passes_over_notes_to_the_command_before(kind, data):
    log = Log()
    log.drawn("K")
    log.add("ready")
    log.add("go", at_s=1.0)
    first = log.state.first_seq
    state = log.add(kind, **data)
    assert (state.first_seq, state.seq) == (first, first + 1)
    assert log.add("undone").phase == "ready"


def test_a_note_within_a_command_does_not_hide_the_command():
    log = Log()
    log.gone()
    log.add("stop", zone="A", at_s=11.0, error_s=0.0, box_us=None, elapsed_s=1.0, callers=["A"])
    log.add("verdict_noted", zone="B", verdict={}, findings=[], ruling="match")
    log.add("verdict", also=True, zone="A", verdict={}, findings=[], ruling="match", evidence={})
    assert log.state.first_seq == log.state.seq
    assert dict(log.add("undone").verdicts).keys() == {"B"}


def test_an_undo_leaves_the_set_up_as_it_is():
    log = Log()
    log.drawn("K")
    log.add("setup_signed", names=["Ann", "Ben"], record={})
    log.add("ready")
    state = log.add("undone")
    assert (state.phase, state.setup, state.signed) == ("card_drawn", "signed", ("Ann", "Ben"))
    state = log.add("undone")
    assert (state.phase, state.setup, state.signed) == ("idle", "signed", ("Ann", "Ben"))
