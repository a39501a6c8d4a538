"""The shell: gathers what devices and people say, lets the match decide, keeps it, tells everyone.

A session is put together of parts that know of it only what they use: the match runner
(``referee.session.match_runner``: decide, keep, apply), the box listener, the health monitor, live judging,
previews, the recording of duels, the rig's set-up.

Threads, besides those of the devices: ``events`` (box notices), ``health`` (alarms, clocks), ``judging``
(vision) and ``previews`` (JPEG). None of them waits for a viewer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cards.deck import Deck
from cards.pieces import PieceSet
from referee.devices.ports import ButtonBox, Camera, Clock
from referee.events import Event
from referee.journal.public_events import EventFeed
from referee.match.commands import RuleByHand
from referee.match.duel import PHASES_IN_PLAY
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.match.state import CARD_SHOWN_PHASES, MatchState
from referee.recording import Recorder
from referee.session.box_listener import BoxListener
from referee.session.duel_recording import DuelRecording, Sign
from referee.session.health_monitor import HealthMonitor
from referee.session.live_judging import LiveJudging
from referee.session.match_runner import MatchRequest, MatchRunner
from referee.session.notifier import Notifier
from referee.session.ports import Draw, Record
from referee.session.practising import FREE_PHASES, PracticeRunner
from referee.session.previews import Previews
from referee.session.proving import TableProof
from referee.session.rig_setup import RigSetup
from referee.session.second_view import CameraView, SecondView
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer


@dataclass(frozen=True, kw_only=True)
class Equipment:
    """What a session works with. ``observer`` judges frames, ``gate`` watches them live (``referee.vision``);
    ``table`` names this table's matches in a store that many tables share; ``practice`` is the record of what is
    practised, None for a table without; ``second``: another camera at the table. The devices are the caller's to close,
    and so are the records."""

    journal: Record
    deck: Deck
    piece_set: PieceSet
    observer: Observer
    gate: Gate
    camera: Camera
    box: ButtonBox
    clock: Clock
    data_dir: Path
    simulated: bool
    rules: HouseRules = DEFAULT_RULES
    recorder: Recorder | None = None
    draw: Draw = lambda frame, judgement, card: frame
    table: str = ""
    sign: Sign | None = None
    practice: Record | None = None
    second: SecondView | None = None


class Session:
    """One running referee. Raises JournalDamaged when the record cannot be trusted.

    Call ``start`` first and ``stop`` last. What one part does alone is asked of the session by the part's own method.
    """

    def __init__(self, use: Equipment) -> None:
        self.piece_set, self.rules = use.piece_set, use.rules
        self.observer, self.gate, self.camera, self.clock = use.observer, use.gate, use.camera, use.clock
        self.second = use.second
        self.data_dir, self.simulated, self.draw = Path(use.data_dir).resolve(), use.simulated, use.draw
        self.notifier = Notifier(use.clock)
        self.wait, self.touch, self.alarm = self.notifier.wait, self.notifier.touch, self.notifier.alarm
        self.match = MatchRunner(use.journal, use.deck, use.clock, self.notifier, use.table)
        self.command, self.attempt = self.match.command, self.match.attempt
        self.listen, self.older = self.match.listen, self.match.older
        self.buttons = BoxListener(self, use.box)
        self.go, self.press, self.rest = self.buttons.go, self.buttons.press, self.buttons.rest
        self.setup = RigSetup(self)
        self.previews = Previews(self)
        self.picture = self.previews.get
        self.practice = PracticeRunner(self, use.practice) if use.practice else None
        self.proof = TableProof(self)
        self.buttons.practised = self._takes_press
        self.judging = LiveJudging(self)
        self.fields, self.gates = self.judging.fields, self.judging.gates
        if use.second:
            for camera in self.cameras:
                use.second.follow(camera)
        self.match.listen(self._follow)
        self.match.listen(self.buttons.follow)
        self.feed = EventFeed(use.journal, use.table, self.state.match_id)
        self.match.listen(self.feed.follow)
        self.recording = DuelRecording(self, use.recorder, use.sign) if use.recorder else None
        self.health = HealthMonitor(self, self.recording.tick if self.recording else lambda now_s: None)

    # --- the match

    @property
    def journal(self) -> Record:
        """The record."""
        return self.match.journal

    @property
    def state(self) -> MatchState:
        """The match as it stands."""
        return self.match.state

    @property
    def shift_s(self) -> float:
        """What to add to the host's clock in this match."""
        return self.match.shift_s

    def create_match(
        self,
        players: Sequence[str],
        mode: str = "all",
        seed: int | None = None,
        rules: HouseRules | None = None,
        who: str = "",
    ) -> tuple[Event, ...]:
        """Begin a match; one that is still open is left as it stands in the journal."""
        self._seal_recordings()
        self.camera.adjust(self.camera.settings.enforce)
        with self.match.lock:
            wish = MatchRequest(tuple(players), mode, seed, rules or self.rules)
            events = self.match.create(wish, self.simulated, who)
            self.setup.match_created()
            return events

    def take_up(self, match_id: str, who: str = "") -> tuple[Event, ...]:
        """Go on with an older match of this table. Raises IllegalCommand where ``MatchRunner.take_up`` does."""
        self._seal_recordings()
        with self.match.lock:
            events = self.match.take_up(match_id, who)
            if self.recording:
                self.recording.resume()
            return events

    def _seal_recordings(self) -> None:
        """What was recorded of a match is closed and sealed in its record before another one is gone on with; a duel
        that is played just now goes on being recorded, for the change may yet be refused."""
        if self.recording and self.state.phase not in PHASES_IN_PLAY:
            self.recording.stop()

    # --- what pages show

    def snapshot(self) -> dict:
        """Everything a page needs, JSON-able; waits for no command and for no store."""
        version, state = self.notifier.version, self.state
        card = self.deck.by_id.get(state.card_id or "") if state.phase in CARD_SHOWN_PHASES else None
        verdicts = {zone: said.to_json() for zone, said in state.verdicts.items()}
        return {
            "version": version,
            "simulated": self.simulated,
            "match": state.to_json() if state.match_id else None,
            "live": {
                "camera": self.camera.status(),
                "second": self.second.camera.status() if self.second else None,
                "box": self.buttons.status(),
                "gates": self.gates(),
                "fields": dict(self.judging.fields()),
                "card_read": self.judging.card_read,
                "recorder": self.recording.recorder.status() if self.recording else None,
            },
            "alarms": self.notifier.alarms(),
            "verdict": {"zones": verdicts, **self.judging.shown(state)} if verdicts else {},
            "pictures": {duel: row["overlay"] for duel, row in self.previews.shown(state).items()},
            "card": card.to_json() if card else None,
        }

    @property
    def deck(self) -> Deck:
        """The deck of this match and the next: the match runner's."""
        return self.match.deck

    @deck.setter
    def deck(self, deck: Deck) -> None:
        self.match.deck = deck

    # --- devices

    @property
    def box(self) -> ButtonBox:
        """The button box in use."""
        return self.buttons.box

    @property
    def views(self) -> list[CameraView]:
        """The first camera, and the second where there is one, whichever is the main one."""
        second = self.second
        views = [
            CameraView(self.camera, self.observer),
            *([CameraView(second.camera, second.observer)] if second else ()),
        ]
        return views[::-1] if second and second.is_first else views

    @property
    def cameras(self) -> list[Camera]:
        """The main camera, and the second where there is one."""
        return [self.camera, *([self.second.camera] if self.second else ())]

    def change_views(self, lost: bool) -> bool:
        """In mid-duel the second camera takes the place of a main one that is ``lost``; between duels the first is the
        main one again as soon as it is back. Whether they have changed places now."""
        second = self.second
        due = second is not None and (lost if self.state.phase in PHASES_IN_PLAY else second.is_first)
        if second is None or not due or not second.newest():
            return False
        self._exchange(second)
        return True

    def put_back_views(self) -> None:
        """The first camera is the main one, as the table was set up."""
        if self.second and self.second.is_first:
            self._exchange(self.second)

    def _exchange(self, second: SecondView) -> None:
        self.camera, self.observer, self.gate = second.exchange(self.camera, self.observer, self.gate)
        self.gate.restart()
        self.touch()

    def use_camera(self, camera: Camera | None, number: int = 1) -> Camera | None:
        """Go on with another camera as the first or the second (None: without a second); gives back the old one to
        close. Raises IllegalCommand during a duel."""
        with self.match.lock:
            self.setup.may_change()
            self.setup.other_camera(number)
            old = dict(enumerate(self.cameras, 1)).get(number)
            if number == 2:
                observer = Observer(self.piece_set)
                self.second = SecondView(camera, observer, Gate(observer)) if camera else None
            elif camera:
                self.camera = camera
            if self.second:
                for one in self.cameras if number == 2 else [self.camera]:
                    self.second.follow(one)
            self.setup.keep_camera()
            if self.recording:
                self.recording.follow(camera, number)
            if number == 1 and self.state.by_hand:
                self.command(RuleByHand(False))
        self.touch()
        return old

    @property
    def signed_box(self) -> str | None:
        """The id of the box that was signed with the set-up; None while none is."""
        if self.state.setup != "signed":
            return None
        signed = [e for e in self.journal.events(self.state.match_id) if e.kind == "setup_signed"]
        return signed[-1].data["record"].get("box") or None

    def use_box(self, box: ButtonBox) -> ButtonBox:
        """Go on with another button box; gives back the old one. Raises IllegalCommand during a duel."""
        with self.match.lock:
            self.setup.may_change()
            old = self.buttons.use(box)
        self.touch()
        return old

    def _takes_press(self, zone: str, at_s: float) -> bool:
        """Whether a press of the box was one of a proof or a practice."""
        return self.proof.press(zone) or (self.practice is not None and self.practice.press(zone, at_s))

    # --- beginning and end

    def start(self) -> None:
        """Begin to watch, listen to the box and make pictures; a match that goes on finds its rig as it was."""
        if self.state.match_id:
            self.setup.restore()
            if self.recording:
                self.recording.resume()
        for part in (self.buttons, self.health, self.previews, self.judging):
            part.start()

    def stop(self) -> None:
        """End all threads; the journal stays open, it is the caller's."""
        self.notifier.close()
        for part in (self.judging, self.previews, self.health, self.buttons):
            part.stop()
        if self.practice:
            self.practice.stop()
        if self.recording:
            self.recording.stop()

    def _follow(self, state: MatchState, events: Sequence[Event]) -> None:
        if any(e.kind == "match_created" for e in events):
            self.judging.set_up_anew()
        if self.practice and (state.phase not in FREE_PHASES or any(e.kind == "match_created" for e in events)):
            self.practice.end()
        if self.proof.task and state.phase not in FREE_PHASES:
            self.proof.end()
