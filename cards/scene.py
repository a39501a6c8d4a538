"""Flat pictures as values: polygons in millimetres, painted in order, rendered as SVG or pixels.

x runs to the right and y **up**, as in an elevation. A scene knows no device: ``to_svg`` here,
``cards.drawing`` and ``calibration.print_sheets`` (PDF) paint the very same polygons, so
that the screen, the printed card and the simulated one cannot differ. Digits are polygons
too (``fonts/digits.json``): no renderer needs a font.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path

import numpy as np

Rgb = tuple[int, int, int]
Contour = tuple[tuple[float, float], ...]
WHITE: Rgb = (255, 255, 255)
BLACK: Rgb = (0, 0, 0)
RED: Rgb = (200, 32, 44)
"""What is printed on cards beside pieces."""


@dataclass(frozen=True)
class Patch:
    """One or more closed contours in mm, filled even-odd; a ``line_mm`` above 0 also strokes them."""

    contours: tuple[Contour, ...]
    fill: Rgb | None
    line: Rgb | None = None
    line_mm: float = 0.0


@dataclass(frozen=True)
class PatchDrawing:
    """A picture of ``width`` x ``height`` mm, origin at its lower left corner."""

    width: float
    height: float
    patches: tuple[Patch, ...] = ()
    paper: Rgb = (255, 255, 255)


def patch(points: Iterable[Sequence[float]], fill: Rgb | None, line: Rgb | None = None, line_mm: float = 0.0) -> Patch:
    """A Patch of one contour."""
    return Patch((_contour(points),), fill, line, line_mm)


def box(x: float, y: float, width: float, height: float, fill: Rgb) -> Patch:
    """A filled upright rectangle whose lower left corner is (x, y)."""
    return patch(corners(x, y, width, height), fill)


def corners(x: float, y: float, width: float, height: float) -> list[tuple[float, float]]:
    """The corners of an upright rectangle whose lower left one is (x, y)."""
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def placed(patches: Iterable[Patch], scale: float = 1.0, dx: float = 0.0, dy: float = 0.0) -> tuple[Patch, ...]:
    """The patches scaled about the origin, then moved; line widths stay in mm."""

    def place(p: Patch) -> Patch:
        contours = tuple(tuple((x * scale + dx, y * scale + dy) for x, y in c) for c in p.contours)
        return replace(p, contours=contours)

    return tuple(map(place, patches))


def bounds(patches: Iterable[Patch]) -> tuple[float, float, float, float]:
    """(x0, y0, x1, y1) mm around all contours; zeros when there are none."""
    points = np.array([xy for p in patches for c in p.contours for xy in c]).reshape(-1, 2)
    if not len(points):
        return 0.0, 0.0, 0.0, 0.0
    return (*points.min(0).tolist(), *points.max(0).tolist())


def mixed(color: Rgb, with_: Rgb, share: float) -> Rgb:
    """``color`` moved by ``share`` (0..1) towards another."""
    r, g, b = (round(a + (b - a) * share) for a, b in zip(color, with_, strict=True))
    return r, g, b


def words(text: str, x: float, y: float, cap_mm: float, fill: Rgb) -> tuple[Patch, ...]:
    """Letters and digits of height ``cap_mm``, centred on x, their feet at y; ``?`` for a sign the font lacks."""
    scale, glyphs = cap_mm, _glyphs()
    left = x - words_width(text, cap_mm) / 2
    patches: list[Patch] = []
    for sign in text:
        advance, contours = glyphs.get(sign, glyphs["?"])
        patches += placed([Patch(contours, fill)], scale, left, y)
        left += advance * scale
    return tuple(patches)


def words_width(text: str, cap_mm: float) -> float:
    """How wide ``words`` will be, mm."""
    glyphs = _glyphs()
    return cap_mm * sum(glyphs.get(sign, glyphs["?"])[0] for sign in text)


@lru_cache(maxsize=1)
def _glyphs() -> dict[str, tuple[float, tuple[Contour, ...]]]:
    data = json.loads((Path(__file__).parent / "fonts" / "glyphs.json").read_text(encoding="utf-8"))
    return {d: (g["advance"], tuple(_contour(c) for c in g["contours"])) for d, g in data["glyphs"].items()}


def _contour(points: Iterable[Sequence[float]]) -> Contour:
    return tuple((float(p[0]), float(p[1])) for p in points)


def to_svg(scene: PatchDrawing, title: str = "") -> str:
    """The scene as a stand-alone SVG document, millimetres as its units, with a viewBox."""
    w, h = _n(scene.width), _n(scene.height)
    rows = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}mm" height="{h}mm" viewBox="0 0 {w} {h}">']
    if title:
        rows.append(f"<title>{escape(title, quote=False)}</title>")
    rows.append(f'<rect width="{w}" height="{h}" fill="{hex_of(scene.paper)}"/>')
    rows += [_svg_path(p, scene.height) for p in scene.patches]
    return "\n".join([*rows, "</svg>"])


def _svg_path(p: Patch, height: float) -> str:
    data = "".join("M" + "L".join(f"{_n(x)} {_n(height - y)}" for x, y in c) + "Z" for c in p.contours)
    fill = hex_of(p.fill) if p.fill else "none"
    stroke = ""
    if p.line and p.line_mm:
        stroke = f' stroke="{hex_of(p.line)}" stroke-width="{_n(p.line_mm)}" stroke-linejoin="round"'
    return f'<path d="{data}" fill="{fill}" fill-rule="evenodd"{stroke}/>'


def hex_of(color: Rgb) -> str:
    """``#rrggbb``."""
    return "#{:02x}{:02x}{:02x}".format(*color)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") or "0"
