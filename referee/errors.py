"""Typed faults of seeing and running. A ruling is never an exception; see ``referee.judge``."""

from __future__ import annotations

from cards.errors import BadCard, BadPieceSet, RefereeError

__all__ = ["BadCamera", "BadCard", "BadImage", "BadPieceSet", "CannotSee", "DeviceLost",
           "IllegalCommand", "JournalDamaged", "RefereeError"]


class BadCamera(RefereeError):
    """A camera file that cannot be read or does not fit the picture."""


class BadImage(RefereeError):
    """A picture that is missing, broken or unusable as such."""


class CannotSee(RefereeError):
    """What was asked needs something that is not in view (a mat, the pieces of a colour frame)."""


class DeviceLost(RefereeError):
    """A camera or box that does not answer, by name."""


class IllegalCommand(RefereeError):
    """A command that the present phase does not allow; nothing has changed."""


class JournalDamaged(RefereeError):
    """A record whose chain of checksums breaks, naming the first bad event."""
