"""Picture files in and out, with faults a user can act on."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np

from calibration.picture_size import too_large
from referee.errors import BadImage

SMALLEST_PX = 64


def read_picture(path: str | Path) -> np.ndarray:
    """A picture file as (h, w, 3) uint8 BGR. Raises BadImage naming file and fault.

    Files that end early are refused: half a picture would be judged as if it were whole.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadImage(f"{path}: {error.strerror or error}") from None
    if not data:
        raise BadImage(f"{path}: an empty file")
    if _cut_short(data):
        raise BadImage(f"{path}: broken, the file ends early")
    if size := too_large(data):
        raise BadImage(f"{path}: too large, {size}")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:  # what OpenCV will not even begin to unfold
        image = None
    if image is None:
        raise BadImage(f"{path}: not a picture")
    if min(image.shape[:2]) < SMALLEST_PX:
        raise BadImage(f"{path}: too small, {image.shape[1]} x {image.shape[0]} pixels")
    return image


def write_picture(path: str | Path, image: np.ndarray) -> None:
    """Write (h, w, 3) uint8 BGR in the format of the name's ending. Raises BadImage."""
    suffix = Path(path).suffix or ".png"
    if not cv2.haveImageWriter(f"picture{suffix}"):
        raise BadImage(f"{path}: pictures cannot be written as {suffix}")
    _, data = cv2.imencode(suffix, image)
    try:
        Path(path).write_bytes(data.tobytes())
    except OSError as error:
        raise BadImage(f"{path}: {error.strerror or error}") from None


def _cut_short(data: bytes) -> bool:
    if data.startswith(b"\xff\xd8"):
        return b"\xff\xd9" not in data[-4096:]
    return data.startswith(b"\x89PNG") and b"IEND" not in data[-4096:]
