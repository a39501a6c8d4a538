"""Numbers that say whether a rig is fit to judge, each with its limits and what to do about a fail.

Measured from single frames with the mats in view; limits come from the contract's typical rig and
from rigs of the dev set that are judged well (markers fit to 0.5 mm, edges sharper than 0.6).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.lens import LEAST_VIEWS, BoardView, LensFit, covered
from calibration.mat import FIELD, SHEET, MatPose, Mats, detect_mats
from calibration.palette import Palette
from calibration.quality import GLARE_CODE, Measured, px_per_mm, tilt_deg

PLAYED = ("A", "B")
ANGLE_DEG, DISTANCE_CM = (18.0, 44.0), (45, 95)
LIMITS = {"least": round(ANGLE_DEG[0]), "most": round(ANGLE_DEG[1]), "near": DISTANCE_CM[0], "far": DISTANCE_CM[1]}
"""Where the camera may stand, as the page's instruction says it: what is asked for is what passes."""

SPOTS_MM = ((-105.0, 0.0), (105.0, 0.0), (0.0, -80.0), (0.0, 80.0))
"""Places on the mat outside field and markers where only paper is."""


@dataclass(frozen=True)
class Number(Measured):
    """A number of a rig as the pages show it: ``name`` and ``hint`` are keys of texts."""

    zone: str = ""

    @property
    def hint(self) -> str:
        """The text that says what to do: one for too little, one for too much."""
        return f"hint.{self.name}.{'low' if self.too_low else 'high'}"

    def to_json(self) -> dict:
        """By field name, and whether it passed."""
        return {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "zone": self.zone,
            "passed": self.passed,
        }


def mats_numbers(image: np.ndarray, camera: CameraModel | None) -> list[Number]:
    """Of one frame (h, w, 3) BGR: are both mats seen, flat, from the right place, in good light?"""
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    mats = detect_mats(gray, camera)
    seen = [zone for zone in PLAYED if zone in mats.poses]
    rows = [Number("mats", len(seen), len(PLAYED), None)]
    for zone in seen:
        rows += _pose_numbers(mats, mats.poses[zone]) + _light_numbers(gray, mats, mats.poses[zone])
    return rows


def _pose_numbers(mats: Mats, pose: MatPose) -> list[Number]:
    distance = float(np.linalg.norm(pose.translation))
    off_mm = pose.error_px * distance / mats.camera.focal_px
    return [
        Number("markers", len(pose.markers), 3, None, "", pose.zone),
        Number("flat", round(off_mm, 2), None, 0.8, "mm", pose.zone),
        Number("angle", round(tilt_deg(pose), 1), *ANGLE_DEG, "°", pose.zone),
        Number("distance", round(distance / 10), *DISTANCE_CM, "cm", pose.zone),
        Number("detail", round(px_per_mm(mats, pose), 2), 0.9, None, "px/mm", pose.zone),
    ]


def _light_numbers(gray: np.ndarray, mats: Mats, pose: MatPose) -> list[Number]:
    inside = _inside(gray, mats, pose)
    paper = np.percentile(inside, 85)
    spots = _spots(gray, mats, pose)
    slope = np.hypot(cv2.Sobel(gray, cv2.CV_32F, 1, 0) / 8, cv2.Sobel(gray, cv2.CV_32F, 0, 1) / 8)
    contrast = max(float(paper - np.percentile(inside, 2)), 1.0)
    sharp = 2 * np.percentile(_inside(slope, mats, pose), 99.5) / contrast
    rows = [
        Number("light", int(paper), 120, GLARE_CODE - 1, "", pose.zone),
        Number("glare", round(100 * float((inside >= GLARE_CODE).mean()), 1), None, 10.0, "%", pose.zone),
        Number("sharp", round(float(sharp), 2), 0.4, None, "", pose.zone),
    ]
    if spots:
        rows.append(Number("even", round(min(spots) / max(*spots, 1.0), 2), 0.6, None, "", pose.zone))
    return rows


def _inside(picture: np.ndarray, mats: Mats, pose: MatPose) -> np.ndarray:
    """The values (n,) of the picture on the sheet."""
    w, h = SHEET[0] / 2 * 0.97, SHEET[1] / 2 * 0.97
    mask = np.zeros(picture.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, _pixels(mats, pose, [(-w, -h), (w, -h), (w, h), (-w, h)]), 1)
    values = picture[mask > 0]
    return values if values.size else np.zeros(1, picture.dtype)


def _spots(gray: np.ndarray, mats: Mats, pose: MatPose) -> list[float]:
    patches = [gray[max(0, v - 4) : v + 5, max(0, u - 4) : u + 5] for u, v in _pixels(mats, pose, SPOTS_MM)]
    return [float(np.median(p)) for p in patches if p.size]


def _pixels(mats: Mats, pose: MatPose, points: Sequence[tuple[float, float]]) -> np.ndarray:
    """(n, 2) int32 px of points (n, 2) mm on the mat."""
    flat = np.column_stack([np.asarray(points, float), np.zeros(len(points))])
    return np.round(mats.camera.project(pose.to_camera(flat))).astype(np.int32)


def lens_numbers(camera: CameraModel | None, image: np.ndarray) -> list[Number]:
    """Is there a lens file, can its field of view (degrees) be true, and do the mats' markers fit it?"""
    mats = detect_mats(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), camera)
    known = camera is not None and not camera.estimated
    view = float(2 * np.degrees(np.arctan(mats.camera.width / 2 / mats.camera.focal_px)))
    return [
        Number("lens", int(known), 1, None),
        Number("view", round(view), 40, 100, "°"),
        Number("fit", round(mats.error_px, 2) if mats.poses else 99.0, None, 1.0, "px"),
    ]


def board_numbers(views: Sequence[BoardView], fit: LensFit | None) -> list[Number]:
    """Of the lens board's views so far: enough, spread over the picture (per cent), and the fit's error."""
    rows = [
        Number("views", len(views), LEAST_VIEWS, None),
        Number("covered", round(100 * covered(views)), 60, None, "%"),
    ]
    return [*rows, Number("error", round(fit.error_px, 2), None, 0.8, "px")] if fit else rows


def color_numbers(palette: Palette, field_pixels: int) -> list[Number]:
    """Has every colour been seen, and are the two most alike far enough apart (in standard deviations)?"""
    seen = int((palette.learnt > 0.002 * field_pixels).sum())
    return [
        Number("colors", seen, len(palette.names), None),
        Number("apart", round(least_distance(palette), 1), 2.0, None),
    ]


def least_distance(palette: Palette) -> float:
    """The smallest Mahalanobis distance between two of the palette's colours, by their mean covariance."""
    pairs = [(i, j) for i in range(len(palette.names)) for j in range(i)]
    return min((_distance(palette, i, j) for i, j in pairs), default=99.0)


def _distance(palette: Palette, i: int, j: int) -> float:
    d = palette.means[i] - palette.means[j]
    return float(np.sqrt(d @ np.linalg.solve((palette.covariances[i] + palette.covariances[j]) / 2, d)))


def draw_mats(image: np.ndarray, camera: CameraModel | None, name: Callable[[str], str] = str) -> np.ndarray:
    """A copy of the frame with the fields found, the line that builds stand on, and each zone's letter."""
    mats = detect_mats(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY), camera)
    drawn = image.copy()
    for zone, pose in mats.poses.items():
        (w, h), color = FIELD, (171, 92, 11) if zone == "A" else (0, 67, 168)
        corners = _pixels(mats, pose, [(-w, -h), (w, -h), (w, h), (-w, h)])
        line = _pixels(mats, pose, [(-w, 0), (w, 0)])
        cv2.polylines(drawn, [corners], True, color, 3, cv2.LINE_AA)
        cv2.polylines(drawn, [line], False, color, 2, cv2.LINE_AA)
        cv2.putText(
            drawn,
            name(zone),
            tuple(int(v) for v in corners[0] + (6, -8)),
            cv2.FONT_HERSHEY_SIMPLEX,
            1.0,
            color,
            3,
            cv2.LINE_AA,
        )
    return drawn
