"""Every disputed call that was kept (``referee keep ATTEMPT tests/golden/``) is judged right, or left open.

``undecided`` is no wrong verdict; a match called a mismatch or the other way round is.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from referee.commands.attempts import TRUTH
from referee.recording import load_attempt
from referee.review.rejudge import judge_frames

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(p.parent for p in GOLDEN.glob(f"*/{TRUTH}") if (p.parent / "stop.png").exists())


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_kept_case_is_not_judged_wrong(case):
    attempt = load_attempt(case)
    seen = judge_frames(attempt, attempt.card)
    for zone, right in json.loads((case / TRUTH).read_text(encoding="utf-8"))["expected"].items():
        assert seen[zone]["verdict"] in (right, "undecided"), seen[zone]["reasons"]
