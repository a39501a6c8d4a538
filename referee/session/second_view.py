"""A second camera at the same table: what one cannot see the other does.

Both are calibrated by themselves against the same mats, and their frames carry times of the same clock. One of them is
the *main* one: it is watched live, and the other's pictures of the same moment are judged beside its own. Where the
main one is gone in mid-duel, the second takes its place (``Session.change_views``).
"""

import threading
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

from cards.card import Card
from cards.sentences import sentence
from referee.devices.ports import Camera, Frame
from referee.errors import DeviceLost
from referee.match.state import MatchState
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S
from referee.vision.live.gate import Gate
from referee.vision.observer import NO_EARLIER_PICTURES, EarlierPictures, Judgement, Observer, judge_views

KEPT_S = 1.5
"""So long frames are kept: a Stop is heard, and a build judged, a few frames after it."""


class WatchingSession(Protocol):
    """What is asked of a session with one camera or two."""

    observer: Observer
    camera: Camera
    second: "SecondView | None"

    @property
    def state(self) -> MatchState:
        """The match, by whose rules is judged."""

    @property
    def cameras(self) -> list[Camera]:
        """The main one, and the second where there is one."""


class CameraView(NamedTuple):
    """A camera, and the observer that has learnt from its pictures alone."""

    camera: Camera
    observer: Observer


class SecondView:
    """The camera beside the main one with its observer, which learns from its pictures alone, and the gate that watches
    them where it has to take the main one's place. ``is_first``: it has, and this is the first camera."""

    def __init__(self, camera: Camera, observer: Observer, gate: Gate) -> None:
        self.camera, self.observer, self.gate = camera, observer, gate
        self.is_first = False
        self._frames: deque[Frame] = deque()
        self._lock = threading.Lock()

    def follow(self, camera: Camera) -> None:
        """Keep this camera's frames while it is the one beside the main one."""
        camera.listen(lambda frame: self._take(camera, frame))

    def exchange(self, camera: Camera, observer: Observer, gate: Gate) -> tuple[Camera, Observer, Gate]:
        """Be the view of that camera, and give back what was this one's to be the main one."""
        before = self.camera, self.observer, self.gate
        with self._lock:
            self.camera, self.observer, self.gate = camera, observer, gate
            self.is_first = not self.is_first
            self._frames.clear()
        return before

    def newest(self) -> Frame | None:
        """The camera's newest frame; None while it gives none."""
        try:
            return self.camera.latest(-1, 0.0)
        except DeviceLost:
            return None

    def between(self, from_s: float, until_s: float, error_s: float) -> list[Frame]:
        """Its frames that were surely taken between these host times, known to ``error_s`` themselves."""
        error_s += frame_error_s(self.camera)
        with self._lock:
            return [f for f in self._frames if from_s + error_s <= f.at_s <= until_s - error_s]

    def renew_empty(self) -> None:
        """Both fields are empty now."""
        if frame := self.newest():
            self.observer.renew_empty(frame.image)

    def _take(self, camera: Camera, frame: Frame) -> None:
        with self._lock:
            if camera is self.camera:
                self._frames.append(frame)
                while frame.at_s - self._frames[0].at_s > KEPT_S:
                    self._frames.popleft()


def frame_error_s(camera: Camera) -> float:
    """How well the times of its frames are known."""
    return camera.status().get("frame_error_s") or 0.0


def settled_beside(session: WatchingSession, frames: Sequence[Frame]) -> list[Frame]:
    """The other camera's frames of the time in which a field was settled, as the main one's say."""
    if session.second is None:
        return []
    error_s = frame_error_s(session.camera)
    return session.second.between(frames[0].at_s - SETTLED_S, frames[-1].at_s, error_s)[-SETTLED_FRAMES:]


def judge_by_cameras(
    session: WatchingSession,
    frames: Sequence[Frame],
    beside: Sequence[Frame],
    card: Card,
    zones: Collection[str],
    earlier: Mapping[str, EarlierPictures] = NO_EARLIER_PICTURES,
) -> Judgement:
    """By the main camera's frames, those of the other ``beside`` them, where there are, and ``earlier`` pictures of the
    main one; of two it is noted which."""
    images, tolerances = [f.image for f in frames], session.state.rules.tolerances
    if session.second is None:
        return session.observer.judge(images, card, zones, tolerances, earlier=earlier)
    views = [(session.observer, images)]
    views += [(session.second.observer, [f.image for f in beside])] if beside else []
    judgement = judge_views(views, card, zones, tolerances, earlier=earlier)
    judged_by = sentence("judged_by", names=[camera.name for camera in session.cameras[: len(views)]])
    return replace(judgement, notes=(*judgement.notes, judged_by))
