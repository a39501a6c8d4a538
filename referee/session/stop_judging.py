"""After a Stop: wait for a clear view, judge the field at the press and settled, and say what both are together.

The law is ``referee.match.stop_views``; here it is fed. The view at the press is looked at only where something in the
field was touched after it: else the settled view is the better picture of the same build. Where duels are recorded, a
verdict counts only when the pictures that it rests on are on the disk; else it is left to a human, who has seen them.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from cards.card import Card
from cards.law import because
from cards.sentences import sentence, sentence_json
from referee.devices.ports import Frame
from referee.errors import IllegalCommand, RefereeError
from referee.match.commands import BeginJudging, CameraVerdict
from referee.match.state import MatchState
from referee.match.stop_views import PRESS_UNSEEN, SETTLED_FRAMES, UNSEEN, Views, rule_stop, verdict_at_press
from referee.match.verdict import ZoneVerdict, zone_verdict
from referee.recording.writer import file_bytes
from referee.session.duel_recording import DuelRecording
from referee.session.ports import RunningSession
from referee.session.practising import PracticeRunner
from referee.session.previews import Previews
from referee.session.proving import TableProof
from referee.session.second_view import KEPT_S, frame_error_s, judge_by_cameras, settled_beside
from referee.vision.live.build_stages import Reading
from referee.vision.live.field_snapshot import FieldSnapshot
from referee.vision.live.gate import GateState
from referee.vision.live.gate_history import AT_PRESS, FRESH_S, STOPPED, FieldAtPress, GateHistory, StopWatch, is_clear
from referee.vision.observer import Judgement
from referee.workers import in_background

WAITS_S = 1.0
"""After so long without a clear view the players are told what is in the way."""

BLOCKED_S = 8.0
"""After so long without a clear view a human rules."""

BY_HAND_S = 0.5
"""After so long without a camera a human rules: the other player's press may still be on its way."""

LOOKS_AGAIN_S = 4.0
"""So long a build that is shown badly is looked at again, whenever its picture has changed."""

SHOWN_BADLY = {"mat_not_seen", "out_of_view", "build_cut", "no_colour", "unknown_object", "overexposed", "unexplained"}
"""Reasons for no verdict that something in the picture gives."""

Begin = Callable[[Callable[[], Any]], Future]
"""Has something done on another thread."""


class JudgingSession(RunningSession, Protocol):
    """What the session's eyes need of it."""

    previews: Previews
    recording: DuelRecording | None
    practice: PracticeRunner | None
    proof: TableProof


@dataclass(frozen=True, eq=False)
class _SettledView:
    """A view that is judged: its ``frames``, the other camera's ``beside`` them, when it was settled, what the gate saw
    then, and what had happened around the press in each caller's field."""

    frames: list[Frame]
    beside: list[Frame]
    at_s: float
    look: GateState
    fields: Mapping[str, FieldAtPress]


class StopJudging:
    """Judges the builds of one session after each Stop. To be used from one thread; ``shown`` from any. ``begin``
    is for what is done on another one meanwhile."""

    def __init__(self, session: JudgingSession, history: GateHistory, begin: Begin = in_background) -> None:
        self._session, self._history = session, history
        self._watch = StopWatch(history, lambda image: session.observer.look(image))
        self._stopped_s: float | None = None
        self._unclear: tuple[float, Mapping[str, FieldSnapshot] | None] | None = None
        self._lost = False
        self._before_press: dict[str, list[Frame]] = {}
        self._begin = begin
        self._judging: tuple[tuple, Future[Judgement]] | None = None
        self._settled: _SettledView | None = None
        self._reading: Reading | None = None
        self._judged: dict[tuple[str, int], int] = {}
        self._count = 0

    def shown(self, state: MatchState) -> dict:
        """Number and addresses of the pictures of the duel's latest verdict; empty until they are drawn."""
        drawn = self._session.previews.shown(state).get(state.duel.number, {})
        number = self._judged.get((state.match_id, state.duel.number))
        return drawn if number in (None, drawn.get("number")) else {}

    def rest(self) -> None:
        """No Stop waits for its verdict."""
        self._stopped_s, self._unclear, self._judging, self._settled = None, None, None, None
        self._before_press.clear()
        self._watch.restart()
        self._session.alarm("blocked", None)
        self._session.alarm("judging", None)

    def read_ahead(self, state: MatchState) -> None:
        """Until a build is judged: have the stages of the players' builds read, one after the other."""
        if state.card_id is None or self._judging or (self._reading and not self._reading.done()):
            return
        card, asked = self._card(state), state.duel.callers or self._history.stages
        stages = [(zone, of) for zone, of in self._history.stages.items() if zone in asked]
        self._reading = next(filter(None, (of.read_next(partial(self._read, zone, card)) for zone, of in stages)), None)

    def _read(self, zone: str, card: Card, image: np.ndarray) -> Reading:
        encode = file_bytes if self._session.recording and self._stopped_s is None else None  # a Stop waits for none
        return self._begin(partial(self._session.observer.read_earlier, image, zone, card, encode))

    def owners(self, frame: Frame, look: GateState, state: MatchState) -> dict[str, str | None]:
        """Whose hand is over each caller's field, compared with the last picture before the Stop without one."""
        arms = self._watch.arms(frame, look, state.duel.callers, self._press_s(state))
        return {zone: arm.owner for zone, arm in arms.items()}

    def look(self, frame: Frame, look: GateState, state: MatchState) -> None:
        """Wait for enough calm frames of the callers' fields, then judge."""
        self.read_ahead(state)
        self._history.watch_mats(frame, self._session.observer.look)
        self._keep_before_press(frame, state)
        if self._stopped_s is None:
            self._stopped_s = frame.at_s
            self._session.previews.freeze(frame, state.duel.callers[0])
        blocked, waits_s = [z for z in state.duel.callers if not is_clear(look, z)], frame.at_s - self._stopped_s
        if blocked and waits_s > WAITS_S:
            self._session.alarm("blocked", self._in_the_way(look, blocked))
        elif self._unclear is None:
            self._session.alarm("blocked", None)
        if state.card_id is None:
            self._watch.restart()
        elif self._settled:
            self._conclude(state, self._settled)
        elif frames := self._watch.clear_frames(frame, look, state.duel.callers, self._press_s(state)):
            self._settle(state, frames, frame, look)
        elif len(self._watch.calm) == SETTLED_FRAMES and not self._session.second:  # whose frames may yet come
            if not self._is_as_unclear(look, frame.at_s):
                self._judge(state, self._watch.calm, [])
        elif blocked and waits_s > BLOCKED_S:
            self._give_up(state, "no_clear_view")

    def look_away(self, state: MatchState) -> None:
        """No camera shows what is played: after a while a human rules on a Stop, by hand at once."""
        if self._settled and not state.by_hand:  # what was seen before the camera was gone
            self._conclude(state, self._settled)
            return
        wait_s, why = (BY_HAND_S, "by_hand") if state.by_hand else (BLOCKED_S, "camera_gone")
        if state.phase in STOPPED and self._session.clock.now_s() - self._press_s(state) > wait_s:
            self._give_up(state, why)

    def _in_the_way(self, look: GateState, blocked: list[str]) -> str:
        """What keeps the build from being seen, for the players."""
        hands = [z for z in blocked if z in look.zones and look.zones[z].hand]
        if not hands:
            return sentence("no_view", fields=blocked)
        return sentence("hand_in_the_way" if look.zones[hands[0]].moving else "thing_in_the_way", fields=hands)

    def _may_look_again(self, views: Mapping[str, Views], judged: _SettledView) -> bool:
        """Whether a view is looked at again, as soon as its picture has changed: where something in it leaves a build
        open, or it is out of focus. Where two builds fit it equally well another look would be decided by its noise."""
        undecided = [zone for zone, seen in views.items() if seen.settled.ruling == "undecided"]
        blurred = self._history.was_unfocused(judged.frames[-1].at_s)
        unclear = [zone for zone in undecided if blurred or views[zone].settled.codes & SHOWN_BADLY]
        until_s = self._unclear[0] if self._unclear else judged.at_s + LOOKS_AGAIN_S
        if not unclear or judged.at_s >= until_s:
            return False
        thing = "unknown_object" in views[unclear[0]].settled.codes
        self._session.alarm("blocked", sentence("thing_in_the_way" if thing else "no_view", fields=unclear))
        self._unclear = until_s, judged.look.snapshots
        return True

    def _is_as_unclear(self, look: GateState, at_s: float) -> bool:
        """Whether it was looked at, was not clear, and shows the same still."""
        until_s, seen = self._unclear or (at_s, None)
        if seen is None or at_s >= until_s:
            return False
        return not any(z not in seen or s.has_changed_since(seen[z]) for z, s in look.snapshots.items())

    def before_press(self, frame: Frame, state: MatchState) -> bool:
        """Whether a Stop has been heard, and the frame is from before it: it was on its way to the host."""
        stops = [p.at_s for p in state.duel.stops]
        return bool(stops) and frame.at_s <= min(stops) - self._session.shift_s

    def _press_s(self, state: MatchState, zone: str | None = None) -> float:
        """Host time of the zone's Stop; without a zone, of the last that counts."""
        stops = [p.at_s for p in state.duel.stops if zone in (None, p.zone)]
        return max(stops, default=0.0) - self._session.shift_s

    def _card(self, state: MatchState) -> Card:
        assert state.card_id is not None, "nothing is judged without a card"
        return self._session.deck.card(state.card_id)

    def _judge(self, state: MatchState, frames: list[Frame], beside: list[Frame]) -> bool:
        """Have these frames judged on another thread; whether that is done. The first calm ones are judged while the
        view settles, which counts where nothing moves until then."""
        asked = [f.number for f in frames], state.duel.callers, state.card_id
        if self._judging is None or (self._judging[0] != asked and self._judging[1].done()):
            given = frames, beside, self._card(state), state.duel.callers, self._history.earlier()
            self._judging = asked, self._begin(partial(judge_by_cameras, self._session, *given))
        return self._judging[0] == asked and self._judging[1].done()

    def _settle(self, state: MatchState, frames: list[Frame], now: Frame, look: GateState) -> None:
        """The view is settled: it is judged, by what has happened until now."""
        if self._is_as_unclear(look, now.at_s):
            return
        beside = settled_beside(self._session, [now])
        if state.rules.judged_view == "at_stop" and (at_press := self._history.frames_at_press(self._press_s(state))):
            last = max(state.duel.stops, key=lambda press: press.at_s)
            frames, beside = at_press, self._beside_press(at_press, last.zone)
        fields = {zone: self._history.at_press(zone, self._press_s(state, zone)) for zone in state.duel.callers}
        self._settled = _SettledView(frames, beside, now.at_s, look, fields)
        if state.phase == "stopped":
            self._session.attempt(BeginJudging(now.at_s + self._session.shift_s))
        self._conclude(state, self._settled)

    def _conclude(self, state: MatchState, view: _SettledView) -> None:
        """Tell the verdict on a settled view, once it is judged."""
        session, frames, at_s = self._session, view.frames, view.at_s
        if not self._judge(state, frames, view.beside) or self._judging is None:
            return
        (_, judging), self._judging, self._settled = self._judging, None, None
        try:
            judgement = judging.result()
            rows, card, self._lost = _rows(judgement), self._card(state), False
            views = {z: self._views(state, z, _said(rows, z), card, around) for z, around in view.fields.items()}
            if self._may_look_again(views, view):
                return
            self._keep(frames, view.beside, judgement, card)
            evidence = {"frames": [f.number for f in frames], "seconds": round(judgement.seconds, 3)}
            evidence["notes"] = list(judgement.notes)
            for zone, seen in views.items():
                self._tell(state.duel.number, zone, seen, evidence)
        except IllegalCommand:
            return
        except Exception as error:  # the next calm frames are tried; after a while a human is asked
            session.alarm("judging", error.wording if isinstance(error, RefereeError) else fault_text(error))
            self._unclear = self._unclear or (at_s + LOOKS_AGAIN_S, None)
            if at_s >= self._unclear[0]:
                self._give_up(session.state, "not_judged")
            return
        session.alarm("judging", None)

    def _keep_before_press(self, frame: Frame, state: MatchState) -> None:
        """Keep what the other camera showed before each press, as soon as it has come: it forgets sooner than a build
        comes to rest."""
        second = self._session.second
        for press in state.duel.stops if second else ():
            press_s = self._press_s(state, press.zone)
            if second and (press.zone not in self._before_press or frame.at_s < press_s + KEPT_S / 2):
                self._before_press[press.zone] = second.between(press_s - 2 * FRESH_S, press_s, press.error_s)

    def _beside_press(self, frames: Sequence[Frame], zone: str) -> list[Frame]:
        """The other camera's frames from surely before a zone's press and not before these of the main one's: the field
        may have been touched until then."""
        shown = self._before_press.get(zone, ()) if frames else ()
        error_s = frame_error_s(self._session.camera)
        return [f for f in shown if f.at_s - error_s >= frames[0].at_s][-AT_PRESS:]

    def _give_up(self, state: MatchState, code: str) -> None:
        """No frame could be judged: undecided, so that the match goes on by a human's ruling."""
        for zone in state.duel.callers:
            self._session.attempt(CameraVerdict(zone, UNSEEN.undecided("", because(code)), (), evidence={}))

    def _views(self, state: MatchState, zone: str, settled: ZoneVerdict, card: Card, around: FieldAtPress) -> Views:
        """The zone's settled view with what came before it since the press."""
        after, frames = around.after, around.frames
        culprit = state.seats.get(after.culprit or "", "")
        unseen = after.unseen and state.rules.judged_view != "settled"
        if not unseen and (state.rules.judged_view != "two_views" or not after.press_counts):
            return Views(settled, None, after.after, culprit, around.hand)
        seen, came, beside = PRESS_UNSEEN, around.placed, self._beside_press(frames, zone)
        if frames and not unseen:
            judged = judge_by_cameras(self._session, frames, beside, card, [zone], self._history.earlier())
            self._keep_earlier("press", judged)
            seen = verdict_at_press(_said(_rows(judged), zone), settled, came, around.covered)
        if self._session.recording:
            said = {"row": seen.to_json(), "after": after.after, "culprit": after.culprit}
            row = said | {"covered": around.covered, "placed": came} | ({"camera": 2} if self._second_is_main else {})
            self._evidence(partial(self._session.recording.recorder.at_press, zone, frames, row, beside))
        return Views(settled, seen, after.after, culprit, around.hand)

    def _tell(self, number: int, zone: str, views: Views, evidence: Mapping[str, Any]) -> None:
        """The camera's verdict on a zone, unless the duel has moved on meanwhile."""
        session = self._session
        state = session.state
        if state.duel.number != number or state.phase not in ("stopped", "judging"):
            return
        said, findings = rule_stop(views, state.rules.hand_at_stop)
        if self._lost:
            said = said.undecided("" if said.ruling == "undecided" else said.ruling, because("not_kept"))
        told = {**evidence, "after": views.after} | ({"press": views.press.to_json()} if views.press else {})
        session.command(CameraVerdict(zone, said, findings, evidence=told), "camera")

    def _keep(self, frames: list[Frame], beside: list[Frame], judgement: Judgement, card: Card) -> None:
        self._count = max(self._count, self._session.previews.last()) + 1
        state = self._session.state
        self._judged[state.match_id, state.duel.number] = self._count
        self._session.previews.verdict(self._count, frames[-1].image, judgement, card)
        if self._session.recording:
            first, other = (beside, frames) if self._second_is_main else (frames, beside)
            self._evidence(partial(self._session.recording.recorder.judged, first, _rows(judgement), beside=other))
        self._keep_earlier("settled", judgement)

    def _keep_earlier(self, view: str, judgement: Judgement) -> None:
        for zone, sight in judgement.views.items() if self._session.recording else ():
            if sight.earlier and self._session.recording:
                pictures = [(one.evidence, one.lost) for one in sight.earlier]
                self._evidence(partial(self._session.recording.recorder.earlier, zone, view, pictures))

    @property
    def _second_is_main(self) -> bool:
        return self._session.second is not None and self._session.second.is_first

    def _evidence(self, write: Callable[[], None]) -> None:
        """Have frames written that the verdict rests on; without them it is no camera's verdict."""
        try:
            write()
        except OSError:
            self._lost = True


def _rows(judgement: Judgement) -> dict[str, dict]:
    """The contract's rows by zone, with the other readings that a human is offered first; of two cameras ``notes`` say
    which of them it was judged by."""
    return {
        zone: verdict.to_json()
        | {"alternatives": [other.to_json() for other in verdict.alternatives]}
        | ({"notes": told} if (told := _of_cameras(judgement.notes, zone)) else {})
        for zone, verdict in judgement.zones.items()
    }


def _of_cameras(notes: Sequence[str], zone: str) -> list[dict]:
    told = [note for note in map(sentence_json, notes) if note and note["code"] in ("judged_by", "view_left_out")]
    return [note for note in told if note["values"].get("zone", zone) == zone]


def _said(rows: Mapping[str, dict], zone: str) -> ZoneVerdict:
    """What is said of a zone, of whatever mats were seen."""
    return zone_verdict(rows[zone]) if zone in rows else UNSEEN.undecided("", because("mat_not_seen", zone=zone))


def fault_text(error: Exception) -> str:
    """A fault that nobody thought of, by its kind and its first line."""
    return ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])[:160]
