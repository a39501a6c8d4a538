"""Fitting trust: from scores of sessions with truth to how sure to be, and from where on to speak.

The sessions, one a table, are dealt to two halves. One teaches the weights of the features (a logistic regression whose
weights cannot be negative) and chooses the threshold; of the other, which taught nothing, is told how large a share of
the verdicts is wrong at most (``risk_control``). Match and mismatch are fitted apart. To show what such a fit is worth,
each session is ruled by one to all others (``leave_sessions_out``); rulings that no feature decides stay as they are.
"""

import dataclasses
import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np
import scipy

from referee.benchmark.risk_control import Sample, chosen_threshold, risk_bound
from referee.benchmark.scoring import ZoneScore
from referee.vision.verdict.trust import Guarantee, Trust, trust_json

RULINGS = ("match", "mismatch")
RISK = MappingProxyType({"match": 0.01, "mismatch": 0.035})
"""So large a share of each ruling's verdicts may be wrong at the tables that teach. A mismatch's is the least by which
no more than 3 % of clean pictures, and 8 % by the picture alone, are left to a human."""
DELTA = 0.1
"""With 90 % confidence for both rulings together."""
SUREST = 0.99
"""No verdict is surer."""
RIDGE_WEIGHT = 0.5
"""Weight of the ridge that keeps weights finite where a half has no wrong verdict."""


@dataclass(frozen=True)
class Lesson:
    """What one verdict teaches: in which ``session`` which ``ruling`` was ahead, whether it was ``right``, and the
    features that it rested on."""

    session: str
    ruling: str
    right: bool
    features: tuple[tuple[str, float], ...]

    def to_json(self) -> str:
        """One line of a file of lessons."""
        return json.dumps([self.session, self.ruling, self.right, dict(self.features)])


def pack_lessons(lessons: Sequence[Lesson]) -> bytes:
    """Lessons as a file of theirs holds them: a line of JSON each, packed by gzip."""
    return gzip.compress("".join(f"{lesson.to_json()}\n" for lesson in lessons).encode(), mtime=0)


def unpack_lessons(file: Path) -> list[Lesson]:
    """The lessons of such a file. Raises ValueError, which names it, for another."""
    try:
        rows = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
        return [Lesson(session, ruling, bool(right), tuple(of.items())) for session, ruling, right, of in rows]
    except (OSError, EOFError, zlib.error, ValueError, TypeError, AttributeError) as fault:
        raise ValueError(f"{file}: no lessons of referee bench --fit ({fault})") from None


def session_of(score: ZoneScore) -> str:
    """The session folder's name."""
    return score.image.split("/")[0]


def leaning_ruling(score: ZoneScore) -> str | None:
    """The ruling that was ahead, given or not."""
    return score.leaning or score.ruling


def lessons_of(scores: Sequence[ZoneScore]) -> list[Lesson]:
    """What scores teach: those that their features decide. In an order that is the same however they came. Effects
    without chance look the same by every seed: what is seen twice teaches once."""
    found = {
        Lesson(session_of(s), ahead, ahead == s.expected, s.features)
        for s in scores
        if s.by_margin and s.features and (ahead := leaning_ruling(s)) is not None and ahead in RULINGS
    }
    return sorted(found, key=Lesson.to_json)


def split_sessions(sessions: Sequence[str]) -> tuple[set[str], set[str]]:
    """Sessions dealt in turn."""
    dealt = _shuffled(sessions)
    return set(dealt[::2]), set(dealt[1::2])


def _shuffled(sessions: Iterable[str]) -> list[str]:
    """Each session once, by a digest of its name: neither order nor kind decides."""
    return sorted(set(sessions), key=lambda name: hashlib.sha256(name.encode()).hexdigest())


def fit_trust(lessons: Sequence[Lesson], risk: Mapping[str, float] = RISK, delta: float = DELTA) -> dict[str, Trust]:
    """Trust in each ruling. Raises ValueError where a half of the sessions holds none of a ruling."""
    taught, certifying = split_sessions([lesson.session for lesson in lessons])
    of = {ruling: [lesson for lesson in lessons if lesson.ruling == ruling] for ruling in RULINGS}
    return {ruling: _fitted_one(of[ruling], taught, certifying, risk[ruling], delta / 2) for ruling in RULINGS}


def _fitted_one(lessons: list[Lesson], taught: set[str], certifying: set[str], risk: float, delta: float) -> Trust:
    learn = [lesson for lesson in lessons if lesson.session in taught]
    test = [lesson for lesson in lessons if lesson.session in certifying]
    if not learn or not test:
        raise ValueError("too few sessions to fit on: each half needs verdicts of both rulings")
    names = sorted({name for lesson in lessons for name, _ in lesson.features})
    table = np.array([[dict(lesson.features)[name] for name in names] for lesson in learn], float)
    base, weights = logistic(table, _right(learn))
    most = min(round(1.0 - 1.0 / (len(learn) + 2), 4), SUREST)
    trust = Trust(base, dict(zip(names, weights, strict=True)), 0.5, most, Guarantee(1.0, delta, 0, 0, 0))
    least = chosen_threshold(_sample(learn, trust), risk)
    given = _sample(test, trust).given(least)
    wrong, shares = int((~given.right).sum()), given.shares_wrong
    guarantee = Guarantee(round(risk_bound(shares, delta), 4), delta, wrong, len(given.right), len(shares))
    return dataclasses.replace(trust, least=least, most=max(most, least), guarantee=guarantee)


def logistic(x: np.ndarray, right: np.ndarray) -> tuple[float, list[float]]:
    """Base, at most 0, and weights (k,), at least 0, that make ``right`` (n,) bool likeliest for features x (n, k):
    where nothing speaks for a ruling it is worth no more than a coin's."""
    sign = np.where(right, 1.0, -1.0)

    def cost(v: np.ndarray) -> tuple[float, np.ndarray]:
        odds = sign * (v[0] + x @ v[1:])
        slope = -sign / (1 + np.exp(np.clip(odds, -500, 500)))
        ridge = np.r_[0.0, RIDGE_WEIGHT * v[1:]]
        return np.logaddexp(0, -odds).sum() + ridge @ v / 2, np.r_[slope.sum(), x.T @ slope] + ridge

    bounds = [(None, 0)] + [(0, None)] * x.shape[1]
    found = scipy.optimize.minimize(cost, np.zeros(x.shape[1] + 1), jac=True, bounds=bounds, method="L-BFGS-B")
    return round(float(found.x[0]), 4), [round(float(w), 4) for w in found.x[1:]]


def _right(lessons: Sequence[Lesson]) -> np.ndarray:
    return np.array([lesson.right for lesson in lessons])


def _sample(lessons: Sequence[Lesson], trust: Trust) -> Sample:
    names = {name: k for k, name in enumerate(_shuffled(lesson.session for lesson in lessons))}
    confidence = np.array([trust.confidence(dict(lesson.features)) for lesson in lessons])
    return Sample(confidence, _right(lessons), np.array([names[lesson.session] for lesson in lessons]))


def digest(lessons: Sequence[Lesson]) -> str:
    """SHA-256 of the lessons, in whatever order they come."""
    return hashlib.sha256("\n".join(sorted(map(Lesson.to_json, lessons))).encode()).hexdigest()


def trust_file(lessons: Sequence[Lesson], command: str) -> str:
    """The text of the file that ``referee.vision.verdict.trust`` reads: the fit with where it comes from."""
    trusts = fit_trust(lessons)
    provenance = {
        "command": command,
        "sessions": sorted({lesson.session for lesson in lessons}),
        "verdicts": len(lessons),
        "data": digest(lessons),
        "method": "mean share wrong of a table, bounded by betting (Waudby-Smith and Ramdas 2024, arXiv:2010.09686)",
        "guarantee": guarantee_text(trusts),
    }
    return trust_json(trusts, provenance)


def guarantee_text(trusts: Mapping[str, Trust]) -> str:
    """The guarantee in one sentence."""
    parts = [
        f"of a table's {ruling} verdicts on average at most {100 * t.guarantee.risk:.1f} % are wrong "
        f"({t.guarantee.wrong} of {t.guarantee.given} at {t.guarantee.tables} tables were)"
        for ruling, t in trusts.items()
    ]
    confidence = 1 - sum(t.guarantee.delta for t in trusts.values())
    return f"On tables like these, with {100 * confidence:.0f} % confidence: {'; '.join(parts)}."


def with_trust(score: ZoneScore, trusts: Mapping[str, Trust]) -> ZoneScore:
    """The score as it would be with other trust."""
    ahead = leaning_ruling(score)
    if not score.by_margin or not score.features or ahead is None or ahead not in trusts:
        return score
    sure = trusts[ahead].confidence(dict(score.features))
    if sure >= trusts[ahead].least:
        return dataclasses.replace(score, ruling=ahead, confidence=sure, leaning=None)
    return dataclasses.replace(score, ruling="undecided", confidence=sure, leaning=ahead)


def leave_sessions_out(
    scores: Sequence[ZoneScore], lessons: Sequence[Lesson] | None = None
) -> dict[str, tuple[Mapping[str, Trust], list[ZoneScore]]]:
    """By session: the trust that the others taught, by these scores or by ``lessons`` of elsewhere, and its scores
    ruled by it. Raises ValueError where the others are too few to fit on."""
    out: dict[str, tuple[Mapping[str, Trust], list[ZoneScore]]] = {}
    taught = lessons_of(scores) if lessons is None else lessons
    for session in sorted({session_of(s) for s in scores}):
        trusts = fit_trust([lesson for lesson in taught if lesson.session != session])
        out[session] = (trusts, [with_trust(s, trusts) for s in scores if session_of(s) == session])
    return out
