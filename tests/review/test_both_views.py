"""A recording in which the field was touched after the Stop is judged again by both views, like live."""

from __future__ import annotations

import json

import pytest

from referee.match.stop_views import PRESS_UNSEEN
from referee.recording import load_attempt
from referee.recording.address import AttemptSource
from referee.review.options import RejudgeOptions
from referee.review.rejudge import judge_again, press_row, with_press_view

ROWS = {"match": {"verdict": "match", "reasons": []}, "mismatch": {"verdict": "mismatch", "reasons": []}}


@pytest.mark.parametrize(
    ("press", "after", "culprit", "settled", "award", "findings"),
    [
        ("mismatch", "own", None, "match", "Ben", ["touched_after_stop"]),
        ("match", "neighbour", "B", "mismatch", None, ["bumped"]),
        ("match", "nobody", None, "mismatch", "Ben", ["fell_after_stop"]),
        ("match", "own", None, "match", "Ann", []),
    ],
)
def test_the_award_follows_both_views(kit, tmp_path, press, after, culprit, settled, award, findings):
    seen = {"files": [], "row": ROWS[press], "after": after, "culprit": culprit, "covered": False}
    folder = kit.make_attempt(tmp_path / "M1-001", verdicts={"A": ROWS[settled]}, at_press={"A": seen}, award=award)
    row = judge_again(AttemptSource(str(folder)), RejudgeOptions(look=False))
    assert row["problem"] is None and (row["award_was"], row["award_now"]) == (award, award)
    assert row["findings"].get("A", []) == findings and not row["changed"]


@pytest.mark.parametrize("settled", ["match", "mismatch"])
@pytest.mark.parametrize("look", [False, True])
def test_a_press_that_nobody_saw_stays_unseen_whoever_looks_again(kit, tmp_path, settled, look):
    seen = {"files": ["press_A_0.png"], "row": PRESS_UNSEEN.to_json(), "after": "somebody", "culprit": None}
    attempt = load_attempt(
        kit.make_attempt(tmp_path / "M1-001", verdicts={"A": ROWS[settled]}, at_press={"A": seen}, award=None)
    )
    row = press_row(attempt, "A", attempt.card, RejudgeOptions(look=look), ROWS[settled])
    rows, found = with_press_view(attempt, attempt.verdicts, {}, lambda zone: row)
    assert (rows["A"]["verdict"], rows["A"]["reasons"][0]["code"], found) == ("undecided", "press_unseen", {"A": []})


def test_a_finding_of_the_two_views_is_not_said_twice(kit, tmp_path):
    seen = {"files": [], "row": ROWS["match"], "after": "neighbour", "culprit": "B", "covered": False}
    attempt = load_attempt(
        kit.make_attempt(tmp_path / "M1-001", verdicts={"A": ROWS["mismatch"]}, at_press={"A": seen})
    )
    rows, found = with_press_view(
        attempt, attempt.verdicts, {"A": ["hand_at_stop", "bumped"]}, lambda zone: seen["row"]
    )
    assert found == {"A": ["hand_at_stop", "bumped"]}
    assert rows["A"]["reasons"][0]["values"] == {"player": "Ben"} and json.dumps(rows)
