"""Coloured light on a plan's paper is no thing between the towers; what stands up is, in views drawn here."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from referee.vision.city.drawn import CityPicture, StoreySize
from referee.vision.city.reading import CityReading
from referee.vision.city.unexplained import unexplained_masks
from referee.vision.image.view import ZoneView

STONE = StoreySize(24.0, 24.0, 10.0)
SIZE, FOCAL_PX, AWAY_MM = 240, 700.0, 650.0
PAPER, BROWNISH = (0.0, 0.0, 0.0), (-0.6, 0.2, -0.7)
AZIMUTHS = (20, 110, 200, 290)
PATCH = np.array([(-40.0, 10.0), (0.0, 10.0), (0.0, 50.0), (-40.0, 50.0)])
"""mm: 40 x 40 on the plan."""


def look_from(azimuth: float, up: float = 55.0) -> CityPicture:
    """A view (about 1.1 px a mm) of the plan's middle from that side: bare paper, no colour speaks for any pixel."""
    a, b = np.radians([azimuth, up])
    forward = np.array([np.sin(a) * np.cos(b), np.cos(a) * np.cos(b), -np.sin(b)])
    right = np.cross(forward, (0.0, 0.0, 1.0)) / np.cos(b)
    axes = np.stack([right, np.cross(forward, right), forward])
    at = -AWAY_MM * forward
    matrix = np.array([[FOCAL_PX, 0.0, SIZE / 2], [0.0, FOCAL_PX, SIZE / 2], [0.0, 0.0, 1.0]])
    square = (SIZE, SIZE)
    maps, all_of_it = (np.zeros(square), np.zeros(square)), np.ones(square, bool)
    pose = SimpleNamespace(camera_at=at)
    view = ZoneView("A", np.zeros((*square, 3), np.uint8), np.c_[axes, -axes @ at], matrix, maps, all_of_it, pose, 1.0)
    features = np.broadcast_to(np.float32(PAPER), (*square, 3)).copy()
    gains, unknown = np.full((2, *square), -4.0, np.float32), np.zeros(square, bool)
    return CityPicture(view, SimpleNamespace(gains=gains, features=features, unknown=unknown))


def show(look: CityPicture, z_mm: float, features=BROWNISH) -> np.ndarray:
    """The patch at that height in a picture, called brown; returns where."""
    corners = look.view.project(np.c_[PATCH, np.full(4, z_mm)]).round().astype(np.int32)
    mask = cv2.fillPoly(np.zeros((SIZE, SIZE), np.uint8), [corners], 1) > 0
    look.evidence.gains[1][mask] = 4.0
    look.evidence.features[mask] = features
    return mask


@pytest.fixture
def looks() -> list[CityPicture]:
    return [look_from(azimuth) for azimuth in AZIMUTHS]


def shares(looks, masks) -> list[float]:
    """Of each picture, how much of the patch is strange."""
    found = unexplained_masks(CityReading(looks, STONE, {}))
    return [float(odd[mask].mean()) for odd, mask in zip(found, masks, strict=True)]


def test_a_coloured_shadow_on_the_paper_is_nothing_strange(looks):
    assert max(shares(looks, [show(look, 0.0) for look in looks])) < 0.05


def test_what_is_held_above_the_plan_is_strange_in_every_picture(looks):
    assert min(shares(looks, [show(look, 60.0) for look in looks])) > 0.9


def test_much_of_a_stone_that_lies_there_is_strange(looks):
    """Behind what is 10 mm high the other pictures show paper, but for its middle: far more is left than what a tower
    is doubted for."""
    assert min(shares(looks, [show(look, 10.0) for look in looks])) > 0.3


def test_what_lies_there_in_one_picture_alone_is_strange_in_it(looks):
    mask = show(looks[0], 0.0)
    assert shares(looks, [mask] * 4)[0] > 0.9


def test_what_is_neither_paper_nor_stone_is_strange_however_it_lies(looks):
    masks = [show(look, 0.0) for look in looks]
    for look, mask in zip(looks, masks, strict=True):
        look.evidence.unknown[mask] = True
    assert min(shares(looks, masks)) > 0.9


def test_pictures_from_one_side_do_not_tell_what_lies_flat():
    looks = [look_from(azimuth) for azimuth in (20, 25, 30)]
    assert min(shares(looks, [show(look, 0.0) for look in looks])) > 0.9
