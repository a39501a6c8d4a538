"""The labelling step against two library segmentations, on the same frames in the same run.

    python tests/vision/compare_labels.py [SESSION…]

Every method gets a zone's view of each duel frame and must say of each pixel which of the palette's
colours it shows, or none. Ours is the table of ``referee.vision.image.color_lut``; ``cv2.kmeans`` and scikit-image's
SLIC first cut the view into clusters or superpixels, which then get the label of their mean colour by the
very same palette. Accuracy is against the rendered truth: over the pixels of pieces, and over all pixels
of the sheet. ``cv2.cvtColor`` to Lab, which labels nothing, is the measure of time. SESSION are folders like
shared/devset/*; by default the golden frames.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
from skimage.segmentation import slic

from calibration.camera import load_camera
from calibration.mat import detect_mats
from calibration.palette import Palette
from cards.pieces import PieceSet, load_piece_set
from referee.benchmark.run import sessions, truth_of
from referee.benchmark.scoring import true_labels
from referee.vision.image.color_lut import GROUND, label_frame, label_table
from referee.vision.image.evidence import paper_white
from referee.vision.image.files import read_picture
from referee.vision.image.view import ZoneView, regions, zone_view
from referee.vision.observer import Observer

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "sessions"
CLUSTERS, SUPERPIXELS = 12, 600
Method = Callable[[np.ndarray, np.ndarray], np.ndarray]


def by_table(image: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Ours: one look-up a pixel."""
    return label_frame(image, table)


def by_kmeans(image: np.ndarray, table: np.ndarray) -> np.ndarray:
    """``cv2.kmeans`` over the pixels' Lab values; each cluster labelled by its mean colour."""
    lab = cv2.cvtColor(image, cv2.COLOR_BGR2LAB).reshape(-1, 3).astype(np.float32)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 10, 1.0)
    cv2.setRNGSeed(1)
    _, which, _ = cv2.kmeans(lab, CLUSTERS, None, criteria, 1, cv2.KMEANS_PP_CENTERS)
    return _by_mean(image, which.reshape(image.shape[:2]), table)


def by_slic(image: np.ndarray, table: np.ndarray) -> np.ndarray:
    """scikit-image's SLIC superpixels; each labelled by its mean colour."""
    return _by_mean(image, slic(image, SUPERPIXELS, compactness=10, start_label=0, channel_axis=-1), table)


def _by_mean(image: np.ndarray, which: np.ndarray, table: np.ndarray) -> np.ndarray:
    flat, count = which.ravel(), int(which.max()) + 1
    size = np.maximum(np.bincount(flat, minlength=count), 1)
    means = [np.bincount(flat, image[..., k].ravel(), count) / size for k in range(3)]
    colours = np.stack(means, -1).round().astype(np.uint8)[None]
    return label_frame(colours, table)[0][which]


def lab_alone(image: np.ndarray, table: np.ndarray) -> np.ndarray:
    """No labels at all: only the conversion to Lab that segmentations begin with, for its time."""
    cv2.cvtColor(image, cv2.COLOR_BGR2LAB)
    return np.full(image.shape[:2], GROUND, np.int8)


METHODS: dict[str, Method] = {
    "table (ours)": by_table,
    "cvtColor to Lab": lab_alone,
    "cv2.kmeans": by_kmeans,
    "skimage SLIC": by_slic,
}


def views_of(folder: Path) -> tuple[PieceSet, Palette, list[tuple[ZoneView, dict, np.ndarray, np.ndarray]]]:
    """A session's piece set and palette, and of each zone: view, truth, label table, mask of the sheet."""
    camera, pieces = load_camera(folder / "camera.yaml"), load_piece_set(folder / "pieces.json")
    palette = Observer(pieces, camera).learn_colors(read_picture(folder / "colours.jpg"))
    found = []
    for row in truth_of(folder)["frames"]:
        frame = read_picture(folder / row["image"])
        mats = detect_mats(cv2.cvtColor(frame, cv2.COLOR_BGR2GRAY), camera)
        for zone, pose in mats.poses.items():
            view = zone_view(frame, mats.camera, pose)
            paper, marker, _ = regions(view.ground)
            white = paper_white(view.image, paper & ~marker & view.valid)
            found.append((view, row["zones"][zone], label_table(palette, white), paper & view.valid))
    return pieces, palette, found


def compare(folders: list[Path]) -> dict[str, tuple[float, float, float]]:
    """By method: seconds a megapixel (best of three), share of piece pixels and of sheet pixels right."""
    totals = {name: np.zeros(5) for name in METHODS}
    seconds: dict[str, list[float]] = {name: [] for name in METHODS}
    for folder in folders:
        pieces, palette, views = views_of(folder)
        for view, truth, table, sheet in views:
            true = true_labels(view, pieces, palette.names, truth)
            for name, method in METHODS.items():
                labels, spent = _timed(method, view.image, table)
                seconds[name].append(spent / view.image[..., 0].size * 1e6)
                right = np.maximum(labels, GROUND) == true
                on_piece = (true >= 0) & view.valid
                totals[name] += (right[on_piece].sum(), on_piece.sum(), right[sheet].sum(), sheet.sum(), 1)
    return {name: (float(np.median(seconds[name])), t[0] / t[1], t[2] / t[3]) for name, t in totals.items()}


def _timed(method: Method, image: np.ndarray, table: np.ndarray) -> tuple[np.ndarray, float]:
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        labels = method(image, table)
        best = min(best, time.perf_counter() - start)
    return labels, best


def main() -> None:
    """Print the table."""
    folders = sessions([Path(a) for a in sys.argv[1:]] or [GOLDEN])
    print(f"{'method':16} {'s per megapixel':>16} {'pieces right':>13} {'sheet right':>12}")
    for name, (spent, pieces, sheet) in compare(folders).items():
        print(f"{name:16} {spent:16.4f} {100 * pieces:11.1f} % {100 * sheet:10.1f} %")


if __name__ == "__main__":
    main()
