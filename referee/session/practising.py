"""Practice at a running table: the frames become what ``referee.match.practice`` needs to know, its record is kept.

On the thread that looks at every frame (``referee.session.live_judging``); builds are judged on a thread of its own, so
that no motion is missed meanwhile: the moment of the last one is the time of a build.
"""

import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import cv2
import numpy as np

from cards.card import Card
from cards.law import Reason, because
from referee import core
from referee.core import refuse_if
from referee.devices.ports import Frame
from referee.errors import RefereeError
from referee.events import Event
from referee.match import practice as law
from referee.match.practice import Practice, PracticeCommand, PracticeResult
from referee.match.stop_views import SETTLED_FRAMES, SETTLED_S
from referee.match.verdict import zone_verdict
from referee.session.field_check import FieldCheck
from referee.session.field_previews import crop_around_build
from referee.session.ports import Record, RunningSession
from referee.session.second_view import judge_by_cameras, settled_beside
from referee.session.seeds import new_seed
from referee.vision.live.field_snapshot import FieldSnapshot
from referee.vision.live.gate import GateState
from referee.vision.observer import Judgement

FREE_PHASES = ("new", "idle", "finished")
"""Phases of a match in which the table is free for practice."""

RECENT_HAND_S = 6.0
"""A hand that stays at the build for longer than this is part of the time."""

MOVED_PIECE_SHARE = 0.008
"""Share of the field's pixels by which a piece that was not yet in its place shows: the smallest one covers five times
that (``field_check.EMPTY``), and one that was pushed by a third of its width this much."""

ALARM = "practice"
QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 85]

Listener = Callable[[Practice, Sequence[Event]], None]


@dataclass(frozen=True)
class SettledView:
    """What came of one settled view: the row of the zone, and its picture (JPEG), if there is one."""

    row: Mapping[str, object]
    jpeg: bytes | None = None


@dataclass
class FieldWatch:
    """One field while its player builds: the frames of the present rest, the view that is being judged, and what the
    field looked like lately: (host time, pixels)."""

    rested_s: float = 0.0
    calm: list[Frame] = field(default_factory=list)
    pending: tuple[float, Future[SettledView]] | None = None
    lately: deque[tuple[float, FieldSnapshot]] = field(default_factory=deque)

    def remember(self, at_s: float, now: FieldSnapshot | None) -> None:
        """One more look."""
        if now is not None:
            self.lately.append((at_s, now))
        while self.lately and at_s - self.lately[0][0] > RECENT_HAND_S:
            self.lately.popleft()

    def built_s(self) -> float | None:
        """Since when what stands there now has looked as it does: no piece was elsewhere, hidden or held. None where
        that is longer than is remembered."""
        if not self.lately:
            return None
        after, now = self.lately[-1]
        for at_s, then in reversed(self.lately):
            if now.unlike(then) > MOVED_PIECE_SHARE:
                return after
            after = at_s
        return None


class PracticeRunner:
    """Practice on one table and one record. Commands from any thread; ``look`` from the one that sees.

    What was practised before is read from the record: ``past``; ``left`` is the practice that was on when the program
    ended, for who wants to go on with its players.
    """

    def __init__(self, session: RunningSession, record: Record) -> None:
        self._session, self._record = session, record
        self._lock = threading.RLock()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="session practice")
        self._fields, self._clear_from = FieldCheck(), float("inf")
        self._watched: dict[str, FieldWatch] = {}
        self._pictures: dict[str, bytes] = {}
        self._listeners: list[Listener] = []
        self.faults: Mapping[str, str] = {}
        kept = [law.fold(record.events(session_id)) for session_id in record.matches()]
        self.past: tuple[PracticeResult, ...] = tuple(result for practice in kept for result in practice.results)
        self.left = kept[-1] if kept and kept[-1].on else None
        self.now = Practice()

    # --- what people ask

    def begin(self, players: Mapping[str, str], level: int | None = None, seed: int | None = None) -> None:
        """Begin to practise with the session's deck. Raises IllegalCommand while a duel is in play."""
        session = self._session
        with self._lock:
            refuse_if(session.state.phase not in FREE_PHASES, "practice_duel")
            now = session.clock.utc()
            chosen = new_seed() if seed is None else seed
            value = {card.id: card.value for card in session.deck.cards}
            order = [card_id for card_id in session.deck.shuffled(chosen) if level in (None, value[card_id])]
            session_id = f"practice-{now:%Y%m%d-%H%M%S}-{len(self._record.matches()) + 1}"
            cards = tuple((card_id, value[card_id]) for card_id in order)
            wish = law.BeginPractice(session_id, players, cards, level, session.deck.name, session.simulated)
            law.decide(self.now if self.now.on else Practice(), wish)  # refused before anything changes
            self.past, self.now, self.left = (*self.past, *self.now.results), Practice(), None
            self._watched, self._pictures = {}, {}
            self.command(wish)

    def give_up(self, zone: str) -> None:
        """The player of that zone has enough of the card. Raises IllegalCommand when nobody builds there."""
        self.command(law.GiveUp(zone, self._session.clock.now_s()))

    def next_card(self) -> None:
        """Another card. Raises IllegalCommand when nobody practises."""
        self.command(law.NextCard())

    def end(self) -> None:
        """Enough practised; nothing where nobody practises."""
        with self._lock:
            if self.now.on:
                self.command(law.End())

    def press(self, zone: str, at_s: float) -> bool:
        """The box's button; whether it was one of a practice."""
        with self._lock:
            if not self.now.on:
                return False
            try:
                self.command(law.PracticePress(zone, at_s))
            except RefereeError:
                return self.now.on  # nobody builds there: then it is no Stop of a match either
            return True

    def command(self, command: PracticeCommand) -> tuple[Event, ...]:
        """Decide, keep, apply, tell. Raises IllegalCommand, JournalUnwritable; then nothing has changed."""
        with self._lock:
            events = law.decide(self.now, command, self._session.clock.utc().isoformat())
            now = core.fold(law.evolve, self.now, events)
            if events:
                self._record.append(now.session_id, events, after=self.now.seq)
            self.now = now
            for listener in self._listeners:
                listener(now, events)
        if events:
            self._session.touch()
        return events

    def listen(self, listener: Listener) -> None:
        """Call it with the practice and the new events after every command."""
        self._listeners.append(listener)

    @property
    def results(self) -> tuple[PracticeResult, ...]:
        """Every build that ended, of all practices on record, with this deck and as real or simulated as this one."""
        deck, simulated = self._session.deck.name, self._session.simulated
        return tuple(r for r in (*self.past, *self.now.results) if (r.deck, r.simulated) == (deck, simulated))

    def picture(self, zone: str) -> bytes | None:
        """The build of that zone as it was judged last, JPEG."""
        return self._pictures.get(zone)

    def stop(self) -> None:
        """End the thread."""
        self._pool.shutdown(cancel_futures=True)

    # --- what the camera sees

    def look(self, frame: Frame, look: GateState) -> None:
        """One more frame and what the gate says of it. What cannot be kept is an alarm."""
        if not self.now.on:
            return
        try:
            if self.now.phase == "building":
                self._fields.rest()
                self.faults, self._clear_from = {}, float("inf")
                for zone in self.now.open:
                    self._watch(zone, frame, look)
            else:
                self._watched.clear()
                self.command(law.Watch(self._session.clock.now_s(), self._clear_s(frame, look)))
            self._session.alarm(ALARM, None)
        except RefereeError as error:
            self._session.alarm(ALARM, error.wording)

    def _clear_s(self, frame: Frame, look: GateState) -> float | None:
        """For how long every practised field has been in view, empty, and free of hands; None when one is not."""
        zones = {z: look.zones[z] for z in self.now.players if z in look.zones and look.zones[z].mat_seen}
        self._fields.look(frame, GateState(zones), self._session.observer, self._card())
        unseen = {zone: "mat_not_seen" for zone in self.now.players if zone not in zones}
        faults = {**self._fields.faults, **unseen}
        if faults != self.faults:
            self.faults = faults
            self._session.touch()
        if faults:
            self._clear_from = float("inf")
            return None
        self._clear_from = min(self._clear_from, frame.at_s)
        return frame.at_s - self._clear_from

    def _card(self) -> Card:
        return self._session.deck.card(self.now.card[0])

    def _watch(self, zone: str, frame: Frame, look: GateState) -> None:
        """Gather the frames of a rest, have them judged when that would change anything, and tell what was seen."""
        watched = self._watched.setdefault(zone, FieldWatch())
        watched.remember(frame.at_s, look.snapshots.get(zone))
        gate = look.zones.get(zone)
        if gate is None or not gate.mat_seen or gate.hand or gate.settled_s < SETTLED_S:
            watched.calm = []
            return
        rested_s = frame.at_s - gate.settled_s
        if abs(rested_s - watched.rested_s) > law.SAME_S:
            watched.rested_s, watched.calm = rested_s, []
        self._tell(zone, watched)
        if watched.pending or not self.now.wants_view(zone, watched.rested_s):
            return
        watched.calm.append(frame)
        if len(watched.calm) >= SETTLED_FRAMES:
            beside = settled_beside(self._session, watched.calm)
            job = self._pool.submit(self._judge, zone, self._card(), watched.calm, beside)
            watched.pending, watched.calm = (watched.rested_s, job), []

    def _tell(self, zone: str, watched: FieldWatch) -> None:
        """A view that has been judged counts while its field still rests as it did then."""
        if watched.pending is None or not watched.pending[1].done():
            return
        (rested_s, job), watched.pending = watched.pending, None
        if abs(rested_s - watched.rested_s) > law.SAME_S:
            return
        seen = job.result()
        if seen.jpeg:
            self._pictures[zone] = seen.jpeg
        said, now_s = zone_verdict(seen.row), self._session.clock.now_s()
        self.command(law.Viewed(zone, watched.rested_s, said, now_s, watched.built_s()))

    def _judge(self, zone: str, card: Card, frames: Sequence[Frame], beside: Sequence[Frame]) -> SettledView:
        """A settled view judged; one that cannot be judged is one that cannot be told."""
        session = self._session
        try:
            judged = judge_by_cameras(session, frames, beside, card, [zone])
        except RefereeError:
            return SettledView(_untold(because("not_judged")))
        if zone not in judged.zones:
            return SettledView(_untold(because("mat_not_seen", zone=zone)))
        return SettledView(judged.zones[zone].to_json(), build_picture(session, frames[-1].image, judged, card, zone))


def _untold(why: Reason) -> dict[str, object]:
    return {"verdict": "undecided", "reasons": [why.to_json()]}


def build_picture(session: RunningSession, image: np.ndarray, judged: Judgement, card: Card, zone: str) -> bytes | None:
    """The build alone, as it was read, cut out of the judged picture (JPEG); None where it is not to be seen."""
    cut = crop_around_build(judged, zone, image.shape[:2]) if zone in judged.views else None
    if cut is None:
        return None
    left, top, right, bottom = cut[0]
    drawn = session.draw(image, judged, card)
    return cv2.imencode(".jpg", drawn[top:bottom, left:right], QUALITY)[1].tobytes()
