"""Pictures that are refused by their header: a file of kilobytes may unfold to gigabytes."""

import io
import warnings

from PIL import Image


def too_large(data: bytes) -> str | None:
    """Why the picture in a file's bytes is not to be unfolded; None when it may be, and where it is no picture.

    Pillow's own limit (89 million pixels, a quarter of a gigabyte unfolded) is that of any picture.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            Image.open(io.BytesIO(data)).close()
    except (Image.DecompressionBombWarning, Image.DecompressionBombError):
        return f"more than {Image.MAX_IMAGE_PIXELS} pixels"
    except (OSError, ValueError):
        return None
    return None
