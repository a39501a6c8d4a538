"""What each piece's colour looks like under this light.

A colour is a Gaussian in three numbers that a change of light hardly moves: with r, g, b the
linear light of a pixel divided by that of the mat's paper,

    l = mean(log r, log g, log b)    brightness: shading and shadow
    a = log r - log g                red against green
    b = log b - (log r + log g) / 2  blue against yellow

(a small constant inside the logarithms keeps sensor noise in dark pixels from blowing up).
Shading moves l alone; glare and a camera's tone curve pull a and b towards zero, all colours
together. So a palette starts from the piece set's nominal colours under one unknown amount of
*haze*, and the pixels themselves move it from there (expectation maximisation with the nominal
colours as prior): colours are assigned jointly, never one at a time.
"""

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from pydantic import BaseModel, Field, ValidationError, model_validator

from calibration.errors import BadPalette
from cards.errors import first_fault
from cards.pieces import PieceSet

FLOOR = 0.02
"""Added to the relative light before the logarithm: about the noise of an 8-bit webcam's shadows."""

HAZES = (0.0, 0.015, 0.03, 0.06, 0.1, 0.15)
USUAL_HAZE, PAINT_LIGHT = 0.03, 0.8
"""Share of the paper's light that is haze where nothing is learnt; and of a piece's nominal light what its
sides send. By hand."""
COLOUR_ROUNDS, DRIFT_ROUNDS, WEAR_FIT_ROUNDS = 6, 5, 8
"""Rounds of expectation maximisation: of colours, of their drift, of wear. By hand."""
LEAST_PIXELS = 30
"""Fewer pixels teach nothing; by hand."""
NONE_SHARE = 0.3
"""Weight of "none of the colours", of each colour's; by hand."""
START_SD = (0.45, 0.28, 0.28)
"""Spread of a colour in (l, a, b) before anything is learnt; fitted colours of the dev set have
0.2 to 0.5, 0.1 to 0.6 and 0.1 to 0.5."""
WHITE_SD, WHITE_LIGHT = (0.45, 0.24, 0.24), -0.9
"""The same of white, which has the light's own tint as paper has; what is darker (log light) is grey. By hand."""
MIN_SD = (0.18, 0.09, 0.09)
PRIOR_PIXELS = 150.0
"""How many pixels the nominal colour counts as when a colour is learnt from pixels."""

_CODE = np.arange(256) / 255.0
LINEAR = np.where(_CODE <= 0.04045, _CODE / 12.92, ((_CODE + 0.055) / 1.055) ** 2.4).astype(np.float32)
"""sRGB code (0..255) -> linear light, IEC 61966-2-1."""

_TO_FEATURES = np.array([(1 / 3, 1 / 3, 1 / 3), (0, -1, 1), (1, -1 / 2, -1 / 2)], np.float32)
"""(3, 3): l, a and b of the logarithms of B, G and R."""

_PAIRS = tuple((i, j) for i in range(3) for j in range(i, 3))
CHUNK = 8192
"""Pixels taken at once: they stay in the cache, and no thread is woken for so few."""

SHADOW_LIGHT, PAPER_TINT = -2.0, (0.2, 0.3)
"""A colour no darker than this, as ``color_features``, and with no more tint looks like paper in some shadow."""

DRIFT_SD, DRIFT_PIXELS = np.array([0.2, 0.08, 0.08, 0.15]), 400
"""How far saturation (a factor about 1), tint (a, b) and light usually drift since the colours were learnt; and how
many pixels' worth the pixels of a frame are: neighbours err together."""

DRIFT_SAMPLE = 3000
"""Pixels that are looked at."""

_UNIFORM = np.log(1 / 250.0)
"""Log density of "none of the colours" over the feature box of about 4 x 8 x 8."""

WOOD_REACH = np.array([0.5, 0.35, 0.6])
"""A learnt wood's mean is within this of the usual one: beyond, it is another thing."""
LEAST_WEAR, WOOD_APART = 0.03, 1.5
"""Share of worn pixels from which wear is believed (sound paint shows up to 0.014 by its highlights), and how many
spreads the wood is from every paint: where a piece is of bare wood itself, wear has that piece's colour."""

LEAST_INNER = 1000
"""Pixels that wear is learnt from, at least."""

MIXED = 0.1
"""Weight of "none of the colours" among worn pieces. At 0.5 and more the colours are narrower and worn builds no longer
explained (devset2: 98 % of worn pieces right become 90 %)."""

WOOD_CORE = np.array([0.25, 0.15, 0.2])
"""Reach of the mean shift."""
WOOD_PRIOR = 50.0
"""How many pixels the usual wood counts as."""


def color_features(bgr: np.ndarray, white: np.ndarray) -> np.ndarray:
    """(…, 3) float32 (l, a, b) of uint8 BGR pixels; ``white`` (3,) linear R, G, B of the paper."""
    if not bgr.size:
        return np.zeros(bgr.shape, np.float32)
    logs = np.stack([np.log(LINEAR / max(float(w), 1e-3) + FLOOR) for w in white[::-1]], -1).astype(np.float32)
    return cv2.transform(cv2.LUT(bgr.reshape(-1, 1, 3), logs[None]), _TO_FEATURES).reshape(bgr.shape)


@dataclass(frozen=True)
class Wear:
    """Where paint has worn off any piece: the wood's colour, ``mean`` (3,) and ``covariance`` (3, 3) in (l, a, b), and
    the ``share`` (0..1) of the pieces' pixels that show it."""

    mean: np.ndarray
    covariance: np.ndarray
    share: float

    def log_density(self, f: np.ndarray) -> np.ndarray:
        """Log density (…) of features (…, 3) of worn wood."""
        return np.asarray(_log_density(f, self._quadratic)[0])

    @cached_property
    def _quadratic(self) -> np.ndarray:
        return _quadratics(self.mean[None], self.covariance[None])


@dataclass(frozen=True)
class Palette:
    """Gaussians of the set's colours: ``means`` (k, 3), ``covariances`` (k, 3, 3) in (l, a, b).

    ``learnt`` (k,) counts the pixels behind each colour; zero is the nominal colour unchanged. ``wear`` is None where
    hardly any paint has worn off. ``piece_mm`` is how large the pieces of the picture were that taught them
    (``PieceSet.typical_mm`` of a set that fits them), None where that was not measured.
    """

    names: tuple[str, ...]
    means: np.ndarray
    covariances: np.ndarray
    learnt: np.ndarray
    wear: Wear | None = None
    piece_mm: float | None = None

    def log_density(self, f: np.ndarray) -> np.ndarray:
        """Log density (k, …) of features (…, 3) under each colour."""
        return _log_density(f, self._quadratic)

    @cached_property
    def _quadratic(self) -> np.ndarray:
        return _quadratics(self.means, self.covariances)


def _log_density(f: np.ndarray, quadratic: np.ndarray) -> np.ndarray:
    """Values (k, …) of polynomials ``quadratic`` (k, 10), as ``_quadratics`` gives them, at features (…, 3)."""
    flat = f.reshape(-1, 3)
    out = np.empty((len(quadratic), len(flat)), np.float32)
    terms = np.ones((10, CHUNK), np.float32)
    for at in range(0, len(flat), CHUNK):
        some = flat[at : at + CHUNK].T
        n = some.shape[1]
        terms[1:4, :n] = some
        for k, (i, j) in enumerate(_PAIRS):
            np.multiply(terms[1 + i, :n], terms[1 + j, :n], out=terms[4 + k, :n])
        np.matmul(quadratic, terms[:, :n], out=out[:, at : at + n])
    return out.reshape(len(quadratic), *f.shape[:-1])


def _quadratics(means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """(k, 10) float32: each Gaussian's log density as a polynomial in 1, the features, and their products."""
    inverse = np.linalg.inv(covariances)
    linear = np.einsum("kij,kj->ki", inverse, means)
    norm = -0.5 * np.log(np.linalg.det(covariances)) - 1.5 * np.log(2 * np.pi)
    constant = norm - 0.5 * (linear * means).sum(1)
    squares = [inverse[:, i, j] * (-0.5 if i == j else -1.0) for i, j in _PAIRS]
    return np.column_stack([constant, linear, *squares]).astype(np.float32)


def nominal_palette(piece_set: PieceSet, haze: float = USUAL_HAZE) -> Palette:
    """The set's nominal colours in neutral light with an amount of haze (share of the paper's light)."""
    names = tuple(piece_set.colors)
    linear = LINEAR[np.array([piece_set.rgb(c) for c in names])]
    log = np.log(linear * PAINT_LIGHT + haze + FLOOR)
    covariances = np.tile(np.diag(np.square(START_SD)), (len(names), 1, 1))
    palette = Palette(names, _of_logs(log), covariances, np.zeros(len(names)))
    white = like_paper(palette, WHITE_LIGHT)[:, None, None]
    return dataclasses.replace(palette, covariances=np.where(white, np.diag(np.square(WHITE_SD)), covariances))


def _of_logs(log: np.ndarray) -> np.ndarray:
    """l, a and b (k, 3) of the logarithms of R, G and B (k, 3)."""
    return np.stack([log.mean(1), log[:, 0] - log[:, 1], log[:, 2] - (log[:, 0] + log[:, 1]) / 2], 1)


def like_paper(palette: Palette, darkest: float = SHADOW_LIGHT) -> np.ndarray:
    """(k,) which colours no foreground shows, since they look like paper in the light or in a shadow, at its
    ``darkest`` (log light): what foreground is nearest to them is not theirs."""
    light, a, b = palette.means.T
    return np.asarray((light > darkest) & (np.abs(a) < PAPER_TINT[0]) & (np.abs(b) < PAPER_TINT[1]))


def learn_palette(piece_set: PieceSet, pixels: np.ndarray, rounds: int = COLOUR_ROUNDS) -> Palette:
    """The palette that explains foreground pixels, features (n, 3), starting from the nominal colours.

    Pixels that fit no colour (hands, tongs, shadow) are left to a uniform class. Colours without
    pixels keep their nominal place, moved along with what the others have in common; so do white and grey, which
    foreground never shows.
    """
    starts = [nominal_palette(piece_set, haze) for haze in HAZES]
    if len(pixels) < LEAST_PIXELS:
        return starts[2]
    palette = max(starts, key=lambda p: float(_responsibilities(p, pixels)[1].mean()))
    prior = palette
    for _ in range(rounds):
        shares, _ = _responsibilities(palette, pixels)
        palette = _maximise(prior, pixels, shares)
    return palette


def drifted_palette(palette: Palette, pixels: np.ndarray, rounds: int = DRIFT_ROUNDS) -> Palette:
    """The palette moved to the light of a frame whose foreground has the features ``pixels`` (n, 3).

    A veil, a tone curve or another exposure changes all colours alike: their saturation by one factor, tint and light
    by one step each. That is fitted to all of them jointly; what fits no colour counts for nothing.
    """
    if len(pixels) < LEAST_INNER:
        return palette
    pixels = pixels[:: max(1, len(pixels) // DRIFT_SAMPLE)]
    moved, scale = palette, DRIFT_PIXELS / len(pixels)
    for _ in range(rounds):
        shares, _ = _responsibilities(moved, pixels)
        moved = _moved(palette, _drift(palette, pixels, shares * scale))
    return moved


def _drift(palette: Palette, pixels: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(4,) saturation's factor less 1 and steps in a, b and l that fit pixels (n, 3) of which each colour has the
    ``shares`` (k, n) best: least squares, beside what is usual."""
    normal, right = np.diag(1 / np.square(DRIFT_SD)), np.zeros(4)
    for mean, cov, own in zip(palette.means, palette.covariances, shares, strict=True):
        weight = own.sum()
        off = own @ (pixels - mean)
        rows = np.array([(0, 0, 0, 1), (mean[1], 1, 0, 0), (mean[2], 0, 1, 0)], float)
        inverse = np.diag(1 / np.diag(cov))
        normal += weight * rows.T @ inverse @ rows
        right += rows.T @ inverse @ off
    return np.linalg.solve(normal, right)


def _moved(palette: Palette, drift: np.ndarray) -> Palette:
    """The palette after a drift (4,) as ``_drift`` gives it. White is to the paper as it was."""
    factor, step = np.array([1.0, 1.0 + drift[0], 1.0 + drift[0]]), drift[[3, 1, 2]]
    wear = palette.wear and dataclasses.replace(palette.wear, mean=palette.wear.mean * factor + step)
    means = np.where(like_paper(palette, WHITE_LIGHT)[:, None], palette.means, palette.means * factor + step)
    return dataclasses.replace(palette, means=means, wear=wear)


def _responsibilities(palette: Palette, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    logs = palette.log_density(pixels)
    top = np.maximum(logs.max(0), _UNIFORM)
    parts = np.exp(logs - top)
    total = parts.sum(0) + np.exp(_UNIFORM - top) * len(palette.names) * NONE_SHARE
    return parts / total, top + np.log(total)


def _maximise(prior: Palette, pixels: np.ndarray, shares: np.ndarray) -> Palette:
    means, covariances = prior.means.copy(), prior.covariances.copy()
    weights = np.where(like_paper(prior), 0.0, shares.sum(1))
    shares = np.where(like_paper(prior)[:, None], 0.0, shares)
    for k, w in enumerate(weights):
        n = w + PRIOR_PIXELS
        means[k] = (shares[k] @ pixels + PRIOR_PIXELS * prior.means[k]) / n
        d = pixels - means[k]
        shift = prior.means[k] - means[k]
        spread = (d * shares[k][:, None]).T @ d + PRIOR_PIXELS * (prior.covariances[k] + np.outer(shift, shift))
        covariances[k] = spread / n + np.diag(np.square(MIN_SD)) * 0.5
    moved = weights > 4 * PRIOR_PIXELS
    if moved.any():  # unseen colours follow the common change of saturation and brightness
        common = (means[moved] - prior.means[moved]).mean(0) * (1.0, 0.0, 0.0)
        means[~moved] += common * 0.5
    return Palette(prior.names, means, covariances, weights)


WOOD = Wear(np.array([-0.85, 0.45, -1.0]), np.diag(np.square([0.4, 0.22, 0.32])), 0.03)
"""Bare beech, maple and pine in neutral light, where nothing is learnt."""


def learn_wear(palette: Palette, piece_set: PieceSet, pixels: np.ndarray, rounds: int = WEAR_FIT_ROUNDS) -> Palette:
    """The palette with the wood that shows where paint has worn off, and its colours learnt without those pixels.

    ``pixels`` (n, 3): features well inside of pieces, of a picture that shows all of them: at their rims paint mixes
    with the paper, which looks like wood. The palette comes back as it is where hardly any of them are wood.
    """
    if len(pixels) < LEAST_INNER:
        return palette
    starts = [nominal_palette(piece_set, haze) for haze in HAZES]
    prior = max(starts, key=lambda p: float(_worn_shares(p, WOOD, pixels)[1].mean()))
    learnt, wear = prior, WOOD
    for _ in range(rounds):
        shares, _ = _worn_shares(learnt, wear, pixels)
        wear = _moved_wood(wear, pixels, shares[-1])
        learnt = dataclasses.replace(_maximise(prior, pixels, shares[:-1]), wear=wear)
    off, spread = learnt.means - wear.mean, (learnt.covariances + wear.covariance) / 2
    apart = np.sqrt(np.einsum("ki,ki->k", off, np.linalg.solve(spread, off[..., None])[..., 0]).min())
    return learnt if wear.share >= LEAST_WEAR and apart >= WOOD_APART else palette


def _worn_shares(palette: Palette, wear: Wear, pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(k + 1, n) how much each pixel belongs to each colour, and to the wood; (n,) its log density."""
    logs = np.concatenate([palette.log_density(pixels), wear.log_density(pixels)[None]])
    usual = np.full((len(logs), 1), (1 - wear.share) / len(palette.names))
    usual[-1] = wear.share
    parts = np.exp(logs) * usual
    total = parts.sum(0) + MIXED * np.exp(_UNIFORM)
    return parts / total, np.log(total)


def _moved_wood(wear: Wear, pixels: np.ndarray, own: np.ndarray) -> Wear:
    """The wood moved to where its pixels (n, 3), by their shares ``own`` (n,), are densest (mean shift): patches are
    small, and most of their pixels are mixtures with one paint or another."""
    dense = own * np.exp(-0.5 * np.square((pixels - wear.mean) / WOOD_CORE).sum(1))
    mean = (dense @ pixels + WOOD_PRIOR * WOOD.mean) / (dense.sum() + WOOD_PRIOR)
    mean = np.clip(mean, WOOD.mean - WOOD_REACH, WOOD.mean + WOOD_REACH)
    return Wear(mean, WOOD.covariance, float(own.mean()))


def reflected(palette: Palette, mixtures: Sequence[tuple[float, float]], sd: tuple[float, float, float]) -> Palette:
    """What paper shows beside each of the colours, without names: of its own light a share is left, and a share of the
    colour's is added, by ``mixtures`` of both (0..1); with spread ``sd`` in (l, a, b)."""
    means = np.concatenate([lit_as(palette, share, rest).means for rest, share in mixtures])
    covariances = np.tile(np.diag(np.square(sd)), (len(means), 1, 1))
    return Palette((), means, covariances, np.zeros(len(means)))


def lit_as(palette: Palette, share: float, more: float = 0.0) -> Palette:
    """The palette where a ``share`` (0..1) of what its colours send is left, as in a shadow (the noise floor fades dark
    ones), and so much ``more`` of the paper's light is added, as by a sheen: varnish and worn paint mirror it."""
    light, a, b = palette.means.T
    log = np.stack([light + a / 2 - b / 3, light - a / 2 - b / 3, light + b * 2 / 3], 1)
    log = np.log(np.maximum(np.exp(log) - FLOOR, 0.0) * share + more + FLOOR)
    return dataclasses.replace(palette, means=_of_logs(log))


class _Gaussian(BaseModel):
    mean: list[float]
    covariance: list[list[float]]
    pixels: float = 0.0

    @model_validator(mode="after")
    def _three_numbers(self) -> "_Gaussian":
        if np.shape(self.mean) != (3,) or np.shape(self.covariance) != (3, 3):
            raise ValueError("mean needs 3 and covariance 3 x 3 numbers")
        np.linalg.cholesky(self.covariance)
        return self


class _Wear(_Gaussian):
    share: float = Field(ge=0, lt=1)


class _PaletteFile(BaseModel):
    colors: dict[str, _Gaussian] = Field(min_length=1)
    wear: _Wear | None = None
    piece_mm: float | None = Field(default=None, gt=0)


def palette_text(palette: Palette) -> str:
    """What stands in the ``palette.json`` of this palette."""

    def gaussian(mean: np.ndarray, covariance: np.ndarray) -> dict[str, Any]:
        return {"mean": mean.round(5).tolist(), "covariance": covariance.round(6).tolist()}

    rows = zip(palette.names, palette.means, palette.covariances, palette.learnt, strict=True)
    colors = {name: gaussian(mean, spread) | {"pixels": int(pixels)} for name, mean, spread, pixels in rows}
    data: dict[str, Any] = {"space": "log light relative to paper: mean, R-G, B-(R+G)/2", "colors": colors}
    if palette.wear:
        data["wear"] = gaussian(palette.wear.mean, palette.wear.covariance) | {"share": round(palette.wear.share, 4)}
    if palette.piece_mm is not None:
        data["piece_mm"] = round(palette.piece_mm, 3)
    return json.dumps(data, indent=1)


def save_palette(palette: Palette, path: str | Path) -> None:
    """Write a ``palette.json`` that ``load_palette`` reads back."""
    Path(path).write_text(palette_text(palette), encoding="utf-8")


def load_palette(path: str | Path, piece_set: PieceSet | None = None) -> Palette:
    """Read a ``palette.json``; with a piece set also check that it has exactly those colours.

    Raises BadPalette with one line that names file and fault.
    """
    try:
        file = _PaletteFile.model_validate_json(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise BadPalette(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        fault = first_fault(error) if isinstance(error, ValidationError) else error
        raise BadPalette(f"{path}: not a palette ({fault})") from None
    names, rows = tuple(file.colors), file.colors.values()
    if piece_set is not None and set(names) != set(piece_set.colors):
        raise BadPalette(f"{path}: its colours are {', '.join(names)}, the piece set has {', '.join(piece_set.colors)}")
    means, covariances, learnt = (np.array([getattr(r, of) for r in rows]) for of in ("mean", "covariance", "pixels"))
    worn = file.wear
    wear = Wear(np.array(worn.mean), np.array(worn.covariance), worn.share) if worn else None
    return Palette(names, means, covariances, learnt, wear, file.piece_mm)
