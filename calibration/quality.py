"""The numbers that say whether a rig is fit to judge, each with its limit and what to do about it.

All from one picture of the rig with the mats in view. The limits are where help is worth the
user's time, not where judging ends: rigs with clipped paper are judged, but their white is a guess.
The rigs of devset and devset2 have 0.1 to 0.6 mm, 62 to 84 cm, 1.2 to 2.3 px/mm, 25 to 45 degrees,
sharpness 0.3 to 0.52 (0.1 once blurred by 4 px), evenness 0.9 to 1, and paper either unclipped or
clipped to a third and more.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from calibration.mat import FIELD, SHEET, MatPose, Mats

MM_PER_CM = 10.0

CLIPPED_CODE = 252
"""An 8-bit channel from here on is clipped: its colour is lost, its light is at least this much."""

ANGLE_DEG, DISTANCE_CM = (18.0, 44.0), (45.0, 95.0)
"""Where the camera may stand: CONTRACT.md's sessions have 18 to 44 degrees, its typical rig 60 to 80 cm; by hand some
more of the latter either way."""

SPOTS_MM = ((-105.0, 0.0), (105.0, 0.0), (0.0, -80.0), (0.0, 80.0))
"""Places on the mat outside field and markers where only paper is."""

WHITE_PERCENTILE = 75
"""Of the sheet's pixels three in four are no lighter than its paper in the light."""

LEAST_PX, LEAST_CONTRAST = 100, 8
"""Pixels of a part, and levels of 255 between its dark and light, without which nothing is said of its sharpness."""

LIGHTEST, STEEPEST, STEEPEST_OF_ALL = 98, 99, 99.8
"""Percentiles: what is light in a picture, what is steep on the sheet, and what is in a whole picture, of which the
sheets are a part."""

BLACK_LEVEL, WHITE_LEVEL, LEAST_LEVEL_RANGE, BLURRED_SHARE = 20, 240, 12, 0.05
"""Levels of 255: a picture whose light parts are darker is black, whose dark parts are lighter white, and one grey with
less between the two; and the share of that contrast that a pixel's step must reach, or it is blurred. By hand:
help is worth giving there, judging ends later."""


def clipped_pixels(image: np.ndarray) -> np.ndarray:
    """(h, w) bool: where a picture (h, w, 3) is clipped in every channel."""
    blue, green, red = cv2.split(image)
    return np.asarray(cv2.min(cv2.min(blue, green), red) >= CLIPPED_CODE)


class FigureLimits(NamedTuple):
    """Lowest and highest good value of a figure (None: no limit), its unit, what to do below and above, and the digits
    that it is shown and judged with."""

    low: float | None
    high: float | None
    unit: str
    if_low: str
    if_high: str
    digits: int


@dataclass(frozen=True)
class Figure:
    """One number of a rig, in ``unit``, held against its limits (inclusive, None is no limit), and what to do below and
    above them."""

    name: str
    value: float
    low: float | None
    high: float | None
    unit: str = ""
    if_low: str = ""
    if_high: str = ""

    @property
    def too_low(self) -> bool:
        """Whether the value is below its lowest good one."""
        return self.low is not None and not self.value >= self.low

    @property
    def passed(self) -> bool:
        """Whether the value lies within its limits."""
        return not self.too_low and (self.high is None or self.value <= self.high)

    @property
    def advice(self) -> str:
        """What to do about it; empty where it passed."""
        return "" if self.passed else self.if_low if self.too_low else self.if_high

    def line(self) -> str:
        """The figure as one line for a user."""
        mark, advice = ("pass", "") if self.passed else ("FAIL", f": {self.advice}")
        return f"{mark}  {self.name} {self.value:.3g} {self.unit}{advice}".replace("  %", " %")


LIMITS: Mapping[str, FigureLimits] = {
    "markers": FigureLimits(3, None, "of 4", "uncover the mat's markers", "", 0),
    "field in view": FigureLimits(98.0, None, "%", "turn the camera or move the mat: the field is cut off", "", 0),
    "flatness": FigureLimits(None, 0.8, "mm off a flat sheet", "", "lay the mats flat, or calibrate the lens anew", 2),
    "tilt": FigureLimits(
        *ANGLE_DEG,
        "degrees",
        "raise the camera: it sees the field edge-on",
        "lower the camera: it sees builds from above",
        1,
    ),
    "distance": FigureLimits(*DISTANCE_CM, "cm", "move the camera back", "move the camera closer", 0),
    "scale": FigureLimits(0.9, None, "px/mm", "move the camera closer or use a higher resolution", "", 2),
    "brightness": FigureLimits(
        47.0, 98.4, "%", "more light, or a longer exposure", "less light, or a shorter exposure: white is clipped", 1
    ),
    "glare": FigureLimits(
        None, 10.0, "%", "", "turn the lamp aside or shorten the exposure: the paper is clipped white", 1
    ),
    "sharpness": FigureLimits(
        0.2, None, "of full contrast a pixel", "focus the camera, or hold it still: edges are blurred", "", 2
    ),
    "evenness": FigureLimits(0.6, None, "", "spread the light: one side is in shadow", "", 2),
}
"""Said once: ``referee calibrate rig`` and the set-up page both hold a rig against these."""


def quality_figure(name: str, value: float) -> Figure:
    """A named figure, rounded as it is shown, held against its limits."""
    limits = LIMITS[name]
    return Figure(name, round(value, limits.digits), *limits[:-1])


def rig_quality(gray: np.ndarray, mats: Mats) -> dict[str, tuple[Figure, ...]]:
    """Figures by zone, from an 8-bit grey picture (h, w) and the mats found in it. Empty without mats."""
    return {zone: zone_quality(gray, mats, pose) for zone, pose in mats.poses.items()}


def zone_quality(gray: np.ndarray, mats: Mats, pose: MatPose) -> tuple[Figure, ...]:
    """The figures of one mat; ``evenness`` is left out where none of its places is in the picture."""
    sheet = _inside(gray, mats, pose, (SHEET[0] / 2, SHEET[1] / 2))
    paper = gray[sheet]
    white = float(np.percentile(paper, WHITE_PERCENTILE)) if paper.size else 0.0
    spots = _spots(gray, mats, pose)
    values = {
        "markers": len(pose.markers),
        "field in view": 100 * _in_view(gray, mats, pose),
        "flatness": off_flat_mm(mats, pose),
        "tilt": tilt_deg(pose),
        "distance": float(np.linalg.norm(pose.translation)) / MM_PER_CM,
        "scale": px_per_mm(mats, pose),
        "brightness": 100 * white / 255,
        "glare": 100 * float((paper >= CLIPPED_CODE).mean()) if paper.size else 0.0,
        "sharpness": sharpness(gray, sheet),
    }
    if spots:
        values["evenness"] = min(spots) / max(*spots, 1.0)
    return tuple(quality_figure(name, value) for name, value in values.items())


def _spots(gray: np.ndarray, mats: Mats, pose: MatPose) -> list[float]:
    """The light of those ``SPOTS_MM`` that are in the picture."""
    flat = np.column_stack([np.asarray(SPOTS_MM), np.zeros(len(SPOTS_MM))])
    pixels = np.round(mats.camera.project(pose.to_camera(flat))).astype(int)
    patches = [gray[max(0, v - 4) : v + 4 + 1, max(0, u - 4) : u + 4 + 1] for u, v in pixels]
    return [float(np.median(p)) for p in patches if p.size]


def off_flat_mm(mats: Mats, pose: MatPose) -> float:
    """How far a mat's markers are from where those of a flat sheet would be, mm (RMS)."""
    return pose.error_px / px_per_mm(mats, pose)


def px_per_mm(mats: Mats, pose: MatPose) -> float:
    """How large a millimetre at the mat's centre is in the picture."""
    return mats.camera.focal_px / float(np.linalg.norm(pose.translation))


def tilt_deg(pose: MatPose) -> float:
    """How steeply the camera looks down on the mat's centre: 0 edge-on, 90 straight down."""
    at = pose.camera_at
    return math.degrees(math.atan2(at[2], math.hypot(at[0], at[1])))


def sharpness(gray: np.ndarray, where: np.ndarray) -> float:
    """The steepest steps in a part of a picture, as a share of its contrast: 0.5 crisp, 0.1 blurred."""
    if where.sum() < LEAST_PX:
        return 0.0
    smooth = gray.astype(np.float32)
    step = np.maximum(np.abs(np.diff(smooth, axis=1, append=0)), np.abs(np.diff(smooth, axis=0, append=0)))
    inner = cv2.erode(where.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    contrast = float(np.percentile(smooth[where], LIGHTEST) - np.percentile(smooth[where], 1))
    return float(np.percentile(step[inner], STEEPEST)) / contrast if contrast > LEAST_CONTRAST and inner.any() else 0.0


def picture_faults(gray: np.ndarray) -> tuple[str, ...]:
    """What makes an 8-bit picture unusable as such, whatever it shows: black, white, blurred."""
    dark, light = np.percentile(gray, (2, LIGHTEST))
    steps = np.abs(np.diff(gray.astype(np.int16), axis=1))
    rules = (
        (light < BLACK_LEVEL, "is black"),
        (dark > WHITE_LEVEL, "is white"),
        (light - dark < LEAST_LEVEL_RANGE, "shows nothing but one grey"),
        (np.percentile(steps, STEEPEST_OF_ALL) < BLURRED_SHARE * (light - dark), "is blurred"),
    )
    return tuple(f"the picture {fault}" for broken, fault in rules if broken)[:1]


def _outline(mats: Mats, pose: MatPose, half: tuple[float, float]) -> np.ndarray:
    corners = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) * half
    return mats.camera.project(pose.to_camera(np.c_[corners, np.zeros(4)]))


def _inside(gray: np.ndarray, mats: Mats, pose: MatPose, half: tuple[float, float]) -> np.ndarray:
    mask = np.zeros(gray.shape, np.uint8)
    return cv2.fillConvexPoly(mask, _outline(mats, pose, half).round().astype(np.int32), 1) > 0


def _in_view(gray: np.ndarray, mats: Mats, pose: MatPose) -> float:
    """Share of the field's area that lies in the picture."""
    quad = _outline(mats, pose, FIELD).astype(np.float32)
    height, width = gray.shape
    frame = np.array([(0, 0), (width, 0), (width, height), (0, height)], np.float32)
    whole = cv2.contourArea(cv2.convexHull(quad))
    area, _ = cv2.intersectConvexConvex(cv2.convexHull(quad), frame)
    return min(1.0, area / whole) if whole > 0 else 0.0
