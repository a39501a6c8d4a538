"""A match that was left open is taken up again: in the program, at the next start, from the command line."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "match"))

from test_many_tables import program

from referee.errors import IllegalCommand
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, Go, Ready, Undo, VoidDuel


@pytest.fixture
def journal(tmp_path):
    with closing(Journal(tmp_path / "journal.db")) as journal:
        yield journal


@pytest.fixture
def two(journal, tmp_path):
    """A session in its second match, and the id of the first, left with a card on the table."""
    session = program(journal, tmp_path, "")
    session.create_match(["Ann", "Ben"], seed=1)
    session.command(DrawCard("L01"))
    first = session.state.match_id
    session.create_match(["Cem", "Dia"], seed=1)
    return session, first


def test_an_older_match_goes_on_where_it_stopped(two):
    session, first = two
    session.take_up(first, "Eva")
    assert (session.state.match_id, session.state.phase, session.state.card_id) == (first, "card_drawn", "L01")
    assert session.command(Ready())[0].kind == "ready"
    assert [row["players"] for row in session.older()] == [["Cem", "Dia"]]


def test_the_next_start_goes_on_with_the_match_that_was_taken_up(two, journal, tmp_path):
    session, first = two
    session.take_up(first, "Eva")
    again = program(journal, tmp_path, "")
    assert again.state.match_id == first and again.state.phase == "card_drawn"
    assert sum(journal.verify().values()) == sum(len(journal.events(m)) for m in journal.matches())


def test_back_and_forth_the_last_one_taken_up_counts(two, journal, tmp_path):
    session, first = two
    second = session.state.match_id
    session.take_up(first, "Eva")
    session.command(VoidDuel("Eva", "supper"))
    session.take_up(second, "Eva")
    assert program(journal, tmp_path, "").state.match_id == second
    session.take_up(first, "Eva")
    assert program(journal, tmp_path, "").state.match_id == first


def test_a_new_match_after_that_is_the_one_that_goes_on(two, journal, tmp_path):
    session, first = two
    session.take_up(first, "Eva")
    session.create_match(["Fay", "Gus"])
    assert program(journal, tmp_path, "").state.players == ("Fay", "Gus")


@pytest.mark.parametrize(("which", "why"), [("unknown", "no match 'unknown'"), ("here", "is the one that is played")])
def test_what_cannot_be_taken_up(two, which, why):
    session, _ = two
    here = session.state.match_id
    with pytest.raises(IllegalCommand, match=why):
        session.take_up(here if which == "here" else which)
    assert session.state.match_id == here


def test_no_match_is_taken_up_in_the_middle_of_a_duel(two):
    session, first = two
    for command in (DrawCard("L02"), Ready(), Go(100.0)):
        session.command(command)
    with pytest.raises(IllegalCommand, match="a duel is in play"):
        session.take_up(first)
    assert session.state.phase == "building"


def test_a_match_with_cards_that_the_deck_lacks_waits_for_its_deck(two):
    session, first = two
    session.deck = type(session.deck)("other", session.deck.cards[5:])
    with pytest.raises(IllegalCommand, match="is played with deck 'challenge80', not 'other'"):
        session.take_up(first)


def test_an_undo_in_a_match_that_is_played_does_not_send_away_from_it(two):
    session, first = two
    session.take_up(first, "Eva")
    session.command(Undo("Eva"))
    assert session.state.left_for == "" and session.state.phase == "idle"
