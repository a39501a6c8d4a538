"""Drawing things into a picture: bodies of many small spheres, flat things with a picture on them, boxes.

Coordinates are mm of the zone's mat. What stands nearer to the camera than the thing hides it; its shadow falls on the
table. Colours are linear BGR albedo and are lit by what the sheet's paper sends back.
"""

from dataclasses import dataclass
from typing import Self

import cv2
import numpy as np

from referee.benchmark.effects.light import linear_light, srgb_bytes
from referee.benchmark.effects.scene import Truth

LAMP = np.array([0.35, -0.25, 0.9])
"""Where the drawn things' lamp is, in the mat's frame: a ceiling light, a little aside."""
AMBIENT = 0.45
"""Share of the light that comes from everywhere."""
PAPER_ALBEDO = 0.82


@dataclass(frozen=True)
class Body:
    """Spheres that together are a thing: ``centres`` (n, 3) mm, ``radii`` (n,) mm, ``albedo`` (n, 3) linear BGR,
    ``gloss`` 0..1 how much it shines, ``grain`` how uneven its surface is."""

    centres: np.ndarray
    radii: np.ndarray
    albedo: np.ndarray
    gloss: float = 0.1
    grain: float = 0.03

    def __add__(self, other: Self) -> Self:
        """Both as one; the first one's surface."""
        return type(self)(
            np.concatenate([self.centres, other.centres]),
            np.concatenate([self.radii, other.radii]),
            np.concatenate([self.albedo, other.albedo]),
            self.gloss,
            self.grain,
        )


def capsule(start: np.ndarray, end: np.ndarray, r0: float, r1: float, albedo: np.ndarray, gloss: float = 0.1) -> Body:
    """A limb from ``start`` to ``end`` (3,) whose radius goes from r0 to r1."""
    length = float(np.linalg.norm(np.subtract(end, start)))
    n = max(2, int(length / (0.22 * min(r0, r1))) + 1)
    t = np.linspace(0, 1, n)[:, None]
    centres = (1 - t) * np.asarray(start, float) + t * np.asarray(end, float)
    return Body(centres, ((1 - t) * r0 + t * r1).ravel(), np.tile(np.asarray(albedo, float), (n, 1)), gloss)


@dataclass(frozen=True)
class _Window:
    """A part of the picture: its corner (x, y) and size (w, h) in px."""

    corner: np.ndarray
    size: np.ndarray

    def of(self, frame: np.ndarray) -> np.ndarray:
        """The part of a picture (a view)."""
        (x, y), (w, h) = self.corner, self.size
        return frame[y : y + h, x : x + w]

    def pasted(self, frame: np.ndarray, part: np.ndarray) -> np.ndarray:
        """A copy of the picture with a new part."""
        out = frame.copy()
        self.of(out)[:] = part
        return out

    def filled(self, hull: np.ndarray, value: float = 1.0, into: np.ndarray | None = None) -> np.ndarray:
        """(h, w) float32 with a convex hull (n, 2) int32 of the picture's pixels filled in."""
        mask = np.zeros(self.size[::-1], np.float32) if into is None else into
        return cv2.fillConvexPoly(mask, np.ascontiguousarray(hull.reshape(-1, 2) - self.corner, np.int32), value)


def _window(frame: np.ndarray, pixels: np.ndarray, margin_px: float) -> _Window | None:
    """The part around pixels (n, 2) of a picture; None where that is outside it."""
    size = np.array(frame.shape[1::-1])
    low = np.clip(np.floor(pixels.min(0) - margin_px).astype(int), 0, size)
    high = np.clip(np.ceil(pixels.max(0) + margin_px).astype(int) + 1, 0, size)
    return _Window(low, high - low) if (high - low >= 2).all() else None


@dataclass(frozen=True)
class _Drawn:
    """A body's pixels in a part of the picture: depth (h, w) mm, normals (h, w, 3) in the camera's frame, albedo
    (h, w, 3); depth is infinite where it is not."""

    window: _Window
    depth: np.ndarray
    normal: np.ndarray
    albedo: np.ndarray


def draw_body(frame: np.ndarray, truth: Truth, body: Body, paper: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The picture with the body in it, its shadow on the table first. ``paper`` (3,) light of the sheet."""
    frame = _shaded_table(frame, truth, body.centres, body.radii)
    drawn = _splat(frame, truth, body)
    if drawn is None:
        return frame
    cover = np.isfinite(drawn.depth)
    for hull, depth in truth.hulls:  # not where a piece stands before the body
        piece = cv2.erode(drawn.window.filled(hull), np.ones((3, 3), np.uint8))
        cover &= (piece == 0) | (depth >= drawn.depth)
    light = _lit(drawn, truth, body, paper, rng)
    return drawn.window.pasted(frame, _blended(drawn.window.of(frame), light, cover))


def _splat(frame: np.ndarray, truth: Truth, body: Body) -> _Drawn | None:
    middles = truth.pixels(body.centres)
    depths = truth.depths(body.centres)
    reach = truth.camera.focal_px * body.radii / depths
    window = _window(frame, np.concatenate([middles - reach[:, None], middles + reach[:, None]]), 3)
    if window is None:
        return None
    w, h = window.size
    drawn = _Drawn(window, np.full((h, w), np.inf), np.zeros((h, w, 3)), np.zeros((h, w, 3)))
    for k in range(len(depths)):
        _splat_one(drawn, middles[k] - window.corner, reach[k], depths[k], body.radii[k], body.albedo[k])
    return drawn


def _splat_one(drawn: _Drawn, at: np.ndarray, r_px: float, depth: float, r_mm: float, albedo: np.ndarray) -> None:
    h, w = drawn.depth.shape
    x0, y0 = np.maximum(np.floor(at - r_px).astype(int), 0)
    x1, y1 = np.minimum(np.ceil(at + r_px).astype(int) + 1, (w, h))
    if x0 >= x1 or y0 >= y1:
        return
    u, v = np.meshgrid((np.arange(x0, x1) - at[0]) / r_px, (np.arange(y0, y1) - at[1]) / r_px)
    out = np.sqrt(np.maximum(1 - u * u - v * v, 0))
    there = depth - r_mm * out
    part = (slice(y0, y1), slice(x0, x1))
    front = (u * u + v * v < 1) & (there < drawn.depth[part])
    drawn.depth[part][front] = there[front]
    drawn.normal[part][front] = np.stack([u, v, -out], -1)[front]
    drawn.albedo[part][front] = albedo


def _lit(drawn: _Drawn, truth: Truth, body: Body, paper: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(h, w, 3) linear light of the body's surface: spheres melted into one skin, shaded, with grain and shine."""
    on = np.isfinite(drawn.depth).astype(np.float32)
    soft = max(1.2, truth.camera.focal_px / 1000 * 2.2)
    weight = cv2.GaussianBlur(on, (0, 0), soft)[..., None] + 1e-4
    normal = cv2.GaussianBlur(drawn.normal.astype(np.float32), (0, 0), soft) / weight
    normal /= np.linalg.norm(normal, axis=2, keepdims=True) + 1e-6
    albedo = cv2.GaussianBlur((drawn.albedo * on[..., None]).astype(np.float32), (0, 0), soft) / weight
    lamp = truth.pose.rotation @ (LAMP / np.linalg.norm(LAMP))
    facing = np.clip(normal @ lamp, -0.2, 1.0)
    up = normal @ truth.pose.rotation[:, 2]
    halfway = lamp + (0, 0, -1.0)
    shine = body.gloss * np.clip(normal @ (halfway / np.linalg.norm(halfway)), 0, 1) ** 30
    grain = cv2.GaussianBlur(rng.standard_normal(on.shape, np.float32), (0, 0), 1.3)[..., None] * 3 * body.grain
    light = AMBIENT * (0.6 + 0.4 * up) + (1.15 - AMBIENT) * np.maximum(facing, 0)
    return (albedo * (1 + grain) * light[..., None] / PAPER_ALBEDO + shine[..., None]) * paper


def _blended(under: np.ndarray, light: np.ndarray, cover: np.ndarray) -> np.ndarray:
    """sRGB bytes: the thing's light over what is under it, its outline one pixel soft."""
    alpha = cv2.GaussianBlur(cover.astype(np.float32), (0, 0), 0.8)[..., None]
    near = cv2.GaussianBlur(np.where(cover[..., None], light, 0).astype(np.float32), (0, 0), 1.2)
    spread = near / (cv2.GaussianBlur(cover.astype(np.float32), (0, 0), 1.2)[..., None] + 1e-4)
    filled = np.where(cover[..., None], light, spread)
    return srgb_bytes(linear_light(under) * (1 - alpha) + filled * alpha)


def _shaded_table(frame: np.ndarray, truth: Truth, centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """The table darkened where the spheres keep the lamp away, softer the higher they are."""
    fall = (centres - LAMP / LAMP[2] * centres[:, 2:]) * (1, 1, 0)
    height = float(np.clip(centres[:, 2].mean(), 4, 150))
    t = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    ring = np.stack([np.cos(t), np.sin(t), 0 * t], 1)
    spots = [truth.pixels(at + r * ring) for at, r in zip(fall[::2], radii[::2], strict=True)]
    scale = truth.camera.focal_px / truth.pose.translation[2]
    sigma = max(1.5, 0.18 * height * scale)
    window = _window(frame, np.concatenate(spots), 3 * sigma)
    if window is None:
        return frame
    dark = np.zeros(window.size[::-1], np.float32)
    for spot in spots:
        window.filled(cv2.convexHull(spot.round().astype(np.int32)), 1.0, dark)
    standing = np.zeros_like(dark)
    for hull, _ in truth.hulls:
        window.filled(hull, 1.0, standing)
    dark = _blurred(dark, sigma) * (1 - 0.7 * cv2.GaussianBlur(standing, (0, 0), 1.0))
    return window.pasted(frame, srgb_bytes(linear_light(window.of(frame)) * (1 - 0.45 * dark[..., None])))


def _blurred(mask: np.ndarray, sigma: float) -> np.ndarray:
    if sigma < 6:
        return cv2.GaussianBlur(mask, (0, 0), sigma)
    small = cv2.resize(mask, None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
    return cv2.resize(cv2.GaussianBlur(small, (0, 0), sigma / 4), mask.shape[::-1], interpolation=cv2.INTER_LINEAR)


def lay_flat(
    frame: np.ndarray,
    truth: Truth,
    picture: np.ndarray,
    corners_mm: np.ndarray,
    thick_mm: float,
    paper: np.ndarray,
) -> np.ndarray:
    """A flat thing on the table: ``picture`` (h, w, 4) linear BGR albedo and cover, on the quadrilateral (4, 2) mm of
    its top left, top right, bottom right, bottom left corners."""
    low, high = np.c_[corners_mm, np.zeros(4)], np.c_[corners_mm, np.full(4, thick_mm)]
    edge = np.concatenate([low + (high - low) * t for t in np.linspace(0, 1, 4)])
    frame = _shaded_table(frame, truth, np.concatenate([low, [low.mean(0)]]), np.full(5, 0.3 * thick_mm + 2.0))
    for k in range(4):  # its rim, as so many layers of its outline
        frame = _flat_layer(
            frame, truth, picture[..., 3:] * (0.08, 0.08, 0.08), picture[..., 3], edge[4 * k :][:4], paper
        )
    return _flat_layer(frame, truth, picture[..., :3], picture[..., 3], high, paper)


def _flat_layer(
    frame: np.ndarray, truth: Truth, albedo: np.ndarray, cover: np.ndarray, corners: np.ndarray, paper: np.ndarray
) -> np.ndarray:
    pixels = truth.pixels(corners)
    window = _window(frame, pixels, 3)
    if window is None:
        return frame
    h, w = cover.shape
    source = np.array([(0, 0), (w - 1, 0), (w - 1, h - 1), (0, h - 1)], np.float32)
    to_window = cv2.getPerspectiveTransform(source, (pixels - window.corner).astype(np.float32))
    size = tuple(window.size.tolist())
    alpha = cv2.warpPerspective(cover.astype(np.float32), to_window, size, flags=cv2.INTER_AREA)
    seen = cv2.warpPerspective((albedo * cover[..., None]).astype(np.float32), to_window, size, flags=cv2.INTER_AREA)
    light = seen / np.maximum(alpha, 1e-3)[..., None]
    depth = float(truth.depths(corners).mean())
    for hull, nearer in truth.hulls:
        if nearer < depth + 25.0:
            window.filled(hull, 0.0, alpha)
    under = linear_light(window.of(frame))
    return window.pasted(
        frame, srgb_bytes(under * (1 - alpha[..., None]) + light / PAPER_ALBEDO * paper * alpha[..., None])
    )


@dataclass(frozen=True, eq=False)
class Box:
    """A box of ``size`` (3,) mm standing on the table at ``at`` (2,) mm, turned; ``albedo`` (3,) linear."""

    at: np.ndarray
    size: np.ndarray
    turn_deg: float
    albedo: np.ndarray


def draw_box(frame: np.ndarray, truth: Truth, box: Box, paper: np.ndarray) -> np.ndarray:
    """The frame with the box in it, in the light that ``paper`` shows."""
    size, albedo = box.size, box.albedo
    c, s = np.cos(np.radians(box.turn_deg)), np.sin(np.radians(box.turn_deg))
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])
    middle = np.array([*box.at, size[2] / 2])
    frame = _shaded_table(frame, truth, middle[None].repeat(2, 0), np.full(2, float(min(size)) * 0.6))
    for axis in range(3):
        for sign in (-1.0, 1.0):
            normal = turn[:, axis] * sign
            face = _face(axis, sign, size) @ turn.T + middle
            if (truth.pose.camera_at - face.mean(0)) @ normal > 0:
                lamp = LAMP / np.linalg.norm(LAMP)
                light = AMBIENT * (0.6 + 0.4 * normal[2]) + (1.15 - AMBIENT) * max(0.0, float(normal @ lamp))
                frame = _painted_face(frame, truth, face, albedo * light / PAPER_ALBEDO * paper)
    return frame


def _face(axis: int, sign: float, size: np.ndarray) -> np.ndarray:
    a, b = [k for k in range(3) if k != axis]
    out = np.zeros((4, 3))
    out[:, axis] = sign * size[axis] / 2
    out[:, a] = np.array([-1, 1, 1, -1]) * size[a] / 2
    out[:, b] = np.array([-1, -1, 1, 1]) * size[b] / 2
    return out


def _painted_face(frame: np.ndarray, truth: Truth, face: np.ndarray, light: np.ndarray) -> np.ndarray:
    pixels = truth.pixels(face)
    window = _window(frame, pixels, 3)
    if window is None:
        return frame
    cover = np.zeros(window.size[::-1], np.float32)
    points = ((pixels - window.corner) * 16).round().astype(np.int32)
    cv2.fillConvexPoly(cover, points, 1.0, cv2.LINE_8, 4)
    depth = float(truth.depths(face).mean())
    for hull, nearer in truth.hulls:
        if nearer < depth:
            window.filled(hull, 0.0, cover)
    alpha = cv2.GaussianBlur(cover, (0, 0), 0.7)[..., None]
    return window.pasted(frame, srgb_bytes(linear_light(window.of(frame)) * (1 - alpha) + light * alpha))
