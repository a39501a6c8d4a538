"""A city's pictures with its towers as they were read: outlined, numbered by their storeys, doubts in amber."""

import cv2
import numpy as np

from referee.vision.city.drawn import CityPicture, column_box
from referee.vision.city.reading import FLOORS, CityReading
from referee.vision.city.sight import CitySight
from referee.vision.overlay import AMBER, BLACK, GREEN, WHITE

SCALE = 2
SHOWN_STOREYS = 13
HEIGHT_PX = 720
LETTERS = 0.6
"""Size of drawn letters, of OpenCV's usual."""


def overlay(sight: CitySight) -> np.ndarray:
    """The city as each picture shows it, side by side, (h, w, 3) uint8 BGR."""
    towers = {site: tower for site, tower in sight.reading.towers.items() if sight.sites[site].colors}
    storeys = CityReading(sight.reading.looks, sight.reading.storey, towers).shown().storeys
    pictures = [_one(*pair, sight) for pair in zip(sight.reading.looks, storeys, strict=True)]
    return np.hstack([cv2.resize(p, (round(p.shape[1] * HEIGHT_PX / len(p)), HEIGHT_PX)) for p in pictures])


def _one(look: CityPicture, owner: np.ndarray, sight: CitySight) -> np.ndarray:
    """The picture with the storeys that ``owner`` (h, w) numbers."""
    high, wide = look.view.image.shape[:2]
    out = cv2.resize(look.view.image, (wide * SCALE, high * SCALE), interpolation=cv2.INTER_CUBIC)
    for tag in np.unique(owner[owner >= 0]):
        color = GREEN if sight.sites[int(tag) // FLOORS].sure else AMBER
        mask = cv2.resize((owner == tag).astype(np.uint8), None, fx=SCALE, fy=SCALE, interpolation=cv2.INTER_NEAREST)
        contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
        cv2.drawContours(out, contours, -1, color, 1, cv2.LINE_AA)
    for number, stack in sight.sites.items():
        _label(out, look, sight, number, len(stack.colors))
    boxes = [column_box(look, sight.reading.storey, site, SHOWN_STOREYS) for site in sight.sites]
    low = [min(box[k].start for box in boxes) * SCALE for k in (0, 1)]
    high = [max(box[k].stop for box in boxes) * SCALE for k in (0, 1)]
    return out[low[0] : high[0], low[1] : high[1]]


def _label(out: np.ndarray, look: CityPicture, sight: CitySight, site: int, storeys: int) -> None:
    """How many storeys, on top of the tower; a question mark where it is not sure."""
    if not storeys and sight.sites[site].sure:
        return
    text = f"{storeys}" if sight.sites[site].sure else f"{storeys}?"
    at = look.view.project(sight.reading.top_of(site)[None])[0] * SCALE
    (w, h), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, LETTERS, 2)
    place = (round(at[0] - w / 2), round(at[1] + h / 2))
    for color, thick in ((BLACK, 4), (WHITE, 2)):
        cv2.putText(out, text, place, cv2.FONT_HERSHEY_SIMPLEX, LETTERS, color, thick, cv2.LINE_AA)
