"""What the pictures of a city show that its reading does not account for: a hand, a stone that stands on no site.

A shadow of one lamp among several is as yellow or brown as a stone: the light of the others is left. But it lies flat
on the paper: from wherever one looks, the same spot of the plan looks the same. What stands up, or lies there in one
picture alone, does not: behind it the others see something else.
"""

import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np

from referee.vision.city.drawn import CityPicture, drawn
from referee.vision.city.reading import CityReading
from referee.vision.image.evidence import LABELLED

RIM_PX = 2
"""So far from what is drawn pixels are mixtures."""
SPOT_PX, SPOT_DEG, SPOT_ALIKE = 5, 20.0, (0.3, 0.15, 0.35)
"""Light that lies on the paper looks alike in (l, a, b), means over so many pixels square, in pictures from directions
so far apart: in tables 482, 498 and 503 to 0.07, 0.06 and 0.09 (one deviation), and whole pictures up to 0.17 apart.
Of the top of a stone, which is higher than the paper, such pictures show other parts at one spot."""


def silhouette(look: CityPicture, reading: CityReading, site: int, n: int) -> tuple[tuple[slice, slice], np.ndarray]:
    """The box of a site's tower of n storeys in a picture, and its pixels there (h, w) bool."""
    one = drawn(look, reading.storey, site, reading.towers[site].place, range(n, n + 1))
    return one.box, one.tags[0] >= 0


def unexplained_masks(reading: CityReading, plain: Sequence[CityPicture] = ()) -> list[np.ndarray]:
    """By picture, (h, w) bool: pixels that the reading does not account for: unknown ones, and stones' colours without
    a stone that are no light on the paper.

    ``plain`` are the looks without tinted paper, where the reading's know of it: a stone that it hides is told by the
    other pictures, and by it only what none of them sees."""
    plain = plain or reading.looks
    near = [_grown(shown >= 0, RIM_PX) for shown in reading.shown().storeys]
    odd = [
        ((look.evidence.gains.max(0) > LABELLED) & look.view.valid | look.evidence.unknown) & ~rim
        for look, rim in zip(plain, near, strict=True)
    ]
    clear, means = clear_paper(reading), spot_means(reading)
    out = []
    for k, (look, mask) in enumerate(zip(reading.looks, odd, strict=True)):
        flat, judged = lies_flat(k, mask, reading.looks, clear, means)
        stone = judged | (look.evidence.gains.max(0) > LABELLED)
        left = mask & (look.evidence.unknown | (stone & ~flat))
        out.append(cv2.morphologyEx(left.astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8)) > 0)
    return out


def clear_paper(reading: CityReading) -> list[np.ndarray]:
    """By picture, (h, w) bool: what is seen beside all towers, so far from them that means of spots have none of it."""
    return [
        look.view.valid & ~look.evidence.unknown & ~_grown(shown >= 0, RIM_PX + SPOT_PX // 2)
        for look, shown in zip(reading.looks, reading.shown().storeys, strict=True)
    ]


def spot_means(reading: CityReading) -> list[np.ndarray]:
    """By picture, (h, w, 3) features, each the mean of the spot around it."""
    return [cv2.blur(look.evidence.features, (SPOT_PX, SPOT_PX)) for look in reading.looks]


def _grown(mask: np.ndarray, px: int) -> np.ndarray:
    """The mask (h, w) bool and what is so near to it."""
    return np.asarray(cv2.dilate(mask.astype(np.uint8), np.ones((2 * px + 1,) * 2, np.uint8)) > 0)


def lies_flat(
    k: int, where: np.ndarray, looks: Sequence[CityPicture], clear: list[np.ndarray], means: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) bool twice: the pixels of picture k, of those ``where`` it is asked, whose spot on the plan all others
    that see it show alike, and one does; and those whose spot another one sees at all. ``clear`` (h, w) bool where
    nothing stands, ``means`` (h, w, 3) features of the spots, by picture."""
    rows, columns = np.nonzero(where)
    spots = np.c_[looks[k].view.to_ground(np.c_[columns, rows]), np.zeros(len(rows))]
    here, alike, unlike = means[k][rows, columns], np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    for j in _from_elsewhere(looks, k):
        there = looks[j].view.project(spots).round().astype(int)
        high, wide = clear[j].shape
        in_view = np.all((there >= 0) & (there < (wide, high)), axis=1)
        x, y = np.transpose(np.where(in_view[:, None], there, 0))
        open_there = in_view & clear[j][y, x]
        same = np.all(np.abs(means[j][y, x] - here) < SPOT_ALIKE, axis=1)
        alike, unlike = alike | (open_there & same), unlike | (open_there & ~same)
    flat, judged = np.zeros(where.shape, bool), np.zeros(where.shape, bool)
    flat[rows, columns], judged[rows, columns] = alike & ~unlike, alike | unlike
    return flat, judged


def _from_elsewhere(looks: Sequence[CityPicture], k: int) -> Iterator[int]:
    """The pictures that look at the plan from another direction than picture k."""
    rays = [look.view.pose.camera_at / np.linalg.norm(look.view.pose.camera_at) for look in looks]
    for j, ray in enumerate(rays):
        if j != k and float(ray @ rays[k]) < math.cos(math.radians(SPOT_DEG)):
            yield j
