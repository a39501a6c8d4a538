"""The button box of a session: what it says becomes commands, and each phase arms, disarms and lights it."""

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from cards.sentences import sentence
from referee.core import refuse_if
from referee.devices.box_keyboard import KEY_ERROR_S, KeysBox
from referee.devices.ports import BoxNotice, ButtonBox, Lamp
from referee.errors import DeviceLost, IllegalCommand, RefereeError
from referee.events import Event
from referee.match.commands import DrawCard, Foul, Go, MatchCommand, NextDuel, PressStop, Ready
from referee.match.decide import fields_refusal
from referee.match.state import MatchState
from referee.session.ports import RunningSession
from referee.workers import JobQueue

ZONES = "AB"

GO_WAIT_S = 0.7
"""How long the box may take to say when it sounded the go; then the host's own time counts."""

COUNTDOWN_S = 3.0
"""Three tones, a second apart, before the go where pads feel the tongs."""

ALARMS = ("stuck", "held_at_go", "reset", "events_lost", "foreign")
"""Notices that are an alarm of their own."""

NEXT_STEP: dict[str, type[MatchCommand]] = {
    "idle": DrawCard,
    "void": DrawCard,
    "card_drawn": Ready,
    "decided": NextDuel,
}
"""What the inactive player's Start/Next button means in each phase; when ready it is the go."""


class BoxListener(JobQueue[BoxNotice]):
    """Hears one box at a time, on a thread of its own. A lost box is an alarm, never an error."""

    def __init__(self, match: RunningSession, box: ButtonBox) -> None:
        super().__init__("session events")
        self.box = box
        self._match = match
        self._gone_at: queue.Queue[BoxNotice] = queue.Queue()
        self._going = threading.Lock()
        self._early: list[PressStop] | None = None
        self._early_lock = threading.Lock()
        self._signed: str | None = None
        self._noisy: dict[int, str] = {}
        self._shown: dict[int, Lamp] = {}
        self.practised: Callable[[str, float], bool] = lambda zone, at_s: False

    def start(self) -> None:
        """Begin to listen."""
        self.box.listen(self._jobs.put)
        self._insist()
        super().start()
        self._set(self._match.state)

    def use(self, box: ButtonBox) -> ButtonBox:
        """Listen to another box from now on; gives back the old one."""
        old, self.box = self.box, box
        box.listen(self._jobs.put)
        return old

    def status(self) -> dict:
        """The box's figures, JSON-able."""
        box = self.box
        return {"name": box.name, "simulated": box.simulated, "connected": box.connected, **box.status()}

    def follow(self, state: MatchState, events: Sequence[Event]) -> None:
        """Arm, disarm and light as these events ask; believe the box that was signed."""
        kinds = {e.kind for e in events}
        if kinds & {"setup_signed", "setup_opened", "setup_waived", "match_created"}:
            self._insist()
        if "card_drawn" in kinds:
            self._match.alarm("box_events_lost", None)
        self._set(state, kinds)

    def go(self, who: str = "") -> tuple[Event, ...]:
        """Sound the go. Its time is the box's when the box answers, else the host's.

        Where pads feel the tongs three tones come first. Raises IllegalCommand when tongs are not behind their mark,
        or leave it before the go, and while a field is not as it should be.
        """
        with self._going, self._presses_kept():
            fields = self._match.fields()
            refusal = self._match.state.refusal(Go) or fields_refusal(self._match.state, fields)
            if refusal:
                raise IllegalCommand(refusal)
            gone = self._sound_go(self._at_rest())
            if gone.kind == "false_start":
                raise IllegalCommand(gone.text)
            self._match.alarm("false_start", None)
            touched = tuple(zone for zone, fault in self._match.fields().items() if fault == "hand")
            shift_s, boot = self._match.shift_s, self._match.clock.boot_id()
            return self._match.command(Go(gone.at_s + shift_s, gone.box_us, fields, touched, boot, shift_s), who)

    @contextmanager
    def _presses_kept(self) -> Iterator[None]:
        """A press that comes between the box's go and the record's is no press of a duel yet: it waits for the go."""
        self._early = []
        try:
            yield
        finally:
            with self._early_lock:
                early, self._early = self._early, None
            gone_s = self._match.state.duel.go_at_s
            for press in early:
                if gone_s is not None and press.at_s + press.error_s >= gone_s:
                    self._match.attempt(press)

    def _at_rest(self) -> bool:
        """Whether there are pads to count down for. Raises IllegalCommand when somebody's tongs are not on theirs."""
        pads = self.box.status().get("pads") or {}
        away = [self._player(player) for player, resting in sorted(pads.items()) if not resting]
        refuse_if(away, "tongs", names=list(away))
        return bool(pads)

    def _sound_go(self, countdown: bool) -> BoxNotice:
        """The box's notice of its go, or of a false start; the host's own where the box says nothing."""
        while not self._gone_at.empty():
            self._gone_at.get_nowait()
        wait_s = COUNTDOWN_S if countdown else 0.0
        begun_s = self._match.clock.now_s()
        try:
            self.box.go(countdown)
            return self._gone_at.get(timeout=wait_s + GO_WAIT_S)
        except (DeviceLost, queue.Empty):
            self._match.alarm("box_silent", sentence("no_go"))
        return BoxNotice("go", begun_s + wait_s)

    def press(self, zone: str, who: str = "", key: tuple[float, float] | None = None) -> tuple[Event, ...]:
        """A Stop given on the dashboard: by a button of it, now, or by a ``key`` at that host time with its bound."""
        at_s, error_s = key or (self._match.clock.now_s(), KEY_ERROR_S)
        stop = PressStop(zone, at_s + self._match.shift_s, error_s, by="key" if key else "page")
        return self._match.command(stop, who)

    def rest(self, zone: str, resting: bool) -> tuple[Event, ...]:
        """Tongs behind their mark or not, by a key; nothing of it is recorded but a false start."""
        if not isinstance(self.box, KeysBox):
            raise IllegalCommand(sentence("own_pads"))
        self.box.rest(ZONES.index(zone), resting)
        return ()

    def _insist(self) -> None:
        """The box that was signed is the only one believed."""
        self._signed = self._match.signed_box
        self.box.insist(self._signed)

    def _set(self, state: MatchState, kinds: set[str] | None = None) -> None:
        """Arm, disarm and light as the phase asks; without ``kinds`` the box has just been found."""
        if kinds is None:
            self._shown.clear()
        try:
            self._arm(state, kinds)
            for player, lamp in lamp_states(state).items():
                if self._shown.get(player) != lamp:
                    self.box.lamp(player, lamp)
                    self._shown[player] = lamp
        except DeviceLost as error:
            self._match.alarm("box_unplugged", error.wording)

    def _arm(self, state: MatchState, kinds: set[str] | None) -> None:
        if state.phase == "ready" and (kinds is None or "ready" in kinds):
            self.box.arm()
        elif kinds is None and state.phase == "building":
            self.box.resume()
        elif kinds and kinds & {"duel_decided", "duel_void"}:
            self.box.disarm()
        elif kinds and "press_noted" in kinds and state.phase == "building":
            self.box.arm()
            self.box.resume()  # the duel goes on: a second go would confuse both

    def _do(self, notice: BoxNotice) -> None:
        if self._signed and notice.box_id and notice.box_id != self._signed:
            self._match.alarm("box_foreign", sentence("box_foreign", seen=notice.box_id, ours=self._signed))
        elif notice.kind == "go":
            self._gone_at.put(notice)
        elif notice.kind == "false_start":
            self._false_start(notice)
        elif notice.kind in ("press", "tried"):
            self._pressed(notice)
        elif notice.kind == "next":
            threading.Thread(target=self._step_on, name="next button", daemon=True).start()
        elif notice.kind in ("noisy", "quiet"):
            self._line(notice)
        elif notice.kind == "free":
            for code in ("box_stuck", "box_held_at_go"):
                self._match.alarm(code, None)
        else:
            self._connection(notice)

    def _connection(self, notice: BoxNotice) -> None:
        """What concerns the box as a whole."""
        if notice.kind in ALARMS:
            self._match.alarm(f"box_{notice.kind}", notice.text)
        if notice.kind in ("lost", "found"):
            self._match.alarm("box_unplugged", notice.text if notice.kind == "lost" else None)
        if notice.kind == "found":
            self._match.alarm("box_foreign", None)
        if notice.kind in ("found", "reset"):
            self._noisy.clear()
            self._match.alarm("box_noisy", None)
            self._set(self._match.state)

    def _line(self, notice: BoxNotice) -> None:
        """One alarm for all noisy lines."""
        if notice.kind == "noisy":
            self._noisy[notice.player or 0] = notice.text
        else:
            self._noisy.pop(notice.player or 0, None)
        self._match.alarm("box_noisy", sentence("box_noisy", rest=list(self._noisy.values())) if self._noisy else None)

    def _false_start(self, notice: BoxNotice) -> None:
        """Tongs left their mark before the go: on record, for the human referee to rule."""
        name = self._player(notice.player or 0)
        text = sentence("false_start", name=name)
        self._match.alarm("false_start", text)
        self._match.attempt(Foul(name, text, "button box"))
        self._gone_at.put(BoxNotice("false_start", notice.at_s, notice.player, text=text))

    def _player(self, player: int) -> str:
        seats = self._match.state.duel.seats
        return seats.get(ZONES[player], f"player {player}")

    def _pressed(self, notice: BoxNotice) -> None:
        """A Stop. ``tried`` is one outside a duel as the box knows it; it may have restarted since.

        A noisy line's box time is no closer than the bound: without it, both presses' bounds widen the tie window.
        """
        press = notice.press
        if press is not None and press.player < len(ZONES) and not self.practised(ZONES[press.player], press.at_s):
            at_s = press.at_s + self._match.shift_s
            stop = PressStop(ZONES[press.player], at_s, press.error_s, None if press.noisy else press.box_us)
            with self._early_lock:
                if self._early is not None:
                    self._early.append(stop)
                    return
            self._match.attempt(stop)

    def _step_on(self) -> None:
        """The Start/Next button: the next step of an undisturbed match."""
        phase = self._match.state.phase
        try:
            if phase == "ready":
                self.go("next button")
            elif phase in NEXT_STEP:
                self._match.command(NEXT_STEP[phase](), "next button")
        except RefereeError as error:
            self._match.alarm("refused", error.wording)


def lamp_states(state: MatchState) -> Mapping[int, Lamp]:
    """Player (0 is zone A's) -> lamp.

    The callers' burn, both in a dead heat; pulsing while a human has to decide, or decides anew; then the winner's
    burns, or both blink for a void duel.
    """
    if state.phase == "void":
        return dict.fromkeys(range(len(ZONES)), Lamp.BLINK)
    if state.phase == "decided":
        award = state.duel.award
        winner = state.duel.zone_of(award) if award is not None and award in state.duel.seats.values() else ""
        return _all(winner, Lamp.PULSE if state.under_review else Lamp.ON)
    if state.phase in ("stopped", "judging", "undecided"):
        return _all(state.duel.callers, Lamp.PULSE if state.phase == "undecided" else Lamp.ON)
    return _all("", Lamp.OFF)


def _all(lit: str | tuple[str, ...], lamp: Lamp) -> dict[int, Lamp]:
    return {player: lamp if zone in lit else Lamp.OFF for player, zone in enumerate(ZONES)}
