"""Rooms as data: lamps by their colour temperature, windows, walls, table tops, people; and what lights the scene.

World frame: millimetres, z up, the table top is z = 0, its middle is the origin; the camera looks towards +y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import cv2
import numpy as np
from witness_prints import checked_picture, cloth_picture, grain_picture, planks_picture, smooth_noise, striped_picture
from witness_solids import Mesh


@dataclass(frozen=True)
class Lamp:
    """A sphere of ``radius_mm`` at ``at_mm``: a small one casts hard shadows. ``power`` is relative."""

    at_mm: tuple[float, float, float]
    radius_mm: float
    kelvin: float
    power: float


@dataclass(frozen=True)
class Window:
    """A bright rectangle on the walls: azimuth from +y clockwise and elevation of its middle, degrees."""

    azimuth: float
    elevation: float
    wide: float
    high: float
    kelvin: float
    power: float


@dataclass(frozen=True)
class Person:
    """A torso behind or before the table; ``shirt`` is a colour or two (#rrggbb) with a pattern."""

    x_mm: float
    y_mm: float
    shirt: tuple[str, ...] = ("#8a2020",)
    pattern: str = "plain"
    arms: bool = False


@dataclass(frozen=True)
class Room:
    """Everything around the mats. ``table`` is (kind, colour[, colour]); ``gloss`` its roughness, 0 for matt."""

    walls: str = "#b8b0a0"
    floor: str = "#6a5a48"
    ambient: float = 0.5
    ambient_kelvin: float = 4000.0
    table: tuple[str, ...] = ("cloth", "#c8c4bc")
    gloss: float = 0.0
    lamps: tuple[Lamp, ...] = ()
    windows: tuple[Window, ...] = ()
    people: tuple[Person, ...] = ()
    clutter: int = 12
    table_mm: tuple[float, float] = (1500.0, 900.0)
    seed: int = field(default=0)


def srgb(code: str) -> np.ndarray:
    """#rrggbb as BGR (3,) floats 0..255."""
    return np.array([int(code[k : k + 2], 16) for k in (5, 3, 1)], float)


def linear(picture_bgr: np.ndarray) -> np.ndarray:
    """sRGB BGR 0..255 as linear RGB 0..1."""
    c = np.asarray(picture_bgr, float)[..., ::-1] / 255
    return np.where(c < 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def kelvin_rgb(kelvin: float) -> np.ndarray:
    """Linear RGB (3,) of a black body, luminance 1 (Kim et al. 2002, cubic fit of the Planckian locus)."""
    t = 1000.0 / kelvin
    if kelvin <= 4000:
        x = -0.2661239 * t**3 - 0.2343589 * t**2 + 0.8776956 * t + 0.179910
        y = (
            -1.1063814 * x**3 - 1.34811020 * x**2 + 2.18555832 * x - 0.20219683
            if kelvin <= 2222
            else -0.9549476 * x**3 - 1.37418593 * x**2 + 2.09137015 * x - 0.16748867
        )
    else:
        x = -3.0258469 * t**3 + 2.1070379 * t**2 + 0.2226347 * t + 0.240390
        y = 3.0817580 * x**3 - 5.87338670 * x**2 + 3.75112997 * x - 0.37001483
    xyz = np.array([x / y, 1.0, (1 - x - y) / y])
    rgb = np.array([[3.2406, -1.5372, -0.4986], [-0.9689, 1.8758, 0.0415], [0.0557, -0.2040, 1.0570]]) @ xyz
    return np.maximum(rgb, 0.02)


def surroundings(room: Room, size: tuple[int, int] = (1024, 512)) -> np.ndarray:
    """The room as an equirectangular picture (h, w, 3) of linear RGB light; azimuth 0 (+y) in the middle."""
    rng = np.random.default_rng(room.seed)
    wide, high = size
    picture = np.zeros((high, wide, 3))
    elevation = np.linspace(90, -90, high)[:, None, None]
    wall = linear(srgb(room.walls)) * (1 + 0.06 * smooth_noise((high, wide), (120, 60), rng))[..., None]
    picture[:] = np.where(elevation > 38, 0.85, np.where(elevation < -22, linear(srgb(room.floor)), wall))
    for _ in range(room.clutter):
        _hang(picture, rng)
    light = picture * kelvin_rgb(room.ambient_kelvin) * room.ambient
    light = cv2.GaussianBlur(light.astype(np.float32), (0, 0), 2.2)
    for window in room.windows:
        _open(light, window)
    return cv2.GaussianBlur(light, (0, 0), 0.8)


def _box(shape: tuple, azimuth: float, elevation: float, wide: float, high: float) -> tuple[slice, slice]:
    h, w = shape[:2]
    left, right = ((azimuth + s * wide / 2 + 180) / 360 * w for s in (-1, 1))
    top, low = ((90 - elevation - s * high / 2) / 180 * h for s in (1, -1))
    return slice(max(round(top), 0), round(low)), slice(max(round(left), 0), round(right))


def _hang(picture: np.ndarray, rng: np.random.Generator) -> None:
    """A picture, book shelf or piece of furniture on the wall, of any colour."""
    box = _box(picture.shape, rng.uniform(-170, 170), rng.uniform(-22, 20), rng.uniform(4, 26), rng.uniform(5, 26))
    colour = linear(rng.uniform(15, 235, 3))
    part = picture[box]
    part[:] = colour
    if rng.random() < 0.5 and part.shape[1] > 6:
        edges = np.sort(rng.integers(0, part.shape[1], 6))
        for low, high in pairwise(edges):
            part[2:, low:high] = linear(rng.uniform(20, 230, 3))


def _open(light: np.ndarray, window: Window) -> None:
    rows, columns = _box(light.shape, window.azimuth, window.elevation, window.wide, window.high)
    part = light[rows, columns]
    sky = kelvin_rgb(window.kelvin) * window.power
    part[:] = sky * np.linspace(1.15, 0.7, part.shape[0])[:, None, None]
    bar = max(part.shape[1] // 24, 1)
    part[:, part.shape[1] // 2 - bar : part.shape[1] // 2 + bar] = 0.25 * sky


def table_picture(room: Room) -> np.ndarray:
    """The table top's sRGB picture (n, n, 3) BGR; it covers the whole table."""
    rng = np.random.default_rng(room.seed + 1)
    kind, *colours = room.table
    base = srgb(colours[0])
    if kind == "planks":
        return planks_picture(base, rng)
    if kind == "wood":
        return grain_picture(base, 0.07, rng, 1024)
    if kind == "checked":
        return checked_picture(base, srgb(colours[1]), 24, 1536)
    return np.tile(cloth_picture(base, rng), (2, 2, 1))


def shirt_picture(person: Person, rng: np.random.Generator) -> np.ndarray:
    """The shirt's sRGB picture, (n, n, 3) BGR."""
    one, other = srgb(person.shirt[0]), srgb(person.shirt[-1])
    if person.pattern == "checked":
        return checked_picture(one, other, 14)
    if person.pattern == "striped":
        return striped_picture(one, other)
    return cloth_picture(one, rng)


def torso(person: Person, rng: np.random.Generator) -> Mesh:
    """A clothed torso from below the table to the neck, with folds."""
    heights = np.linspace(-250, 520, 60)
    around = np.linspace(0, 2 * math.pi, 97)
    share = np.clip((heights - 330) / 190, 0, 1)[:, None]
    wide, deep = 205 * (1 - 0.65 * share**2), 120 * (1 - 0.4 * share**2)
    folds = 5.0 * smooth_noise((60, 96), (3, 2), rng)
    folds = np.hstack([folds, folds[:, :1]])
    c, s = np.cos(around)[None], np.sin(around)[None]
    x = (wide + folds) * np.sign(c) * np.abs(c) ** 0.8 + person.x_mm
    y = (deep + folds) * np.sign(s) * np.abs(s) ** 0.8 + person.y_mm
    z = np.broadcast_to(heights[:, None], x.shape)
    uv = np.stack(np.broadcast_arrays(around[None] / math.pi, heights[:, None] / 400), -1)
    return sheet(np.stack([x, y, z], -1), uv)


def limb(start: np.ndarray, end: np.ndarray, radii: tuple[float, float], rng: np.random.Generator) -> Mesh:
    """A sleeve or a hand: a rounded tube from start to end, mm."""
    axis = (end - start) / np.linalg.norm(end - start)
    side = np.cross(axis, (0, 0, 1.0))
    side /= np.linalg.norm(side)
    other = np.cross(axis, side)
    t = np.linspace(0, 1, 24)[:, None]
    around = np.linspace(0, 2 * math.pi, 33)[None]
    radius = (radii[0] * (1 - t) + radii[1] * t) * np.clip(np.sqrt(1 - (2 * t - 1) ** 6), 0.02, 1)
    radius = radius * (1 + 0.05 * np.sin(9 * t + rng.uniform(0, 6)))
    points = (
        start
        + t[..., None] * (end - start)
        + radius[..., None] * (np.cos(around)[..., None] * side + np.sin(around)[..., None] * other)
    )
    return sheet(points, np.stack(np.broadcast_arrays(around / 3, t), -1))


def sheet(points: np.ndarray, uv: np.ndarray) -> Mesh:
    """A mesh from a grid of points (rows, columns, 3) and texture coordinates (rows, columns, 2)."""
    rows, columns = points.shape[:2]
    k = np.arange(rows * columns).reshape(rows, columns)
    a, b, c, d = (k[:-1, :-1].ravel(), k[:-1, 1:].ravel(), k[1:, 1:].ravel(), k[1:, :-1].ravel())
    normal = np.cross(np.gradient(points, axis=1), np.gradient(points, axis=0))
    normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-9)
    return Mesh(
        points.reshape(-1, 3),
        normal.reshape(-1, 3),
        np.concatenate([np.column_stack([a, b, c]), np.column_stack([a, c, d])]),
        uv.reshape(-1, 2),
    )
