"""The things that get onto a table: hands, fingers, tongs, phones, coins, pens, clutter, what covers a marker.

Every function takes the picture, the truth, where the thing goes, and a generator, and gives the new picture back.
"""

from dataclasses import replace

import cv2
import numpy as np

from calibration.markers import MARKER_CENTRES
from calibration.mat import FIELD
from referee.benchmark.effects.light import linear_light, paper_light
from referee.benchmark.effects.scene import Inputs, Truth
from referee.benchmark.effects.solids import Body, Box, capsule, draw_body, draw_box, lay_flat

SKINS = ("#e8bea0", "#d9a383", "#b98060", "#7a4c34")
SLEEVES = ("#26324a", "#7c2f2f", "#8a8f94", "#3d5a3a", "#d8d4cc")
PLACES = ("beside", "behind", "before")


def _albedo(code: str) -> np.ndarray:
    bgr = np.array([[[int(code[k : k + 2], 16) for k in (5, 3, 1)]]], np.uint8)
    return linear_light(bgr)[0, 0].astype(float)


def place_beside_build(truth: Truth, place: str, gap_mm: float, rng: np.random.Generator) -> np.ndarray:
    """(2,) mm beside the build where there is more room, behind it or before it as the camera sees it."""
    x0, x1, y0, y1, _ = truth.extent
    middle = np.array([(x0 + x1) / 2, (y0 + y1) / 2])
    if place == "beside":
        right = FIELD[0] - x1 >= x0 + FIELD[0]
        return np.array([x1 + gap_mm if right else x0 - gap_mm, middle[1] + rng.uniform(-10, 10)])
    away = gap_mm + abs(truth.toward_camera @ (x1 - x0, y1 - y0)) / 2
    along = rng.uniform(-0.3, 0.3) * (x1 - x0)
    side = np.array([-truth.toward_camera[1], truth.toward_camera[0]])
    return middle + side * along + truth.toward_camera * (away if place == "before" else -away)


def hand_body(tip: np.ndarray, toward: np.ndarray, curls: tuple[float, ...], rng: np.random.Generator) -> Body:
    """A right hand whose middle finger's base is about 60 mm before ``tip`` (3,), its forearm coming along ``toward``
    (2,): four fingers bent by ``curls`` (0 straight, 1 fist), thumb, back of the hand, wrist, sleeve."""
    skin = _albedo(str(rng.choice(SKINS))) * rng.uniform(0.9, 1.1)
    ahead = np.array([*toward, -0.25]) / np.linalg.norm([*toward, -0.25])
    side = np.cross(ahead, (0, 0, 1.0))
    side /= np.linalg.norm(side)
    up = np.cross(side, ahead)
    knuckles = np.asarray(tip, float) - 62 * ahead + 14 * up
    wrist = knuckles - 88 * ahead
    parts = [
        _finger(knuckles + side * (s * 19.5), ahead, up, c, skin, k)
        for k, (s, c) in enumerate(zip((-1.5, -0.5, 0.5, 1.5), curls, strict=True))
    ]
    for s in (-1.5, -0.5, 0.5, 1.5):  # the back of the hand: four bones under one skin
        parts.append(capsule(knuckles + side * s * 19, wrist + side * s * 13, 12.5, 15, skin))
    parts.append(_thumb(knuckles, wrist, ahead, side, up, skin))
    elbow = wrist - 250 * np.array([ahead[0], ahead[1], -0.12])
    cuff = wrist + 0.3 * (elbow - wrist)
    for s in (-1, 1):  # a forearm is wider than thick
        parts.append(capsule(wrist + side * s * 9, cuff + side * s * 12, 19, 24, skin))
    sleeve = _albedo(str(rng.choice(SLEEVES)))
    for s in (-1, 1):
        parts.append(capsule(cuff + side * s * 12, elbow + side * s * 18, 31, 40, sleeve))
    return sum(parts[1:], parts[0])


def _finger(base: np.ndarray, ahead: np.ndarray, up: np.ndarray, curl: float, skin: np.ndarray, k: int) -> Body:
    long = (0.92, 1.0, 0.95, 0.78)[k]
    parts, at, bend = [], base, 0.15
    for length, r0, r1, more in ((44, 9.6, 8.8, 0.55), (27, 8.8, 8.0, 1.25), (22, 8.0, 6.6, 0.8)):
        bend += curl * more
        step = long * length * (np.cos(bend) * ahead - np.sin(bend) * up)
        parts.append(capsule(at, at + step, r0, r1, skin))
        at = at + step
    nail = capsule(at + 3.2 * up, at + 3.4 * up - 5 * ahead, 4.6, 4.6, np.minimum(skin * 1.35 + 0.05, 0.9))
    return parts[0] + parts[1] + parts[2] + nail


def _thumb(knuckles, wrist, ahead, side, up, skin) -> Body:
    root = wrist + 25 * ahead - 24 * side - 4 * up
    joint = root + 42 * ahead - 22 * side - 10 * up
    end = joint + 40 * ahead + 3 * side - 12 * up
    return capsule(root, joint, 14, 11.5, skin) + capsule(joint, end, 11.0, 8.5, skin)


def hand(inputs: Inputs, truth: Truth, place: str, rng: np.random.Generator) -> np.ndarray:
    """A hand that reaches into the field from the player's side."""
    at = place_beside_build(truth, place, 38.0, rng)
    tip = np.array([*at, rng.uniform(8, 0.5 * truth.extent[4] + 15)])
    curls = tuple(rng.uniform(0.1, 0.5) + 0.05 * k for k in range(4))
    return _drawn(inputs, truth, hand_body(tip, _from_player(rng), curls, rng), rng)


def finger(inputs: Inputs, truth: Truth, place: str, rng: np.random.Generator) -> np.ndarray:
    """A hand further out, its pointing finger stretched into the field."""
    at = place_beside_build(truth, place, 16.0, rng)
    tip = np.array([*at, rng.uniform(8, 30)])
    return _drawn(inputs, truth, hand_body(tip, _from_player(rng), (0.08, 0.95, 1.0, 1.0), rng), rng)


def tongs(inputs: Inputs, truth: Truth, place: str, rng: np.random.Generator) -> np.ndarray:
    """Wooden or steel tongs, two arms that meet outside the field, held by a hand there."""
    at = place_beside_build(truth, place, 18.0, rng)
    tip = np.array([*at, rng.uniform(10, 0.6 * truth.extent[4] + 15)])
    toward = _from_player(rng)
    steel = rng.random() < 0.4
    albedo = _albedo("#9a9da0" if steel else str(rng.choice(["#c8a26b", "#b98a52", "#d9bd8c"])))
    side = np.array([-toward[1], toward[0], 0])
    back = tip - 205 * np.array([*toward, -0.2])
    arms = [capsule(back + s * 3 * side, tip + s * 14 * side, 4.6, 3.4, albedo) for s in (-1, 1)]
    body = replace(arms[0] + arms[1], gloss=0.6 if steel else 0.15, grain=0.02 if steel else 0.06)
    frame = _drawn(inputs, truth, body, rng)
    grip = hand_body(tip - 120 * np.array([*toward, -0.2]) + (0, 0, 4), toward, (0.8, 0.85, 0.9, 0.95), rng)
    return draw_body(frame, truth, grip, paper_light(inputs, truth), rng)


def _from_player(rng: np.random.Generator) -> np.ndarray:
    """(2,) unit vector: a hand comes from the player's side, a little askew."""
    angle = np.radians(rng.uniform(60, 115))
    return np.array([np.cos(angle), np.sin(angle)])


def _drawn(inputs: Inputs, truth: Truth, body: Body, rng: np.random.Generator) -> np.ndarray:
    return draw_body(inputs.frame, truth, body, paper_light(inputs, truth), rng)


def _quad(at: np.ndarray, wide: float, high: float, turn_deg: float) -> np.ndarray:
    c, s = np.cos(np.radians(turn_deg)), np.sin(np.radians(turn_deg))
    corners = np.array([(-wide, high), (wide, high), (wide, -high), (-wide, -high)]) / 2
    return corners @ np.array([[c, s], [-s, c]]) + at


def _rounded(h: int, w: int, radius: int) -> np.ndarray:
    cover = np.zeros((h, w), np.uint8)
    cv2.rectangle(cover, (radius, 0), (w - radius - 1, h - 1), 255, -1)
    cv2.rectangle(cover, (0, radius), (w - 1, h - radius - 1), 255, -1)
    for x in (radius, w - radius - 1):
        for y in (radius, h - radius - 1):
            cv2.circle(cover, (x, y), radius, 255, -1, cv2.LINE_AA)
    return cover.astype(np.float32) / 255


def phone_picture(rng: np.random.Generator, lit: bool) -> np.ndarray:
    """(300, 144, 4) linear albedo and cover: glass with a window's sheen, or a screen with a page on it."""
    h, w = 300, 144
    picture = np.full((h, w, 3), 0.012)
    slope = (np.mgrid[:h, :w].sum(0) / (h + w))[..., None]
    if lit:
        top, low = _albedo("#1c3f78"), _albedo(str(rng.choice(["#c04a7a", "#3aa0a8", "#e0a040"])))
        picture[6:-6, 6:-6] = (low + slope * (top - low))[6:-6, 6:-6] * 1.2
        for row in range(5):
            for col in range(4):
                color = _albedo(str(rng.choice(["#e04038", "#38a848", "#2f6fd0", "#f0f0f0", "#f0b020"])))
                cv2.rectangle(
                    picture, (16 + 31 * col, 60 + 36 * row), (35 + 31 * col, 79 + 36 * row), color.tolist(), -1
                )
    band = np.exp(-(((slope - rng.uniform(0.35, 0.65)) / 0.07) ** 2))
    return np.dstack([picture + 0.22 * band, _rounded(h, w, 16)]).astype(np.float32)


def phone(inputs: Inputs, truth: Truth, level: str, rng: np.random.Generator) -> np.ndarray:
    """A phone on the mat: over the field's edge, or all in the field beside the build, dark or lit."""
    at = place_beside_build(truth, "beside", 46.0, rng)
    if level == "edge":
        at = np.array([np.sign(at[0]) * (FIELD[0] + 12), at[1]])
    corners = _quad(at, 72, 150, rng.uniform(-20, 20))
    return lay_flat(inputs.frame, truth, phone_picture(rng, level == "lit"), corners, 8.0, paper_light(inputs, truth))


def coin(inputs: Inputs, truth: Truth, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many coins on the mat beside the build."""
    frame, light = inputs.frame, paper_light(inputs, truth)
    for k in range(count):
        face = _coin_picture(rng)
        at = place_beside_build(truth, "beside", 22.0 + 27 * k, rng) + rng.uniform(-6, 6, 2) * (0, 3)
        frame = lay_flat(frame, truth, face, _quad(at, 24, 24, rng.uniform(0, 360)), 2.0, light)
    return frame


def _coin_picture(rng: np.random.Generator) -> np.ndarray:
    size, metal = 64, _albedo(str(rng.choice(["#b5a36a", "#a8a9ab", "#a5683c"])))
    relief = cv2.GaussianBlur(rng.standard_normal((size, size)).astype(np.float32), (0, 0), 3.0) * 1.6
    cover = cv2.circle(np.zeros((size, size), np.uint8), (32, 32), 30, 255, -1, cv2.LINE_AA).astype(np.float32) / 255
    rim = cv2.circle(np.zeros((size, size), np.float32), (32, 32), 28, 0.5, 3)
    return np.dstack([metal * (1 + 0.5 * relief + rim)[..., None], cover]).astype(np.float32)


def pen(inputs: Inputs, truth: Truth, level: str, rng: np.random.Generator) -> np.ndarray:
    """A pen beside the build, or before it."""
    at = place_beside_build(truth, level, 24.0, rng)
    angle = np.radians(rng.uniform(65, 115) if level == "beside" else rng.uniform(-15, 15))
    along = np.array([np.cos(angle), np.sin(angle), 0])
    a, b = (np.array([*at, 5.0]) + k * along for k in (-70, 45))
    tip, body = b + 14 * along, _albedo(str(rng.choice(["#1d2f7a", "#111111", "#a01818", "#e8e8e8"])))
    whole = capsule(a, b, 5, 5, body, 0.6) + capsule(b, tip, 4.6, 1.4, _albedo("#8f9296"))
    return _drawn(inputs, truth, whole, rng)


def clutter(inputs: Inputs, truth: Truth, level: str, rng: np.random.Generator) -> np.ndarray:
    """Things in the pieces' own colours outside the field: boxes and balls on the table, on the sheet's rim, a cup."""
    frame, light = inputs.frame, paper_light(inputs, truth)
    names = list(truth.piece_set.colors)
    for _ in range({"table": 6, "sheet": 4, "cup": 1}[level]):
        albedo = _albedo(truth.piece_set.colors[str(rng.choice(names))]) * rng.uniform(0.85, 1.1)
        if level == "cup":
            return draw_body(frame, truth, _cup(_beyond(truth, 175, rng), albedo), light, rng)
        at = _beyond(truth, 190 if level == "table" else 118, rng)
        if rng.random() < 0.5:
            frame = draw_box(frame, truth, Box(at, rng.uniform(18, 48, 3), rng.uniform(0, 90), albedo), light)
        else:
            r = float(rng.uniform(10, 20))
            ball = Body(np.array([[*at, r]] * 2), np.full(2, r), np.tile(albedo, (2, 1)), 0.5)
            frame = draw_body(frame, truth, ball, light, rng)
    return frame


def _beyond(truth: Truth, x_mm: float, rng: np.random.Generator) -> np.ndarray:
    """(2,) mm outside the field: aside of it, or beyond its far or near line."""
    if rng.random() < 0.5:
        return np.array([rng.choice([-1, 1]) * rng.uniform(x_mm, x_mm + 25), rng.uniform(-70, 110)])
    return np.array([rng.uniform(-120, 120), rng.choice([-1, 1]) * rng.uniform(0.72 * x_mm, 0.72 * x_mm + 25)])


def _cup(at: np.ndarray, albedo: np.ndarray) -> Body:
    """A mug: rings of small spheres as its wall, a handle."""
    t = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    wall = [np.stack([38 * np.cos(t) + at[0], 38 * np.sin(t) + at[1], np.full(60, z)], 1) for z in np.arange(4, 92, 4)]
    a = np.linspace(-1.2, 1.2, 20)
    handle = np.stack([at[0] + 38 + 22 * np.cos(a), np.full(20, at[1]), 48 + 26 * np.sin(a)], 1)
    centres = np.concatenate([*wall, handle])
    return Body(centres, np.full(len(centres), 4.5), np.tile(albedo, (len(centres), 1)), 0.5)


def cover_markers(inputs: Inputs, truth: Truth, count: int, rng: np.random.Generator) -> np.ndarray:
    """So many of the mat's markers under a playing card, a dark wallet or a sheet of paper."""
    frame, light = inputs.frame, paper_light(inputs, truth)
    for k in rng.permutation(4)[:count]:
        color = _albedo(str(rng.choice(["#f2f0ea", "#2a2420", "#7a2020", "#c8b890"])))
        face = np.dstack([np.tile(color, (90, 63, 1)), _rounded(90, 63, 5)]).astype(np.float32)
        at = MARKER_CENTRES[k] * 1.06 + rng.uniform(-5, 5, 2)
        frame = lay_flat(frame, truth, face, _quad(at, 58, 62, rng.uniform(-25, 25)), 3.0, light)
    return frame
