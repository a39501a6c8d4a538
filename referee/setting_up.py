"""The set-up of a running session: who has signed it, and a lens or camera changed between the duels.

Signatures and lenses are facts of a match's record (``SignSetup``, ``OpenSetup``, ``ChangeLens``). What is
agreed before there is a match is kept here and becomes the next match's first fact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from calibration.camera import CameraModel, camera_file
from referee.errors import IllegalCommand
from referee.match import IN_PLAY, ChangeLens, MatchState, OpenSetup, SignSetup, decide

OPEN_PHASES = ("new", "finished")
"""Phases in which no match is under way that could record anything."""


class SettingUp:
    """Signatures and the lens of one session (``referee.session.Session`` or its like)."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._waiting: SignSetup | None = None

    @property
    def signed(self) -> tuple[str, ...]:
        """Who has signed the set-up as it is; empty while it may be changed."""
        if self._between_matches:
            return self._waiting.names if self._waiting else ()
        return self._session.state.signed

    def may_change(self) -> None:
        """Raises IllegalCommand while the set-up is frozen or a duel is under way."""
        if self.signed:
            raise IllegalCommand("the set-up is signed and frozen for this match: open it again first")
        if self._session.state.phase in IN_PLAY:
            raise IllegalCommand(f"finish or void the duel first (phase {self._session.state.phase})")

    def sign(self, names: Sequence[str], record: Mapping[str, Any], who: str = "") -> None:
        """Both accept the set-up as it is. Raises IllegalCommand for names that are no two different ones."""
        asked = SignSetup(tuple(name.strip() for name in names), who, dict(record))
        if self._between_matches:
            if self._waiting:
                raise IllegalCommand(f"{' and '.join(self._waiting.names)} have signed the set-up already")
            decide(_SOME_MATCH, asked, "")  # refuses what a match would
            self._waiting = asked
            self._session.touch()
        else:
            self._session.command(asked, who)

    def reopen(self, who: str, why: str = "") -> None:
        """The signatures hold no longer. Raises IllegalCommand when there are none, or during a duel."""
        if not self._between_matches:
            self._session.command(OpenSetup(who, why), who)
        elif not self._waiting:
            raise IllegalCommand("the set-up is open already")
        else:
            self._waiting = None
            self._session.touch()

    def match_created(self) -> None:
        """What was signed before is the new match's."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._session.command(waiting, waiting.who)

    def use_lens(self, lens: CameraModel | None, who: str = "") -> None:
        """See through this lens from the next frame on; None estimates it from the mats.

        Raises IllegalCommand while that may not be changed, BadCamera for one of another picture shape.
        """
        self.may_change()
        self._fits(lens)
        if not self._between_matches:
            self._session.command(ChangeLens(camera_file(lens) if lens else {}, who), who)
        self._session.observer.camera = lens
        self._session.touch()

    def other_camera(self) -> None:
        """Another camera: nothing that was learnt with the one before holds."""
        observer = self._session.observer
        known = observer.camera is not None
        observer.camera = observer.palette = observer.empty = None
        observer.markers = {}
        if known and not self._between_matches:
            self._session.command(ChangeLens())

    @property
    def _between_matches(self) -> bool:
        return self._session.state.phase in OPEN_PHASES

    def _fits(self, lens: CameraModel | None) -> None:
        frame = self._session.camera.latest(-1, 0.0)
        if lens is not None and frame is not None:
            height, width = np.shape(frame.image)[:2]
            lens.scaled_to(width, height)


_SOME_MATCH = MatchState(match_id="any", seq=1)
"""Any match between its duels, to ask what it would say."""
