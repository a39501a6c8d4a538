"""The numbers that say whether a rig is fit to judge, each with its limit and what to do about it.

All from one picture of the rig with the mats in view. The limits are where help is worth the
user's time, not where judging ends: rigs with clipped paper are judged, but their white is a guess.
The dev set's rigs have 0.2 to 0.5 px, 1.2 to 2.3 px/mm, 25 to 42 degrees, sharpness 0.3 to 0.52
(0.1 once blurred by 4 px), and paper either unclipped or clipped to nine tenths.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.mat import FIELD, SHEET, MatPose, Mats

GLARE_CODE = 252
"""An 8-bit channel from here on is clipped: its colour is lost."""


@dataclass(frozen=True)
class Measured:
    """One number of a rig, in ``unit``, held against its limits: inclusive, None is no limit."""

    name: str
    value: float
    low: float | None
    high: float | None
    unit: str = ""

    @property
    def passed(self) -> bool:
        """Whether the value lies within its limits."""
        return not (self.too_low or self.too_high)

    @property
    def too_low(self) -> bool:
        """Whether the value is below its lowest good one."""
        return self.low is not None and not self.value >= self.low

    @property
    def too_high(self) -> bool:
        """Whether the value is above its highest good one."""
        return self.high is not None and not self.value <= self.high


@dataclass(frozen=True)
class Figure(Measured):
    """A number of a rig by the limits that are kept for its name (``LIMITS``)."""

    @property
    def advice(self) -> str:
        """What to do about it; empty where it passed."""
        limits = LIMITS[self.name]
        return limits.too_low if self.too_low else limits.too_high if self.too_high else ""

    def line(self) -> str:
        """The figure as one line for a user."""
        mark = "pass" if self.passed else "FAIL"
        advice = "" if self.passed else f": {self.advice}"
        return f"{mark}  {self.name} {self.value:.3g} {self.unit}{advice}".replace("  %", " %")


@dataclass(frozen=True)
class Limits:
    """Lowest and highest good value of each figure, and what to do beyond."""

    low: float
    high: float
    too_low: str
    too_high: str


LIMITS: Mapping[str, Limits] = {
    "reprojection error": Limits(0.0, 1.5, "", "lay the mats flat, or calibrate the lens anew"),
    "scale": Limits(0.7, 20.0, "move the camera closer or use a higher resolution", "move the camera back"),
    "tilt": Limits(
        15.0, 50.0, "raise the camera: it sees the field edge-on", "lower the camera: it sees builds from above"
    ),
    "brightness": Limits(25.0, 100.0, "more light, or a longer exposure", ""),
    "glare": Limits(0.0, 60.0, "", "turn the lamp aside or shorten the exposure: the paper is clipped white"),
    "sharpness": Limits(0.2, 100.0, "focus the camera, or hold it still: edges are blurred", ""),
    "field in view": Limits(98.0, 100.0, "turn the camera or move the mat: the field is cut off", ""),
    "markers": Limits(2.0, 4.0, "uncover the mat's markers", ""),
}
UNITS = {
    "reprojection error": "px",
    "scale": "px/mm",
    "tilt": "degrees",
    "brightness": "%",
    "glare": "%",
    "sharpness": "of full contrast a pixel",
    "field in view": "%",
    "markers": "of 4",
}


def figure(name: str, value: float) -> Figure:
    """A named figure held against its limits."""
    return Figure(name, value, LIMITS[name].low, LIMITS[name].high, UNITS[name])


def rig_quality(gray: np.ndarray, mats: Mats) -> dict[str, tuple[Figure, ...]]:
    """Figures by zone, from an 8-bit grey picture (h, w) and the mats found in it. Empty without mats."""
    return {zone: _zone_figures(gray, mats, pose) for zone, pose in mats.poses.items()}


def _zone_figures(gray: np.ndarray, mats: Mats, pose: MatPose) -> tuple[Figure, ...]:
    sheet = _inside(gray, mats, pose, (SHEET[0] / 2, SHEET[1] / 2))
    paper = gray[sheet]
    white = float(np.percentile(paper, 75)) if paper.size else 0.0
    values = {
        "reprojection error": pose.error_px,
        "scale": px_per_mm(mats, pose),
        "tilt": tilt_deg(pose),
        "brightness": 100 * white / 255,
        "glare": 100 * float((paper >= GLARE_CODE).mean()) if paper.size else 0.0,
        "sharpness": sharpness(gray, sheet),
        "field in view": 100 * _in_view(gray, mats, pose),
        "markers": float(len(pose.markers)),
    }
    return tuple(figure(name, value) for name, value in values.items())


def px_per_mm(mats: Mats, pose: MatPose) -> float:
    """How large a millimetre at the mat's centre is in the picture."""
    return mats.camera.focal_px / float(np.linalg.norm(pose.translation))


def tilt_deg(pose: MatPose) -> float:
    """How steeply the camera looks down on the mat's centre: 0 edge-on, 90 straight down."""
    at = pose.camera_at
    return math.degrees(math.atan2(at[2], math.hypot(at[0], at[1])))


def sharpness(gray: np.ndarray, where: np.ndarray) -> float:
    """The steepest steps in a part of a picture, as a share of its contrast: 0.5 crisp, 0.1 blurred."""
    if where.sum() < 100:
        return 0.0
    smooth = gray.astype(np.float32)
    step = np.maximum(np.abs(np.diff(smooth, axis=1, append=0)), np.abs(np.diff(smooth, axis=0, append=0)))
    inner = cv2.erode(where.astype(np.uint8), np.ones((3, 3), np.uint8)) > 0
    contrast = float(np.percentile(smooth[where], 98) - np.percentile(smooth[where], 1))
    return float(np.percentile(step[inner], 99)) / contrast if contrast > 8 and inner.any() else 0.0


def picture_faults(gray: np.ndarray) -> tuple[str, ...]:
    """What makes an 8-bit picture unusable as such, whatever it shows: black, white, blurred."""
    dark, light = np.percentile(gray, (2, 98))
    if light < 20:
        return ("the picture is black",)
    if dark > 240:
        return ("the picture is white",)
    if light - dark < 12:
        return ("the picture shows nothing but one grey",)
    steps = np.abs(np.diff(gray.astype(np.int16), axis=1))
    if np.percentile(steps, 99.8) < 0.05 * (light - dark):
        return ("the picture is blurred",)
    return ()


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
