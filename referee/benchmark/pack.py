"""A session folder as one file to share: beside the mats and what stands on them its pictures are grey."""

import zipfile
from pathlib import Path

import cv2
import numpy as np

from calibration.mat import FIELD, SHEET, Mats
from cards.build import TALLEST_MM, Piece, top
from cards.pieces import PieceSet
from referee.benchmark.run import rig_observer, truth_of
from referee.recording.folder import CAMERA, PLACED, of_camera
from referee.vision.image.files import read_picture

CARRIED = (
    *("truth.json", "proof.json", "pieces.json", "deck.json"),
    *(of_camera(name, number) for number in (1, 2) for name in (CAMERA, PLACED)),
)
GREY = 128
MARK_SHARE = 0.04
"""Of a SIMULATED picture's height: the band at its top that says so."""

AROUND_MM, ABOVE_MM = 12.0, 30.0
"""Room around the sheets and above the tallest build."""


def pack_session(folder: Path) -> Path:
    """Pack the session into a zip file beside its folder; unpacked it is a session again, for ``referee bench``. All
    pictures show the same part, the most that a build needs. Raises BadImage."""
    folder = folder.resolve()
    frames, pieces = truth_of(folder)["frames"], rig_observer(folder).piece_set
    high = min(TALLEST_MM, max(_tallest(frame, pieces) for frame in frames) + ABOVE_MM)
    target = folder.with_name(f"{folder.name}.zip")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as file:
        for name in filter(lambda name: (folder / name).exists(), CARRIED):
            file.write(folder / name, f"{folder.name}/{name}")
        for number in [n for n in (1, 2) if (folder / of_camera("empty.jpg", n)).exists()]:
            shown = _shown_by(folder, number, high)
            pictures = [of_camera(name, number) for name in ("empty.jpg", "colours.jpg", *(f["image"] for f in frames))]
            for name in filter(lambda name: (folder / name).exists(), pictures):
                picture = np.where(shown[..., None], read_picture(folder / name), np.uint8(GREY))
                file.writestr(f"{folder.name}/{name}", cv2.imencode(Path(name).suffix, picture)[1].tobytes())
    return target


def _shown_by(folder: Path, number: int, high_mm: float) -> np.ndarray:
    """(h, w) bool: what is not grey in that camera's pictures."""
    empty = read_picture(folder / of_camera("empty.jpg", number))
    shown = _shown(rig_observer(folder, camera_number=number).look(empty), empty.shape[:2], high_mm)
    shown[: round(MARK_SHARE * len(shown)) if truth_of(folder).get("simulated") else 0] = True
    return shown


def _tallest(frame: dict, pieces: PieceSet) -> float:
    """How high the build of a frame reaches, mm; as high as any where its truth tells of no piece."""
    rows = [row for zone in frame["zones"].values() for row in zone["pieces"]]
    return max((top(pieces, Piece.from_json(row)) for row in rows), default=TALLEST_MM)


def _shown(mats: Mats, size: tuple[int, int], high_mm: float) -> np.ndarray:
    """(h, w) bool: where the sheets are, and what is ``high_mm`` above their fields."""
    mask = np.zeros(size, np.uint8)
    x, y, deep = SHEET[0] / 2 + AROUND_MM, SHEET[1] / 2 + AROUND_MM, FIELD[1] + AROUND_MM
    rims = ((y, 0.0), (deep, high_mm))
    corners = np.array([(a * x, b * far, z) for far, z in rims for a in (-1, 1) for b in (-1, 1)])
    for pose in mats.poses.values():
        pixels = mats.camera.project(pose.to_camera(corners))
        cv2.fillConvexPoly(mask, cv2.convexHull(pixels.round().astype(np.int32)), 1)
    return mask > 0
