"""Notices from the pictures that the rig is not what it was set up as: camera or mat moved, light changed.

A *view* is what the markers say of one frame: where each is, and how bright the paper in it is. The first
view in which every marker of two mats is seen is the measure for all later ones, until ``restart``.
"""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from calibration.mat import find_markers

MOVED_SHARE = 0.006
"""Of the picture's width: 8 px at 720p, 5 mm on the mat; sub-pixel corners wander by a tenth of that."""

DARKER, BRIGHTER = 0.7, 1.35
"""Paper this much darker or brighter than at the set-up: colours have to be learned anew."""

IN_A_ROW = 2
"""So many looks in a row must say the same: somebody may just be leaning on the table."""

View = Mapping[int, tuple[np.ndarray, float]]


def view_of(gray: np.ndarray) -> View:
    """Marker id -> (centre (2,) px, brightness of its white cells 0..255) of an 8-bit picture."""
    found = {}
    for marker, quad in find_markers(gray).items():
        left, top = np.maximum(np.floor(quad.min(0)).astype(int), 0)
        right, bottom = np.ceil(quad.max(0)).astype(int)
        cells = gray[top:bottom, left:right]
        if cells.size:
            found[int(marker)] = (quad.mean(0), float(np.percentile(cells, 90)))
    return found


class RigMonitor:
    """Compares views with the first. ``look`` gives alarm codes with their texts, None for what is well."""

    CODES = ("camera_moved", "mat_moved", "light_changed")

    def __init__(self) -> None:
        self._measure: View = {}
        self._in_a_row = dict.fromkeys(self.CODES, 0)

    def restart(self) -> None:
        """The rig is as it should be now: the next full view is the measure."""
        self._measure = {}

    def look(self, image: np.ndarray) -> dict[str, str | None]:
        """Of a frame (h, w, 3) uint8 BGR."""
        view = view_of(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        if not self._measure:
            self._measure = view if sum(m < 8 for m in view) == 8 else {}
            return dict.fromkeys(self.CODES)
        said = compare(self._measure, view, image.shape[1])
        for code in self.CODES:
            self._in_a_row[code] = self._in_a_row[code] + 1 if said.get(code) else 0
        return {code: said.get(code) if self._in_a_row[code] >= IN_A_ROW else None for code in self.CODES}


def compare(before: View, now: View, width_px: int) -> dict[str, str]:
    """What has changed between two views of pictures that wide: alarm code -> text."""
    shared = sorted(before.keys() & now.keys())
    if len(shared) < 2:
        return {}
    shifts = {m: float(np.linalg.norm(now[m][0] - before[m][0])) for m in shared}
    said = _moved(shifts, MOVED_SHARE * width_px)
    light = float(np.median([now[m][1] / max(before[m][1], 1.0) for m in shared]))
    if not DARKER < light < BRIGHTER:
        word = "darker" if light < 1 else "brighter"
        said["light_changed"] = f"the light is {word} than at the set-up ({light:.0%}): learn colours again"
    return said


def _moved(shifts: Mapping[int, float], limit_px: float) -> dict[str, str]:
    zones: dict[str, list[float]] = {}
    for marker, shift in shifts.items():
        zones.setdefault("ABCDEFGHIJKL"[marker // 4] if marker < 48 else "card", []).append(shift)
    zones.pop("card", None)
    off = {zone: float(np.median(s)) for zone, s in zones.items() if np.median(s) > limit_px}
    if off and len(off) == len(zones) > 1:
        return {"camera_moved": f"the camera has moved by {max(off.values()):.0f} pixels: set up again"}
    if off:
        return {"mat_moved": f"mat {' and '.join(sorted(off))} has moved since the set-up"}
    return {}
