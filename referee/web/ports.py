"""What the dashboard needs of a running session; ``referee.session.session.Session`` fits, and so do stand-ins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from cards.deck import Deck
from cards.pieces import PieceSet
from referee.events import Event
from referee.match.house_rules import HouseRules
from referee.session.ports import CommandRunner, MatchClock, PagePublisher, WithCamera
from referee.session.practising import PracticeRunner
from referee.session.rig_setup import RigSetup
from referee.vision.observer import Observer


class PageSession(PagePublisher, Protocol):
    """What login and every page need of a session, also of one without devices."""

    simulated: bool
    piece_set: PieceSet


class Reviewing(MatchClock, CommandRunner, Protocol):
    """What the pages of recorded duels need of a session."""

    data_dir: Path


class RigWatch(Protocol):
    """Who compares the rig with what it was set up as."""

    def set_up_anew(self) -> None:
        """The rig is as it should be from now on."""


class WebSession(MatchClock, WithCamera, CommandRunner, PagePublisher, Protocol):
    """A session as pages and the API use it."""

    deck: Deck
    piece_set: PieceSet
    rules: HouseRules
    data_dir: Path
    simulated: bool
    observer: Observer
    setup: RigSetup

    @property
    def practice(self) -> PracticeRunner | None:
        """Practice at this table, if it has any."""

    @property
    def judging(self) -> RigWatch:
        """Who compares the rig with what it was set up as."""

    def create_match(
        self,
        players: Sequence[str],
        mode: str = "all",
        seed: int | None = None,
        rules: HouseRules | None = None,
        who: str = "",
    ) -> tuple[Event, ...]:
        """Begin a match."""

    def take_up(self, match_id: str, who: str = "") -> tuple[Event, ...]:
        """Go on with an older match of this table."""

    def older(self) -> list[dict]:
        """This table's other matches, the latest first: ``id``, ``at``, ``players``, ``phase``."""

    def go(self, who: str = "") -> tuple[Event, ...]:
        """Sound the go."""

    def press(self, zone: str, who: str = "") -> tuple[Event, ...]:
        """A Stop given on the dashboard, now."""

    def rest(self, zone: str, resting: bool) -> tuple[Event, ...]:
        """Tongs behind their mark or not, by a key of the dashboard."""

    def snapshot(self) -> dict:
        """Everything a page needs, JSON-able."""

    def wait(self, version: int, timeout_s: float) -> int:
        """Wait until the snapshot's version is above ``version``; gives the version."""

    def picture(self, name: str) -> bytes | None:
        """The latest JPEG of that name."""
