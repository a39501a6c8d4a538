"""What a bench run says, as tables: outcomes, steps, confusions, reliability, and what was not right;
of a stress run by effect and level, and how far to trust each ruling."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import scipy

from referee.benchmark.effects.catalogue import EFFECTS
from referee.benchmark.fit import leaning_ruling
from referee.benchmark.scoring import NO_PIECE_LABEL, ZoneScore, count_outcomes
from referee.benchmark.stress import StressScore
from referee.vision.verdict.doubts import DOUBTS
from referee.vision.verdict.trust import Trust

OUTCOMES = ("right", "false accept", "false reject", "undecided")
HIDDEN = "hidden"
"""So begins, in ``truth.json``, why a zone is as it is where a piece is hidden from the first camera."""
ANY_LABEL = "any of them"
BINS = (0.5, 0.8, 0.85, 0.9, 0.95, 0.98, 1.0)


def outcome_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Right, false accepts, false rejects, undecided; per kind of card and in all."""
    out = [f"{'verdicts':12} {'n':>4}  " + "".join(f"{name:>24}" for name in OUTCOMES)]
    kinds, hidden = sorted({r.kind for r in rows}), [r for r in rows if r.why.startswith(HIDDEN)]
    for kind in [*kinds, *([HIDDEN] if hidden else []), "all"]:
        mine = hidden if kind == HIDDEN else [r for r in rows if kind in (r.kind, "all")]
        out.append(f"{kind:12} {len(mine):4}  {_cells(mine)}")
    decided = [r for r in rows if r.outcome != "undecided"]
    out.append(f"right among decided: {percent(count_outcomes(decided)['right'], len(decided))}")
    return out


def _cells(rows: Sequence[ZoneScore]) -> str:
    counts = count_outcomes(rows)
    return "".join(f"{percent(counts[o], len(rows)):>24}" for o in OUTCOMES)


def left_out_lines(held_out: Mapping[str, tuple[Mapping[str, Trust], Sequence[ZoneScore]]]) -> list[str]:
    """Each session ruled by what the others taught: from which confidence on, and how that went."""
    wide = max(map(len, held_out))
    head = f"{'session left out':{max(wide, 16)}} {'match':>6} {'mismatch':>9} {'n':>5} "
    out = [head + "".join(f"{name:>14}" for name in OUTCOMES)]
    for session, (trusts, scores) in held_out.items():
        counts, least = count_outcomes(scores), [trusts[ruling].least for ruling in ("match", "mismatch")]
        out.append(
            f"{session:{max(wide, 16)}} {least[0]:6.3f} {least[1]:9.3f} {len(scores):5} "
            + "".join(f"{counts[o]:>14}" for o in OUTCOMES)
        )
    return out


def time_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Seconds per image, median and 95th percentile."""
    seconds = list({r.image: r.seconds for r in rows}.values())
    mats = list({r.image: r.mats_seconds for r in rows}.values())
    return [
        f"seconds per image: median {np.median(seconds):.2f}, p95 {np.percentile(seconds, 95):.2f} "
        f"({len(seconds)} images); of it locating mats: median {np.median(mats):.3f}"
    ]


def step_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Each step of seeing on its own: mats, labels, pieces, contacts, verdict."""
    seen = [r for r in rows if r.ruling is not None]
    pixels = sum(r.label_pixels for r in seen)
    errors = [r.pose_px for r in seen]
    labels = 100 * sum(r.labels_right for r in seen) / max(pixels, 1)
    colors = 100 * sum(r.colors_right for r in seen) / max(pixels, 1)
    pieces, found = sum(r.count for r in rows), sum(r.pieces_right for r in rows)
    return [
        "steps",
        f"  mats located       {percent(len(seen), len(rows))}, corners off by "
        f"{np.median(errors) if errors else 0:.2f} px (median RMS)",
        f"  labels             {labels:5.1f} % of {pixels} pixels of builds are understood as of the right colour, "
        f"{colors:.1f} % by their own colour alone",
        f"  pieces             {percent(found, pieces)} of {pieces}: shape, colour, pose, 6 mm in x and z",
        f"  ground contacts    {percent(sum(r.contacts_right for r in rows), len(rows))} of builds exact",
        f"  verdict            {percent(count_outcomes(rows)['right'], len(rows))} right",
    ]


def confusion_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Which pieces were taken for which."""
    pairs = Counter(pair for r in rows for pair in r.confusions)
    true = [*sorted({a for a, _ in pairs} - {NO_PIECE_LABEL}), NO_PIECE_LABEL]
    seen = [*sorted({b for _, b in pairs} - {NO_PIECE_LABEL}), NO_PIECE_LABEL]
    wide = max(map(len, true))
    out = [
        "pieces: truth down, seen across " + ", ".join(f"{k + 1} {name}" for k, name in enumerate(seen)),
        " " * wide + "".join(f"{k + 1:>5}" for k in range(len(seen))),
    ]
    for a in true:
        out.append(f"{a:{wide}}" + "".join(f"{pairs[a, b] or '.':>5}" for b in seen))
    return out


def reliability_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """Of verdicts given with a confidence, how many were right."""
    out = [f"reliability  {'confidence':>12} {'n':>5} {'mean':>7} {'right':>24}"]
    decided = [r for r in rows if r.outcome != "undecided"]
    for low, high in pairwise(BINS):
        mine = [r for r in decided if low <= r.confidence < high or (high == 1.0 and r.confidence == 1.0)]
        if mine:
            mean = np.mean([r.confidence for r in mine])
            out.append(
                f"{'':11}  {low:5.2f} - {high:4.2f} {len(mine):5} {mean:7.3f} "
                f"{percent(count_outcomes(mine)['right'], len(mine)):>24}"
            )
    return out


def wrong_lines(rows: Sequence[ZoneScore]) -> list[str]:
    """The frames that were judged wrong, then those undecided, with the reasons given."""
    bad = sorted((r for r in rows if r.outcome != "right"), key=lambda r: (r.outcome == "undecided", r.image))
    if not bad:
        return ["every verdict is right"]
    return ["not right"] + [
        f"  {r.image} {r.zone} card {r.card}: {r.outcome}, truth {r.expected}{r.why and f' ({r.why})'}, "
        f"confidence {r.confidence:.2f}: {'; '.join(r.reasons) or 'no fault seen'}"
        for r in bad
    ]


def doubt_lines(rows: Mapping[str, Sequence[ZoneScore]]) -> list[str]:
    """By doubt, of the scores of each set (by its name), how many rulings it withholds and, in brackets, how many of
    them no other doubt does: wrong rulings first, which it is there to catch, then right ones, which are its price."""
    out = [f"{'rulings withheld':18}" + "".join(f"{name:>24}" for name in rows)]
    out.append(f"{'(by no other)':18}" + f"{'wrong':>12}{'right':>12}" * len(rows))
    judged = {name: [r for r in some if r.ruling is not None] for name, some in rows.items()}
    for name in (*(doubt.name for doubt in DOUBTS), ANY_LABEL):
        cells = (_withheld(some, name, wrong) for some in judged.values() for wrong in (True, False))
        out.append(f"{name:18}" + "".join(f"{cell:>12}" for cell in cells))
    ahead = (sum(_is_wrong(r) == wrong for r in some) for some in judged.values() for wrong in (True, False))
    return [*out, f"{'of all ahead':18}" + "".join(f"{n:>8}    " for n in ahead)]


def _is_wrong(row: ZoneScore) -> bool:
    return leaning_ruling(row) != row.expected


def _withheld(rows: Sequence[ZoneScore], doubt: str, wrong: bool) -> str:
    mine = [r.doubts for r in rows if r.doubts and doubt in (*r.doubts, ANY_LABEL) and _is_wrong(r) == wrong]
    alone = "" if doubt == ANY_LABEL else f" ({sum(len(doubts) == 1 for doubts in mine)})"
    return f"{len(mine)}{alone or '    '}" if mine else ".    "


def aids_lines(scores: Mapping[tuple[bool, bool, bool], Sequence[ZoneScore]]) -> list[str]:
    """Outcomes by what was given: empty frame, colours, lens."""
    out = [f"{'empty':>7}{'colours':>9}{'lens':>7}{'n':>6}  " + "".join(f"{name:>24}" for name in OUTCOMES)]
    for given, rows in scores.items():
        empty, colors, lens = ("yes" if yes else "no" for yes in given)
        out.append(f"{empty:>7}{colors:>9}{lens:>7}{len(rows):>6}  {_cells(rows)}")
    return out


COLUMNS = ("right", "wrong", "undecided", "crash")
SURE_VOICE = 0.98
"""Confidence from which a verdict is spoken with a sure voice: what is said there must be right."""
CALIBRATION_BINS = 10
"""Of the calibration error: verdicts sorted by confidence into so many bins of equal count."""


def percent(k: int, n: int) -> str:
    """k of n with its 95 % Wilson interval."""
    if not n:
        return "-"
    low, high = scipy.stats.binomtest(k, n).proportion_ci(method="wilson")
    return f"{100 * k / n:5.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def stress_lines(rows: Sequence[StressScore]) -> list[str]:
    """Per effect and level, for right builds and for wrong ones: right, wrong, undecided, crash."""
    head = f"{'n':>6}" + "".join(f"{name:>10}" for name in COLUMNS)
    out = [
        f"{'':27}{'right builds':>46}{'wrong builds':>46}",
        f"{'effect':17}{'level':>10}{head}{head}{'wrong of all':>16}",
    ]
    for effect in dict.fromkeys(row.effect for row in sorted(rows, key=_order)):
        mine = [row for row in rows if row.effect == effect]
        for level in dict.fromkeys(row.level for row in sorted(mine, key=_order)):
            out.append(_line(effect, str(level), [row for row in mine if row.level == level]))
        if len({row.level for row in mine}) > 1:
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
    parts = np.array_split(np.arange(len(rows)), min(CALIBRATION_BINS, len(rows)))
    return float(sum(len(p) * abs(said[p].mean() - right[p].mean()) for p in parts) / len(rows))


def stress_wrong_lines(rows: Sequence[StressScore]) -> list[str]:
    """The verdicts that were wrong and the frames that crashed, one line each."""
    bad = [row for row in sorted(rows, key=_order) if _column(row) in ("wrong", "crash")]
    return [
        f"  {r.effect} {r.level} {r.score.image} {r.score.zone} card {r.score.card}: {r.outcome}, truth "
        f"{r.score.expected}{r.score.why and f' ({r.score.why})'}, confidence {r.score.confidence:.2f}: "
        f"{r.crash or '; '.join(r.score.reasons) or 'no fault seen'}"
        for r in bad
    ]
