"""The effects by name: what each does, at which levels, and whether it hits one field or the whole picture."""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibration.mat import FIELD
from referee.benchmark.effects import light, rig, things
from referee.benchmark.effects.scene import Inputs, Truth

Level = float | str
Draw = Callable[[Inputs, Truth, Any, np.random.Generator], Inputs]


@dataclass(frozen=True)
class Effect:
    """One effect: ``draw`` makes new inputs at one of the ``levels``, mildest first; with ``one_field`` it hits the
    truth's zone only, and only that zone's verdict says something about it."""

    name: str
    levels: tuple[Level, ...]
    draw: Draw
    one_field: bool = False


def _photo(change: Callable[[np.ndarray, Any], np.ndarray]) -> Draw:
    """What a picture shows of it, whatever is in it."""
    return lambda inputs, truth, level, rng: dataclasses.replace(inputs, frame=change(inputs.frame, level))


def _drawn(draw: Callable[[Inputs, Truth, Any, np.random.Generator], np.ndarray]) -> Draw:
    """What is drawn into the frame."""
    return lambda inputs, truth, level, rng: dataclasses.replace(inputs, frame=draw(inputs, truth, level, rng))


def _motion(inputs: Inputs, truth: Truth, px: float, rng: np.random.Generator) -> np.ndarray:
    return light.motion(inputs.frame, px * inputs.frame.shape[1] / 1280, rng.uniform(0, 180))


def _glare(inputs: Inputs, truth: Truth, peak: float, rng: np.random.Generator, on_build: bool) -> np.ndarray:
    x0, x1, y0, y1, z = truth.extent
    if on_build:
        at = np.array([rng.uniform(x0, x1), (y0 + y1) / 2, rng.uniform(0.2, 0.9) * z])
    else:
        at = np.array([rng.uniform(-FIELD[0], FIELD[0]), rng.uniform(-FIELD[1], FIELD[1]), 0.0])
    middle = truth.pixels(at[None])[0]
    scale = truth.camera.focal_px / truth.pose.translation[2] * (12.0 if on_build else 26.0)
    size = (scale * rng.uniform(0.8, 1.6), scale * rng.uniform(0.5, 1.0))
    return light.glare(inputs.frame, middle, size, rng.uniform(0, 180), peak)


def _shadow(inputs: Inputs, truth: Truth, depth: float, rng: np.random.Generator, soft_mm: float) -> np.ndarray:
    x0, x1, y0, y1, _ = truth.extent
    at = truth.pixels(np.array([(rng.uniform(x0, x1), (y0 + y1) / 2, 20.0)]))[0]
    scale = truth.camera.focal_px / truth.pose.translation[2]
    where = light.shadow_edge(
        inputs.frame.shape[:2], at, rng.uniform(0, 360), soft_mm * scale, truth.over_field(inputs.frame.shape[:2])
    )
    return light.shadow(inputs.frame, where, depth)


def _field_shadow(inputs: Inputs, truth: Truth, depth: float, rng: np.random.Generator) -> np.ndarray:
    return light.shadow(inputs.frame, truth.over_field(inputs.frame.shape[:2]), depth)


_ROWS = (
    Effect("clean", (0,), lambda inputs, truth, level, rng: inputs),
    Effect("overexposed", (0.2, 0.35, 0.7), _photo(light.exposure)),
    Effect("underexposed", (-0.5, -1.0, -1.7), _photo(light.exposure)),
    Effect("veil", (0.08, 0.16, 0.3), _photo(light.veil)),
    Effect("glare_mat", (0.3, 0.7, 1.5), _drawn(partial(_glare, on_build=False)), True),
    Effect("glare_build", (0.2, 0.5, 1.2), _drawn(partial(_glare, on_build=True)), True),
    Effect("shadow_soft", (0.65, 0.45, 0.25), _drawn(partial(_shadow, soft_mm=14.0)), True),
    Effect("shadow_hard", (0.65, 0.45, 0.25), _drawn(partial(_shadow, soft_mm=0.8)), True),
    Effect("shadow_field", (0.65, 0.45, 0.25), _drawn(_field_shadow), True),
    Effect("noise", (4, 8, 14), _drawn(lambda inputs, truth, sigma, rng: light.noise(inputs.frame, sigma, rng))),
    Effect("blur", (1.0, 1.8, 3.0), _photo(lambda frame, px: light.blur(frame, px * frame.shape[1] / 1280))),
    Effect("motion", (5, 9, 15), _drawn(_motion)),
    Effect("jpeg", (40, 22, 10), _photo(light.jpeg)),
    Effect("white_balance", (0.1, -0.15, 0.25, -0.3), _photo(light.white_balance)),
    Effect("hdr", (0.3, 0.6, 1.0), _photo(light.hdr)),
    Effect("saturation", (0.8, 0.6, 1.4), _photo(light.saturation)),
    Effect("phone", ("edge", "in", "lit"), _drawn(things.phone), True),
    Effect("coin", (1, 3), _drawn(things.coin), True),
    Effect("pen", ("beside", "before"), _drawn(things.pen), True),
    Effect("hand", things.PLACES, _drawn(things.hand), True),
    Effect("finger", things.PLACES, _drawn(things.finger), True),
    Effect("tongs", things.PLACES, _drawn(things.tongs), True),
    Effect("clutter", ("table", "sheet", "cup"), _drawn(things.clutter), True),
    Effect("bump", (2, 6, 20), rig.bump),
    Effect("slid_mat", (4, 12, 35), rig.slid_mat, True),
    Effect("covered_markers", (1, 2, 3), _drawn(things.cover_markers), True),
    Effect("wrong_empty", ("session", "pieces"), rig.wrong_empty),
    Effect("wrong_colors", ("session", "empty", "duel"), rig.wrong_colors),
    Effect("wrong_lens", (0.92, 1.08), rig.wrong_lens),
    Effect("wrong_sizes", (3, -3, 6, -6, 10, -10), rig.wrong_sizes),
    Effect("gray", (0,), _photo(lambda f, _: light.gray(f))),
    Effect("mirrored", (0,), _photo(lambda f, _: np.ascontiguousarray(f[:, ::-1]))),  # a selfie camera's
    # The camera hangs upside down or on its side; the aids were taken upright.
    Effect("turned", (180, 90), _photo(lambda f, degrees: np.ascontiguousarray(np.rot90(f, degrees // 90)))),
    Effect("garbled", (30, 300), rig.garbled_file),
)
EFFECTS = {effect.name: effect for effect in _ROWS}
"""Every effect by name."""
