"""The effects by name: what each does, at which levels, and whether it hits one field or the whole picture."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np

from calibration.mat import FIELD
from referee.benchmark.effects import light, rig, things
from referee.benchmark.effects.scene import Inputs, Truth

Level = float | str
L = TypeVar("L")
Draw = Callable[[Inputs, Truth, Level, np.random.Generator], Inputs]


@dataclass(frozen=True)
class Effect:
    """One effect: ``draw`` makes new inputs at one of the ``levels``, mildest first; with ``one_field`` it hits the
    scene's zone only, and only that zone's verdict says something about it."""

    name: str
    levels: tuple[Level, ...]
    draw: Draw
    one_field: bool = False


def _photo(change: Callable[[np.ndarray, float], np.ndarray]) -> Draw:
    return lambda inputs, scene, level, rng: dataclasses.replace(inputs, frame=change(inputs.frame, float(level)))


def _thing(kind: Callable[[Level], L], draw: Callable[[Inputs, Truth, L, np.random.Generator], np.ndarray]) -> Draw:
    """What changes the frame only, by a level of that kind: a place, a count."""
    return lambda inputs, scene, level, rng: dataclasses.replace(inputs, frame=draw(inputs, scene, kind(level), rng))


def _of(kind: Callable[[Level], L], draw: Callable[[Inputs, Truth, L, np.random.Generator], Inputs]) -> Draw:
    """What changes anything of the inputs, by a level of that kind."""
    return lambda inputs, scene, level, rng: draw(inputs, scene, kind(level), rng)


def _motion(inputs: Inputs, scene: Truth, px: Level, rng: np.random.Generator) -> Inputs:
    length = float(px) * inputs.frame.shape[1] / 1280
    return dataclasses.replace(inputs, frame=light.motion(inputs.frame, length, rng.uniform(0, 180)))


def _noise(inputs: Inputs, scene: Truth, sigma: Level, rng: np.random.Generator) -> Inputs:
    return dataclasses.replace(inputs, frame=light.noise(inputs.frame, float(sigma), rng))


def _blur(inputs: Inputs, scene: Truth, px: Level, rng: np.random.Generator) -> Inputs:
    return dataclasses.replace(inputs, frame=light.blur(inputs.frame, float(px) * inputs.frame.shape[1] / 1280))


def _glare(inputs: Inputs, scene: Truth, peak: Level, rng: np.random.Generator, on_build: bool) -> Inputs:
    x0, x1, y0, y1, z = scene.extent
    if on_build:
        at = np.array([rng.uniform(x0, x1), (y0 + y1) / 2, rng.uniform(0.2, 0.9) * z])
    else:
        at = np.array([rng.uniform(-FIELD[0], FIELD[0]), rng.uniform(-FIELD[1], FIELD[1]), 0.0])
    middle = scene.pixels(at[None])[0]
    scale = scene.camera.focal_px / scene.pose.translation[2] * (12.0 if on_build else 26.0)
    size = (scale * rng.uniform(0.8, 1.6), scale * rng.uniform(0.5, 1.0))
    frame = light.glare(inputs.frame, middle, size, rng.uniform(0, 180), float(peak))
    return dataclasses.replace(inputs, frame=frame)


def _shadow(inputs: Inputs, scene: Truth, depth: Level, rng: np.random.Generator, soft_mm: float) -> Inputs:
    x0, x1, y0, y1, _ = scene.extent
    at = scene.pixels(np.array([(rng.uniform(x0, x1), (y0 + y1) / 2, 20.0)]))[0]
    scale = scene.camera.focal_px / scene.pose.translation[2]
    where = light.shadow_edge(
        inputs.frame.shape[:2], at, rng.uniform(0, 360), soft_mm * scale, scene.over_field(inputs.frame.shape[:2])
    )
    return dataclasses.replace(inputs, frame=light.shadow(inputs.frame, where, float(depth)))


def _whole_field_shadow(inputs: Inputs, scene: Truth, depth: Level, rng: np.random.Generator) -> Inputs:
    where = scene.over_field(inputs.frame.shape[:2])
    return dataclasses.replace(inputs, frame=light.shadow(inputs.frame, where, float(depth)))


_ROWS = (
    Effect("clean", (0,), lambda inputs, scene, level, rng: inputs),
    Effect("overexposed", (0.2, 0.35, 0.7), _photo(light.exposure)),
    Effect("underexposed", (-0.5, -1.0, -1.7), _photo(light.exposure)),
    Effect("veil", (0.08, 0.16, 0.3), _photo(light.veil)),
    Effect("glare_mat", (0.3, 0.7, 1.5), partial(_glare, on_build=False), True),
    Effect("glare_build", (0.2, 0.5, 1.2), partial(_glare, on_build=True), True),
    Effect("shadow_soft", (0.65, 0.45, 0.25), partial(_shadow, soft_mm=14.0), True),
    Effect("shadow_hard", (0.65, 0.45, 0.25), partial(_shadow, soft_mm=0.8), True),
    Effect("shadow_field", (0.65, 0.45, 0.25), _whole_field_shadow, True),
    Effect("noise", (4, 8, 14), _noise),
    Effect("blur", (1.0, 1.8, 3.0), _blur),
    Effect("motion", (5, 9, 15), _motion),
    Effect("jpeg", (40, 22, 10), _photo(lambda f, q: light.jpeg(f, int(q)))),
    Effect("white_balance", (0.1, -0.15, 0.25, -0.3), _photo(light.white_balance)),
    Effect("hdr", (0.3, 0.6, 1.0), _photo(light.hdr)),
    Effect("saturation", (0.8, 0.6, 1.4), _photo(light.saturation)),
    Effect("phone", ("edge", "in", "lit"), _thing(str, things.phone), True),
    Effect("coin", (1, 3), _thing(int, things.coin), True),
    Effect("pen", ("beside", "before"), _thing(str, things.pen), True),
    Effect("hand", things.PLACES, _thing(str, things.hand), True),
    Effect("finger", things.PLACES, _thing(str, things.finger), True),
    Effect("tongs", things.PLACES, _thing(str, things.tongs), True),
    Effect("clutter", ("table", "sheet", "cup"), _thing(str, things.clutter), True),
    Effect("bump", (2, 6, 20), _of(float, rig.bump)),
    Effect("slid_mat", (4, 12, 35), _of(float, rig.slid_mat), True),
    Effect("covered_markers", (1, 2, 3), _thing(int, things.cover_markers), True),
    Effect("wrong_empty", ("session", "pieces"), _of(str, rig.wrong_empty)),
    Effect("wrong_colors", ("session", "empty", "duel"), _of(str, rig.wrong_colors)),
    Effect("wrong_lens", (0.92, 1.08), _of(float, rig.wrong_lens)),
    Effect("wrong_sizes", (3, -3, 6, -6, 10, -10), _of(float, rig.wrong_sizes)),
    Effect("gray", (0,), _photo(lambda f, _: light.gray(f))),
    Effect("mirrored", (0,), _of(str, rig.mirrored)),
    Effect("turned", (180, 90), _of(int, rig.turned)),
    Effect("garbled", (30, 300), _of(int, rig.garbled)),
)
EFFECTS = {effect.name: effect for effect in _ROWS}
"""Every effect by name."""
