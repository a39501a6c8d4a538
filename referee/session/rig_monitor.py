"""Notices from the pictures that the rig is not what it was set up as: camera or mat moved, light changed.

A *view* is what the markers say of one frame: where each is, and the light of the paper in it. The first
view in which every marker of two mats is seen is the measure for all later ones, until ``restart``; overexposed
paper needs no measure.
"""

from collections.abc import Mapping

import cv2
import numpy as np

from calibration import ZONES
from calibration.markers import find_markers
from calibration.palette import LINEAR
from calibration.quality import CLIPPED_CODE
from cards.sentences import sentence
from referee.vision.image.aids import LIGHT_CHANGED, SHADOWED_LIGHT, WARMER_RATIO

MOVED_SHARE = 0.006
"""Of the picture's width: 8 px at 720p, 5 mm on the mat; sub-pixel corners wander by a tenth of that."""

MOST_CLIPPED = 0.5
"""Share of a mat's markers whose white may be clipped: a lamp's spot may lie on one."""

LEAST_LIGHT = 1e-3
"""Of full scale: black is not divided by."""

AGREEING_LOOKS = 2
"""So many looks in a row must say the same: somebody may just be leaning on the table."""

View = Mapping[int, tuple[np.ndarray, np.ndarray]]


def view_of(image: np.ndarray) -> View:
    """Marker id -> (centre (2,) px, linear light (3,) B, G, R of its white cells) of a picture (h, w, 3) uint8 BGR."""
    found = {}
    for marker, quad in find_markers(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)).items():
        left, top = np.maximum(np.floor(quad.min(0)).astype(int), 0)
        right, bottom = np.ceil(quad.max(0)).astype(int)
        cells = image[top:bottom, left:right].reshape(-1, 3)
        if len(cells):
            found[int(marker)] = (quad.mean(0), LINEAR[np.percentile(cells, 90, axis=0).astype(int)])
    return found


class RigMonitor:
    """Compares views with the first. ``look`` gives alarm codes with their texts, None for what is well."""

    CODES = ("camera_moved", "mat_moved", "light_changed", "field_shadowed", "overexposed")
    WHILE_PLAYED = ("overexposed",)
    """What is said while hands and pieces cover markers and cast shadows, too."""

    def __init__(self) -> None:
        self._measure: View = {}
        self._in_a_row = dict.fromkeys(self.CODES, 0)

    def restart(self) -> None:
        """The rig is as it should be now: the next full view is the measure."""
        self._measure = {}

    def look(self, image: np.ndarray) -> dict[str, str | None]:
        """Of a frame (h, w, 3) uint8 BGR."""
        view = view_of(image)
        if not self._measure and sum(m < 8 for m in view) == 8:
            self._measure = view
        said, shared = overexposed(view), sorted(self._measure.keys() & view.keys())
        if len(shared) > 1:
            shifts = {m: float(np.linalg.norm(view[m][0] - self._measure[m][0])) for m in shared}
            change = {m: view[m][1] / np.maximum(self._measure[m][1], LEAST_LIGHT) for m in shared}
            said |= _moved(shifts, MOVED_SHARE * image.shape[1]) | _relit(change)
        for code in self.CODES:
            self._in_a_row[code] = self._in_a_row[code] + 1 if said.get(code) else 0
        return {code: said.get(code) if self._in_a_row[code] >= AGREEING_LOOKS else None for code in self.CODES}


def overexposed(view: View) -> dict[str, str]:
    """The alarm of paper that is clipped in every colour: how bright it really is nobody knows."""
    clipped = _by_zone({m: float(light.min() >= LINEAR[CLIPPED_CODE]) for m, (_, light) in view.items()})
    zones = sorted(zone for zone, share in clipped.items() if np.mean(share) > MOST_CLIPPED)
    if not zones:
        return {}
    return {"overexposed": sentence("overexposed_mats", zones=zones)}


def _relit(change: Mapping[int, np.ndarray]) -> dict[str, str]:
    """Alarms of how much brighter each marker's paper has become, B, G, R."""
    zones = {zone: float(np.median(c)) for zone, c in _by_zone({m: c.mean() for m, c in change.items()}).items()}
    most = max(zones.values(), default=1.0)
    dim = sorted(zone for zone, light in zones.items() if light < SHADOWED_LIGHT * most)
    if dim:
        return {"field_shadowed": sentence("shadowed", zones=dim)}
    light = float(np.median(list(zones.values()))) if zones else 1.0
    if not 1 / LIGHT_CHANGED < light < LIGHT_CHANGED:
        return {"light_changed": sentence("darker" if light < 1 else "brighter", n=light)}
    warm = float(np.median([c[2] / max(c[0], 1e-3) for c in change.values()]))
    if not 1 / WARMER_RATIO < warm < WARMER_RATIO:
        return {"light_changed": sentence("warmer" if warm > 1 else "cooler")}
    return {}


def _moved(shifts: Mapping[int, float], limit_px: float) -> dict[str, str]:
    zones = _by_zone(shifts)
    off = {zone: float(np.median(s)) for zone, s in zones.items() if np.median(s) > limit_px}
    if off and len(off) == len(zones) > 1:
        return {"camera_moved": sentence("camera_moved", n=round(max(off.values())))}
    if off:
        return {"mat_moved": sentence("mat_moved", zones=sorted(off))}
    return {}


def _by_zone(values: Mapping[int, float]) -> dict[str, list[float]]:
    """Values by marker gathered by mat; those of cards are left out."""
    zones: dict[str, list[float]] = {}
    for marker, value in values.items():
        if marker < 4 * len(ZONES):
            zones.setdefault(ZONES[marker // 4], []).append(value)
    return zones
