"""The set-up of a running session: who has signed it, and a lens or camera changed between the duels.

Signatures and lenses are facts of a match's record (``SignSetup``, ``OpenSetup``, ``ChangeLens``). What is
agreed before there is a match is kept here and becomes the next match's first fact.
"""

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from calibration.camera import CameraModel, camera_file, camera_text, load_camera
from calibration.errors import BadCamera, BadPalette
from calibration.markers import MARKER_CENTRES
from calibration.palette import load_palette
from calibration.quality import off_flat_mm
from cards.sentences import sentence
from referee.core import refuse_if
from referee.devices.camera_settings import CONTROLS
from referee.errors import BadAttempt, IllegalCommand
from referee.match.commands import ChangeLens, OpenSetup, SignSetup
from referee.match.decide import decide
from referee.match.duel import PHASES_IN_PLAY
from referee.match.state import FROZEN_REFUSAL, MatchState
from referee.recording.folder import PLACED, read_placed, write_json
from referee.recording.writer import write_file
from referee.session.ports import RunningSession
from referee.session.second_view import CameraView
from referee.vision.image.aids import believed_mats
from referee.vision.observer import Observer

RIG, SECOND_RIG, CAMERA = "rig", "rig_2", "camera.json"
"""Folders of the data folder with what is known of the first camera and of the second, and which that is."""

LENS, PALETTE, EMPTY, COLORS = "camera.yaml", "palette.json", "empty.png", "colours.png"
LEAST_SHEET = 0.01
"""Share of the picture that a sheet takes; by hand: at the usual distances it is 0.04 and more."""

MOST_OFF_FLAT_MM = 1.6
"""So far corners that were placed by hand may be from those of a flat sheet. With all markers of one or both mats gone
and corners 4 to 10 px off, in 36 pictures of 12 sessions of devset: of 69 that pass 56 are ruled right, 13 undecided.
"""

OPEN_PHASES = ("new", "finished")
"""Phases in which no match is under way that could record anything."""


KeptCamera = tuple[str, dict[str, float]]
"""What opens a camera, and what it was set to."""


def kept_cameras(data_dir: Path) -> list[KeptCamera]:
    """The camera that was used last with this data folder, else the first webcam; and the second, if there was one."""
    kept = [_kept_camera(data_dir / rig) for rig in (RIG, SECOND_RIG)]
    return [kept[0] or ("0", {}), *(one for one in kept[1:] if one)]


def _kept_camera(rig: Path) -> KeptCamera | None:
    try:
        kept = json.loads((rig / CAMERA).read_text(encoding="utf-8"))
        return str(kept["camera"]), {
            name: float(kept["settings"][name]) for name in CONTROLS if name in kept["settings"]
        }
    except (OSError, ValueError, TypeError, LookupError):
        return None


class RigSetup:
    """Signatures and the lens of one session."""

    def __init__(self, session: RunningSession) -> None:
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
            raise IllegalCommand(FROZEN_REFUSAL)
        refuse_if(self._session.state.phase in PHASES_IN_PLAY, "in_play", phase=self._session.state.phase)
        self._session.put_back_views()

    def sign(self, names: Sequence[str], record: Mapping[str, Any], who: str = "") -> None:
        """Both accept the set-up as it is. Raises IllegalCommand for names that are no two different ones."""
        box_id, camera = self._session.box.status().get("box_id") or "", self._session.camera.name
        asked = SignSetup(tuple(name.strip() for name in names), who, {**record, "box": box_id, "camera": camera})
        if self._between_matches:
            if self._waiting:
                raise IllegalCommand(sentence("signed_already", names=list(self._waiting.names)))
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
            raise IllegalCommand(sentence("open_already"))
        else:
            self._waiting = None
            self._session.touch()

    def match_created(self) -> None:
        """What was signed before is the new match's."""
        waiting, self._waiting = self._waiting, None
        if waiting:
            self._session.command(waiting, waiting.who)

    def use_lens(self, lens: CameraModel | None, who: str = "", number: int = 1) -> None:
        """See through this lens of the first camera or the second from the next frame on; None estimates it from the
        mats. The match's record says which the first has.

        Raises IllegalCommand while that may not be changed, BadCamera for one of another picture shape.
        """
        self.may_change()
        camera, observer = self._session.views[number - 1]
        frame = camera.latest(-1, 0.0)
        if lens is not None and frame is not None:
            height, width = np.shape(frame.image)[:2]
            lens.scaled_to(width, height)
        if number == 1 and not self._between_matches:
            self._session.command(ChangeLens(camera_file(lens) if lens else {}, who), who)
        observer.camera = lens
        self.keep()
        self._session.touch()

    def place(self, zone: str, corners: np.ndarray | None, image: np.ndarray, number: int = 1) -> None:
        """A mat whose markers are not read lies where somebody sees its sheet's ``corners`` (4, 2), as shares of this
        picture of the first camera or the second; None: as its markers say.

        Raises IllegalCommand while that may not be changed, or for no sheet's.
        """
        self.may_change()
        observer = self._session.views[number - 1].observer
        rest = {z: quad for z, quad in observer.placed.items() if z != zone}
        if corners is not None:
            quad = corners.astype(np.float32)
            seen_from_above = cv2.isContourConvex(quad) and cv2.contourArea(quad, oriented=True) > LEAST_SHEET
            refuse_if(not seen_from_above, "no_sheet")
            rest[zone] = corners
            mats = believed_mats(image, observer.camera, {}, None, rest)
            whole = [pose for z, pose in mats.poses.items() if z in rest and len(pose.markers) == len(MARKER_CENTRES)]
            flat = [pose for pose in whole if off_flat_mm(mats, pose) <= MOST_OFF_FLAT_MM]
            refuse_if(len(flat) < len(rest), "not_flat")
        observer.placed = rest
        self.keep()

    def keep(self) -> None:
        """What was learnt of this rig, on the disk: a program that is started again knows it."""
        for folder, (camera, observer) in self._folders():
            folder.mkdir(exist_ok=True)
            if observer.camera is not None and not observer.camera.estimated:
                write_file(folder / LENS, camera_text(observer.camera, camera.name))
            write_file(folder / PALETTE, observer.palette)
            write_file(folder / EMPTY, observer.empty)
            write_file(folder / COLORS, observer.colors)
            write_json(folder / PLACED, {zone: corners.tolist() for zone, corners in observer.placed.items()})
        self.keep_camera()

    def keep_camera(self) -> None:
        """Which cameras are used and what they are set to, for the next start."""
        if self._session.second is None:
            (self._folder(2) / CAMERA).unlink(missing_ok=True)
        for folder, (camera, _) in self._folders():
            folder.mkdir(exist_ok=True)
            write_json(folder / CAMERA, {"camera": camera.source, "settings": camera.settings.wanted})

    def restore(self, anyway: bool = False) -> None:
        """Before a match that goes on, or ``anyway``: take what was kept, where nothing newer has been given.

        A file that was cut short when the program was killed is as good as none.
        """
        if self._between_matches and not anyway:
            return
        for folder, (_, observer) in self._folders():
            self._restore(folder, observer)

    def _restore(self, folder: Path, observer: Observer) -> None:
        if (folder / LENS).exists() and observer.camera is None:
            with suppress(BadCamera):
                observer.camera = load_camera(folder / LENS)
        if (folder / PALETTE).exists() and observer.palette is None:
            with suppress(BadPalette):
                observer.palette = load_palette(folder / PALETTE, self._session.piece_set)
        with suppress(BadAttempt):
            observer.placed = read_placed(folder / PLACED)
        empty, colors = (
            cv2.imread(str(folder / name)) if (folder / name).exists() else None for name in (EMPTY, COLORS)
        )
        if empty is not None and observer.empty is None:
            observer.learn_empty(empty)
        if observer.colors is None:
            observer.colors = colors

    def _folders(self) -> list[tuple[Path, CameraView]]:
        """Of each camera the folder for what was learnt."""
        return list(zip(map(self._folder, (1, 2)), self._session.views, strict=False))

    def _folder(self, number: int) -> Path:
        return Path(self._session.data_dir) / (RIG, SECOND_RIG)[number - 1]

    def other_camera(self, number: int = 1) -> None:
        """Another camera: nothing that was learnt with the one before holds."""
        shutil.rmtree(self._folder(number), ignore_errors=True)
        if number == 2:
            return
        observer = self._session.observer
        known = observer.camera is not None
        observer.camera = observer.palette = observer.empty = observer.colors = None
        observer.markers, observer.placed = {}, {}
        if known and not self._between_matches:
            self._session.command(ChangeLens())

    @property
    def _between_matches(self) -> bool:
        return self._session.state.phase in OPEN_PHASES


_SOME_MATCH = MatchState(match_id="any", seq=1)
"""Any match between its duels, to ask what it would say."""
