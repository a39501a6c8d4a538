"""The guarantee holds: over many draws of data whose truth is known, it is broken no more often than it says."""

from __future__ import annotations

import dataclasses
import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from made_scores import drawn
from scipy.special import betaincinv
from scipy.stats import binom

from referee.benchmark.fit import (
    digest,
    fit_trust,
    guarantee_text,
    lessons_of,
    logistic,
    pack_lessons,
    split_sessions,
    trust_file,
    unpack_lessons,
)
from referee.benchmark.risk_control import CONFIDENCE_THRESHOLDS, Sample, chosen_threshold, risk_bound
from referee.vision.verdict.trust import FILE, Guarantee, Trust, load_trust, trust_json

DELTA = 0.1


def broken_share(draw, true_mean: float, runs: int = 300) -> float:
    """How often the bound on shares that ``draw`` gives is below their true mean."""
    return sum(risk_bound(draw(np.random.default_rng(seed)), DELTA) < true_mean for seed in range(runs)) / runs


@pytest.mark.parametrize("tables", [12, 40, 120])
def test_the_bound_is_broken_no_more_often_than_it_says(tables):
    """Tables of ten verdicts each; half of the tables err four times as often as the others."""

    def draw(rng: np.random.Generator) -> np.ndarray:
        return rng.binomial(10, np.where(rng.random(tables) < 0.5, 0.02, 0.08)) / 10

    assert binom.sf(round(300 * broken_share(draw, 0.05)) - 1, 300, DELTA) > 0.01


def test_verdicts_taken_for_independent_would_break_it():
    """Of every ten tables one has all wrong: the exact bound by verdicts is broken far more often than it says."""
    broken = 0
    for seed in range(300):
        wrong = int(np.random.default_rng(seed).binomial(12, 0.1)) * 10
        broken += wrong < 120 and betaincinv(wrong + 1, 120 - wrong, 1 - DELTA) < 0.1
    assert broken > 300 * DELTA + 3 * np.sqrt(300 * DELTA * (1 - DELTA))


@pytest.mark.parametrize("tables", [6, 13, 40, 120])
def test_without_a_wrong_verdict_tables_alone_decide(tables):
    """Hardly more than what so many tables without a fault show by themselves, 1 - delta^(1/n)."""
    alone = 1 - DELTA ** (1 / tables)
    assert alone <= risk_bound(np.zeros(tables), DELTA) < 1.06 * alone
    assert risk_bound(np.zeros(0), DELTA) == 1.0


def test_a_wrong_verdict_costs_by_its_table():
    one_of_ten, ten_of_ten = np.zeros(40), np.zeros(40)
    one_of_ten[20], ten_of_ten[20] = 0.1, 1.0
    assert risk_bound(np.zeros(40), DELTA) < risk_bound(one_of_ten, DELTA) < 0.07 < risk_bound(ten_of_ten, DELTA) < 0.15
    assert risk_bound(np.ones(40), DELTA) == 1.0


def test_the_loosest_threshold_is_chosen_that_errs_little():
    confidence = np.repeat([0.75, 0.85, 0.95], 4)
    sample = Sample(confidence, confidence > 0.8, np.tile([0, 3], 6))
    sample.right[4] = False  # 0.85 at one of the two tables
    assert sample.given(0.9).shares_wrong.tolist() == [0.0, 0.0]
    assert sample.given(0.8).shares_wrong.tolist() == [0.25, 0.0]  # tables without a verdict count for nothing
    assert chosen_threshold(sample, 0.05) == CONFIDENCE_THRESHOLDS[CONFIDENCE_THRESHOLDS > 0.85].min()
    assert chosen_threshold(sample, 0.13) == CONFIDENCE_THRESHOLDS[0]
    assert chosen_threshold(dataclasses.replace(sample, right=~sample.right), 0.13) == CONFIDENCE_THRESHOLDS[-1]


def test_weights_that_made_the_data_are_found_and_none_is_negative():
    rng = np.random.default_rng(4)
    x = rng.uniform(0, 3, (4000, 2))
    right = rng.random(4000) < 1 / (1 + np.exp(-(-0.3 + 1.5 * x[:, 0] - 0.8 * x[:, 1])))
    base, weights = logistic(x, right)
    assert 1.0 < weights[0] < 1.6 and weights[1] == 0.0 and base <= 0
    rising = rng.random(4000) < 1 / (1 + np.exp(-(-1 + 1.5 * x[:, 0])))
    base, weights = logistic(x, rising)
    assert base == pytest.approx(-1, abs=0.2) and weights[0] == pytest.approx(1.5, abs=0.2)


def test_the_fit_calibrates_both_rulings_and_its_file_is_read_back(tmp_path):
    rng = np.random.default_rng(6)
    lessons = lessons_of([s for k in range(8) for s in drawn(rng, 400, f"room{k}", slope=2.0)])
    trusts = fit_trust(lessons, dict.fromkeys(("match", "mismatch"), 0.02))
    for trust in trusts.values():
        assert trust.weights["margin"] == pytest.approx(2.0, abs=0.4)
        assert trust.guarantee.tables == 4 and trust.guarantee.given > 200 and trust.guarantee.risk > 0.3
    path = tmp_path / "trust.json"
    path.write_text(trust_json(trusts, {"data": digest(lessons)}))
    assert load_trust(path) == trusts
    assert "at 4 tables were" in guarantee_text(trusts) and "90 % confidence" in guarantee_text(trusts)


def test_the_digest_knows_the_data_and_not_their_order():
    lessons = lessons_of(drawn(np.random.default_rng(1), 20, "s", slope=1.0))
    assert digest(lessons) == digest(lessons[::-1]) != digest(lessons[1:])


def test_lessons_are_read_back_and_nothing_else_is(tmp_path):
    lessons = lessons_of(drawn(np.random.default_rng(1), 20, "s", slope=1.0))
    file = tmp_path / "lessons.jsonl.gz"
    file.write_bytes(pack_lessons(lessons))
    assert unpack_lessons(file) == lessons
    for spoilt in (b"no gzip", file.read_bytes()[:-9], gzip.compress(b"[1, 2]\n"), gzip.compress(b"\xff")):
        file.write_bytes(spoilt)
        with pytest.raises(ValueError, match=r"lessons\.jsonl\.gz: no lessons"):
            unpack_lessons(file)


def test_half_of_the_sessions_teach_and_the_others_test():
    names = [f"room{k}" for k in range(9)]
    taught, testing = split_sessions(names * 3)
    assert taught | testing == set(names) and not taught & testing and abs(len(taught) - len(testing)) == 1


def test_too_few_sessions_are_refused():
    with pytest.raises(ValueError, match="too few sessions"):
        fit_trust(lessons_of(drawn(np.random.default_rng(1), 50, "alone", slope=1.0)))


def test_trust_grows_with_each_feature_and_stays_in_bounds():
    trust = Trust(-1.0, {"margin": 1.0, "explained": 2.0}, 0.8, 0.98, Guarantee(0.01, 0.05, 0, 500, 40))
    said_ = [trust.confidence({"margin": m, "explained": 1.0}) for m in (0, 1, 2, 90)]
    assert said_ == sorted(said_) and said_[-1] == 0.98
    assert trust.confidence({"margin": -90, "explained": 0}) == 0.5
    with pytest.raises(KeyError):
        trust.confidence({"margin": 1.0})


def test_the_trust_that_ships_is_what_the_fit_gives():
    lessons = unpack_lessons(Path(__file__).parents[1] / "golden" / "lessons.jsonl.gz")
    shipped = FILE.read_text()
    assert trust_file(lessons, json.loads(shipped)["command"]) == shipped


def test_the_benchmark_readme_says_what_ships_guarantees():
    readme = (Path(__file__).parents[2] / "referee" / "benchmark" / "README.md").read_text()
    assert json.loads(FILE.read_text())["guarantee"] in readme


def test_the_trust_that_ships_speaks_for_both_rulings():
    for trust in load_trust().values():
        assert 0.5 <= trust.least <= trust.most < 1 and min(trust.weights.values()) >= 0
        assert 0 < trust.guarantee.risk < 1 and trust.guarantee.delta == pytest.approx(0.05)


def test_a_picture_judged_twice_teaches_once():
    some = drawn(np.random.default_rng(1), 50, "room", slope=1.0)
    assert lessons_of(some * 3) == lessons_of(some)
