"""The shell: gathers what devices and people say, lets the match decide, keeps it, tells everyone.

``Session.command`` is the whole of it: decide (pure), append to the journal (durable), then apply. The
state is what the journal says, so a program that is killed goes on in the same phase of the same duel.

Threads, besides those of the devices: ``events`` (box notices, alarms, clocks), ``watch`` (vision, see
``referee.watch``) and ``pictures`` (JPEG, see ``referee.pictures``). None of them waits for a viewer.
"""

from __future__ import annotations

import queue
import shutil
import threading
from collections import deque
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from cards.card import card_to_json
from cards.deck import Deck
from cards.pieces import PieceSet
from referee.alarms import Alarms
from referee.errors import DeviceLost, IllegalCommand, RefereeError
from referee.journal import Journal
from referee.match import (
    CallTimeout,
    Command,
    CreateMatch,
    DrawCard,
    Event,
    Go,
    MatchState,
    NextDuel,
    PressStop,
    Ready,
    cards_of,
    decide,
    evolve,
    fold,
)
from referee.pictures import Pictures
from referee.ports import BoxNotice, ButtonBox, Camera, Clock
from referee.rules import DEFAULT_RULES, HouseRules
from referee.setting_up import SettingUp
from referee.state import SEEN_PHASES
from referee.taping import Taping
from referee.watch import Watch

ZONES = "AB"
GO_WAIT_S = 0.7
"""How long the box may take to say when it sounded the go; then the host's own time counts."""

KEY_ERROR_S = 0.05
"""Bound of the error of a Stop given on the dashboard: key, network, page."""

ROUND_S = 1.0
"""The rig is looked over this often."""

DISK_LOW_BYTES = 2 << 30
DROPPED_SHARE = 0.1
"""More frames lost than this, over the last rounds, raise an alarm."""

ROUNDS = 6

NEXT_STEP = {"idle": DrawCard, "void": DrawCard, "card_drawn": Ready, "decided": NextDuel}
"""What the inactive player's Start/Next button means in each phase; when ready it is the go."""


class Session:
    """One running referee. ``observer`` judges frames, ``gate`` watches them live (``referee.vision``).

    ``table`` names this table's matches in a store that many tables share.
    Raises JournalDamaged when the record cannot be trusted. Call ``start`` first and ``stop`` last; the
    devices are the caller's to close.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        deck: Deck,
        piece_set: PieceSet,
        observer: Any,
        gate: Any,
        camera: Camera,
        box: ButtonBox,
        clock: Clock,
        rules: HouseRules = DEFAULT_RULES,
        recorder: Any = None,
        data_dir: Path,
        simulated: bool,
        keep: dict | None = None,
        draw: Callable[..., Any] | None = None,
        table: str = "",
    ) -> None:
        self.journal, self.deck, self.piece_set, self.rules = journal, deck, piece_set, rules
        self.observer, self.gate, self.camera, self.box = observer, gate, camera, box
        self.clock, self.data_dir, self.simulated = clock, Path(data_dir), simulated
        self.draw = draw or (lambda frame, judgement, card: frame)
        self._prefix = f"{table}-" if table else ""
        self.alarms = Alarms()
        self._lock = threading.RLock()
        self._news = threading.Condition()
        self._version = 0
        self._listeners: list[Callable[[MatchState, Sequence[Event]], None]] = []
        self._notices: queue.Queue[BoxNotice | None] = queue.Queue()
        self._gone_at: queue.Queue[BoxNotice] = queue.Queue()
        self._closing = threading.Event()
        self.state, self.shift_s = self._recovered()
        self.setting_up = SettingUp(self)
        self.pictures = Pictures(self)
        self.watch = Watch(self)
        self.taping = Taping(self, recorder, keep or {}) if recorder else None
        self._counts: deque[tuple[int, int]] = deque([(0, 0)], maxlen=ROUNDS)
        self._thread = threading.Thread(target=self._run, name="session events", daemon=True)

    # --- what everybody uses ---

    def command(self, command: Command, who: str = "") -> tuple[Event, ...]:
        """Decide, keep, apply, tell. Raises IllegalCommand, JournalUnwritable; then nothing has changed."""
        with self._lock:
            events = decide(self.state, command, self.clock.utc().isoformat())
            if who:
                events = tuple(e if e.who else _by(e, who) for e in events)
            state = self.state
            for event in events:
                state = evolve(state, event)
            self.journal.append(state.match_id, events, after=self.state.seq)
            self.state = state
            self._follow(events)
        self.touch()
        return events

    def create_match(
        self,
        players: Sequence[str],
        mode: str = "all",
        seed: int | None = None,
        rules: HouseRules | None = None,
        who: str = "",
    ) -> tuple[Event, ...]:
        """Begin a match; one that is still open is left as it stands in the journal."""
        now = self.clock.utc()
        match_id = f"{self._prefix}{now:%Y%m%d-%H%M%S}-{len(self._own_matches()) + 1}"
        chosen = int(now.timestamp() * 1000) % (1 << 31) if seed is None else seed
        create = CreateMatch(
            tuple(players),
            mode,
            chosen,
            self.deck.name,
            rules or self.rules,
            cards_of(self.deck),
            match_id,
            self.simulated,
        )
        with self._lock:
            before, self.state = self.state, MatchState()
            try:
                events = self.command(create, who)
            except RefereeError:
                self.state = before
                raise
            self.setting_up.match_created()
            return events

    def go(self, who: str = "") -> tuple[Event, ...]:
        """Sound the go. Its time is the box's when the box answers, else the host's."""
        if not self.state.can(Go):
            raise IllegalCommand(f"Go is not possible in phase {self.state.phase}")
        while not self._gone_at.empty():
            self._gone_at.get_nowait()
        gone = BoxNotice("go", self.clock.now_s())
        try:
            self.box.go()
            gone = self._gone_at.get(timeout=GO_WAIT_S)
        except (DeviceLost, queue.Empty):
            self._alarm("box_silent", "the box did not sound the go; the host's clock counts")
        return self.command(Go(gone.at_s + self.shift_s, gone.box_us), who)

    def press(self, zone: str, who: str = "") -> tuple[Event, ...]:
        """A Stop given on the dashboard, now."""
        return self.command(PressStop(zone, self.clock.now_s() + self.shift_s, KEY_ERROR_S), who)

    def snapshot(self) -> dict:
        """Everything a page needs, JSON-able."""
        with self._lock:
            state, version = self.state, self._version
        card = self.deck.by_id.get(state.card_id or "") if state.phase in SEEN_PHASES else None
        return {
            "version": version,
            "simulated": self.simulated,
            "match": state.to_json() if state.match_id else None,
            "live": {
                "camera": self.camera.status(),
                "box": self._box_status(),
                "gates": self.watch.gates(),
                "card_read": self.watch.card_read,
                "recorder": self.taping.status() if self.taping else None,
                "go_at": state.duel.go_at,
                "elapsed_s": self._elapsed_s(state),
            },
            "alarms": self.alarms.to_json(),
            "verdict": self._verdict(state),
            "card": card_to_json(card) if card else None,
        }

    def wait(self, version: int, timeout_s: float) -> int:
        """Wait until the snapshot's version is above ``version``; gives the version."""
        with self._news:
            self._news.wait_for(lambda: self._version > version or self._closing.is_set(), timeout_s)
            return self._version

    def picture(self, name: str) -> bytes | None:
        """The latest JPEG: live, zone_A, zone_B, overlay, overlay/N or card; None before the first."""
        return self.pictures.get(name)

    def listen(self, callback: Callable[[MatchState, Sequence[Event]], None]) -> None:
        """Call back with (new state, events) after every command, on the commanding thread: be quick."""
        self._listeners.append(callback)

    def use_camera(self, camera: Camera) -> Camera:
        """Go on with another camera; gives back the old one to close. Raises IllegalCommand during a duel."""
        with self._lock:
            self.setting_up.may_change()
            self.setting_up.other_camera()
            old, self.camera = self.camera, camera
            if self.taping:
                self.taping.follow(camera)
        self.touch()
        return old

    def use_box(self, box: ButtonBox) -> ButtonBox:
        """Go on with another button box; gives back the old one. Raises IllegalCommand during a duel."""
        with self._lock:
            self.setting_up.may_change()
            old, self.box = self.box, box
        box.listen(self._notices.put)
        self.touch()
        return old

    def touch(self) -> None:
        """Something a page shows has changed."""
        with self._news:
            self._version += 1
            self._news.notify_all()

    def start(self) -> None:
        """Begin to watch, listen to the box and make pictures; a match that goes on finds its rig as it was."""
        if self.state.match_id:
            self.setting_up.restore()
            if self.taping:
                self.taping.resume()
        self.box.listen(self._notices.put)
        self._thread.start()
        self.pictures.start()
        self.watch.start()
        self._set_box(self.state)

    def stop(self) -> None:
        """End all threads; the journal stays open, it is the caller's."""
        self._closing.set()
        self._notices.put(None)
        self.touch()
        for part in (self.watch, self.pictures):
            part.stop()
        if self._thread.ident:
            self._thread.join()
        if self.taping:
            self.taping.stop()

    # --- inside

    def _own_matches(self) -> list[str]:
        """Ids of this table's matches: a store may hold those of many tables."""
        return [m for m in self.journal.matches() if m.startswith(self._prefix)]

    def _recovered(self) -> tuple[MatchState, float]:
        """The journal's last match unless it is finished, and what to add to the host's clock in it."""
        matches = self._own_matches()
        if not matches:
            return MatchState(), 0.0
        events = self.journal.events(matches[-1])
        state = fold(events)
        return (state, self._shift(events)) if state.phase != "finished" else (MatchState(), 0.0)

    def _shift(self, events: Sequence[Event]) -> float:
        """0 while the host's clock runs on; after a reboot what keeps recorded times comparable."""
        last = next((e for e in reversed(events) if e.kind == "go"), None)
        if last is None:
            return 0.0
        passed = (self.clock.utc() - datetime.fromisoformat(last.at)).total_seconds()
        shift = last.data["at_s"] + passed - self.clock.now_s()
        return shift if abs(shift) > 5.0 else 0.0

    def _follow(self, events: Sequence[Event]) -> None:
        kinds = {e.kind for e in events}
        if "match_created" in kinds:
            self.watch.set_up_anew()
        self._set_box(self.state, kinds)
        for callback in self._listeners:
            callback(self.state, events)

    def _set_box(self, state: MatchState, kinds: set[str] | None = None) -> None:
        """Arm, disarm and light as the phase asks. A lost box is an alarm, never an error."""
        try:
            if state.phase == "ready" and (kinds is None or "ready" in kinds):
                self.box.arm()
            elif kinds is None and state.phase == "building":
                self.box.resume()
            elif kinds and kinds & {"duel_decided", "duel_void"}:
                self.box.disarm()
            elif kinds and "card_drawn" in kinds:
                for player in range(len(ZONES)):
                    self.box.lamp(player, False)
            elif kinds and "press_noted" in kinds and state.phase == "building":
                self.box.arm()
                self.box.go()
        except DeviceLost as error:
            self._alarm("box_unplugged", str(error))

    def _run(self) -> None:
        due_s = self.clock.now_s()
        while not self._closing.is_set():
            try:
                notice = self._notices.get(timeout=max(0.01, due_s - self.clock.now_s()))
            except queue.Empty:
                self._look_over()
                due_s = self.clock.now_s() + ROUND_S
                continue
            if notice is not None:
                self._hear(notice)

    def _hear(self, notice: BoxNotice) -> None:
        if notice.kind == "go":
            self._gone_at.put(notice)
        elif notice.kind in ("press", "tried") and notice.press.player < len(ZONES):
            self._pressed(notice)
        elif notice.kind == "next":
            threading.Thread(target=self._step_on, name="next button", daemon=True).start()
        elif notice.kind in ("stuck", "held_at_go", "reset"):
            self._alarm(f"box_{notice.kind}", notice.text)
            if notice.kind == "reset":
                self._set_box(self.state)
        elif notice.kind == "free":
            self._alarm("box_stuck", None)
        elif notice.kind in ("lost", "found"):
            self._alarm("box_unplugged", notice.text if notice.kind == "lost" else None)
            if notice.kind == "found":
                self._set_box(self.state)

    def _pressed(self, notice: BoxNotice) -> None:
        """A Stop. ``tried`` is one outside a duel as the box knows it; it may have restarted since."""
        press = notice.press
        self._try(PressStop(ZONES[press.player], press.at_s + self.shift_s, press.error_s, press.box_us))

    def _step_on(self) -> None:
        """The Start/Next button: the next step of an undisturbed match."""
        phase = self.state.phase
        try:
            if phase == "ready":
                self.go("next button")
            elif phase in NEXT_STEP:
                self.command(NEXT_STEP[phase](), "next button")
        except RefereeError as error:
            self._alarm("refused", str(error))

    def _try(self, command: Command) -> None:
        """A command that nobody waits for: what is illegal now is none, what cannot be kept is an alarm."""
        try:
            self.command(command)
        except IllegalCommand:
            return
        except RefereeError as error:
            self._alarm("journal", str(error))

    def _look_over(self) -> None:
        """Once a second: time limit, lost devices, dropped frames, disk."""
        if self.taping:
            self.taping.tick(self.clock.now_s())
        state, limit = self.state, self.state.rules.time_limit_s
        if state.phase == "building" and limit and (self._elapsed_s(state) or 0) > limit:
            self._try(CallTimeout(self.clock.now_s() + self.shift_s))
        camera = self.camera.status()
        lost = camera.get("lost")
        self._alarm("camera_lost", f"camera {self.camera.name}: {lost}" if lost else None)
        silent = f"the button box {self.box.name} does not answer"
        self._alarm("box_unplugged", None if self.box.connected else silent)
        self._alarm("blind", None if self.watch.alive else "the vision has stopped: start the program again")
        self._alarm("frames_dropped", self._dropping(camera))
        free = shutil.disk_usage(self.data_dir).free
        self._alarm("disk_low", f"{free >> 20} MB left for recordings" if free < DISK_LOW_BYTES else None)
        problem = self.taping.status().get("problem") if self.taping else None
        self._alarm("recording", problem)

    def _dropping(self, camera: dict) -> str | None:
        self._counts.append((camera.get("frames", 0), camera.get("dropped", 0)))
        new, lost = (now - then for now, then in zip(self._counts[-1], self._counts[0], strict=True))
        if lost <= DROPPED_SHARE * (new + lost):
            return None
        return f"{lost} of the last {new + lost} frames were lost"

    def _alarm(self, code: str, text: str | None) -> None:
        if self.alarms.tell(code, text, self.clock.utc().isoformat()):
            self.touch()

    def _box_status(self) -> dict:
        return {
            "name": self.box.name,
            "simulated": self.box.simulated,
            "connected": self.box.connected,
            **self.box.status(),
        }

    def _elapsed_s(self, state: MatchState) -> float | None:
        if state.phase != "building" or state.duel.go_at_s is None:
            return None
        return round(self.clock.now_s() + self.shift_s - state.duel.go_at_s, 3)

    def _verdict(self, state: MatchState) -> dict:
        if not state.verdicts:
            return {}
        return {"zones": dict(state.verdicts), **self.watch.shown(state)}


def _by(event: Event, who: str) -> Event:
    return Event(event.kind, event.data, event.at, who, event.simulated, event.cites, event.step)
