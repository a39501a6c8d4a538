"""What a session needs of its eyes and its recorder, and what its parts need of the session: each names the few that it
uses. Real ones and stand-ins of tests fit alike."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from calibration.camera import CameraModel
from calibration.markers import Corners
from calibration.mat import Mats
from calibration.palette import Palette
from cards.card import Card
from cards.law import Tolerances
from referee.devices.ports import ButtonBox, Camera, Clock, Frame
from referee.events import Event
from referee.match.commands import MatchCommand
from referee.match.state import MatchState
from referee.vision.hands.fists import ReducedFrame
from referee.vision.hands.geometry import HandGeometry
from referee.vision.live.gate import BuildPixels, GateState
from referee.vision.observer import Judgement

Keep = Mapping[str, Any]
"""What to put beside a video: file name -> its content, or a function that makes it at the go."""


class OfMatch(Protocol):
    """Who knows the match."""

    @property
    def state(self) -> MatchState:
        """The match as it stands."""


class OnClock(OfMatch, Protocol):
    """Who knows the match and its time."""

    @property
    def shift_s(self) -> float:
        """What to add to the host's clock in this match."""

    @property
    def clock(self) -> Clock:
        """The host's clock."""


class WithCamera(Protocol):
    """Who has the camera."""

    @property
    def camera(self) -> Camera:
        """The camera in use."""


class WithBox(Protocol):
    """Who has the button box."""

    @property
    def box(self) -> ButtonBox:
        """The button box in use."""


class Commanded(Protocol):
    """Who carries out commands."""

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell."""


class Attempting(Protocol):
    """Who carries out what nobody waits for."""

    def attempt(self, command: MatchCommand) -> None:
        """A command that nobody waits for: what is illegal now is none, what cannot be kept is an alarm."""


class Alarming(Protocol):
    """Who shows what is wrong."""

    def alarm(self, code: str, text: str | None) -> None:
        """Raise or end an alarm."""


class Touching(Protocol):
    """Who keeps the pages up to date."""

    def touch(self) -> None:
        """Something a page shows has changed."""


class Observer(Protocol):
    """Judges frames, and keeps what has been learnt of the rig (``referee.vision.observer.Observer``)."""

    camera: CameraModel | None
    palette: Palette | None
    empty: np.ndarray | None
    markers: Corners

    def look(self, frame: np.ndarray) -> Mats:
        """The mats in a frame."""

    def judge(
        self, frames: Sequence[np.ndarray], card: Card, zones: Collection[str], tolerances: Tolerances
    ) -> Judgement:
        """Verdicts on settled frames of one scene."""

    def learn_empty(self, image: np.ndarray) -> None:
        """Take a frame of the rig with nothing on the mats."""

    def learn_colors(self, image: np.ndarray) -> Palette:
        """Take a frame in which every piece stands apart."""

    def learn_sizes(self, image: np.ndarray) -> float:
        """How many times the piece file's lengths the pieces of that frame have, once its colours are learnt."""


class Gate(Protocol):
    """Looks at every frame (``referee.vision.live.gate.Gate``)."""

    @property
    def colours(self) -> tuple[tuple[str, ...], np.ndarray] | None:
        """Names and label table in use; None before any mat was in view."""

    def look(self, frame: Frame) -> GateState:
        """What there is in this frame, and since when."""

    def reduced_frame(self) -> tuple[ReducedFrame, HandGeometry] | None:
        """What the last look saw, whole, and where the mats were found last; None before any was."""

    def build(self, zone: str) -> BuildPixels | None:
        """What of the last look lies in the zone's box; None while its mat is not in view."""

    def hand_mask(self, zone: str) -> tuple[np.ndarray, tuple[int, int], int] | None:
        """What is taken for a hand in that zone; None when the last look saw none."""


class Recorder(Protocol):
    """Writes attempt folders (``referee.recording.recorder.Recorder``)."""

    def frame(self, frame: Frame) -> None:
        """Take a frame in; never blocks."""

    def begin(self, meta: Mapping[str, Any]) -> Path:
        """Start a recording."""

    def mark(self, name: str, at_s: float, **data: Any) -> None:
        """Write down that something happened."""

    def judged(self, frame: Sequence[Frame], verdicts: Mapping[str, dict]) -> None:
        """Keep the judged frames without loss."""

    def at_press(self, zone: str, frames: Sequence[Frame], said: Mapping[str, Any]) -> None:
        """Keep the frames at the press without loss, and what was said of them."""

    def finish(self, final: Mapping[str, Any] | None = None) -> Path | None:
        """End the recording."""

    def note(self, match_id: str, duel: int, row: Mapping[str, Any]) -> None:
        """Add a line to what people say of a duel's recordings."""

    def settle(self, timeout_s: float = 60.0) -> bool:
        """Wait until everything is on disk."""

    def status(self) -> dict:
        """JSON-able figures."""


class Record(Protocol):
    """Where a session keeps its events: ``referee.journal.journal.Journal``, or a server's behind a spool."""

    @property
    def problem(self) -> str | None:
        """Why the events are not everywhere where they should be; None when all is well."""

    def append(self, match_id: str, events: Sequence[Event], after: int | None = None, table: str = "") -> list[int]:
        """Keep the events of one command: all or none. Raises JournalUnwritable."""

    def matches(self, table: str | None = None) -> list[str]:
        """Ids of this table's matches, in the order in which they were begun."""

    def events(self, match_id: str) -> list[Event]:
        """All events of a match."""
