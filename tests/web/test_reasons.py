"""What the judge says of every case of the law, in the visitor's language: rendered from values."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "match"))

from judge_cases import ALL, built

from cards.sentences import say


@pytest.mark.parametrize("case", ALL, ids=lambda c: f"line {c.line}")
def test_every_fault_of_the_law_is_said_in_german(case):
    for reason in case.card.faults(built(case.build)):
        row = json.loads(json.dumps(reason.to_json()))
        german = say("de", row)
        assert german != reason.text and "?" not in german
        assert not {"blue", "cube", "red", "cylinder", "the"} & set(re.findall(r"\w+", german)), german
