"""Picture files in and out, with faults a user can act on."""

from pathlib import Path

import cv2
import numpy as np
import simplejpeg

from calibration.picture_size import too_large
from referee.errors import BadImage
from referee.vision.measured import measured

SMALLEST_PX = measured(64, "px", "by hand: a picture of less a side shows no mat")
LARGEST_PX = measured(3840, "px", "longer pictures are reduced: markers are looked for at a camera's sizes")

JPEG = b"\xff\xd8"
"""What a JPEG file begins with."""


def read_picture(path: str | Path) -> np.ndarray:
    """A picture file as (h, w, 3) uint8 BGR. Raises BadImage naming file and fault.

    Files that end early or are garbled are refused: half a picture would be judged as if it were whole. What is
    longer than ``LARGEST_PX`` is reduced to that.
    """
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BadImage(f"{path}: {error.strerror or error}") from None
    return picture_of(data, str(path))


def picture_of(data: bytes, path: str) -> np.ndarray:
    """The picture in a file's bytes, as ``read_picture``. Raises BadImage naming ``path`` and fault."""
    if not data:
        raise BadImage(f"{path}: an empty file")
    if _cut_short(data):
        raise BadImage(f"{path}: broken, the file ends early")
    if size := too_large(data):
        raise BadImage(f"{path}: too large, {size}")
    if data.startswith(JPEG) and _garbled(data):
        raise BadImage(f"{path}: broken, some of its bytes are not what was written")
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error:  # what OpenCV will not even begin to unfold
        image = None
    if image is None:
        raise BadImage(f"{path}: not a picture")
    if min(image.shape[:2]) < SMALLEST_PX:
        raise BadImage(f"{path}: too small, {image.shape[1]} x {image.shape[0]} pixels")
    factor = LARGEST_PX / max(image.shape[:2])
    return image if factor >= 1 else cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)


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


def _garbled(data: bytes) -> bool:
    """Whether a JPEG has a part that no encoder writes. OpenCV unfolds such files to whatever comes out.

    Of 59 files each with 10 wrong bytes 54 are found, with 3 of them 45, with one 15: codes fall into step again and
    show nothing odd.
    """
    try:
        simplejpeg.decode_jpeg(data, "GRAY", strict=True)
    except ValueError:
        return True
    return False


def _cut_short(data: bytes) -> bool:
    if data.startswith(JPEG):
        return b"\xff\xd9" not in data[-4096:]
    return data.startswith(b"\x89PNG") and b"IEND" not in data[-4096:]
