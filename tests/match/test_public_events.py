"""What leaves the program of a match: enough for a lamp, and nothing that anybody may not know."""

from __future__ import annotations

import json
import re
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from referee.events import Event
from referee.journal.journal import Journal
from referee.journal.public_events import FIELDS, MATCH_FIELDS, EventFeed, of_command, of_match, recorded_after
from referee.match import commands as c
from referee.match.decide import decide
from referee.match.evolve import KINDS, fold

TOLD = Path("referee/journal/public_events.md").read_text(encoding="utf-8")


def told(t, events=None):
    """The public events of a table's last command, or of these, as a receiver reads them."""
    return [json.loads(event.body) for event in of_command(t.state, events or t.log[-1:])]


def test_every_public_kind_is_described_and_every_other_is_kept_in():
    kinds = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`[^|]+) \|", TOLD, re.MULTILINE)))) & set(KINDS)
    assert kinds == set(FIELDS)
    assert set(KINDS) - kinds == {
        *("fields_waived", "verdict_noted", "reshuffled", "match_left", "setup_signed", "setup_opened", "setup_waived"),
        *("lens_changed", "recording_sealed"),
    }
    (example,) = re.findall(r"```json\n(.*?)```", TOLD, re.DOTALL)
    row = json.loads(example)
    assert list(row["match"]) == list(MATCH_FIELDS)


def test_a_card_is_in_no_event_before_the_go_and_the_seed_in_none(table):
    t = table(seed=987654321)
    first = told(t)[0]
    assert first["data"].keys() == {"players", "mode", "deck_name", "seed_hash"} and first["id"] == "m1/1"
    t.do(c.DrawCard())
    card, hidden = t.state.card_id, [first, *told(t)]
    t.do(c.Ready())
    hidden += told(t)
    assert [row["kind"] for row in hidden] == ["match_created", "card_drawn", "ready"]
    assert card not in json.dumps(hidden)
    t.do(c.Go(100.0))
    assert told(t)[0]["match"]["card_id"] == card
    while t.state.phase != "finished":
        if t.state.phase != "decided":
            t.stop() if t.state.phase == "idle" else t.do(c.PressStop("A", 110.0))
            t.do(c.HumanRuling("match", "Secret Sue", "my very own words"))
        t.do(c.NextDuel())
    every = "".join(event.body.decode() for event in of_match(entries(t)))
    assert not re.search("987654321|Secret Sue|my very own words", every)
    assert json.loads(told_last(t))["match"]["winner"] == t.state.winner


def entries(t):
    from referee.journal.chain import lines_of, parse_line

    return [parse_line(line) for line in lines_of("m1", t.log)]


def told_last(t):
    return list(of_match(entries(t)))[-1].body


def test_what_is_told_as_it_comes_is_what_the_record_tells(table):
    t, live = table(), []
    before = 1
    live += [e.body for e in of_command(t.state, t.log)]
    for command in (c.DrawCard(), c.Ready(), c.Go(1.0), c.PressStop("B", 9.0), c.HumanRuling("mismatch", "R", "seen")):
        before = len(t.log)
        t.do(command)
        live += [e.body for e in of_command(t.state, t.log[before:])]
    assert live == [e.body for e in of_match(entries(t))]
    last = json.loads(live[-1])
    assert (last["kind"], last["data"], last["match"]["award"]["player"]) == (
        "duel_decided",
        {"award": t.state.award[0], "by": "human"},
        t.state.award[0],
    )


def test_under_review_scores_stand_still_and_nobody_has_won_yet(table):
    t = table(players=2)
    t.duel()
    before = told(t)[-1]["match"]["scores"]
    t.do(c.OpenReview("Sue", "look again"))
    assert told(t)[0]["data"] == {}
    t.do(c.Overrule("mismatch", "Sue", "it fell"), c.OpenReview("Sue", "once more"))
    overruled = told(t)[0]["match"]
    assert overruled["scores"] != before
    while t.state.phase != "finished":
        t.do(c.NextDuel()) if t.state.phase == "decided" else t.duel()
    finished = told(t)[-1]
    assert (finished["kind"], finished["match"]["scores"]) == ("match_finished", overruled["scores"])
    assert finished["match"]["winner"] is None and finished["match"]["under_review"]


def keep(journal, match_id, when, *commands):
    """Events of commands on record, at that second."""
    state = fold(journal.events(match_id))
    for command in commands:
        events = decide(state, command, f"2026-01-01T00:00:{when:02}+00:00")
        journal.append(match_id, events, table="T1")
        state = fold(journal.events(match_id))


def test_what_came_after_an_event_is_read_from_the_record_through_matches_that_were_left_and_taken_up(tmp_path, table):
    with closing(Journal(tmp_path / "j.db")) as journal:
        for n, name in enumerate("abx"):
            made = c.CreateMatch(("Ann", "Ben"), cards=table().state.cards, match_id=name)
            journal.append(
                name, decide(fold([]), made, f"2026-01-01T00:00:0{n}+00:00"), table="T2" if name == "x" else "T1"
            )
        keep(journal, "b", 4, c.DrawCard(), c.VoidDuel("R", "stop"))
        keep(journal, "a", 5, c.TakeUpMatch())
        keep(journal, "b", 5, c.LeaveMatch("a"))
        keep(journal, "a", 6, c.DrawCard(), c.VoidDuel("R", "stop"))
        after = [event.id for event in recorded_after(journal, "T1", "b/2")]
        assert after == ["b/3", "a/2", "a/3", "a/4"]
        everything = [event.id for event in recorded_after(journal, "T1", "gone/7")]
        assert everything == ["a/1", "b/1", "b/2", *after]
        assert recorded_after(journal, "T1", "a/4") == [] and len(recorded_after(journal, "T1", "")) == 7
        feed = EventFeed(journal, "T1", "a")
        assert [event.id for event in feed.events] == ["a/1", "a/2", "a/3", "a/4"] and feed.first_id == "a/4"
        assert (feed.place_after("a/3"), feed.place_after("b/2"), EventFeed(journal, "T9", "").first_id) == (3, 0, "")


@pytest.mark.parametrize("by", ["", "key"])
def test_a_stop_by_key_says_so_everywhere(table, by):
    t = table()
    t.build()
    t.do(c.PressStop("A", 110.0, 0.035, by=by))
    assert told(t)[0]["data"].get("by", "") == by
    assert t.state.duel.presses[0].by == fold(t.log).duel.presses[0].by == by
    old = replace(t.log[-1], data={k: v for k, v in t.log[-1].data.items() if k != "by"})
    assert fold([*t.log[:-1], old]).duel.presses[0].by == "" and isinstance(old, Event)
