"""What a session needs of its record, and what its parts need of the session. Real ones and stand-ins of tests fit
alike."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from cards.card import Card
from cards.deck import Deck
from cards.pieces import PieceSet
from referee.devices.ports import ButtonBox, Camera, Clock
from referee.events import Event
from referee.journal.spool import Record as Record
from referee.match.commands import MatchCommand
from referee.match.state import MatchState
from referee.session.second_view import CameraView, SecondView
from referee.vision.live.gate import Gate
from referee.vision.observer import Judgement, Observer

Draw = Callable[[np.ndarray, Judgement, Card], np.ndarray]
"""Draws a verdict into a copy of the judged frame (h, w, 3)."""


class MatchClock(Protocol):
    """Who knows the match and its time."""

    @property
    def state(self) -> MatchState:
        """The match as it stands."""

    @property
    def shift_s(self) -> float:
        """What to add to the host's clock in this match."""

    @property
    def clock(self) -> Clock:
        """The host's clock."""


class CommandRunner(Protocol):
    """Who carries out commands."""

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell."""


class AlarmBoard(Protocol):
    """Who shows what is wrong."""

    def alarm(self, code: str, text: str | None) -> None:
        """Raise or end an alarm."""


class PageSession(Protocol):
    """What log-in, pages, streams and server need of a session, also of an archive, a hall or a tower game without
    devices."""

    simulated: bool
    piece_set: PieceSet
    data_dir: Path

    @property
    def clock(self) -> Clock: ...
    @property
    def shift_s(self) -> float: ...
    def wait(self, version: int, timeout_s: float) -> int: ...
    def picture(self, name: str) -> bytes | None: ...
    def touch(self) -> None:
        """Something a page shows has changed."""


class Reviewing(MatchClock, CommandRunner, Protocol):
    """What the pages of recorded duels need of a session."""

    data_dir: Path


class RunningSession(MatchClock, CommandRunner, AlarmBoard, PageSession, Protocol):
    """What the parts of a running session use of it, each a few; a test's stand-in gives those of its part."""

    deck: Deck
    observer: Observer
    gate: Gate
    camera: Camera
    draw: Draw
    second: SecondView | None

    @property
    def views(self) -> list[CameraView]:
        """The first camera, and the second where there is one, whichever is the main one."""

    @property
    def cameras(self) -> list[Camera]:
        """The main camera, and the second where there is one."""

    def change_views(self, lost: bool) -> bool:
        """Have the cameras change places where the main one is ``lost``, or the first is back."""

    def put_back_views(self) -> None:
        """The first camera is the main one, as the table was set up."""

    @property
    def box(self) -> ButtonBox:
        """The button box in use."""

    @property
    def signed_box(self) -> str | None:
        """The id of the box that was signed with the set-up; None while none is."""

    @property
    def journal(self) -> Record:
        """The record."""

    def use_camera(self, camera: Camera | None, number: int = 1) -> Camera | None:
        """Go on with another camera as the first or the second (None: without one); gives back the old one to close."""

    def use_box(self, box: ButtonBox) -> ButtonBox:
        """Go on with another button box; gives back the old one."""

    def attempt(self, command: MatchCommand) -> None:
        """A command that nobody waits for: what is illegal now is none, what cannot be kept is an alarm."""

    def listen(self, listener: Callable[[MatchState, Sequence[Event]], None]) -> None:
        """Call back after every command."""

    def gates(self) -> Mapping[str, Mapping[str, Any]]:
        """Per zone what the gate saw last."""

    def fields(self) -> Mapping[str, str]:
        """Zone -> what is wrong with its field before a go."""
