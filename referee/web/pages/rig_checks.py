"""Numbers that say whether a rig is fit to judge, each with its limits and what to do about a fail.

What one frame says of each mat is measured and held against its limits in ``calibration.quality``, as by ``referee
calibrate rig``; here are the lens, the board, the colours and the pieces.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.lens import LEAST_VIEWS, BoardView, LensFit, covered_share
from calibration.mat import FIELD, Mats, detect_mats
from calibration.palette import Palette
from calibration.quality import ANGLE_DEG, DISTANCE_CM, Figure, zone_quality
from referee.devices.camera_settings import CameraSettings
from referee.vision.live.gate_history import FRESH_S
from referee.vision.observer import SIZES_TOLD
from referee.vision.overlay import draw_field

PLAYED_ZONES = ("A", "B")
LIMITS = {
    "least": round(ANGLE_DEG[0]),
    "most": round(ANGLE_DEG[1]),
    "near": round(DISTANCE_CM[0]),
    "far": round(DISTANCE_CM[1]),
}
"""Where the camera may stand, as the page's instruction says it: what is asked for is what passes."""

UNITS = {"degrees": "°", "of 4": "", "mm off a flat sheet": "mm", "of full contrast a pixel": ""}
"""Units that the text beside the number says already, or a sign does."""


@dataclass(frozen=True)
class Number(Figure):
    """A number of a rig as the pages show it: ``name`` and ``hint`` are keys of texts."""

    zone: str = ""
    camera: str = ""
    """Name of the second camera, where it is of that one's picture."""

    @property
    def hint(self) -> str:
        """The text that says what to do: one for too little, one for too much."""
        return f"hint.{self.name}.{'low' if self.too_low else 'high'}"

    def to_json(self) -> dict:
        """By field name, and whether it passed."""
        return asdict(self) | {"passed": self.passed}


def mats_numbers(image: np.ndarray, mats: Mats, placed: Collection[str] = ()) -> list[Number]:
    """Of one frame (h, w, 3) BGR: are both mats seen, flat, from the right place, in good light? Of a mat that was
    ``placed`` by hand it is not said how many markers are seen, but that it was."""
    gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    seen = [zone for zone in PLAYED_ZONES if zone in mats.poses]
    rows = [Number("mats", len(seen), len(PLAYED_ZONES), None)]
    for zone in seen:
        numbers = [_number(one, zone) for one in zone_quality(gray, mats, mats.poses[zone])]
        rows += [Number("by_hand", 1, None, 0, zone=zone), *numbers[1:]] if zone in placed else numbers
    return rows


def camera_numbers(status: Mapping[str, Any], settings: CameraSettings) -> list[Number]:
    """What a camera's pictures a second, their delay and the bound of their times are worth: what is put on so soon
    after a Stop may show in the last picture before it; nothing where the rate is not known yet. And how many of its
    settings are held, each with the value that is wanted and that it has (-1 while it chooses by itself)."""
    fps, error_s, late_s = (status.get(name) or 0.0 for name in ("fps", "frame_error_s", "delay_s"))
    rows = [Number("held", len(settings.wanted), None, None)]
    for name, actual in settings.actual.items():
        wanted = round(settings.wanted[name])
        rows.append(Number(name, -1 if actual is None else round(actual), wanted, wanted))
    if not fps:
        return rows
    rows += [Number("rate", fps, None, None), Number("delay", round(late_s, 3), None, None, "s")]
    rows.append(Number("timing", round(error_s, 3), None, None, "s"))
    return [*rows, Number("moment", round(error_s + 1 / fps, 2), None, FRESH_S, "s")]


def _number(one: Figure, zone: str) -> Number:
    return Number(one.name, one.value, one.low, one.high, UNITS.get(one.unit, one.unit), zone=zone)


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
        Number("covered", round(100 * covered_share(views)), 60, None, "%"),
    ]
    return [*rows, Number("error", round(fit.error_px, 2), None, 0.8, "px")] if fit else rows


def color_numbers(palette: Palette, field_pixels: int) -> list[Number]:
    """Has every colour been seen, and are the two most alike far enough apart (in standard deviations)?"""
    seen = int((palette.learnt > 0.002 * field_pixels).sum())
    pairs = [(i, j) for i in range(len(palette.names)) for j in range(i)]
    apart = min((_distance(palette, i, j) for i, j in pairs), default=99.0)
    return [Number("colors", seen, len(palette.names), None), Number("apart", round(apart, 1), 2.0, None)]


def sizes_number(factor: float) -> Number:
    """Have the pieces, ``factor`` times as large as the piece file says, its lengths?"""
    most = 100 * SIZES_TOLD
    return Number("sizes", round(100 * (factor - 1), 1), -most, most, "%")


def _distance(palette: Palette, i: int, j: int) -> float:
    """The Mahalanobis distance between two of the palette's colours, by their mean covariance."""
    d = palette.means[i] - palette.means[j]
    return float(np.sqrt(d @ np.linalg.solve((palette.covariances[i] + palette.covariances[j]) / 2, d)))


def draw_mats(image: np.ndarray, mats: Mats) -> np.ndarray:
    """A copy of the frame with the fields found, the line that builds stand on, and each zone's letter."""
    drawn = image.copy()
    for zone, pose in mats.poses.items():
        color = (171, 92, 11) if zone == "A" else (0, 67, 168)
        draw_field(drawn, mats.camera, pose, color, 3)
        draw_field(drawn, mats.camera, pose, color, 2, (FIELD[0], 0.0))
        near = mats.camera.project(pose.to_camera(np.array([(-FIELD[0], -FIELD[1], 0.0)])))[0] + (6, -8)
        at = int(near[0]), int(near[1])
        cv2.putText(drawn, zone, at, cv2.FONT_HERSHEY_SIMPLEX, 1.0, color, 3, cv2.LINE_AA)
    return drawn
