"""The decision: which ruling the evidence supports, by how much, and when none is given.

The law. Of all readings of the pixels take the best that satisfies the card and the best that does not. The ruling is
that of the better one; the *margin* between the two, in nats of evidence for one pixel's worth of scale, is what the
confidence comes from. Both are fair: the card's own reading and its nearest variants, and those of the best reading,
are always placed, fitted and scored (``search.readings``), and what satisfies the card is ``RIGHT_PRIOR`` ahead from
the start. Where a doubt applies (``doubts``) no ruling is given, however large the margin: ``undecided``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from referee.match.verdict import Verdict
from referee.vision.measured import measured
from referee.vision.search.canvas import Reading
from referee.vision.verdict.case import Case
from referee.vision.verdict.doubts import doubts_about

LEANING_MOST = measured(
    0.65, "confidence", "the most where a doubt applies: of 62 rulings withheld under stress (seed 100) 40 were right"
)
OTHERS_TOLD = measured(3, "readings", "by hand: so many others are offered to a human")


@dataclass(frozen=True)
class Decision:
    """The verdict on one zone's build, the case that it is of, and the names of the doubts that apply."""

    verdict: Verdict
    case: Case
    doubts: tuple[str, ...]


def decide(case: Case, readings: Sequence[Reading]) -> Decision:
    """The verdict on a case: its ruling where no doubt applies, else ``undecided`` with every doubt's reason. The best
    few of the ``readings`` (best first) behind the one ahead are offered as alternatives."""
    doubts, compared = doubts_about(case), case.compared
    reasons = tuple(dict.fromkeys(doubts.values())) or compared.best.faults
    sure = min(case.confidence, LEANING_MOST) if doubts else case.confidence
    verdict = Verdict(
        "undecided" if doubts else compared.ruling,
        sure,
        reasons,
        compared.best.build,
        compared.ruling if doubts else None,
        _alternatives(case, readings[1 : 1 + OTHERS_TOLD]),
        compared.margin,
    )
    return Decision(verdict, case, tuple(doubts))


def _alternatives(case: Case, readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """What a human is offered beside the reading ahead."""
    ruled = [(r, *case.rulings.of(r)) for r in readings]
    ahead = case.best.reading.score
    return tuple(
        Verdict("mismatch" if faults else "match", 0.0, faults, build, margin=r.score - ahead)
        for r, build, faults in ruled
    )
