"""Ruling each session by what the other sessions taught.

What the observer has learnt from sessions with truth is how far to trust its features, and from where on to speak
(``fit``). Here that is fitted on all sessions but one, which is then ruled by it; the sessions in turn. Rulings that
no feature decides stay as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

from referee.benchmark.fit import DELTA, RISK, Lesson, fitted, leaning_ruling, lessons_of, session_of
from referee.benchmark.scoring import ZoneScore
from referee.vision.verdict.trust import Trust


def ruled(score: ZoneScore, trusts: Mapping[str, Trust]) -> ZoneScore:
    """The score as it would be with other trust."""
    ahead = leaning_ruling(score)
    if not score.by_margin or not score.features or ahead is None or ahead not in trusts:
        return score
    sure = trusts[ahead].confidence(dict(score.features))
    if sure >= trusts[ahead].least:
        return dataclasses.replace(score, ruling=ahead, confidence=sure, leaning=None)
    return dataclasses.replace(score, ruling="undecided", confidence=sure, leaning=ahead)


def left_out(
    scores: Sequence[ZoneScore],
    risk: Mapping[str, float] = RISK,
    delta: float = DELTA,
    lessons: Sequence[Lesson] | None = None,
) -> dict[str, tuple[Mapping[str, Trust], list[ZoneScore]]]:
    """By session: the trust that the others taught, by these scores or by ``lessons`` of elsewhere, and its scores
    ruled by it. Raises ValueError where the others are too few to fit on."""
    out: dict[str, tuple[Mapping[str, Trust], list[ZoneScore]]] = {}
    taught = lessons_of(scores) if lessons is None else lessons
    for session in sorted({session_of(s) for s in scores}):
        trusts = fitted([lesson for lesson in taught if lesson.session != session], risk, delta)
        out[session] = (trusts, [ruled(s, trusts) for s in scores if session_of(s) == session])
    return out
