"""Typed faults of seeing and running. A ruling is never an exception; see ``cards.law``."""

from calibration.errors import BadCamera as BadCamera
from calibration.errors import CannotSee as CannotSee
from calibration.errors import FewPieces as FewPieces
from cards.errors import BadCard as BadCard
from cards.errors import BadPieceSet as BadPieceSet
from cards.errors import RefereeError as RefereeError


class BadAttempt(RefereeError):
    """An attempt folder, bundle or video that cannot be read, or is not what its hashes say."""


class BadImage(RefereeError):
    """A picture that is missing, broken or unusable as such."""


class DeviceLost(RefereeError):
    """A camera or box that does not answer, by name."""


class FolderUnusable(RefereeError):
    """A folder that cannot be made or written to, by name."""


class HeldElsewhere(RefereeError):
    """A folder or a table that another program works with; the text says which one."""


class IllegalCommand(RefereeError):
    """A command that the present phase does not allow; nothing has changed."""


class AsksFirst(IllegalCommand):
    """A command that is legal but seldom meant: asked again with the field ``confirm`` true it is done."""

    def __init__(self, text: str, confirm: str) -> None:
        super().__init__(text)
        self.confirm = confirm


class JournalDamaged(RefereeError):
    """A record whose chain of checksums breaks, naming the first bad event."""


class JournalUnwritable(RefereeError):
    """The record could not take an event (disk full, no server, another writer): nothing was stored."""
