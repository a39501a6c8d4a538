"""Today's vision set up for a recorded attempt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from calibration.palette import Palette
from referee.recording import Attempt

if TYPE_CHECKING:
    from referee.vision.observer import Observer


def observer_of(attempt: Attempt, palette: Palette | None = None) -> Observer:
    """An observer with the attempt's pieces, lens, empty view and, unless another is given, its palette."""
    from referee.vision.observer import Observer  # loads and compiles the search: only when pixels are judged

    return Observer(attempt.piece_set, attempt.camera, palette or attempt.palette, attempt.empty)
