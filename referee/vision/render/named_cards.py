"""Cards that lie open, each marked in the picture with the kind that was read."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np

from referee.vision.image.game_cards import OpenCard

SHOWN_PX = 900
MARK, DARK = (80, 255, 80), (0, 0, 0)
ASIDE_PX, LETTERS, STROKES = 8, 0.6, ((DARK, 5), (MARK, 2))


def named_cards(picture: np.ndarray, cards: Sequence[OpenCard], kinds: Sequence[str]) -> np.ndarray:
    """The picture (h, w, 3) BGR, at most ``SHOWN_PX`` wide, every card's marker outlined and its kind beside it."""
    scale = min(1.0, SHOWN_PX / picture.shape[1])
    out = cv2.resize(picture, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    for card in cards:
        cv2.polylines(out, [(card.quad * scale).round().astype(np.int32)], True, MARK, 2, cv2.LINE_AA)
        x, y = (card.quad.mean(0) * scale).round().astype(int).tolist()
        for color, thick in STROKES:
            cv2.putText(
                out, kinds[card.marker], (x + ASIDE_PX, y), cv2.FONT_HERSHEY_SIMPLEX, LETTERS, color, thick, cv2.LINE_AA
            )
    return out
