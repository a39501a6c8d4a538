"""What the pages need of a session that also an archive, a hall or a tower game without devices can give."""

from pathlib import Path
from typing import Protocol

from cards.pieces import PieceSet
from referee.session.ports import CommandRunner, MatchClock, PagePublisher


class PageSession(PagePublisher, Protocol):
    """What login and every page need of a session, also of one without devices."""

    simulated: bool
    piece_set: PieceSet


class Reviewing(MatchClock, CommandRunner, Protocol):
    """What the pages of recorded duels need of a session."""

    data_dir: Path
