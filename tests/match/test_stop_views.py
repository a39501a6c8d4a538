"""The two views of a Stop: every combination as ``stop_views.txt`` says, and what must never happen."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from referee.match.house_rules import DEFAULT_RULES
from referee.match.house_rules import rule_zone as house_ruled
from referee.match.stop_views import PRESS_UNSEEN, Views, combine_rulings, law_rows, rule_stop, verdict_at_press
from referee.match.verdict import zone_verdict

GOLDEN = Path(__file__).with_name("stop_views.txt")
ROWS = [line.split() for line in GOLDEN.read_text().splitlines() if line and not line.startswith("#")]
RULINGS, AFTER = ("match", "mismatch", "undecided"), ("still", "nobody", "own", "neighbour", "somebody", "mat")


@pytest.mark.parametrize(("press", "after", "settled", "ruling", "finding"), ROWS, ids=lambda word: word)
def test_a_row_of_the_truth_table(press, after, settled, ruling, finding):
    both = combine_rulings(press, after, settled)
    assert (both.ruling, both.finding or "-") == (ruling, finding)


def test_the_golden_table_has_every_combination_once():
    assert sorted(tuple(row[:3]) for row in ROWS) == sorted(product((*RULINGS, "unseen"), AFTER, RULINGS))


def test_every_row_of_the_law_holds_somewhere():
    used = {
        next(r for r in law_rows() if all(w in ("*", s) for w, s in zip(r[:3], row[:3], strict=True))) for row in ROWS
    }
    assert used == set(law_rows())


def test_no_build_that_was_not_right_at_the_press_is_awarded_once_it_was_touched():
    for press, after in product(("mismatch", "undecided", "unseen"), AFTER[1:]):
        assert combine_rulings(press, after, "match").ruling != "match"


def test_whose_hand_may_have_knocked_it_over_never_gets_the_card():
    for press, after in product(("match", "undecided"), ("neighbour", "somebody")):
        both = combine_rulings(press, after, "mismatch")
        assert (both.ruling, both.finding, both.why) == ("undecided", "bumped", "bumped")


def test_the_view_whose_build_counts():
    assert combine_rulings("mismatch", "own", "match").counts == "press"
    assert combine_rulings("match", "neighbour", "mismatch").counts == "press"
    assert combine_rulings("match", "nobody", "mismatch").counts == "settled"
    assert combine_rulings("undecided", "own", "match").why == "press_hidden"


def test_a_press_that_nobody_saw_is_left_to_a_human_whatever_stands_there_now():
    for after, settled in product(AFTER, RULINGS):
        both = combine_rulings("unseen", after, settled)
        assert (both.ruling, both.finding, both.why) == ("undecided", "", "press_unseen")


def test_a_right_build_that_fell_as_the_mat_moved_is_left_to_a_human():
    for press in ("match", "undecided"):
        both = combine_rulings(press, "mat", "mismatch")
        assert (both.ruling, both.finding, both.why) == ("undecided", "bumped", "mat_shaken")


@pytest.mark.parametrize("settled", RULINGS)
def test_the_reason_of_an_unseen_press_is_its_own(settled):
    said, findings = rule_stop(Views(SAID[settled], PRESS_UNSEEN, "somebody"))
    assert (said.ruling, [r.code for r in said.reasons], findings) == ("undecided", ["press_unseen"], ())
    assert said.leaning == ("" if settled == "undecided" else settled)
    assert house_ruled(DEFAULT_RULES, said, findings).ruling == "undecided"


def test_the_reason_of_a_shaken_mat_names_nobody():
    said, findings = rule_stop(Views(SAID["mismatch"], SAID["match"], "mat"))
    assert (said.leaning, [r.code for r in said.reasons], findings) == ("void", ["mat_shaken"], ("bumped",))
    assert house_ruled(DEFAULT_RULES, said, findings).ruling == "undecided"


SAID = {ruling: zone_verdict({"verdict": ruling, "reasons": []}) for ruling in RULINGS}


@pytest.mark.parametrize(
    ("seen", "settled", "placed", "press", "ruling"),
    [
        # a right build of which a piece came after the press, whatever was to be seen of it then
        ("match", "match", "after", "mismatch", "mismatch"),
        ("undecided", "match", "after", "mismatch", "mismatch"),
        ("mismatch", "match", "after", "mismatch", "mismatch"),
        # all of it stood: the hand only was in the way
        ("mismatch", "match", "before", "match", "match"),
        ("undecided", "match", "before", "match", "match"),
        # nobody knows: what is wrong may only be hidden
        ("mismatch", "match", "unknown", "undecided", "undecided"),
        ("match", "match", "unknown", "match", "match"),
        # what was knocked over says nothing of what stood at the press
        ("match", "mismatch", "after", "match", "mismatch"),
        ("mismatch", "mismatch", "before", "undecided", "mismatch"),
    ],
)
def test_a_press_view_behind_the_own_hand_is_what_the_time_line_says(seen, settled, placed, press, ruling):
    said = verdict_at_press(SAID[seen], SAID[settled], placed, covered=True)
    assert (said.ruling, combine_rulings(said.ruling, "own", settled).ruling) == (press, ruling)


def test_a_piece_that_came_after_the_press_is_the_reason_where_no_other_was_seen():
    said = verdict_at_press(SAID["undecided"], SAID["match"], "after", covered=False)
    assert [r.code for r in said.reasons] == ["came_after_stop"]


@pytest.mark.parametrize(
    ("seen", "placed", "press"),
    [
        # out of focus, say: the time line tells what stood
        ("undecided", "before", "match"),
        ("undecided", "after", "mismatch"),
        ("undecided", "unknown", "undecided"),
        # in plain view: what is seen is what stood
        ("mismatch", "before", "mismatch"),
        ("match", "after", "match"),
    ],
)
def test_a_clear_press_view_says_what_it_says_and_an_unclear_one_what_the_time_line_says(seen, placed, press):
    assert verdict_at_press(SAID[seen], SAID["match"], placed, covered=False).ruling == press
