"""Faults of calibrating: a camera file that does not fit, nothing in view to calibrate from."""

from cards.errors import RefereeError


class BadCamera(RefereeError):
    """A camera file that cannot be read or does not fit the picture."""


class CannotSee(RefereeError):
    """What was asked needs something that is not in view (a mat, the pieces of a colour frame)."""


class FewPieces(CannotSee):
    """A colours frame that does not show every piece standing apart, as one of a duel does not."""


class BadPalette(RefereeError):
    """A palette file that cannot be read or is for another piece set."""
