"""Connected parts of masks."""

import numpy as np
from skimage.measure import label


def around(seed: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """(h, w) bool: the connected parts of a mask (h, w) bool that hold some of the ``seed`` (h, w) bool; pixels that
    touch by a corner are connected."""
    parts = label(mask)
    return np.isin(parts, np.unique(parts[seed & mask]))
