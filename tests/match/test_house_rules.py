"""House rules as data: read, refused, printed, recorded."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from cards.law import Tolerances
from referee.cli import cli
from referee.match.card_facts import CardFacts
from referee.match.evolve import fold
from referee.match.house_rules import DEFAULT_RULES, BadRules, HouseRules, load_rules, rule_zone, rules_toml
from referee.match.verdict import zone_verdict

DEFAULTS = {  # RULES.md, "Where the rules are silent": the defaults, row by row
    "judged_view": "two_views",
    "hand_at_stop": "wrong",
    "fell_after_stop": "wrong",
    "bumped": "void",
    "earliest_stop_s": 1.0,
    "tie_window_ms": 5.0,
    "both_right": "fresh_card",
    "ground_contacts": "at_most_two",
    "surplus_on_height": "wrong",
    "foul": "human",
    "time_limit_s": None,
    "loose_piece": "counts",
    "tie_of_many": "round_robin",
    "duels_per_round": 3,
    "depth_right_mm": 40.0,
    "depth_wrong_mm": 60.0,
    "pipes_overlap_mm": 3.0,
    "pipes_depth_mm": 40.0,
}


@pytest.mark.parametrize("name, value", DEFAULTS.items())
def test_every_default_is_the_one_of_the_rules(name, value):
    assert getattr(DEFAULT_RULES, name) == value


def test_the_judge_gets_the_tolerances_of_the_house():
    assert DEFAULT_RULES.tolerances == Tolerances()
    rules = HouseRules(depth_right_mm=1, depth_wrong_mm=2, pipes_overlap_mm=3.5, pipes_depth_mm=4)
    assert rules.tolerances == Tolerances(1, 2, 3.5, 4)


@given(
    st.builds(
        HouseRules,
        time_limit_s=st.one_of(st.none(), st.floats(0.1, 900)),
        earliest_stop_s=st.floats(0, 60),
        tie_window_ms=st.floats(0, 1000),
    )
)
def test_the_file_reads_back_what_was_written(tmp_path_factory, rules):
    path = tmp_path_factory.mktemp("rules") / "house_rules.toml"
    path.write_text(rules_toml(rules), encoding="utf-8")
    assert load_rules(path) == rules


def test_the_command_prints_a_file_to_edit(tmp_path):
    said = CliRunner().invoke(cli, ["rules"])
    path = tmp_path / "house_rules.toml"
    path.write_text(said.output, encoding="utf-8")
    assert load_rules(path) == DEFAULT_RULES
    assert "# Two presses this close" in said.output


@pytest.mark.parametrize(
    "text, message",
    [
        ("depth_wrong_mm = 30.0", "less than depth_right_mm"),
        ("tie_window_ms = -1", "tie_window_ms: Input should be greater"),
        ('bumped = "ignore"', "bumped: Input should be"),
        ("gravity = 1", "gravity: Extra inputs"),
        ("= 3", "not TOML"),
        ("time_limit_s = 0", "time_limit_s"),
    ],
)
def test_a_bad_file_is_one_line_that_names_file_and_fault(tmp_path, text, message):
    path = tmp_path / "house_rules.toml"
    path.write_text(text)
    with pytest.raises(BadRules, match=message) as caught:
        load_rules(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadRules, match="No such file"):
        load_rules(tmp_path / "none.toml")


def test_the_match_records_the_rules_it_is_played_by(table):
    t = table(foul="warning", tie_window_ms=7.5)
    assert t.log[0].data["rules"]["tie_window_ms"] == 7.5
    assert fold(t.log).rules == HouseRules(foul="warning", tie_window_ms=7.5)


HEIGHT = CardFacts("height", 3, 5)


COUNT = [{"code": "wrong_count"}]


@pytest.mark.parametrize(
    "rules, verdict, findings, ruling, rule",
    [
        ({}, {"verdict": "match"}, (), "match", ""),
        ({}, {"verdict": "undecided"}, (), "undecided", ""),
        ({}, {"verdict": "match"}, ("fell_after_stop", "bumped"), "void", "bumped"),
        ({}, {"verdict": "undecided"}, ("hand_at_stop", "fell_after_stop", "bumped"), "undecided", "bumped"),
        ({"bumped": "human"}, {"verdict": "mismatch"}, ("hand_at_stop", "bumped"), "undecided", "bumped"),
        ({}, {"verdict": "mismatch"}, ("touched_after_stop",), "mismatch", "touched_after_stop"),
        ({}, {"verdict": "undecided"}, ("hand_at_stop",), "mismatch", "hand_at_stop"),
        ({"ground_contacts": "exactly_two"}, {"verdict": "match", "ground_contacts": 2}, (), "match", ""),
        ({"surplus_on_height": "right"}, {"verdict": "mismatch", "count": 4, "reasons": COUNT}, (), "mismatch", ""),
        ({"loose_piece": "human"}, {"verdict": "mismatch", "count": 4, "reasons": COUNT}, (), "mismatch", ""),
        (
            {"loose_piece": "human"},
            {"verdict": "mismatch", "count": 7, "reasons": COUNT},
            (),
            "undecided",
            "loose_piece",
        ),
        ({"loose_piece": "human"}, {"verdict": "mismatch", "reasons": []}, (), "mismatch", ""),
    ],
)
def test_what_the_house_makes_of_a_verdict(rules, verdict, findings, ruling, rule):
    result = rule_zone(HouseRules(**rules), zone_verdict(verdict), findings, HEIGHT)
    assert (result.ruling, result.rule) == (ruling, rule)
