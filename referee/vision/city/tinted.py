"""Paper in a coloured shadow, told from stones by how it lies, and known again by its colours.

Where several lamps of different colours light a table, the shadow of one is as yellow or brown as a stone, and towers
are read from it where there are none, or one storey more. Such a tower does not stand up: beside it, where the other
pictures see the plan behind what would stand there, they show the same. What paper looks like there, its pixels tell;
the table is read again with that as one more thing that may be behind, and lessons for the palette are taken anew.
"""

import math
from collections.abc import Iterable
from dataclasses import replace

import cv2
import numpy as np

from calibration.palette import Palette
from referee.vision.city.drawn import CityPicture
from referee.vision.city.reading import FLOORS, CityReading
from referee.vision.city.unexplained import clear_paper, lies_flat, spot_means
from referee.vision.image.background import LOG_ANYTHING
from referee.vision.image.evidence import CLIP, COLOUR_TOLD_NATS

LYING_PX, LYING_SHARE = 30, 0.3
"""Of a tower's pixels whose spot on the plan others see beside all towers, so many must be judged, and so much lie
flat, to teach what tinted paper looks like. Of the towers of tables 200 to 202, 420 to 519, 534, 538, 545, 548 and 559
that were read in their true height none had 0.15 of it; those read of paper had 0.76 to 0.98, and such as have a storey
of it 0.33 to 1."""
TINTED_SHARE = 0.5
"""Where a table has tinted paper, so much of what is behind is."""

TINTS = 3
"""Shades of paper: half, deep, and between."""
SAMPLE = 5000
TINT_SD = np.array((0.1, 0.06, 0.08))
"""Added to the spread in (l, a, b) that its pixels show: other paper is in other light."""
KMEANS_STEPS = (20, 0.01)
_OTHER = LOG_ANYTHING - COLOUR_TOLD_NATS


def tinted_paper(readings: Iterable[CityReading]) -> np.ndarray:
    """(n, 3) features of what was read as towers' and lies flat on the plans."""
    return np.concatenate([np.zeros((0, 3), np.float32), *(_tinted(one) for one in readings)])


def _tinted(reading: CityReading) -> np.ndarray:
    """(n, 3) features of what of this city's towers lies flat, of towers of which much does.

    Only what other pictures see beside all towers tells it: of a low stone they show the stone at the same spot."""
    looks, clear, means = reading.looks, clear_paper(reading), spot_means(reading)
    out = [np.zeros((0, 3), np.float32)]
    storeys = reading.shown().storeys
    for site in reading.towers:
        flat, judged_px = [], 0
        for k, (look, shown) in enumerate(zip(looks, storeys, strict=True)):
            lying, judged = lies_flat(k, shown // FLOORS == site, looks, clear, means)
            flat.append(look.evidence.features[lying])
            judged_px += int(judged.sum())
        if judged_px >= LYING_PX and sum(map(len, flat)) >= LYING_SHARE * judged_px:
            out += flat
    return np.concatenate(out)


def tint_distributions(features: np.ndarray) -> Palette | None:
    """What tinted paper looks like, from pixels (n, 3) of it: a few normal distributions, ``learnt`` their pixels; None
    where too little is seen."""
    if len(features) < LYING_PX:
        return None
    sample = np.ascontiguousarray(features[:: max(1, len(features) // SAMPLE)], np.float32)
    cv2.setRNGSeed(1)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, *KMEANS_STEPS)
    none_yet = np.empty((len(sample), 1), np.int32)
    _, which, _ = cv2.kmeans(sample, TINTS, none_yet, criteria, 1, cv2.KMEANS_PP_CENTERS)
    parts = [mine for k in range(TINTS) if len(mine := sample[which.ravel() == k]) > 1]
    return Palette(
        tuple(f"paper {k}" for k in range(len(parts))),
        np.array([mine.mean(0) for mine in parts]),
        np.array([np.cov(mine.T) + np.diag(np.square(TINT_SD)) for mine in parts]),
        np.array([float(len(mine)) for mine in parts]),
    )


def with_tinted_paper(look: CityPicture, paper: Palette | None, palette: Palette) -> CityPicture:
    """The picture with tinted ``paper`` as one more thing that may be behind the stones, of the colours ``palette``."""
    if paper is None:
        return look
    evidence = look.evidence
    share = TINTED_SHARE * paper.learnt / paper.learnt.sum()
    behind = np.tensordot(share, np.exp(paper.log_density(evidence.features)), 1)
    stone = np.exp(palette.log_density(evidence.features)) + math.exp(_OTHER)
    gains = np.clip(-np.log(np.exp(-evidence.gains) + behind / stone), -CLIP, CLIP).astype(np.float32)
    gains[:, (evidence.gains == 0).all(0)] = 0.0  # what is not seen says nothing
    return CityPicture(look.view, replace(evidence, gains=gains))
