"""What does not move on the simulated table: room, table top, the two printed mats, and their light.

Drawn once per camera place. The mats are drawn from the numbers of the contract, by hand: the vision under
test reads them with code of its own.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np

from referee.simulator.lens import Lens
from referee.simulator.meshes import turn_about_z

PX_PER_MM = 4
"""Resolution of the drawn sheets: finer than any camera of the typical rig sees (1.5 px/mm)."""

FINE = 2
"""Samples per pixel along each side when the still picture is drawn."""

TABLE_BACK_MM, TABLE_SIDE_MM = 520.0, 900.0
TABLES = {"walnut": (38, 52, 84), "cloth": (92, 86, 82), "linen": (128, 148, 158), "oak": (96, 142, 178)}
"""BGR sRGB of the table tops; walnut and oak get grain, cloth and linen a weave."""

SLEEVES = ((70, 40, 88), (44, 92, 52), (120, 84, 40), (52, 52, 58), (150, 150, 160), (40, 70, 150))


@dataclass(frozen=True)
class MatPlace:
    """Where a player's mat lies, table frame, mm; ``angle`` 0 faces like the camera, 180 against it."""

    x: float
    y: float
    angle: float

    def turn(self) -> np.ndarray:
        """(3, 3) from the mat's axes to the table's."""
        return turn_about_z(self.angle)


@dataclass(frozen=True, eq=False)
class Light:
    """One lamp far away and the room's own light, linear; white paper in full light comes to about 0.8."""

    towards: np.ndarray
    key: float
    ambient: float
    tint: np.ndarray
    spot: tuple[float, float]
    spread: float

    def on_table(self, points: np.ndarray) -> np.ndarray:
        """Light that falls on table points (..., 2) mm: (...,) linear."""
        away = ((points - self.spot) ** 2).sum(-1) / self.spread**2
        return self.ambient + self.key * self.towards[2] / (1.0 + away)


def typical_light(rng: np.random.Generator) -> Light:
    """Room light in one of the usual whites, from above and one side."""
    around, up = rng.uniform(0, 2 * math.pi), math.radians(rng.uniform(48, 72))
    towards = np.array([math.cos(around) * math.cos(up), math.sin(around) * math.cos(up), math.sin(up)])
    warm = rng.uniform(-0.06, 0.06)
    tint = np.array([1.0 - warm, 1.0, 1.0 + warm])
    key = rng.uniform(0.42, 0.55)
    spot = (float(rng.uniform(-200, 200)), float(rng.uniform(-100, 300)))
    return Light(towards, key, float(rng.uniform(0.85, 0.95) - key), tint, spot, float(rng.uniform(900, 1400)))


def tone_curve() -> np.ndarray:
    """1024 uint8: linear 0..1 to the camera's 8 bits (sRGB with a soft shoulder)."""
    x = np.linspace(0, 1, 1024)
    x = np.where(x > 0.75, 0.75 + (1 - np.exp(-(x - 0.75) * 3)) / 4.2, x)
    y = np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055)
    return np.clip(np.rint(y * 255), 0, 255).astype(np.uint8)


def linear_light(srgb: np.ndarray) -> np.ndarray:
    """sRGB 0..255 -> linear 0..1 float32."""
    x = np.asarray(srgb, np.float32) / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4).astype(np.float32)


def mat_picture(zone: int) -> np.ndarray:
    """The printed mat of a zone (0 is A), (840, 1188, 3) uint8; row 0 is the edge away from the player."""
    paper = np.full((210 * PX_PER_MM, 297 * PX_PER_MM, 3), 250, np.uint8)
    for start, end in (((-95, -50), (95, -50)), ((-95, 50), (95, 50)), ((-95, -50), (-95, 50)),
                       ((95, -50), (95, 50)), ((-95, 0), (95, 0))):  # fmt: skip
        cv2.line(paper, _sheet_px(*start), _sheet_px(*end), (165, 165, 165), 2)
    marks = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    for k, (x, y) in enumerate(((-121, -77.5), (121, -77.5), (121, 77.5), (-121, 77.5))):
        mark = cv2.aruco.generateImageMarker(marks, 4 * zone + k, 44 * PX_PER_MM, borderBits=1)
        u, v = _sheet_px(x - 22, y + 22)
        paper[v : v + len(mark), u : u + len(mark)] = np.maximum(mark, 22)[..., None]
    return paper


def _sheet_px(x_mm: float, y_mm: float) -> tuple[int, int]:
    return round((x_mm + 148.5) * PX_PER_MM), round((105 - y_mm) * PX_PER_MM)


def table_top(kind: str, rng: np.random.Generator) -> np.ndarray:
    """A table's surface, (1200, 1800, 3) uint8 at one pixel per mm."""
    base = np.array(TABLES[kind], np.float32)
    shape = (1200, 1800)
    if kind in ("walnut", "oak"):
        grain = (
            _noise(rng, shape, (400, 12)) * 0.10
            + _noise(rng, shape, (600, 45)) * 0.07
            + _noise(rng, shape, (12, 6)) * 0.03
        )
    else:
        grain = _noise(rng, shape, (700, 900)) * 0.05 + _noise(rng, shape, (9, 12)) * 0.03
    return np.clip(base * (1 + grain[..., None]), 0, 255).astype(np.uint8)


def _noise(rng: np.random.Generator, shape: tuple[int, int], knots: tuple[int, int]) -> np.ndarray:
    coarse = rng.normal(0, 1, (min(shape[0], knots[0]), min(shape[1], knots[1]))).astype(np.float32)
    return cv2.resize(coarse, shape[::-1], interpolation=cv2.INTER_CUBIC)


def still_picture(
    lens: Lens, seats: dict[str, MatPlace], light: Light, table: str, rng: np.random.Generator
) -> np.ndarray:
    """The empty rig as linear light, (h, w, 3) float32 BGR."""
    albedo = cv2.resize(_albedo(lens, seats, table, rng), (lens.width, lens.height), interpolation=cv2.INTER_AREA)
    points = seen_points(lens)
    on_table = _is_table(points)
    falls = np.where(on_table, light.on_table(np.nan_to_num(points)), 0.42).astype(np.float32)
    return linear_light(albedo) * falls[..., None] * light.tint.astype(np.float32) * vignette(lens)[..., None]


def pixel_grid(width: int, height: int, step: float = 1.0) -> np.ndarray:
    """Pixel centres (height / step, width / step, 2)."""
    us = np.arange(0, width, step, dtype=np.float32) + (step - 1) / 2
    vs = np.arange(0, height, step, dtype=np.float32) + (step - 1) / 2
    return np.stack(np.meshgrid(us, vs), -1)


@lru_cache(maxsize=1)
def seen_points(lens: Lens) -> np.ndarray:
    """Where the ray of each pixel meets the table, (h, w, 2) mm, read only; nan above the horizon."""
    points = lens.table_points(pixel_grid(lens.width, lens.height))
    points.flags.writeable = False
    return points


def vignette(lens: Lens) -> np.ndarray:
    """How much of the light reaches each pixel, (h, w) float32: the usual fall-off towards the corners."""
    r2 = (((pixel_grid(lens.width, lens.height) - lens.centre) / lens.focal_px) ** 2).sum(-1)
    return (1.0 / (1.0 + 0.25 * r2)).astype(np.float32)


def _is_table(points: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return (points[..., 1] < TABLE_BACK_MM) & (np.abs(points[..., 0]) < TABLE_SIDE_MM)


def _albedo(lens: Lens, seats: dict[str, MatPlace], table: str, rng: np.random.Generator) -> np.ndarray:
    points = lens.table_points(pixel_grid(lens.width, lens.height, 1 / FINE)).astype(np.float32)
    back = _room(lens, seats, rng)
    picture = cv2.resize(back, (points.shape[1], points.shape[0]))
    mask = _is_table(points)
    top = table_top(table, rng)
    wood = cv2.remap(top, points[..., 0] + 900, 600 - points[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    picture[mask] = wood[mask]
    for zone, seat in seats.items():
        _lay_sheet(picture, points, seat, mat_picture(ord(zone) - ord("A")))
    return picture


def _lay_sheet(picture: np.ndarray, points: np.ndarray, seat: MatPlace, paper: np.ndarray) -> None:
    local = (points - np.array((seat.x, seat.y), np.float32)) @ turn_about_z(seat.angle)[:2, :2].astype(np.float32)
    x, y = local[..., 0], local[..., 1]
    with np.errstate(invalid="ignore"):
        rows, cols = np.nonzero((np.abs(x) < 148.5) & (np.abs(y) < 105))
    u = (x[rows, cols] + 148.5) * PX_PER_MM - 0.5
    v = (105 - y[rows, cols]) * PX_PER_MM - 0.5
    strip = 30000
    for at in range(0, len(rows), strip):
        part = slice(at, at + strip)
        seen = cv2.remap(paper, u[part, None], v[part, None], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        picture[rows[part], cols[part]] = seen[:, 0]


def _room(lens: Lens, seats: dict[str, MatPlace], rng: np.random.Generator) -> np.ndarray:
    """Wall, furniture and whoever sits behind the table, out of focus, (h, w, 3) uint8."""
    tall, wide = lens.height, lens.width
    wall = np.array(rng.uniform(70, 150, 3).mean() + rng.uniform(-14, 14, 3), np.float32)
    ramp = np.linspace(0.7, 1.1, wide, dtype=np.float32)[None, :, None] * np.ones((tall, 1, 1), np.float32)
    picture = np.ascontiguousarray(np.clip(wall * ramp, 0, 255).astype(np.uint8))
    for _ in range(rng.integers(3, 7)):
        x, w = rng.integers(0, wide), rng.integers(wide // 30, wide // 7)
        shade = tuple(float(c) for c in np.clip(wall * rng.uniform(0.4, 1.4, 3), 0, 255))
        cv2.rectangle(picture, (int(x), int(rng.integers(-tall // 3, tall // 6))), (int(x + w), tall), shade, -1)
    picture = cv2.GaussianBlur(picture, (0, 0), tall / 60)
    for seat, color in zip(seats.values(), sleeve_colors(rng, len(seats)), strict=True):
        if abs(seat.angle) > 90:
            _torso(picture, lens, seat, color)
    return cv2.GaussianBlur(picture, (0, 0), tall / 400)


def sleeve_colors(rng: np.random.Generator, count: int) -> list[tuple[int, int, int]]:
    """Shirt colours, BGR, one per player."""
    return [SLEEVES[i] for i in rng.permutation(len(SLEEVES))[:count]]


def _torso(picture: np.ndarray, lens: Lens, seat: MatPlace, color: tuple[int, int, int]) -> None:
    """The player behind the table's far edge, as a shaded upright shape."""
    y = TABLE_BACK_MM + 90
    right = [(190, -250), (205, 60), (150, 230), (60, 290)]
    outline = [*right, *((-u, w) for u, w in reversed(right))]
    for inset, share in ((1.0, 0.75), (0.8, 0.9), (0.55, 1.0)):
        points = np.array([(seat.x * 0.9 + u * inset, y, 60 + w) for u, w in outline])
        pixels, _ = lens.project(points)
        cv2.fillPoly(picture, [pixels.astype(np.int32)], tuple(float(c * share) for c in color), cv2.LINE_AA)
