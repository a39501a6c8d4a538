"""How pieces look in the elevation that the player sees: their silhouettes, shaded."""

from collections.abc import Callable, Iterable

import numpy as np

from cards.build import Piece, shape_of
from cards.pieces import PieceSet, Pose, Shape
from cards.scene import BLACK, WHITE, Patch, Rgb, box, mixed, patch, placed

SHADES = 14
"""Strips that a round or sloping face is painted in."""

DASH_MM, DASH_LINE_MM = 3.0, 0.6
"""Length of the dashes, and of the gaps between them, that a hidden arch is drawn in; and their width."""


def piece_patches(shape: Shape, pose: Pose, color: Rgb, line_mm: float = 0.35) -> tuple[Patch, ...]:
    """A posed piece as the player sees it, mm, centred on its box.

    Round and sloping faces are shaded, so that a cylinder is no box and a triangle seen from
    its sloping side is no brick.
    """
    line = mixed(color, BLACK, 0.45)
    outline = elevation(shape, pose)
    return (*_shaded(shape, pose, outline, color), patch(outline, None, line, line_mm))


def elevation(shape: Shape, pose: Pose) -> np.ndarray:
    """The piece's silhouette for the player, (n, 2) mm as (x, z) about the centre of its box."""
    sx, _, sz = shape.size(pose)
    if shape.kind == "cylinder":
        if shape.axis(pose) == "y":
            t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
            return shape.width / 2 * np.stack([np.cos(t), np.sin(t)], 1)
    elif pose.facing == "front":
        return shape.turned_outline(pose.rotation)
    return np.array([(-sx, -sz), (sx, -sz), (sx, sz), (-sx, sz)]) / 2


def _shaded(shape: Shape, pose: Pose, outline: np.ndarray, color: Rgb) -> tuple[Patch, ...]:
    sx, _, sz = shape.size(pose)
    if shape.kind == "cylinder":
        if shape.axis(pose) == "y":
            return patch(outline, color), patch(outline * 0.72, mixed(color, WHITE, 0.14))
        return strips(sx, sz, color, round_light, upright=shape.axis(pose) == "z")
    if pose.facing == "side" and shape.kind in ("triangle", "crescent", "half_disc"):
        return strips(sx, sz, color, _slope_light(shape, pose), upright=False)
    return (patch(outline, color),)


def strips(sx: float, sz: float, color: Rgb, light: Callable[[float], float], *, upright: bool) -> tuple[Patch, ...]:
    """A rectangle painted in overlapping strips; ``light`` maps 0..1 across to -1 (dark) .. 1 (bright)."""
    made = []
    for k in range(SHADES):
        t = k / SHADES
        amount = light((k + 0.5) / SHADES)
        shade = mixed(color, WHITE if amount > 0 else BLACK, abs(amount) * 0.42)
        start = (t - 0.5) * (sx if upright else sz)
        if upright:
            made.append(box(start, -sz / 2, sx / 2 - start, sz, shade))
        else:
            made.append(box(-sx / 2, start, sx, sz / 2 - start, shade))
    return tuple(made)


def round_light(t: float) -> float:
    """A cylinder lit from the upper left: brightest at a third, darker to the rim."""
    return float(0.85 - 3.6 * abs(t - 0.36) ** 1.3 - 0.15)


def _slope_light(shape: Shape, pose: Pose) -> Callable[[float], float]:
    """Light on a face that leans away: brighter where it looks up (``t`` runs from foot to top)."""
    if shape.kind == "triangle":
        up = 0.45 if pose.rotation % 360 == 0 else -0.45 if pose.rotation % 360 == 180 else 0.0
        return lambda t: up + 0.15 * (t - 0.5)
    if pose.rotation % 360 == 0:
        return lambda t: 0.9 * t**2 - 0.15
    if pose.rotation % 360 == 180:
        return lambda t: 0.1 - 0.9 * (1 - t) ** 2
    return lambda t: 0.2 - 0.8 * abs(t - 0.5)


def hidden_arch(shape: Shape, pose: Pose, color: Rgb) -> tuple[Patch, ...]:
    """The arch of a piece that turns another face to the player, dashed and as wide as that face has room for.

    Nothing for a piece whose arch shows, or that has none.
    """
    if not shape.opening or pose.facing == "front":
        return ()
    (seen_x, _, seen_z), (wide, _, high) = shape.size(pose), shape.size(Pose(pose.rotation))
    radius = shape.opening / 2
    ends = np.linspace(0, np.pi, 2 * round(np.pi * radius / (2 * DASH_MM)) + 2)
    arch = (radius * np.exp(1j * ends) - 0.5j * shape.height) * np.exp(1j * np.radians(pose.rotation))
    points = list(zip((arch.real * seen_x / wide).tolist(), (arch.imag * seen_z / high).tolist(), strict=True))
    dashes = tuple(zip(points[::2], points[1::2], strict=True))
    return (Patch(dashes, None, mixed(color, BLACK, 0.6), DASH_LINE_MM),)


def build_patches(placed_pieces: Iterable[Piece], pieces: PieceSet, *, arches: bool = False) -> tuple[Patch, ...]:
    """Placed pieces in the elevation the player sees; the farther are painted first; ``arches`` also where hidden."""
    made: list[Patch] = []
    for p in sorted(placed_pieces, key=lambda p: -p.y):
        shape, color = shape_of(pieces, p), pieces.rgb(p.color)
        patches = piece_patches(shape, p.pose, color) + (hidden_arch(shape, p.pose, color) if arches else ())
        made += placed(patches, 1.0, p.x, p.z)
    return tuple(made)
