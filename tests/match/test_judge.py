"""The law, read from ``judge_cases.txt``: a row on both sides of every tolerance, a row for every fault there is."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import cards

sys.path.insert(0, str(Path(__file__).parent))

from judge_cases import ALL, PIECES, built

from cards.build import Build, parse_build
from cards.card import Card
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.law import Reason, Tolerances
from referee.match.verdict import Verdict, build_to_json


def said(reasons: tuple[Reason, ...]) -> tuple[str, ...]:
    """What is found, as the file writes it."""
    return tuple(
        f"{r.code} {[i + 1 for i in r.pieces] if r.pieces else ''} {r.text}".replace("  ", " ") for r in reasons
    ) or ("right",)


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"line {c.line}: {c.title}")
def test_the_law(case):
    assert said(case.card.faults(built(case.build))) == case.expected


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"line {c.line}")
def test_a_build_is_right_where_no_fault_is_found_of_any_card(case):
    build = built(case.build)
    assert {other.card.is_right(build) == (not other.card.faults(build)) for other in ALL} == {True}


VALUES = {
    "wrong_count": {"n", "m"},
    "too_many_on_table": {"n", "m"},
    "not_one_structure": {"n"},
    "missing_piece": {"n", "piece"},
    "extra_piece": {"n", "piece"},
    "wrong_order": {"piece", "left"},
    "one_behind_another": {"piece", "left"},
    "out_of_plane": {"n", "piece"},
    "turned_too_far": {"n", "m"},
    "wrong_pose": {"piece"},
    "wrong_support": {"piece"},
    "wrong_place": {"n", "piece"},
}
"""What each reason carries for other languages."""


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"line {c.line}")
def test_a_reason_carries_the_values_that_its_text_says(case):
    for reason in case.card.faults(built(case.build)):
        row = json.loads(json.dumps(reason.to_json()))
        assert row["text"] == reason.text and row["code"] == reason.code
        assert set(row.get("values", ())) == VALUES.get(reason.code, set())
        if "piece" in row.get("values", ()):
            assert set(row["values"]["piece"]) == ({"shape"} if case.card.kind == "shapes" else {"shape", "color"})
        for value in row.get("values", {}).values():
            words = [value.get("color", ""), value["shape"]] if isinstance(value, dict) else [str(value)]
            assert " ".join(filter(None, words)) in reason.text


DEEP = built("blue cube 0 front @ -30 0 15; red triangle 0 front @ 30 45 17.5")
DEEP_CARD = LayoutCard("C", 1, parse_build("blue cube 0 front @ -30 0 15; red triangle 0 front @ 30 0 17.5"))
PIPES = built("red cylinder 0 front @ -14 0 22.5; blue cube 0 front @ 14 35 15")


@pytest.mark.parametrize(
    ("build", "card", "tolerances", "found"),
    [
        (DEEP, DEEP_CARD, {}, ()),
        (DEEP, DEEP_CARD, {"depth_right": 30, "depth_wrong": 60}, ()),  # the line is half way: on it
        (DEEP, DEEP_CARD, {"depth_right": 30, "depth_wrong": 58}, ("out_of_plane",)),
        (DEEP, DEEP_CARD, {"depth_right": 28, "depth_wrong": 60}, ("out_of_plane",)),
        (PIPES, OrganCard("C", 1, 2), {}, ()),
        (PIPES, OrganCard("C", 1, 2), {"pipes_overlap": 2.0}, ()),
        (PIPES, OrganCard("C", 1, 2), {"pipes_overlap": 1.9}, ("one_behind_another",)),
        (PIPES, OrganCard("C", 1, 2), {"pipes_depth": 35.0}, ()),
        (PIPES, OrganCard("C", 1, 2), {"pipes_depth": 34.9}, ("one_behind_another",)),
    ],
)
def test_a_house_may_choose_how_deep_and_how_far_behind(build, card, tolerances, found):
    assert tuple(r.code for r in card.faults(build, Tolerances(**tolerances))) == found


def test_every_fault_the_judge_knows_has_a_row_and_every_kind_of_card_a_right_one():
    sources = [path.read_text(encoding="utf-8") for path in Path(cards.__file__).parent.rglob("*.py")]
    known = set(re.findall(r'(?:because|of_piece|_of_two)\(\s*"(\w+)"', "".join(sources)))
    shown = {line.split()[0] for case in ALL for line in case.expected}
    assert len(known) >= 14 and shown == known | {"right"}
    assert {type(c.card) for c in ALL if c.expected == ("right",)} == set(Card.kinds.values())


# --- The contract's JSON ----------------------------------------------------------------------------


def test_a_verdict_in_the_contracts_form():
    build = built("blue cube 0 front @ 1.26 -3.14 15.04 yaw 4.06; green rectangle 0 front @ 0 0 42.5")
    reason = Reason("wrong_count", "2 pieces stand in the field, the card asks for 3", (1,))
    verdict = Verdict("mismatch", 0.987654, (reason,), build, None, (), 12.345)
    assert verdict.to_json() == {
        "verdict": "mismatch",
        "confidence": 0.9877,
        "margin": 12.3,
        "reasons": [{"code": "wrong_count", "text": "2 pieces stand in the field, the card asks for 3"}],
        "count": 2,
        "ground_contacts": 1,
        "pieces": [
            {"shape": "cube", "color": "blue", "rotation": 0, "facing": "front", "x": 1.3, "y": -3.1, "z": 15.0}
            | {"yaw": 4.1, "touches_table": True, "rests_on": []},
            {"shape": "rectangle", "color": "green", "rotation": 0, "facing": "front", "x": 0.0, "y": 0.0, "z": 42.5}
            | {"yaw": 0.0, "touches_table": False, "rests_on": [0]},
        ],
    }


def test_what_was_not_weighed_or_understood_is_left_out_and_what_an_undecided_verdict_leans_to_is_said():
    assert Verdict("match", 1.0).to_json() == {"verdict": "match", "confidence": 1.0, "reasons": []}
    assert Verdict("undecided", 0.5, leaning="match").to_json()["leaning"] == "match"
    assert Verdict("match", 1.0, margin=0.0).to_json()["margin"] == 0.0
    assert build_to_json(Build(PIECES, ())) == {"count": 0, "ground_contacts": 0, "pieces": []}
