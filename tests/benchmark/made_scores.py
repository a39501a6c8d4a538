"""Scores made up for the tests of the bench's arithmetic."""

from __future__ import annotations

import numpy as np

from referee.benchmark.scoring import ZoneScore


def score(expected: str, ruling: str | None, confidence: float = 0.95, kind: str = "height", **other) -> ZoneScore:
    """A zone's score with this truth and ruling."""
    row = {
        "image": "s/duel_00.jpg",
        "zone": "A",
        "card": "H01",
        "kind": kind,
        "expected": expected,
        "why": "",
        "ruling": ruling,
        "confidence": confidence,
        "leaning": None,
        "reasons": ("because",),
        "count": 3,
        "pieces_right": 3,
        "confusions": (("blue cube", "blue cube"),),
        "contacts_right": True,
        "labels_right": 90,
        "colors_right": 80,
        "label_pixels": 100,
        "pose_px": 0.3,
        "seconds": 0.3,
        "mats_seconds": 0.05,
    }
    return ZoneScore(**row | other)


def drawn(
    rng: np.random.Generator, n: int, session: str, slope: float, at: float | None = None, by_margin: bool = True
) -> list[ZoneScore]:
    """Scores with one feature, ``margin``, from 0 to 5 (or ``at``); each is right with the log odds slope * margin.
    Half say match, half mismatch."""
    out = []
    for k in range(n):
        margin = rng.uniform(0, 5) if at is None else at
        right = rng.random() < 1 / (1 + np.exp(-slope * margin))
        ruling, other = ("match", "mismatch")[:: 1 if k % 2 == 0 else -1]
        features = (("margin", float(margin)),)
        name = f"{session}/duel_{k:03d}.jpg"
        out.append(score(ruling if right else other, ruling, image=name, by_margin=by_margin, features=features))
    return out
