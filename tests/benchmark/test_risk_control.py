"""The guarantee holds: over many draws of data whose truth is known, it is broken no more often than it says."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from made_scores import drawn
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
from referee.benchmark.risk_control import (
    CONFIDENCE_THRESHOLDS,
    Sample,
    certified_limit,
    design_effect,
    first_threshold,
    risk_bound,
)
from referee.vision.verdict.trust import FILE, Guarantee, Trust, load_trust, trust_json

RISK, DELTA = 0.05, 0.1


def world(rng: np.random.Generator, n: int, sessions: int = 10) -> Sample:
    """Confidences that mean what they say."""
    confidence = rng.uniform(0.7, 1.0, n)
    return Sample(confidence, rng.random(n) < confidence, rng.integers(0, sessions, n))


def true_risk(threshold: float) -> float:
    """Share wrong among what the world gives from a threshold on."""
    return (1 - threshold) / 2


def test_the_guarantee_is_broken_no_more_often_than_it_says():
    broken, certain = 0, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        start, shown = first_threshold(world(rng, 800), RISK, DELTA)
        limit = certified_limit(world(rng, 1500), start, shown, DELTA)
        broken += true_risk(limit.threshold) > limit.risk
        certain += limit.risk == RISK
    assert binom.sf(broken - 1, 300, DELTA) > 0.01  # no more than DELTA of the draws, as far as 300 tell
    assert certain > 150  # and it says something


def test_a_threshold_chosen_by_the_data_it_is_tested_on_would_break_it():
    """What Learn-then-Test is for: taking the loosest threshold that looks good enough fails more often than that."""
    broken = 0
    for seed in range(300):
        data = world(np.random.default_rng(seed), 1500)
        good = [
            t
            for t in CONFIDENCE_THRESHOLDS
            if (kept := data.confidence >= t).any() and (~data.right[kept]).mean() <= RISK
        ]
        broken += bool(good) and true_risk(min(good)) > RISK
    assert binom.sf(broken - 1, 300, DELTA) < 0.01


@pytest.mark.parametrize(
    ("wrong", "n", "bound"), [(0, 299, 0.00997), (0, 100, 0.02951), (1, 473, 0.00999), (5, 5, 1.0)]
)
def test_the_bound_is_clopper_and_pearsons(wrong, n, bound):
    right = np.arange(n) >= wrong
    assert risk_bound(right, np.zeros(n, int), 0.05) == pytest.approx(bound, abs=2e-5)
    if wrong < n:
        assert binom.cdf(wrong, n, bound) == pytest.approx(0.05, abs=2e-3)


def test_nothing_given_is_no_guarantee():
    assert risk_bound(np.zeros(0, bool), np.zeros(0, int), 0.05) == 1.0


def test_wrong_ones_in_one_session_count_for_less():
    session = np.repeat(np.arange(10), 40)
    spread, heaped = np.ones(400, bool), np.ones(400, bool)
    spread[::40], heaped[:10] = False, False
    assert design_effect(spread, session) == 1.0 < 5 < design_effect(heaped, session)
    assert risk_bound(heaped, session, 0.05) > 1.5 * risk_bound(spread, session, 0.05)


def test_sessions_of_their_own_luck_do_not_break_it():
    """Half of the sessions err twice as often: the design effect widens the bound enough."""
    broken = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        session = np.repeat(np.arange(30), 20)
        share = np.where(rng.random(30) < 0.5, 0.02, 0.06)[session]
        broken += risk_bound(rng.random(600) >= share, session, DELTA) < 0.04
    assert broken <= 300 * DELTA + 3 * np.sqrt(300 * DELTA * (1 - DELTA))


def test_where_not_even_the_strictest_is_certain_what_holds_is_said():
    few = world(np.random.default_rng(2), 30)
    limit = certified_limit(few, 3, 0.001, DELTA)
    assert limit.threshold == CONFIDENCE_THRESHOLDS[3] and limit.risk > 0.001


def test_little_data_asks_for_little():
    """Half as many sessions cannot show one in a hundred: what they can show is asked for, and still holds."""
    broken = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        start, shown = first_threshold(world(rng, 150), 0.01, DELTA)
        limit = certified_limit(world(rng, 150), start, shown, DELTA)
        assert shown > 0.01
        broken += true_risk(limit.threshold) > limit.risk
    assert binom.sf(broken - 1, 200, DELTA) > 0.01


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
        assert trust.guarantee.risk == 0.02 and trust.guarantee.given > 200
    path = tmp_path / "trust.json"
    path.write_text(trust_json(trusts, {"data": digest(lessons)}))
    assert load_trust(path) == trusts
    assert "at most 2.0 % are wrong" in guarantee_text(trusts) and "95 % confidence" in guarantee_text(trusts)


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
    trust = Trust(-1.0, {"margin": 1.0, "explained": 2.0}, 0.8, 0.98, Guarantee(0.01, 0.025, 0, 500))
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
        assert 0 < trust.guarantee.risk < 1 and trust.guarantee.delta == pytest.approx(0.025)


def test_a_picture_judged_twice_teaches_once():
    some = drawn(np.random.default_rng(1), 50, "room", slope=1.0)
    assert lessons_of(some * 3) == lessons_of(some)
