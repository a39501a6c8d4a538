"""Today's vision set up for a recorded attempt."""

from calibration.palette import load_palette
from referee.recording import Attempt
from referee.vision.observer import Observer


def observer_of(attempt: Attempt, palette: str | None = None) -> Observer:
    """An observer with the attempt's pieces, lens, empty view and, unless another file is given, its palette."""
    colors = load_palette(palette) if palette else attempt.palette
    return Observer(attempt.piece_set, attempt.camera, colors, attempt.empty)
