"""Seeing during play, on one thread: the gate looks at every frame it can, rig and card are looked at now and then;
after a Stop builds are judged (``referee.session.stop_judging``)."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace

from calibration.errors import BadCamera
from cards.sentences import sentence
from referee.devices.ports import Camera, Frame
from referee.errors import DeviceLost
from referee.match.commands import Foul, NameCard
from referee.match.duel import PHASES_IN_PLAY
from referee.match.foul import foul_sentence
from referee.match.state import MatchState
from referee.session.card_reader import CardReader
from referee.session.field_check import FieldCheck, fields_must_be_empty
from referee.session.rig_monitor import RigMonitor
from referee.session.stop_judging import Begin, JudgingSession, StopJudging, fault_text
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate import GateState
from referee.vision.live.gate_history import FRESH_S, STOPPED, GateHistory
from referee.workers import Background, in_background

TOUCH_S = 0.2
"""Pages hear of the gates this often at most."""

FAULT_SHOWN_S = 5.0
"""So long an alarm of a single frame stands: somebody should have a chance to read it."""

WATCHED = ("building", "stopped", "judging")
"""Phases in which fouls are watched for."""

RIG_EVERY_S = 2.0
"""The rig itself is looked over this often, between the duels."""

EMPTY_EVERY_S = 1.0
"""Before a go the empty table is learnt anew this often: it takes a tenth of a second."""


class LiveJudging(Background):
    """The session's eyes. ``gates`` and ``shown`` may be asked from any thread."""

    def __init__(self, session: JudgingSession, begin: Begin = in_background) -> None:
        """``begin`` is for what is judged meanwhile."""
        super().__init__("session judging")
        self._session = session
        self._history = GateHistory()
        self._gates: dict[str, dict] = {}
        self._touched_s = self._rig_looked_s = 0.0
        self._emptied_s = float("-inf")
        self._failed_s, self._size = float("-inf"), tuple[int, ...]()
        self._card_reader = CardReader()
        self._fields = FieldCheck()
        self._fouls, self._watched = FoulWatch(), -1
        self._rig_monitors: defaultdict[str, RigMonitor] = defaultdict(RigMonitor)
        self._stop = StopJudging(session, self._history, begin)

    def gates(self) -> dict[str, dict]:
        """Per zone what the gate saw last."""
        return self._gates

    @property
    def card_read(self) -> str | None:
        """The card that stands in the holder, as far as the camera can read it."""
        return self._card_reader.seen

    def shown(self, state: MatchState) -> dict:
        """Which picture belongs to the duel's verdict: number and address; empty without one."""
        return self._stop.shown(state)

    def _run(self) -> None:
        camera, after = self._session.camera, -1
        while not self._closing.is_set():
            self._change_views(lost=False)
            if camera is not self._session.camera:
                camera, after = self._session.camera, -1
            try:
                frame = camera.latest(after, 0.3)
                self._check_times(camera)
            except DeviceLost:
                if self._change_views(lost=True):
                    continue
                self._fields.rest()  # what nobody sees holds up no go
                self._stop.look_away(self._session.state)
                self._closing.wait(0.3)
                continue
            if frame is not None:
                after = frame.number
                self._try_to_see(frame)

    def _change_views(self, lost: bool) -> bool:
        """Whether another camera is the main one now: what was seen before counts as unseen."""
        changed = self._session.change_views(lost)
        if changed:
            self._forget_pictures()
            self._watched, self._size = -1, ()
        return changed

    def _forget_pictures(self) -> None:
        """Pictures from here on cannot be compared with those before."""
        self._history.forget()
        self._stop.rest()

    def _check_times(self, camera: Camera) -> None:
        """Raises DeviceLost where too little is known of when pictures are taken: none shows the moment of a Stop."""
        error_s = camera.status().get("frame_error_s") or 0.0
        late = sentence("times", n=error_s) if error_s > FRESH_S else None
        self._session.alarm("times", late)
        if late:
            raise DeviceLost(late)

    def _try_to_see(self, frame: Frame) -> None:
        """Whatever goes wrong with one frame is an alarm and no end of seeing: the next may be seen again."""
        try:
            self._see(frame)
        except BadCamera as error:
            self._session.alarm("lens", error.wording)
            self._closing.wait(0.3)
        except Exception as error:  # who watches a match must not go blind by a fault nobody thought of
            self._failed_s = frame.at_s
            self._session.alarm("seeing", sentence("seeing", fault=fault_text(error)))
            self._closing.wait(0.05)
        else:
            self._session.alarm("lens", None)
            if frame.at_s - self._failed_s > FAULT_SHOWN_S:
                self._session.alarm("seeing", None)

    def _see(self, frame: Frame) -> None:
        state = self._session.state
        self._compare_size(frame, state)
        look = self._session.gate.look(frame)
        stopped = state.phase in STOPPED
        owners = self._stop.owners(frame, look, state) if stopped else {}
        building = stopped and self._stop.before_press(frame, state)
        self._history.add(frame, look, "building" if building else state.phase, owners)
        self._publish(frame, look)
        self._watch_for_fouls(frame, look, state)  # before the verdict: an open finding holds up an award
        if self._session.practice:
            self._session.practice.look(frame, look)
        self._session.proof.look(frame, look)
        if state.by_hand:
            self._stop.look_away(state)
        elif stopped:
            self._stop.look(frame, look, state)
        else:
            self._stop.rest()
            if state.phase == "building":
                self._stop.read_ahead(state)
            self._look_over_rig(frame, state)
        self._look_at_fields(frame, look, state)
        self._look_at_card(frame, state)

    def _compare_size(self, frame: Frame, state: MatchState) -> None:
        """A picture of another size than the ones before cannot be compared with them: in mid-duel that is told."""
        now, before = frame.image.shape[1::-1], self._size
        self._size = now
        if before not in ((), now):
            self._forget_pictures()
        if state.phase not in PHASES_IN_PLAY:
            self._session.alarm("picture_size", None)
        elif before not in ((), now):
            self._session.alarm("picture_size", sentence("picture_size", was=list(before), now=list(now)))

    def _look_at_fields(self, frame: Frame, look: GateState, state: MatchState) -> None:
        """Before the go: both are empty, and hands are out of them."""
        if fields_must_be_empty(state):
            card = self._session.deck.by_id.get(state.card_id or "", self._session.deck.cards[0])
            self._fields.look(frame, look, self._session.observer, card)
            if state.phase == "ready" and self._fields.bare and frame.at_s - self._emptied_s > EMPTY_EVERY_S:
                # Builds are seen against the table as it is a moment before the go: light and camera drift.
                self._emptied_s = frame.at_s
                self._session.observer.renew_empty(frame.image)
                if self._session.second:
                    self._session.second.renew_empty()
        else:
            self._fields.rest()
        for code, text in self._fields.alarms(sorted(state.seats)).items():
            self._session.alarm(code, text)

    def fields(self) -> Mapping[str, str]:
        """Zone -> what is wrong with its field before a go."""
        return self._fields.faults

    def _look_over_rig(self, frame: Frame, state: MatchState) -> None:
        """Camera, mats and light; while somebody builds only what hands and pieces over markers cannot feign."""
        if frame.at_s - self._rig_looked_s < RIG_EVERY_S:
            return
        self._rig_looked_s = frame.at_s
        played = state.phase in ("building", "ready")
        monitor = self._rig_monitors[self._session.camera.source]
        for code, text in monitor.look(frame.image).items():
            if not played or code in RigMonitor.WHILE_PLAYED:
                self._session.alarm(code, text)

    def set_up_anew(self) -> None:
        """The rig is as it should be from now on."""
        self._rig_monitors.clear()

    def _publish(self, frame: Frame, look: GateState) -> None:
        digits = {"moving": 3, "settled_s": 1, "fill": 3}
        gates = {
            zone: {**vars(gate), **{name: round(getattr(gate, name), n) for name, n in digits.items()}}
            for zone, gate in look.zones.items()
        }
        if gates != self._gates and frame.at_s - self._touched_s > TOUCH_S:
            self._gates, self._touched_s = gates, frame.at_s
            self._session.touch()

    def _watch_for_fouls(self, frame: Frame, look: GateState, state: MatchState) -> None:
        """From the go until the verdict: what may be a foul is proposed to the human referee."""
        duel = state.duel
        if state.rules.foul_watch == "off" or state.phase not in WATCHED or duel.go_at_s is None:
            self._watched = -1
            return
        if self._watched != duel.number:
            self._fouls, self._watched = FoulWatch(), duel.number
        shift_s = self._session.shift_s
        stop_s = min((p.at_s - shift_s for p in duel.stops), default=None)
        for seen in self._fouls.look(frame, self._session.gate.reduced_frame(), look, stop_s):
            player = duel.seats.get(seen.culprit or seen.zone)
            if player is not None:
                seen = replace(seen, after_go_s=round(seen.seconds + shift_s - duel.go_at_s, 2))
                self._session.attempt(Foul(player, foul_sentence(seen.kind, seen.zone), "camera", seen=seen))

    def _look_at_card(self, frame: Frame, state: MatchState) -> None:
        before = self._card_reader.seen
        read = self._card_reader.look(frame, state, self._session.deck)
        if read is not None and state.card_id is None and state.can(NameCard):
            self._session.attempt(NameCard(read, "marker"))
        self._session.alarm("wrong_card", self._card_reader.wrong(self._session.state))
        self._session.alarm("other_deck", self._card_reader.other_deck(self._session.deck))
        if self._card_reader.seen != before:
            self._session.touch()
