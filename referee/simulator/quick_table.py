"""A SIMULATED table without a camera: players whose times are dice, and a verdict that is not seen but known.

It plays matches by the match's own rules on the same record as a real table, hundreds of duels a minute: for many
tables on one machine. What it does follows from the seed, the match and the duel, so that one which was killed in the
middle goes on with the duel as if it had not been.
"""

import random
from collections.abc import Sequence

from cards.deck import Deck
from referee.devices.ports import Clock
from referee.events import Event
from referee.match.commands import BeginJudging, CameraVerdict, Go, HumanRuling, PressStop
from referee.match.house_rules import HouseRules
from referee.match.state import MatchState
from referee.match.verdict import zone_verdict
from referee.session.box_listener import NEXT_STEP
from referee.session.match_runner import MatchRequest, MatchRunner
from referee.session.notifier import Notifier
from referee.session.ports import Record

REFEREE = "simulated referee"

MEAN_S, SKILL_S, SPREAD_S, LEAST_S = 22.0, 6.0, 5.0, 4.0
"""A build's time in seconds: everybody's mean, how far people differ, how far one differs from duel to duel, and what
nobody is faster than."""

WRONG_SHARE, UNSURE_SHARE, TROUBLE_SHARE = 0.08, 0.04, 0.03
"""Shares of Stops with a wrong build, of verdicts left to a human, and of duels in which something is amiss."""

STEPS = NEXT_STEP | {"stopped": BeginJudging}
"""Phases in which there is one thing to do, whatever chance says."""

BUILT = "simulated"
"""The code of what a verdict that nobody saw rests on."""


class QuickTable:
    """One table; ``step`` does whatever comes next there."""

    def __init__(self, journal: Record, deck: Deck, clock: Clock, table: str, seed: int, rules: HouseRules) -> None:
        self._clock, self._seed, self._rules = clock, seed, rules
        self._notifier = Notifier(clock)
        self._runner = MatchRunner(journal, deck, clock, self._notifier, table)

    @property
    def state(self) -> MatchState:
        """The match as it stands."""
        return self._runner.state

    def alarms(self) -> list[dict[str, str]]:
        """What is wrong here."""
        return self._notifier.alarms()

    def alarm(self, code: str, text: str | None) -> None:
        """Raise or end an alarm."""
        self._notifier.alarm(code, text)

    def create_match(self, players: Sequence[str]) -> tuple[Event, ...]:
        """Begin a match, marked as simulated."""
        seed = random.Random(f"{self._seed}/{'/'.join(players)}").getrandbits(31)
        return self._runner.create(MatchRequest(tuple(players), seed=seed, rules=self._rules), simulated=True)

    def step(self) -> bool:
        """Do what comes next; whether there was anything."""
        state = self.state
        if state.phase in ("new", "finished"):
            return False
        if state.phase in STEPS:
            self._runner.command(STEPS[state.phase]())
            return True
        duel = state.duel
        chance = random.Random(f"{self._seed}/{state.match_id}/{duel.number}/{duel.attempt}")
        getattr(self, f"_{state.phase}")(state, chance)
        return True

    def _ready(self, state: MatchState, chance: random.Random) -> None:
        amiss = chance.random() < TROUBLE_SHARE
        self.alarm("box_lost", "SIMULATED: the button box does not answer" if amiss else None)
        self._runner.command(Go(self._clock.now_s()))

    def _building(self, state: MatchState, chance: random.Random) -> None:
        times = {zone: self._time_s(name, chance) for zone, name in sorted(state.seats.items())}
        first = min(times, key=lambda zone: times[zone])
        self._runner.command(PressStop(first, (state.duel.go_at_s or 0.0) + times[first]))

    def _time_s(self, name: str, chance: random.Random) -> float:
        own = random.Random(f"{self._seed}/skill/{name}").gauss(MEAN_S, SKILL_S)
        return max(LEAST_S, chance.gauss(own, SPREAD_S))

    def _judging(self, state: MatchState, chance: random.Random) -> None:
        zone = next(z for z in state.duel.callers if z not in state.duel.rulings)
        said = chance.random()
        ruling = "undecided" if said < UNSURE_SHARE else "mismatch" if said < UNSURE_SHARE + WRONG_SHARE else "match"
        reason = {"code": BUILT, "text": "SIMULATED: drawn by lot, no picture"}
        row = {"verdict": ruling, "confidence": 1.0, "reasons": [] if ruling == "match" else [reason]}
        self._runner.command(CameraVerdict(zone, zone_verdict(row)))

    def _undecided(self, state: MatchState, chance: random.Random) -> None:
        self._runner.command(HumanRuling("match", REFEREE, "seen at the table"))
