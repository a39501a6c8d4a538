"""What happens to a rig between calibrating and judging: it is bumped, a mat slides, aids belong to another table."""

from __future__ import annotations

import dataclasses
import math
import tempfile
from pathlib import Path

import cv2
import numpy as np

from calibration.mat import SHEET
from referee.benchmark.effects.scene import Scene, Take
from referee.errors import BadImage
from referee.vision.image.files import read_picture
from referee.vision.search.sizes import resized


def bump(take: Take, scene: Scene, px: float, rng: np.random.Generator) -> Take:
    """The camera was knocked: everything seen since is shifted by so many pixels of 720p and turned a little."""
    h, w = take.frame.shape[:2]
    angle = rng.uniform(0, 2 * math.pi)
    shift = px * w / 1280 * np.array([math.cos(angle), math.sin(angle)])
    matrix = cv2.getRotationMatrix2D((w / 2, h / 2), rng.uniform(-0.03, 0.03) * px, 1.0)
    matrix[:, 2] += shift
    moved = cv2.warpAffine(take.frame, matrix, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return dataclasses.replace(take, frame=moved)


def slid_mat(take: Take, scene: Scene, mm: float, rng: np.random.Generator) -> Take:
    """The zone's sheet lay elsewhere by so much when the empty frame was taken."""
    if take.empty is None:
        return take
    angle = rng.uniform(0, 2 * math.pi)
    step = mm * np.array([math.cos(angle), math.sin(angle)])
    x, y = SHEET[0] / 2 + 2, SHEET[1] / 2 + 2
    corners = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    here = scene.pixels(np.c_[corners, np.zeros(4)]).astype(np.float32)
    there = scene.pixels(np.c_[corners + step, np.zeros(4)]).astype(np.float32)
    size = take.empty.shape[1::-1]
    cover = cv2.fillConvexPoly(np.zeros(size[::-1], np.uint8), here.round().astype(np.int32), 255)
    bare = cv2.inpaint(
        cv2.resize(take.empty, None, fx=0.25, fy=0.25), cv2.resize(cover, None, fx=0.25, fy=0.25), 5, cv2.INPAINT_TELEA
    )
    bare = np.where(cover[..., None] > 0, cv2.resize(bare, size), take.empty)
    to_there = cv2.getPerspectiveTransform(here, there)
    sheet = cv2.warpPerspective(take.empty, to_there, size, flags=cv2.INTER_CUBIC)
    alpha = cv2.warpPerspective(cover, to_there, size)[..., None] / 255.0
    return dataclasses.replace(take, empty=(bare * (1 - alpha) + sheet * alpha + 0.5).astype(np.uint8))


def wrong_empty(take: Take, scene: Scene, level: str, rng: np.random.Generator) -> Take:
    """An empty frame of another session, or one with pieces all over the fields."""
    wrong = take.colors if level == "pieces" else _fitting(scene.other.empty if scene.other else None, take)
    return take if wrong is None else dataclasses.replace(take, empty=wrong)


def wrong_colors(take: Take, scene: Scene, level: str, rng: np.random.Generator) -> Take:
    """A colours frame of another session, or the empty frame for it, or a frame with half of the pieces."""
    others = _fitting(scene.other.colors if scene.other else None, take)
    wrong = {"session": others, "empty": take.empty, "duel": take.frame}[level]
    return take if wrong is None else dataclasses.replace(take, colors=wrong)


def wrong_lens(take: Take, scene: Scene, factor: float, rng: np.random.Generator) -> Take:
    """A lens file whose focal length is wrong by this factor."""
    if take.camera is None:
        return take
    scale = np.diag([factor, factor, 1.0])
    scale[:2, 2] = (1 - factor) * take.camera.matrix[:2, 2]
    return dataclasses.replace(take, camera=dataclasses.replace(take.camera, matrix=scale @ take.camera.matrix))


def _fitting(image: np.ndarray | None, take: Take) -> np.ndarray | None:
    return None if image is None else cv2.resize(image, take.frame.shape[1::-1])


def wrong_sizes(take: Take, scene: Scene, percent: float, rng: np.random.Generator) -> Take:
    """A piece file whose lengths are all wrong by so much."""
    return dataclasses.replace(take, piece_set=resized(take.piece_set, 1 + percent / 100))


def turned(take: Take, scene: Scene, degrees: int, rng: np.random.Generator) -> Take:
    """The camera hangs upside down or on its side; the aids were taken upright."""
    return dataclasses.replace(take, frame=np.ascontiguousarray(np.rot90(take.frame, degrees // 90)))


def mirrored(take: Take, scene: Scene, level: str, rng: np.random.Generator) -> Take:
    """A selfie camera's mirror image."""
    return dataclasses.replace(take, frame=np.ascontiguousarray(take.frame[:, ::-1]))


def garbled(take: Take, scene: Scene, count: int, rng: np.random.Generator) -> Take:
    """The file came with so many wrong bytes in it. Raises BadImage where the reader refuses it."""
    _, data = cv2.imencode(".jpg", take.frame, [cv2.IMWRITE_JPEG_QUALITY, 92])
    data = data.ravel().copy()
    data[rng.integers(700, len(data) - 2, count)] = rng.integers(0, 256, count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "garbled.jpg"
        path.write_bytes(data.tobytes())
        read = read_picture(path)
    if read.shape != take.frame.shape:
        raise BadImage("the file's size is garbled")
    return dataclasses.replace(take, frame=read)
