"""Who sits at the simulated table: they hear the go, press the buttons, draw cards.

``Robots`` make the players act on what happens in a session and press the simulated box's buttons.
``Operator`` is the inactive player: draws, calls ready and go, goes on to the next duel, and rules where the
camera cannot tell, by looking at the table, as a human referee would. ``Practisers`` build without a referee: they
give up where it is wrong, and clear the field. ``ProofBuilder`` builds what a proof of the table asks for.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from cards.build import Build, Piece, bottom
from cards.deck import Deck
from cards.drawing import card_png
from cards.pieces import PieceSet
from referee.devices.ports import Clock
from referee.errors import IllegalCommand, RefereeError
from referee.events import Event
from referee.match.commands import FoulRuling, HumanRuling, VoidDuel
from referee.match.practice import Practice, PracticeResult
from referee.match.state import MatchState
from referee.session.box_listener import NEXT_STEP
from referee.session.practising import PracticeRunner
from referee.session.proof_tasks import BuildTask
from referee.session.proving import TableProof
from referee.session.session import Session
from referee.simulator.build_plans import is_right, jittered
from referee.simulator.players import Players
from referee.workers import Background, JobQueue

REFEREE = "simulated referee"


class Robots(JobQueue[tuple[str, MatchState]]):
    """Turns a session's events into what the players do; ``press(player)`` closes a button's contact."""

    def __init__(self, session: Session, players: Players, press: Callable[[int], None]) -> None:
        super().__init__("SIMULATED players")
        self._session, self._players, self._press = session, players, press
        self._due: dict[str, float] = {}
        session.listen(self._heard)

    def start(self) -> None:
        """Sit down. A duel that is being built already is begun anew."""
        state = self._session.state
        if state.phase == "building":
            self._jobs.put(("go", state))
        super().start()

    def _heard(self, state: MatchState, events: Sequence[Event]) -> None:
        for event in events:
            self._jobs.put((event.kind, state))

    def _idle_s(self) -> float:
        now_s = self._session.clock.now_s()
        return max(0.001, min(self._due.values(), default=now_s + 1.0) - now_s)

    def _do(self, job: tuple[str, MatchState]) -> None:
        try:
            self._react(*job)
        except RefereeError as error:
            self._session.attempt(VoidDuel(REFEREE, str(error)))

    def _idle(self) -> None:
        """The first who is due presses; who would have been later hears the Stop and does not."""
        now_s = self._session.clock.now_s()
        first = min(self._due, key=lambda zone: self._due[zone], default=None)
        if first is not None and self._due[first] <= now_s:
            self._due = {}
            self._press("AB".index(first))

    def _react(self, kind: str, state: MatchState) -> None:
        now_s = self._session.clock.now_s()
        if kind == "go" and state.card_id is not None:
            card = self._session.deck.card(state.card_id)
            self._players.show(card_png(card, self._session.deck, self._session.piece_set, 440))
            self._players.begin(card, now_s)
            self._due = dict(self._players.presses())
        elif kind == "stop":
            self._due = {}
            self._players.stop(now_s)
        elif kind in ("card_drawn", "next_duel"):
            self._due = {}
            self._players.show(None)
            self._players.clear(now_s)


@dataclass(frozen=True)
class Pauses:
    """How long the operator takes for each step, in seconds."""

    draw_s: float = 0.5
    ready_s: float = 1.5
    go_s: float = 1.0
    admire_s: float = 5.0
    rule_s: float = 4.0
    give_up_s: float = 25.0


FAST_PAUSES = Pauses(0.05, 0.1, 0.05, 0.1, 0.1, 12.0)


class Operator(Background):
    """The inactive player, who keeps the match going until it is over or ``duels`` have been decided."""

    def __init__(self, session: Session, players: Players, pauses: Pauses, duels: int | None = None) -> None:
        super().__init__("SIMULATED operator")
        self._session, self._players, self._pauses, self._duels = session, players, pauses, duels
        self.done = threading.Event()

    def _run(self) -> None:
        version, since, where = -1, 0.0, None
        while not (self._closing.is_set() or self.done.is_set()):
            state, now_s = self._session.state, self._session.clock.now_s()
            if (state.seq, state.phase) != where:
                since, where = now_s, (state.seq, state.phase)
            wait_s = since + self._patience(state) - now_s
            if wait_s <= 0:
                self._act(state)
                since = now_s
            version = self._session.wait(version, min(0.5, max(0.01, wait_s)))

    def _patience(self, state: MatchState) -> float:
        p = self._pauses
        return {
            "idle": p.draw_s,
            "void": p.draw_s,
            "card_drawn": p.ready_s,
            "ready": p.go_s,
            "decided": p.admire_s,
            "undecided": p.rule_s,
            "stopped": p.give_up_s,
            "judging": p.give_up_s,
            "finished": 0.0,
            "building": 1e9,
            "new": 1e9,
        }[state.phase]

    def _act(self, state: MatchState) -> None:
        session = self._session
        try:
            if state.phase == "finished" or self._enough(state):
                self.done.set()
            elif state.phase in NEXT_STEP:
                session.command(NEXT_STEP[state.phase]())
            elif state.phase == "ready":
                with suppress(IllegalCommand):  # tried again until the table is ready for it
                    session.go()
            elif state.phase in ("undecided", "stopped", "judging"):
                self._rule(state)
        except RefereeError as error:
            session.alarm("refused", error.wording)

    def _enough(self, state: MatchState) -> bool:
        decided = [d for d in state.history if d.award is not None]
        return self._duels is not None and state.phase == "decided" and len(decided) >= self._duels

    def _rule(self, state: MatchState) -> None:
        """Look at the table and rule, as a human does where the camera cannot tell. Nobody at it has done a foul."""
        if state.card_id is None:
            return
        for index in (i for i, foul in enumerate(state.fouls) if foul.open):
            self._session.command(FoulRuling(index, "none", REFEREE, "no foul at the table"))
        card = self._session.deck.card(state.card_id)
        for zone in state.duel.callers:
            if state.duel.rulings.get(zone) in (None, "undecided") and self._session.state.can(HumanRuling):
                right = self._players.right(zone, card)
                ruling = HumanRuling("match" if right else "mismatch", REFEREE, "seen at the table", zone)
                self._session.command(ruling)


LOOKS_S = 3.0
"""So long somebody looks at his own wrong build before he gives up, at pace 1."""

RIGHT_S = 20.0
"""So long he waits for the camera to see a right one."""


class Practisers(JobQueue[tuple[str, Practice]]):
    """Plays the part of everybody who practises. ``ended`` counts the builds that have ended."""

    def __init__(self, room: PracticeRunner, players: Players, deck: Deck, pieces: PieceSet, clock: Clock) -> None:
        super().__init__("SIMULATED practisers")
        self._room, self._players, self._deck, self._pieces, self._clock = room, players, deck, pieces, clock
        self._enough: dict[str, float] = {}
        self._lines: deque[str] = deque()
        self.ended = 0
        room.listen(self._heard)

    def lines(self) -> Iterator[str]:
        """A line for each build that has ended since it was asked last."""
        while self._lines:
            yield self._lines.popleft()

    def _heard(self, practice: Practice, events: Sequence[Event]) -> None:
        for event in events:
            self._jobs.put((event.kind, practice))
            if event.kind == "build_ended":
                self._lines.append(build_line(practice.results[-1]))
                self.ended += 1

    def _idle_s(self) -> float:
        return 0.2

    def _do(self, job: tuple[str, Practice]) -> None:
        kind, practice = job
        now_s, zones = self._clock.now_s(), tuple(practice.players)
        if kind == "practice_go":
            card = self._deck.card(practice.card[0])
            self._players.show(card_png(card, self._deck, self._pieces, 440))
            self._players.begin(card, now_s, zones)
            patience = {zone: RIGHT_S if self._players.right(zone, card) else LOOKS_S for zone in zones}
            self._enough = {zone: self._players.still_s(zone) + s for zone, s in patience.items()}
        elif kind in ("all_ended", "practice_card", "practice_begun"):
            self._enough = {}
            self._players.show(None)
            self._players.clear(now_s)

    def _idle(self) -> None:
        now_s = self._clock.now_s()
        for zone in [zone for zone, at_s in self._enough.items() if at_s < now_s]:
            self._enough[zone] = now_s + RIGHT_S
            with suppress(RefereeError):  # it has ended meanwhile
                self._room.give_up(zone)


CALMER = (1.0, 0.6, 0.3)
"""A build's pieces are so much off their places, in turn, until it is what it has to be."""


class ProofBuilder(Background):
    """Builds what a proof of the table asks for, a little off as hands are, and says that it stands."""

    def __init__(self, proof: TableProof, players: Players, deck: Deck, clock: Clock) -> None:
        super().__init__("SIMULATED builder")
        self._proof, self._players, self._deck, self._clock = proof, players, deck, clock

    def _run(self) -> None:
        built: BuildTask | None = None
        while not self._closing.wait(0.05):
            task = self._proof.task
            if task is not None and task is not built:
                self._players.clear(self._clock.now_s())
                self._wait_until_still()
                self._players.show(card_png(task.card, self._deck, self._players.piece_set, 440))
                self._players.build(self._proof.zone, self._as_hands_do(task), self._clock.now_s())
                self._wait_until_still()
                built = task
                with suppress(IllegalCommand):  # it was skipped meanwhile
                    self._proof.stand()

    def _wait_until_still(self) -> None:
        still_s = max(map(self._players.still_s, self._players.zones))
        self._closing.wait(max(0.0, still_s - self._clock.now_s()))

    def _as_hands_do(self, task: BuildTask) -> tuple[Piece, ...]:
        """With everything on what it is to rest on."""
        pieces, rng = self._players.piece_set, np.random.default_rng(self._proof.seed + len(self._proof.results))
        exact = tuple(sorted(task.pieces, key=lambda piece: bottom(pieces, piece)))
        for calm in CALMER:
            built = jittered(exact, pieces, rng, calm)
            same = Build(pieces, built).contacts == Build(pieces, exact).contacts
            if same and is_right(built, task.card, pieces) == (task.expected == "match"):
                return built
        return exact


def build_line(result: PracticeResult) -> str:
    """How one build ended, for a terminal."""
    time = f"{result.seconds:6.2f} s by {result.by}" if result.seconds is not None else "  no time"
    why = "; ".join(reason.text for reason in result.reasons)
    line = f"{result.player:10s} {result.card_id}  {result.ruling:9s} {time}"
    return line if result.seconds is not None else f"{line}  {why}"
