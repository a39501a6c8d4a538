"""Judging each session by what the other sessions taught.

What the observer has learnt from sessions with truth, and can learn anew, is how far to trust a margin: the nats that
make one unit of log odds (``decide.MARGIN_SCALE``). Here it is fitted on all sessions but one, and that one is
ruled by it; the sessions in turn. Rulings that no margin decides stay as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from referee.vision.decide import SURE, confidence_of
from referee.vision.scoring import ZoneScore

SCALES = np.geomspace(50.0, 500.0, 47)
"""Nats for one unit of log odds: what is tried."""


def session_of(score: ZoneScore) -> str:
    """The session folder's name."""
    return score.image.split("/")[0]


def fitted_scale(scores: Sequence[ZoneScore]) -> float:
    """The scale under which the likelier rulings' being right or wrong is likeliest (maximum likelihood; of several
    as likely the most careful)."""
    weighed = [s for s in scores if s.by_margin]
    right = np.array([_likelier(s) == s.expected for s in weighed])
    best, most = SCALES[-1], -np.inf
    for scale in SCALES:
        sure = np.array([confidence_of(s.margin, s.explained, scale) for s in weighed])
        told = float(np.log(np.where(right, sure, 1.0 - sure)).sum())
        if told >= most:
            best, most = float(scale), told
    return best


def ruled(score: ZoneScore, scale: float) -> ZoneScore:
    """The score as it would be with another scale."""
    if not score.by_margin:
        return score
    sure = confidence_of(score.margin, score.explained, scale)
    likelier = _likelier(score)
    if sure >= SURE:
        return dataclasses.replace(score, ruling=likelier, confidence=sure, leaning=None)
    return dataclasses.replace(score, ruling="undecided", confidence=sure, leaning=likelier)


def _likelier(score: ZoneScore) -> str | None:
    return score.leaning or score.ruling


def left_out(scores: Sequence[ZoneScore]) -> dict[str, tuple[float, list[ZoneScore]]]:
    """By session: the scale that the others taught, and its scores ruled by it."""
    out = {}
    for session in sorted({session_of(s) for s in scores}):
        scale = fitted_scale([s for s in scores if session_of(s) != session])
        out[session] = (scale, [ruled(s, scale) for s in scores if session_of(s) == session])
    return out
