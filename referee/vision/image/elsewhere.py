"""What of the pieces' colours lies about in the whole picture, beyond what is understood of one zone."""

from dataclasses import dataclass

import cv2
import numpy as np

from calibration.mat import MatPose, Mats
from calibration.palette import Palette, color_features
from cards.pieces import PieceSet
from referee.vision.image.background import LOG_ANYTHING
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured

SHRUNK = measured(3, "px of the picture each way", "by hand, for time: a piece is 15 px and more wide")
COLOUR_NATS = measured(2.0, "nats", "by hand: so much likelier than anything a piece's colour is")
AS_EMPTY = measured(0.25, "of a feature", "by hand: nearer to the empty frame a pixel shows what it showed")
LEAST_FACE = measured(
    0.12, "of a colour's smallest face", "by hand: a patch as large is of a piece, half hidden by others perhaps"
)
LARGEST_FACES = measured(1.3, "of a colour's largest front", "by hand: so much of a piece is seen at most")
MIDDLE_MM = measured(12.0, "mm", "by hand: height of the middle of a piece that lies about")
FAR_MM = measured(600.0, "mm", "by hand: further from a mat nobody's pieces lie")
LEAST_PX = measured(6, "px, shrunk", "by hand: fewer are noise")
ROUNDING_MM = measured(1e-6, "mm", "rounding: a place is as near to its own mat as to itself")
RIM = np.ones((5, 5), np.uint8)


@dataclass(frozen=True, eq=False)
class Picture:
    """A whole frame (h, w, 3) with its mats and the palette of its light; ``then``: the empty frame, if any."""

    frame: np.ndarray
    then: np.ndarray | None
    mats: Mats
    palette: Palette

    def is_nearest(self, pose: MatPose, places: np.ndarray) -> np.ndarray:
        """(n,) whether places (n, 2) in a mat's frame are nearer to it than to any other mat."""
        there = pose.to_camera(np.c_[places, np.zeros(len(places))])
        others = self.mats.poses.values()
        away = [np.linalg.norm(((there - p.translation) @ p.rotation)[:, :2], axis=1) for p in others]
        return np.asarray(np.hypot(*places.T) <= np.min(away, axis=0) + ROUNDING_MM)


def pieces_elsewhere(
    picture: Picture, view: ZoneView, white: np.ndarray, piece_set: PieceSet, understood: np.ndarray
) -> np.ndarray:
    """(k,) how many pieces of each colour of the palette seem to lie about in a picture, nearer to the view's mat than
    to any other, beside what is ``understood`` of the view (h, w) bool. ``white`` (3,) of the paper."""
    labels, palette = _labels(picture, white), picture.palette
    labels[_shrunk(view, understood, labels.shape)] = -1
    counts = np.zeros(len(palette.names), int)
    for k, name in enumerate(palette.names):
        of_color = [piece_set.shapes[shape] for shape, color in piece_set.inventory if color == name]
        if not of_color:
            continue
        least = LEAST_FACE * min(shape.least_face for shape in of_color)
        most = LARGEST_FACES * max(shape.width * max(shape.height, shape.depth_mm) for shape in of_color)
        patches = cv2.morphologyEx((labels == k).astype(np.uint8), cv2.MORPH_OPEN, np.ones((2, 2), np.uint8))
        _, _, found, middles = cv2.connectedComponentsWithStats(patches)
        px = found[1:, cv2.CC_STAT_AREA]
        areas = px * _mm2_a_pixel(picture, view.pose, middles[1:])
        counts[k] = np.maximum(areas[(areas >= least) & (px >= LEAST_PX)] // most, 1).sum()
    return counts


def _labels(picture: Picture, white: np.ndarray) -> np.ndarray:
    """(h, w) int8 of the shrunk picture: the colour of each pixel, -1 of what is no piece's, or was there before."""

    def features(of: np.ndarray) -> np.ndarray:
        size = of.shape[1] // SHRUNK, of.shape[0] // SHRUNK
        return color_features(cv2.resize(of, size, interpolation=cv2.INTER_AREA), white)

    f, then = features(picture.frame), picture.then
    density = picture.palette.log_density(f)
    labels = np.where(density.max(0) > LOG_ANYTHING + COLOUR_NATS, density.argmax(0), -1).astype(np.int8)
    if then is not None and then.shape == picture.frame.shape:
        labels[np.abs(f - features(then)).max(-1) < AS_EMPTY] = -1
    return labels


def _shrunk(view: ZoneView, there: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """(h, w) bool: where the shrunk picture shows these pixels of a view, and just around them."""
    column, row = ((m[there] / SHRUNK).astype(int) for m in view.maps)
    inside = (column >= 0) & (row >= 0) & (column < shape[1]) & (row < shape[0])
    mask = np.zeros(shape, np.uint8)
    mask[row[inside], column[inside]] = 1
    return cv2.dilate(mask, RIM) > 0


def _mm2_a_pixel(picture: Picture, pose: MatPose, middles: np.ndarray) -> np.ndarray:
    """(n,) mm² that a pixel of the shrunk picture covers at places (n, 2) of it, 0 of those that are not this mat's."""
    if not len(middles):
        return np.zeros(0)
    lens = picture.mats.camera
    at = cv2.undistortPoints((middles[:, None] + 0.5) * SHRUNK, lens.matrix, lens.distortion)[:, 0]
    rays, eye = np.c_[at, np.ones(len(at))] @ pose.rotation, pose.camera_at
    depth = (MIDDLE_MM - eye[2]) / rays[:, 2]
    places = eye[:2] + depth[:, None] * rays[:, :2]
    mine = (depth > 0) & (np.abs(places).max(1) < FAR_MM) & picture.is_nearest(pose, places)
    return np.where(mine, (depth * SHRUNK / lens.focal_px) ** 2, 0.0)
