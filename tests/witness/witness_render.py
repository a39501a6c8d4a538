"""One scene path-traced by Mitsuba 3: table, mats, pieces, people, lamps in; linear light out.

The ``llvm_ad_rgb`` variant is three times as quick as ``scalar_rgb``; it needs an LLVM library newer than 15
(Debian: libllvm19, found through DRJIT_LIBLLVM_PATH). Pictures of few paths a pixel are denoised by Intel's Open Image
Denoise (``pip install pyoidn``), helped by each pixel's albedo and normal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import mitsuba as mi
import numpy as np
from witness_prints import grain_picture
from witness_rooms import (
    Lamp,
    Person,
    Room,
    kelvin_rgb,
    limb,
    linear,
    shirt_picture,
    srgb,
    surroundings,
    table_picture,
    torso,
)
from witness_solids import Mesh, about_z
from witness_webcam import Webcam

UNIT = 0.01
"""Scene units a millimetre: decimetres, where the renderer's ray offsets are far below a tenth of a millimetre."""


@dataclass(frozen=True)
class Thing:
    """A mesh in world mm with its surface: ``picture`` sRGB BGR, ``roughness`` 0 for matt, else of its gloss."""

    mesh: Mesh
    picture: np.ndarray
    roughness: float = 0.0


@dataclass(frozen=True)
class View:
    """Where the camera stands: ``eye`` and ``target`` in world mm, rolled by ``roll`` degrees."""

    eye: tuple[float, float, float]
    target: tuple[float, float, float]
    roll: float = 0.0

    def pose(self) -> tuple[np.ndarray, np.ndarray]:
        """World-to-camera turn (3, 3) and shift (3,) by OpenCV's axes: x right, y down, z forward."""
        eye, target = np.array(self.eye), np.array(self.target)
        ahead = (target - eye) / np.linalg.norm(target - eye)
        right = np.cross(ahead, (0, 0, 1.0))
        right /= np.linalg.norm(right)
        turn = about_z(self.roll) @ np.array([right, np.cross(ahead, right), ahead])
        return turn, -turn @ eye


def quad(wide: float, high: float, at: np.ndarray, turn: np.ndarray) -> Mesh:
    """A flat rectangle in the xy plane of ``turn``, its picture upright along y."""
    x, y = wide / 2, high / 2
    points = np.array([(-x, -y, 0), (x, -y, 0), (x, y, 0), (-x, y, 0)])
    uv = np.array([(0, 1.0), (1, 1), (1, 0), (0, 0)])
    mesh = Mesh(points, np.tile((0, 0, 1.0), (4, 1)), np.array([(0, 1, 2), (0, 2, 3)]), uv)
    return mesh.moved(turn, at)


def render(room: Room, things: Sequence[Thing], cam: Webcam, view: View, spp: int, seed: int) -> np.ndarray:
    """Linear RGB light (h, w, 3) on the ideal pinhole picture that ``witness_webcam.take`` wants."""
    return render_scene(scene_of(room, things), cam, view, spp, seed)


def render_denoised(room: Room, things: Sequence[Thing], cam: Webcam, view: View, spp: int, seed: int) -> np.ndarray:
    """The same from few paths a pixel, denoised."""
    import pyoidn

    scene = scene_of(room, things, with_features=True)
    sensor = _sensor(cam, view)
    # neighbours share no path: the denoiser takes their noise as independent
    sensor["film"]["rfilter"] = {"type": "box"}
    layers = np.array(mi.render(scene, sensor=mi.load_dict(sensor), spp=spp, seed=seed))
    light, albedo, normal = (np.ascontiguousarray(layers[..., k : k + 3], np.float32) for k in (0, 3, 6))
    return pyoidn.denoise(light, albedo=albedo, normal=normal, hdr=True)


def render_scene(scene: mi.Scene, cam: Webcam, view: View, spp: int, seed: int) -> np.ndarray:
    """The same of a scene that was made before."""
    return np.array(mi.render(scene, sensor=mi.load_dict(_sensor(cam, view)), spp=spp, seed=seed))[..., :3]


def scene_of(room: Room, things: Sequence[Thing], with_features: bool = False) -> mi.Scene:
    """The room and the things in it, to be rendered from anywhere: it takes longer to make than a picture of few paths
    a pixel. ``with_features``: its pictures have albedo and normal (h, w, 3 each) behind the light."""
    path = {"type": "path", "max_depth": 6, "rr_depth": 4}
    features = {"type": "aov", "aovs": "albedo:albedo,normal:sh_normal", "light": path}
    parts = {"type": "scene", "integrator": features if with_features else path, "around": _around(room)}
    parts |= {f"lamp{k}": _lamp(lamp) for k, lamp in enumerate(room.lamps)}
    surfaces: dict = {}
    everything = [*things, *_furniture(room)]
    parts |= {f"thing{k}": _shape(thing, surfaces) for k, thing in enumerate(everything)}
    return mi.load_dict(parts)


def _furniture(room: Room) -> list[Thing]:
    rng = np.random.default_rng(room.seed + 2)
    level = np.array((0, 60.0, -0.4))
    out = [Thing(quad(*room.table_mm, level, np.eye(3)), table_picture(room), room.gloss)]
    for person in room.people:
        cloth = shirt_picture(person, rng)
        out.append(Thing(torso(person, rng), cloth))
        if person.arms:
            out += _arms(person, cloth, rng)
    return out


def _arms(person: Person, cloth: np.ndarray, rng: np.random.Generator) -> list[Thing]:
    skin = grain_picture(srgb(str(rng.choice(["#d9a383", "#b98060", "#7a4c34", "#e8bea0"]))), 0.02, rng, 64)
    toward, out = -math.copysign(1.0, person.y_mm), []
    for side in (-1, 1):
        elbow = np.array([person.x_mm + side * 215, person.y_mm + toward * 90, 60.0])
        wrist = np.array([person.x_mm + side * 190, person.y_mm + toward * 200, 34.0])
        hand = wrist + (side * -25, toward * 85, -8)
        out += [Thing(limb(elbow, wrist, (48, 34), rng), cloth), Thing(limb(wrist, hand, (30, 26), rng), skin, 0.5)]
    return out


def _sensor(cam: Webcam, view: View) -> dict:
    wide, high = cam.ideal_size
    turn, shift = view.pose()
    to_world = np.eye(4)
    to_world[:3, :3] = turn.T @ np.diag([-1.0, -1.0, 1.0])
    to_world[:3, 3] = -turn.T @ shift * UNIT
    return {
        "type": "perspective",
        "fov": math.degrees(2 * math.atan(wide / 2 / cam.focal_px)),
        "fov_axis": "x",
        "to_world": mi.ScalarTransform4f(to_world),
        "near_clip": 0.5,
        "far_clip": 1000.0,
        "sampler": {"type": "independent"},
        "film": {
            "type": "hdrfilm",
            "width": wide,
            "height": high,
            "pixel_format": "rgb",
            "rfilter": {"type": "gaussian", "stddev": 0.45},
        },
    }


def _around(room: Room) -> dict:
    picture = mi.Bitmap(surroundings(room).astype(np.float32))
    # Mitsuba's map has y up and azimuth 0 towards -z in the middle: turned so that z is up and +y in the middle
    turn = mi.ScalarTransform4f().rotate([1, 0, 0], 90)
    return {"type": "envmap", "bitmap": picture, "to_world": turn}


def _lamp(lamp: Lamp) -> dict:
    light = kelvin_rgb(lamp.kelvin) * lamp.power * (100.0 / lamp.radius_mm) ** 2
    return {
        "type": "sphere",
        "center": [v * UNIT for v in lamp.at_mm],
        "radius": lamp.radius_mm * UNIT,
        "emitter": {"type": "area", "radiance": {"type": "rgb", "value": light.tolist()}},
    }


def _shape(thing: Thing, surfaces: dict) -> mi.Mesh:
    key = (id(thing.picture), thing.roughness)
    if key not in surfaces:
        surfaces[key] = mi.load_dict(_surface(thing))
    props = mi.Properties()
    props["bsdf"] = surfaces[key]
    mesh = thing.mesh
    made = mi.Mesh(
        "thing", len(mesh.points), len(mesh.faces), props=props, has_vertex_normals=True, has_vertex_texcoords=True
    )
    data = mi.traverse(made)
    data["vertex_positions"] = np.ascontiguousarray(mesh.points * UNIT, np.float32).ravel()
    data["vertex_normals"] = np.ascontiguousarray(mesh.normals, np.float32).ravel()
    data["vertex_texcoords"] = np.ascontiguousarray(mesh.uv, np.float32).ravel()
    data["faces"] = np.ascontiguousarray(mesh.faces, np.uint32).ravel()
    data.update()
    return made


def _surface(thing: Thing) -> dict:
    picture = np.minimum(linear(thing.picture), 0.92).astype(np.float32)
    texture = {"type": "bitmap", "bitmap": mi.Bitmap(picture), "raw": True, "wrap_mode": "repeat"}
    if not thing.roughness:
        return {"type": "twosided", "bsdf": {"type": "diffuse", "reflectance": texture}}
    return {
        "type": "twosided",
        "bsdf": {
            "type": "roughplastic",
            "diffuse_reflectance": texture,
            "int_ior": 1.49,
            "alpha": thing.roughness,
            "distribution": "ggx",
        },
    }
