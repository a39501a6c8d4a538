"""How far to trust a reading that is ahead: what past sessions with truth taught, for match and mismatch apart.

``trust.json`` beside this module is written by ``referee bench DIR… --fit`` and by nothing else: the weights of each
feature, and the least confidence with which a verdict is given, with what that guarantees and on what data.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path

from scipy.special import expit

from referee.vision.measured import measured
from referee.vision.verdict.rulings import CLEAR_MARGIN

EXPLAINED_LOW = measured(0.45, "of the evidence near the build", "by hand: a reading that explains less says nothing")
LEFT_ALWAYS = measured(0.02, "of the evidence", "left by rims and grain however good a reading is; by hand")
MARGIN_UNIT = measured(100.0, "nats", "by hand: a margin counts by its logarithm, from about here on")
SHOWN_UNIT = measured(
    0.05,
    "of the pixels",
    "what is shown counts by its logarithm, so that half is hardly less than all; with less no build is called right: "
    "the least of 110 clean ones has 0.054; under stress (seed 47) four had none, two of them wrong",
    "referee bench devset devset2 --stress --every 9 --seed 47",
)
FILE = Path(__file__).with_name("trust.json")


@dataclass(frozen=True)
class Guarantee:
    """With probability ``1 - delta`` over the tables drawn, of a table's verdicts on average at most the share ``risk``
    is wrong: ``wrong`` of ``given`` were at the ``tables`` that it was told from."""

    risk: float
    delta: float
    wrong: int
    given: int
    tables: int


@dataclass(frozen=True)
class Trust:
    """Of one ruling: log odds that it is right are ``base`` + the sum of ``weights`` times features (each the larger
    the better, so weights are at least 0); ``least`` is the confidence below which no verdict is given, ``most`` what
    no verdict's confidence exceeds."""

    base: float
    weights: Mapping[str, float]
    least: float
    most: float
    guarantee: Guarantee

    def confidence(self, features: Mapping[str, float]) -> float:
        """Probability 0.5 to ``most`` that the ruling is right. Raises KeyError for a feature that is not given."""
        odds = self.base + sum(weight * features[name] for name, weight in self.weights.items())
        return min(max(float(expit(odds)), 0.5), self.most)


def features_of(margin: float, explained: float, shown: float) -> dict[str, float]:
    """What confidence is made of, each about 0 to 4 and the larger the better: the margin by its logarithm, the share
    that is explained by how little is left, and as ``proof`` how far the pixels themselves show the reading ahead: the
    weakest of ``proof.proof_of`` and the worst piece's agreement with its own pixels."""
    ahead = math.log1p(min(margin, CLEAR_MARGIN) / MARGIN_UNIT)
    left = 1.0 - min(max(explained, EXPLAINED_LOW), 1.0) + LEFT_ALWAYS
    return {
        "margin": ahead,
        "explained": math.log((1.0 - EXPLAINED_LOW + LEFT_ALWAYS) / left),
        "proof": math.log1p(min(max(shown, 0.0), 1.0) / SHOWN_UNIT),
    }


@lru_cache
def load_trust(path: Path = FILE) -> Mapping[str, Trust]:
    """The trust in ``match`` and in ``mismatch``."""
    rows = json.loads(path.read_text(encoding="utf-8"))["rulings"]
    return {r: Trust(**{**rows[r], "guarantee": Guarantee(**rows[r]["guarantee"])}) for r in ("match", "mismatch")}


def trust_json(trusts: Mapping[str, Trust], provenance: Mapping[str, object]) -> str:
    """The text of a file that ``load_trust`` reads back."""
    rulings = {ruling: asdict(trust) for ruling, trust in trusts.items()}
    return json.dumps({**provenance, "rulings": rulings}, indent=2) + "\n"
