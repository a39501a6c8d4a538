"""What each side of the towers looks like in a picture that mixes what lies side by side.

A storey is a few pixels high, and lens, sensor and JPEG spread what they show: brightness over one pixel, colour over
two. So each pixel is taken for a mixture of the sides about it, and of paper. The colours of the sides are those that
explain the picture best, by least squares; what they leave of it tells how well the towers do.
"""

from typing import NamedTuple

import cv2
import numpy as np

from calibration.game_sheets import site_centre
from calibration.palette import LINEAR
from cards.pieces import Pose
from referee.kernels.polygons import draw_solid
from referee.vision.city.drawn import MOST_STOREYS, CityPicture
from referee.vision.city.reading import CityReading
from referee.vision.render.solids import FACES, solid, z_buffer

SPREAD_PX = (0.8, 1.6, 1.6)
"""How far a pixel's (Y, Cr, Cb) spread, one deviation. What is left of pictures was least from 1.6 to 2.2."""
PAPER_PX = 5.0
"""Paper's colours are means over so many pixels, one deviation."""
RIM_PX = 2
"""So far from towers paper shows nothing of them."""
ABOUT_PX = 10
"""So much about the towers is looked at."""
HELD_PX = 1.0
"""How many pixels' weight a side is held with to what is seen there: slivers do not tell their colour."""
MOSTLY = 0.5
"""Pixels of which the sides make up less do not tell the sides' colours."""


class Mixture(NamedTuple):
    """Of the ``sides`` (m,) by tag: their ``colors`` (m, 3) as Y, Cr, Cb, and how many ``pixels`` (m,) of them alone
    would tell those as well; ``left`` (h, w, 3) is what is seen less what they explain."""

    sides: np.ndarray
    colors: np.ndarray
    pixels: np.ndarray
    left: np.ndarray


def side_tags(look: CityPicture, reading: CityReading) -> np.ndarray:
    """(h, w) which side each pixel shows: (site * MOST_STOREYS + storey from 0) * FACES + face, -1 where none."""
    body, view = solid(reading.storey.shape, Pose()), look.view
    buffer = z_buffer(view.valid.shape)
    for site, tower in reading.towers.items():
        middles = site_centre(site) + tower.place.storeys(len(tower.colors)) if tower.colors else ()
        for n, (x, y) in enumerate(middles):
            at = (x, y, (n + 0.5) * reading.storey.high, tower.place.yaw)
            draw_solid(body, at, view.camera, view.matrix, buffer, site * MOST_STOREYS + n, FACES)
    return buffer.tags


def about_towers(tags: np.ndarray) -> tuple[slice, slice]:
    """The part of a picture with all sides ``tags`` (h, w) and the paper about them."""
    rows, columns = (np.flatnonzero((tags >= 0).any(axis)) for axis in (1, 0))
    high, wide = (slice(max(0, at[0] - ABOUT_PX), at[-1] + ABOUT_PX) for at in (rows, columns))
    return high, wide


def clear_of(tags: np.ndarray, valid: np.ndarray) -> np.ndarray:
    """(h, w) bool: ``valid`` pixels so far from all sides that they show paper alone."""
    near = cv2.dilate((tags >= 0).astype(np.uint8), np.ones((2 * RIM_PX + 1,) * 2, np.uint8))
    return np.asarray((near == 0) & valid)


def luma(image: np.ndarray) -> np.ndarray:
    """(h, w, 3) float32 Y, Cr, Cb of an image (h, w, 3) uint8 BGR, Y from 0 to 1."""
    return np.asarray(cv2.cvtColor(image.astype(np.float32) / 255, cv2.COLOR_BGR2YCrCb))


def relative_light(colors: np.ndarray, white: np.ndarray) -> np.ndarray:
    """(m, 3) linear R, G, B relative to ``white`` (3,) of colours (m, 3) as Y, Cr, Cb."""
    bgr = cv2.cvtColor(colors[None].astype(np.float32), cv2.COLOR_YCrCb2BGR)[0]
    return np.asarray(np.interp(bgr * 255, np.arange(256), LINEAR)[:, ::-1] / white)


def unmixed(image: np.ndarray, tags: np.ndarray, clear: np.ndarray, valid: np.ndarray) -> Mixture:
    """The mixture that an ``image`` (h, w, 3) as ``luma`` gives it is, of the sides ``tags`` (h, w) and of the paper
    about the pixels that are ``clear`` (h, w) of them; only ``valid`` (h, w) ones tell anything."""
    sides = np.unique(tags[tags >= 0])
    colors, pixels = np.zeros((len(sides), 3)), np.full(len(sides), np.inf)
    share = cv2.GaussianBlur(clear.astype(np.float32), (0, 0), PAPER_PX) + 1e-9
    left = image - cv2.GaussianBlur(image * clear[..., None], (0, 0), PAPER_PX) / share[..., None]
    for k, spread in enumerate(SPREAD_PX if len(sides) else ()):
        if k == 0 or spread != SPREAD_PX[k - 1]:
            each = [cv2.GaussianBlur((tags == side).astype(np.float32), (0, 0), spread) for side in sides]
            parts = np.stack(each, -1).astype(float)
            told = parts[(parts.sum(-1) > MOSTLY) & valid]
            inverse = np.linalg.inv(told.T @ told + HELD_PX * np.eye(len(sides)))
            pixels = np.minimum(pixels, np.maximum(1 / np.diag(inverse) - HELD_PX, 0.0))
        paper = image[..., k] - left[..., k]
        above = image[..., k] - (1 - parts.sum(-1)) * paper
        pull = told.T @ above[(parts.sum(-1) > MOSTLY) & valid]
        mean = pull / np.maximum(told.sum(0), 1e-3)
        colors[:, k] = inverse @ (pull + HELD_PX * mean)
        left[..., k] = above - parts @ colors[:, k]
    left[~valid] = 0.0
    return Mixture(sides, colors, pixels, left)
