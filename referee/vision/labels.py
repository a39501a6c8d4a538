"""From pixels to evidence: how much better each colour explains a pixel than the background does.

The background is what the pixel would show with no piece there: the empty frame's own pixel when
there is one (or darker: a shadow), else the mat's paper where the sheet is, the marker's black and
white where a marker is, and elsewhere anything, with the frame's own frequent colours likelier.
Loose pieces lie about on the table in the same colours, so a piece's colour outside the field says
less than inside.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.mat import SHEET
from calibration.palette import LINEAR, Palette, features
from referee.vision.view import ZoneView

CLIP = 5.0
"""Nats: no single pixel says more than this, for or against."""
CLUTTER_IN, CLUTTER_OUT = 0.03, 0.3
"""How likely a piece's colour is where there is no piece of the build, in and outside the field."""
_UNKNOWN = math.log(1 / 150.0)


@dataclass(frozen=True)
class Evidence:
    """``gains`` (k, h, w) float32 nats: log p(pixel | colour k) - log p(pixel | background).

    ``labels`` (h, w) int8: the likeliest colour, -1 for background; ``white`` (3,) linear RGB. ``features`` (h, w, 3)
    as ``calibration.palette`` makes them; ``bare`` (h, w) nats, at most 0: how far a pixel is from what the bare table
    would show there, 0 where that is not known.
    """

    names: tuple[str, ...]
    gains: np.ndarray
    labels: np.ndarray
    white: np.ndarray
    features: np.ndarray
    bare: np.ndarray


PAPER_SAMPLE = 15000
"""So many of the paper's pixels tell its white as well as all of them."""


def paper_white(image: np.ndarray, paper: np.ndarray) -> np.ndarray:
    """(3,) linear R, G, B of the lit paper: the bright, least coloured part of the sheet's pixels."""
    pixels = image[paper]
    if len(pixels) < 50:
        return np.array([0.8, 0.8, 0.8])
    pixels = LINEAR[pixels[::max(1, len(pixels) // PAPER_SAMPLE)]]
    light = pixels.mean(1)
    colour = (pixels.max(1) - pixels.min(1)) / np.maximum(light, 1e-3)
    bright = light > np.percentile(light, 50)
    plain = bright & (colour <= np.percentile(colour[bright], 60))
    near = np.abs(light - np.percentile(light[plain], 60)) < 0.15 * np.percentile(light[plain], 60)
    return np.median(pixels[plain & near], 0)[::-1].astype(float)


def _normal(f: np.ndarray, mean: tuple, sd: tuple) -> np.ndarray:
    norm = -sum(math.log(s) for s in sd) - 1.5 * math.log(2 * math.pi)
    parts = [np.square((f[..., k] - float(m)) * (math.sqrt(0.5) / float(s)))
             for k, (m, s) in enumerate(zip(mean, sd, strict=True))]
    return norm - parts[0] - parts[1] - parts[2]


def either(a: np.ndarray, b: np.ndarray | float) -> np.ndarray:
    """log(exp a + exp b), in the precision of ``a``: numpy's own logaddexp is ten times as slow."""
    return np.maximum(a, b) + np.log1p(np.exp(-np.abs(a - b)))


def log_paper(f: np.ndarray) -> np.ndarray:
    """Log density of paper, lit or in shadow (a shadow's light may be tinted), for features (…, 3)."""
    lit = _normal(f, (0.0, 0.0, 0.0), (0.10, 0.06, 0.07)) + math.log(0.75)
    soft = _normal(f, (-0.3, 0.0, 0.0), (0.25, 0.09, 0.12)) + math.log(0.17)
    dark = _normal(f, (-0.9, 0.0, 0.1), (0.45, 0.15, 0.25)) + math.log(0.07)
    return either(either(lit, soft), dark)


def log_marker(f: np.ndarray) -> np.ndarray:
    """Log density inside a printed marker: any grey."""
    return _normal(f, (-1.2, 0.0, 0.0), (1.2, 0.2, 0.25))


def log_empty(f: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """Log density of a pixel given the empty frame's: unchanged, or in a shadow of a piece."""
    d = f - empty
    same = _normal(d, (0.0, 0.0, 0.0), (0.10, 0.08, 0.09)) + math.log(0.8)
    shade = _normal(d, (-0.4, 0.0, 0.0), (0.35, 0.14, 0.18)) + math.log(0.2)
    return either(same, shade)


LARGE_SHARE = 0.10
"""A frequent colour that looks like a piece's counts as background only when it covers this share
of what is off the mats: a shirt or a table does, loose pieces do not."""


def log_elsewhere(f: np.ndarray, outside: np.ndarray, palette: Palette, seed: int = 1) -> np.ndarray:
    """Log density of what is off the mats: the frame's own frequent colours, or anything."""
    pixels = f[outside]
    if len(pixels) < 400:
        return np.full(f.shape[:-1], _UNKNOWN, np.float32)
    sample = np.ascontiguousarray(pixels[:: max(1, len(pixels) // 3000)], np.float32)
    cv2.setRNGSeed(seed)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 0.01)
    _, which, centres = cv2.kmeans(sample, 6, None, criteria, 1, cv2.KMEANS_PP_CENTERS)
    out = np.full(f.shape[:-1], _UNKNOWN + math.log(0.3), np.float32)
    for k, centre in enumerate(centres):
        mine = sample[which.ravel() == k]
        share = 0.7 * len(mine) / len(sample)
        like_a_piece = palette.log_density(centre[None].astype(np.float32)).max() > _UNKNOWN + 1.0
        if share > 0.7 * (LARGE_SHARE if like_a_piece else 0.03):
            sd = np.maximum(mine.std(0), 0.08)
            out = either(out, _normal(f, centre, tuple(sd)) + math.log(share))
    return out


def background(view: ZoneView, f: np.ndarray, ground: np.ndarray, palette: Palette,
               empty: np.ndarray | None) -> np.ndarray:
    """(h, w) log density of each pixel with no piece of the build there, before clutter."""
    paper, marker, _ = view.regions
    if empty is not None:
        return either(log_empty(f, empty), _UNKNOWN + math.log(0.02))
    out = log_elsewhere(f, ~paper & view.valid, palette)
    out[paper] = either(log_paper(f[paper]), _UNKNOWN + math.log(0.05))
    out[marker] = either(log_marker(f[marker]), out[marker])
    return out


def evidence(view: ZoneView, palette: Palette, white: np.ndarray, ground: np.ndarray,
             empty: np.ndarray | None = None) -> Evidence:
    """The evidence of one view. ``empty``: features (h, w, 3) of the empty frame in the same view."""
    f = features(view.image, white)
    # Heavy tails: a pixel far from every colour is not thereby evidence against one of them.
    likely = np.exp(palette.log_density(f)) + math.exp(_UNKNOWN - 2.5)
    colours = np.log(likely)
    plain = np.exp(background(view, f, ground, palette, empty))
    _, _, inside = view.regions
    share = np.where(inside, CLUTTER_IN, CLUTTER_OUT).astype(np.float32)
    back = np.log(plain * (1 - share) + likely.mean(0) * share)
    gains = np.clip(colours - back, -CLIP, CLIP).astype(np.float32)
    gains[:, ~view.valid] = 0.0
    labels = np.where(gains.max(0) > 0.5, gains.argmax(0), -1).astype(np.int8)
    return Evidence(palette.names, np.ascontiguousarray(gains), labels, white, np.ascontiguousarray(f, np.float32),
                    bareness(view, f, ground, empty))


def bareness(view: ZoneView, f: np.ndarray, ground: np.ndarray, empty: np.ndarray | None) -> np.ndarray:
    """(h, w) nats, at most 0, of features (h, w, 3) against the empty frame's or, without one, the paper's; where
    neither is known, 0."""
    if empty is not None:
        told = log_empty(f, empty)
        return told - told.max()
    paper, marker, _ = view.regions
    plain = paper & ~marker
    told = log_empty(f, paper_light(f, ground, plain & view.valid))
    return np.where(plain, told - told.max(), 0.0).astype(np.float32)


def paper_light(f: np.ndarray, ground: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Features (h, w, 3) of the bare paper: a quadratic over the sheet, fitted robustly to what looks like paper
    among the pixels ``plain`` (h, w). Zero (the sheet's own white) where too little of it is seen."""
    x, y = ground[..., 0] / SHEET[0] * 2, ground[..., 1] / SHEET[1] * 2
    terms = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], -1)
    seen = np.flatnonzero(plain & (np.abs(f[..., 1]) < 0.25) & (np.abs(f[..., 2]) < 0.3) & (f[..., 0] > -0.6))
    seen = seen[::max(1, len(seen) // PAPER_SAMPLE)]
    if len(seen) < PAPER_SAMPLE // 20:
        return np.zeros_like(f)
    a, there = terms.reshape(-1, 6)[seen].astype(float), f.reshape(-1, 3)[seen]
    fitted = [_robust(a, there[:, k], shadows=k == 0) for k in range(3)]
    return np.where(plain[..., None], terms @ np.stack(fitted, 1), 0.0).astype(np.float32)


PAPER_SAMPLE = 4000
"""Pixels that the paper's light is fitted to."""


def _robust(a: np.ndarray, b: np.ndarray, shadows: bool) -> np.ndarray:
    """Least squares of a (n, k) x = b (n,), what lies off it counting less and less; with ``shadows`` what lies
    below, half as much again."""
    x = np.zeros(a.shape[1])
    x[0] = np.percentile(b, 70 if shadows else 50)
    stiff = 1e-2 * np.diag(np.arange(a.shape[1]) > 0)
    for scale in (0.3, 0.15, 0.08, 0.08, 0.08):
        off = b - a @ x
        weight = 1 / np.square(1 + np.square(off / scale)) * np.where(shadows & (off < 0), 0.5, 1.0)
        x = np.linalg.solve((a * weight[:, None]).T @ a + stiff, (a * weight[:, None]).T @ b)
    return x


def foreground(view: ZoneView, f: np.ndarray, ground: np.ndarray, empty: np.ndarray | None) -> np.ndarray:
    """Mask (h, w) of pixels over the sheet that are surely not paper, marker or background."""
    paper, marker, _ = view.regions
    if empty is not None:
        strange = log_empty(f, empty) < _UNKNOWN - 2.0
    else:
        strange = (log_paper(f) < _UNKNOWN - 2.0) & paper & ~marker
    strange &= view.valid & paper
    return cv2.erode(strange.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
