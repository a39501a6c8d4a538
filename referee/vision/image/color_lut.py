"""Colour labels of whole frames by table: one look-up a pixel, whatever the number of colours.

A table gives each cell of a 32 x 32 x 32 grid over BGR the likeliest of the palette's colours,
paper, or neither. 32 KB stay in the processor's nearest cache; the eight codes that share a cell
differ by less than webcam noise, except in the darkest cells, which no piece in the light is in.
"""

import numpy as np

from calibration.palette import Palette, color_features
from referee.kernels.pictures import look_up
from referee.vision.image.background import LOG_ANYTHING, log_marker, log_paper
from referee.vision.image.evidence import LABELLED
from referee.vision.measured import measured

INK_SHARE = measured(0.124, "of the sheet", "its markers' area: any grey there, elsewhere rather a piece's dark side")

BITS = measured(5, "bits a channel", "32 KB stay in the nearest cache; codes in a cell differ less than noise does")
GROUND, UNKNOWN, SKIN, DARK = -1, -2, -3, -4
"""Labels beside the palette's indices: mat (paper in light or shadow, ink), no known thing, no known thing but of the
hue of skin and wood (hands and tongs), and dark as ink: a marker, and where none is printed a phone."""
SHADED = np.iinfo(np.int8).max
"""Label, above all of these, of ground that is seen darker or brighter than it was."""

WARM_RED = measured((0.12, 1.0), "log R - log G", "by hand: of skin of all tones and bare wood")
WARM_YELLOW = measured((0.2, 1.6), "log yellow against blue", "as WARM_RED")
DARK_LIGHT = measured(-2.2, "log light", "by hand: darker is no hue of skin, and no shadow on paper")
SKIN_LIGHT = measured(-3.4, "log light", "as DARK_LIGHT, of dark skin in its own shade")
LOG_INK = float(np.log(INK_SHARE))


def label_table(palette: Palette, white: np.ndarray, bits: int = BITS) -> np.ndarray:
    """(2**bits,) * 3 int8, index [b, g, r]: palette index, ``GROUND``, ``UNKNOWN``, ``SKIN`` or ``DARK``.

    ``white`` (3,) linear R, G, B of the mat's paper in the frames that will be labelled.
    """
    f = _features(white, bits)
    colours = palette.log_density(f)
    paper, ink = log_paper(f), log_marker(f)
    best = colours.max(0)
    warm = _warm(f)
    ground = np.where((f[..., 0] < DARK_LIGHT) & (ink > paper), DARK, GROUND)
    rest = np.where(np.maximum(paper, ink) > LOG_ANYTHING, ground, np.where(warm, SKIN, UNKNOWN))
    piece = best > LOG_ANYTHING + np.where(warm, 2, 1) * LABELLED
    piece &= best > np.maximum(paper, ink + LOG_INK)
    return np.where(piece, colours.argmax(0), rest).astype(np.int8)


def _features(white: np.ndarray, bits: int) -> np.ndarray:
    step = 256 >> bits
    codes = np.arange(1 << bits, dtype=np.uint8) * step + step // 2
    return color_features(np.stack(np.meshgrid(codes, codes, codes, indexing="ij"), -1), white)


def skin_table(white: np.ndarray, bits: int = BITS) -> np.ndarray:
    """(2**bits,) * 3 bool, index [b, g, r]: the hue of skin, however dark; much else is so dark, too."""
    return _warm(_features(white, bits), SKIN_LIGHT)


def _warm(f: np.ndarray, least_light: float = DARK_LIGHT) -> np.ndarray:
    light, red, yellow = f[..., 0], f[..., 1], -f[..., 2]
    return np.asarray(
        (light > least_light)
        & (WARM_RED[0] < red)
        & (red < WARM_RED[1])
        & (WARM_YELLOW[0] < yellow)
        & (yellow < WARM_YELLOW[1])
    )


def label_frame(frame: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Labels (h, w) int8 of a frame (h, w, 3) uint8 BGR."""
    out = np.empty(frame.shape[:2], np.int8)
    shift = 8 - int(table.shape[0]).bit_length() + 1
    look_up(np.ascontiguousarray(frame).reshape(-1, 3), table.ravel(), shift, out.reshape(-1))
    return out
