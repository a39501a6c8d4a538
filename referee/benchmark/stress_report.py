"""What a stress run says, as tables: by effect, level, right and wrong builds; and how far to trust each ruling."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

import numpy as np

from referee.benchmark.effects.catalogue import EFFECTS
from referee.benchmark.scoring import ZoneScore
from referee.benchmark.stress import StressScore

COLUMNS = ("right", "wrong", "undecided", "crash")
SURE_VOICE = 0.98
"""Confidence from which a verdict is spoken with a sure voice: what is said there must be right."""
Z_95 = 1.959964
"""Of a normal distribution 95 % lie within so many standard deviations."""
BINS = 10
"""Of the calibration error: verdicts sorted by confidence into so many bins of equal count."""


def percent(k: int, n: int) -> str:
    """k of n with its 95 % Wilson interval."""
    if not n:
        return "-"
    middle, reach = k + Z_95**2 / 2, Z_95 * math.sqrt(k * (n - k) / n + Z_95**2 / 4)
    low, high = (100 * max(0.0, end) / (n + Z_95**2) for end in (middle - reach, middle + reach))
    return f"{100 * k / n:5.1f} % [{low:.1f}, {high:.1f}]"


def stress_lines(rows: Sequence[StressScore], levels: bool = True) -> list[str]:
    """Per effect and level, for right builds and for wrong ones: right, wrong, undecided, crash."""
    head = f"{'n':>6}" + "".join(f"{name:>10}" for name in COLUMNS)
    out = [
        f"{'':27}{'right builds':>46}{'wrong builds':>46}",
        f"{'effect':17}{'level':>10}{head}{head}{'wrong of all':>16}",
    ]
    for effect in dict.fromkeys(row.effect for row in sorted(rows, key=_order)):
        mine = [row for row in rows if row.effect == effect]
        for level in dict.fromkeys(row.level for row in sorted(mine, key=_order)) if levels else ():
            out.append(_line(effect, str(level), [row for row in mine if row.level == level]))
        if not levels or len({row.level for row in mine}) > 1:
            out.append(_line(effect, "all", mine))
    stress = [row for row in rows if row.effect != "clean"]
    return [*out, _line("all", "", rows), _line("all but clean", "", stress)]


def _order(row: StressScore) -> tuple[int, int]:
    effect = EFFECTS[row.effect]
    return list(EFFECTS).index(row.effect), effect.levels.index(row.level)


def _line(effect: str, level: str, rows: Sequence[StressScore]) -> str:
    out = f"{effect:17}{level:>10}"
    for expected in ("match", "mismatch"):
        mine = [row for row in rows if row.score.expected == expected]
        counts = Counter(_column(row) for row in mine)
        out += f"{len(mine):6}" + "".join(f"{counts[c]:>10}" for c in COLUMNS)
    wrong = sum(_column(row) == "wrong" for row in rows)
    return out + f"{100 * wrong / max(len(rows), 1):14.1f} %"


def _column(row: StressScore) -> str:
    return row.outcome if row.outcome in COLUMNS else "wrong"


def trust_lines(scores: Sequence[ZoneScore]) -> list[str]:
    """For match and mismatch apart: how many verdicts, how many right, how many of those said with a sure voice, and
    the expected calibration error."""
    out = [f"{'ruling':10}{'n':>6}{'right':>28}{f'said >= {SURE_VOICE}':>16}{'of them right':>28}{'ECE':>8}"]
    for ruling in ("match", "mismatch"):
        mine = [s for s in scores if s.ruling == ruling]
        sure = [s for s in mine if s.confidence >= SURE_VOICE]
        right, sure_right = (sum(s.outcome == "right" for s in some) for some in (mine, sure))
        error = f"{calibration_error(mine):.3f}" if mine else "-"
        out.append(
            f"{ruling:10}{len(mine):6}{percent(right, len(mine)):>28}{len(sure):>16}"
            f"{percent(sure_right, len(sure)):>28}{error:>8}"
        )
    return out


def calibration_error(scores: Sequence[ZoneScore]) -> float:
    """The expected calibration error of decided verdicts: between the mean confidence and the share right, over bins
    of equal count, each weighed by its count."""
    rows = sorted(scores, key=lambda s: s.confidence)
    said = np.array([s.confidence for s in rows])
    right = np.array([s.outcome == "right" for s in rows], float)
    parts = np.array_split(np.arange(len(rows)), min(BINS, len(rows)))
    return float(sum(len(p) * abs(said[p].mean() - right[p].mean()) for p in parts) / len(rows))


def wrong_lines(rows: Sequence[StressScore]) -> list[str]:
    """The verdicts that were wrong and the frames that crashed, one line each."""
    bad = [row for row in sorted(rows, key=_order) if _column(row) in ("wrong", "crash")]
    return [
        f"  {r.effect} {r.level} {r.score.image} {r.score.zone} card {r.score.card}: {r.outcome}, truth "
        f"{r.score.expected}{r.score.why and f' ({r.score.why})'}, confidence {r.score.confidence:.2f}: "
        f"{r.crash or '; '.join(r.score.reasons) or 'no fault seen'}"
        for r in bad
    ]
