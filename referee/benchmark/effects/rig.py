"""What happens to a rig between calibrating and judging: it is bumped, a mat slides, aids belong to another table."""

import dataclasses
import math
import tempfile
from pathlib import Path

import cv2
import numpy as np

from calibration.mat import SHEET
from referee.benchmark.effects.scene import Inputs, Truth
from referee.errors import BadImage
from referee.vision.image.files import read_picture
from referee.vision.search.sizes import scaled_set


def bump(inputs: Inputs, truth: Truth, px: float, rng: np.random.Generator) -> Inputs:
    """The camera was knocked: everything seen since is shifted by so many pixels of 720p and turned a little."""
    h, w = inputs.frame.shape[:2]
    angle = rng.uniform(0, 2 * math.pi)
    shift = px * w / 1280 * np.array([math.cos(angle), math.sin(angle)])
    matrix = cv2.getRotationMatrix2D((w / 2, h / 2), rng.uniform(-0.03, 0.03) * px, 1.0)
    matrix[:, 2] += shift
    moved = cv2.warpAffine(inputs.frame, matrix, (w, h), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return dataclasses.replace(inputs, frame=moved)


def slid_mat(inputs: Inputs, truth: Truth, mm: float, rng: np.random.Generator) -> Inputs:
    """The zone's sheet lay elsewhere by so much when the empty frame was taken."""
    if inputs.empty is None:
        return inputs
    angle = rng.uniform(0, 2 * math.pi)
    step = mm * np.array([math.cos(angle), math.sin(angle)])
    x, y = SHEET[0] / 2 + 2, SHEET[1] / 2 + 2
    corners = np.array([(-x, -y), (x, -y), (x, y), (-x, y)])
    here = truth.pixels(np.c_[corners, np.zeros(4)]).astype(np.float32)
    there = truth.pixels(np.c_[corners + step, np.zeros(4)]).astype(np.float32)
    size = inputs.empty.shape[1::-1]
    cover = cv2.fillConvexPoly(np.zeros(size[::-1], np.uint8), here.round().astype(np.int32), 255)
    small, hole = (cv2.resize(image, None, fx=0.25, fy=0.25) for image in (inputs.empty, cover))
    bare = cv2.inpaint(small, hole, 5, cv2.INPAINT_TELEA)
    bare = np.where(cover[..., None] > 0, cv2.resize(bare, size), inputs.empty)
    to_there = cv2.getPerspectiveTransform(here, there)
    sheet = cv2.warpPerspective(inputs.empty, to_there, size, flags=cv2.INTER_CUBIC)
    alpha = cv2.warpPerspective(cover, to_there, size)[..., None] / 255.0
    return dataclasses.replace(inputs, empty=(bare * (1 - alpha) + sheet * alpha + 0.5).astype(np.uint8))


def wrong_empty(inputs: Inputs, truth: Truth, level: str, rng: np.random.Generator) -> Inputs:
    """An empty frame of another session, or one with pieces all over the fields."""
    wrong = inputs.colors if level == "pieces" else _fitting(truth.other.empty if truth.other else None, inputs)
    return inputs if wrong is None else dataclasses.replace(inputs, empty=wrong)


def wrong_colors(inputs: Inputs, truth: Truth, level: str, rng: np.random.Generator) -> Inputs:
    """A colours frame of another session, or the empty frame for it, or a frame with half of the pieces."""
    others = _fitting(truth.other.colors if truth.other else None, inputs)
    wrong = {"session": others, "empty": inputs.empty, "duel": inputs.frame}[level]
    return inputs if wrong is None else dataclasses.replace(inputs, colors=wrong)


def wrong_lens(inputs: Inputs, truth: Truth, factor: float, rng: np.random.Generator) -> Inputs:
    """A lens file whose focal length is wrong by this factor."""
    if inputs.camera is None:
        return inputs
    scale = np.diag([factor, factor, 1.0])
    scale[:2, 2] = (1 - factor) * inputs.camera.matrix[:2, 2]
    return dataclasses.replace(inputs, camera=dataclasses.replace(inputs.camera, matrix=scale @ inputs.camera.matrix))


def _fitting(image: np.ndarray | None, inputs: Inputs) -> np.ndarray | None:
    return None if image is None else cv2.resize(image, inputs.frame.shape[1::-1])


def wrong_sizes(inputs: Inputs, truth: Truth, percent: float, rng: np.random.Generator) -> Inputs:
    """A piece file whose lengths are all wrong by so much."""
    return dataclasses.replace(inputs, piece_set=scaled_set(inputs.piece_set, 1 + percent / 100))


def garbled_file(inputs: Inputs, truth: Truth, count: int, rng: np.random.Generator) -> Inputs:
    """The file came with so many wrong bytes in it. Raises BadImage where the reader refuses it."""
    _, data = cv2.imencode(".jpg", inputs.frame, [cv2.IMWRITE_JPEG_QUALITY, 92])
    data = data.ravel().copy()
    data[rng.integers(700, len(data) - 2, count)] = rng.integers(0, 256, count)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "garbled.jpg"
        path.write_bytes(data.tobytes())
        read = read_picture(path)
    if read.shape != inputs.frame.shape:
        raise BadImage("the file's size is garbled")
    return dataclasses.replace(inputs, frame=read)
