"""What the stones' colours look like on this table, learnt from a first reading of its towers.

The first reading takes the colours as the set names them. Most storeys are right by that; their pixels tell how each
paint looks in this light and in the shade between towers, and by that the towers are read again.
"""

import dataclasses
from collections.abc import Sequence

import cv2
import numpy as np

from calibration.palette import Palette
from referee.vision.city.reading import STOREYS, CityReading

SURE_A_PX = 1.0
"""Nats a pixel by which a storey's colour must be ahead to teach it."""
PRIOR_PIXELS = 300.0
"""How many pixels the colour as named counts as."""
SPREAD = 1.5
"""Pixels of a storey err together, and the unsure ones that teach nothing are the strange ones: spreads are wider."""
LEAST_SD = (0.25, 0.12, 0.12)


def learnt_palette(named: Palette, readings: Sequence[CityReading]) -> Palette:
    """The palette of the sure storeys' pixels, with the colours as ``named`` as its prior."""
    pixels: dict[int, list[np.ndarray]] = {k: [] for k in range(len(named.names))}
    for reading in readings:
        for color, features in _sure_pixels(reading):
            pixels[color].append(features)
    means, covariances = named.means.copy(), named.covariances.copy()
    counts = np.zeros(len(means))
    for color, parts in pixels.items():
        f = np.concatenate([np.zeros((0, 3)), *parts])
        if len(f):
            total, counts[color] = len(f) + PRIOR_PIXELS, len(f)
            mean = (f.sum(0) + PRIOR_PIXELS * named.means[color]) / total
            off, shift = f - mean, named.means[color] - mean
            prior = named.covariances[color] + np.outer(shift, shift)
            covariance = (off.T @ off + PRIOR_PIXELS * prior) / total
            means[color], covariances[color] = mean, SPREAD * covariance + np.diag(np.square(LEAST_SD)) * 0.5
    return dataclasses.replace(named, means=means, covariances=covariances, learnt=counts)


def _sure_pixels(reading: CityReading) -> list[tuple[int, np.ndarray]]:
    """(colour, features (n, 3)) of what is seen well inside of each storey whose colour is sure."""
    out = []
    _, storeys, color_nats = reading.shown()
    visible_px = sum(np.bincount(shown[shown >= 0], minlength=STOREYS) for shown in storeys)
    best = np.sort(color_nats, 1)
    sure = best[:, -1] - best[:, -2] >= SURE_A_PX * np.maximum(visible_px, 1)
    for look, shown in zip(reading.looks, storeys, strict=True):
        for k in np.flatnonzero(sure):
            inner = cv2.erode((shown == k).astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
            out.append((int(color_nats[k].argmax()), look.evidence.features[inner]))
    return out
