"""What the judge and the eye say, in the visitor's language: rendered from values, never parsed out of English."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "match"))

from judge_cases import ALL, built

from cards.pieces import builtin_piece_set
from referee.match import judge
from referee.match.judge import faults
from referee.vision import observer
from referee.vision.verdict import decide
from referee.vision.verdict.decide import AS_CARD
from referee.web.i18n.reasons import say, words_of
from referee.web.i18n.texts import catalogue


def test_a_fault_is_said_in_german_with_the_piece_and_the_number():
    words = words_of("de", ("blue",), ("cube",))
    values = {"n": 2, "piece": {"color": "blue", "shape": "cube"}}
    fault = {"code": "missing_piece", "text": "whatever the judge says today", "values": values}
    assert say("de", fault, words) == "es fehlt: 2 × Würfel, blau"
    assert say("en", fault, words) == "whatever the judge says today"


def test_a_reason_may_name_other_reasons_and_colours():
    words = words_of("de", ("blue", "red"), ("cube",))
    missing = {"code": "missing_piece", "text": "x", "values": {"n": 2, "piece": {"shape": "cube"}}}
    two = {"code": "two_readings", "text": "x", "values": {"ahead": missing, "behind": AS_CARD.to_json()}}
    assert say("de", two, words) == (
        "zwei Deutungen erklären das Bild etwa gleich gut: es fehlt: 2 × Würfel; oder: die Karte ist gebaut"
    )
    unseen = {"code": "unseen_colour", "text": "x", "values": {"colors": ["blue", "red"], "sight": missing}}
    assert say("de", unseen, words).startswith("blau, rot kann dort")


def test_a_record_of_before_with_texts_alone_is_said_as_it_was_written():
    assert (
        say("de", {"code": "wrong_count", "text": "2 pieces stand in the field"}, {}) == "2 pieces stand in the field"
    )
    assert say("de", {"code": "empty_field", "text": "nothing stands in the field"}, {}) == "im Feld steht nichts"


MADE = re.compile(r'(?:Reason|_of)\(\s*"(\w+)"')


def test_every_reason_there_is_has_a_german_sentence():
    sources = [Path(module.__file__).read_text(encoding="utf-8") for module in (judge, observer, decide)]
    made = {code for source in sources for code in MADE.findall(source)}
    assert len(made) >= 16
    assert {code for code in made if f"reason.{code}" not in catalogue("de")} == set()


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"line {c.line}")
def test_every_fault_of_the_law_is_said_in_german(case):
    pieces = builtin_piece_set()
    words = words_of("de", tuple(pieces.colors), tuple(pieces.shapes))
    for reason in faults(built(case.build), case.card):
        row = json.loads(json.dumps(reason.to_json()))
        german = say("de", row, words)
        assert german != reason.text and "?" not in german
        assert not {"blue", "cube", "red", "cylinder", "the"} & set(re.findall(r"\w+", german)), german


def test_a_fault_without_a_german_sentence_keeps_its_english_one():
    assert say("de", {"code": "brand_new", "text": "something else"}, {}) == "something else"
