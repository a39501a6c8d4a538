"""One line per duel on the terminal, and a tally at the end."""

from collections import Counter
from collections.abc import Callable, Sequence

from referee.events import Event
from referee.match.duel import Duel, stop_time
from referee.match.state import MatchState


class ScoreLines:
    """A session's listener that says how each duel ended.

    ``truth`` (simulator only) says of a zone and a card id whether the build is right, to check the camera.
    """

    def __init__(self, say: Callable[[str], None], truth: Callable[[str, str], bool] | None = None) -> None:
        self._say, self._truth = say, truth
        self._count: Counter[str] = Counter()

    def __call__(self, state: MatchState, events: Sequence[Event]) -> None:
        """Hear of new events."""
        for event in events:
            if event.kind == "duel_decided":
                self._count[event.data["by"]] += 1
                self._say(self._duel(state.duel, state))
            elif event.kind == "duel_void":
                self._count["void"] += 1
                self._say(f"duel {state.duel.number}: void ({state.duel.reason}), fresh card")
            elif event.kind == "verdict":
                self._count[self._checked(event, state)] += 1
            elif event.kind == "match_finished":
                table = ", ".join(f"{row.rank}. {row.player} {row.score}" for row in state.standings if row.rank)
                self._say(f"winner: {state.winner or 'shared'}   ({table})")

    def tally(self) -> str:
        """All duels in a line, and with the truth known how often the camera was right."""
        n = self._count
        text = f"decided by the camera {n['camera']}, by a human {n['human']}, void {n['void']}"
        if self._truth is None:
            return text
        seen = f"{n['right']} right, {n['wrong']} wrong, {n['undecided']} undecided"
        return f"{text}; verdicts on callers: {seen}"

    def _checked(self, event: Event, state: MatchState) -> str:
        said = str(event.data["verdict"]["verdict"])
        if said == "undecided" or self._truth is None or state.card_id is None:
            return said
        there = "match" if self._truth(event.data["zone"], state.card_id) else "mismatch"
        return "right" if said == there else "wrong"

    def _duel(self, duel: Duel, state: MatchState) -> str:
        stop = min(duel.stops, key=lambda press: press.elapsed_s, default=None)
        call = f"Stop by {duel.at_zone(stop.zone)} after {stop_time(stop.elapsed_s)} s, " if stop else ""
        scores = "  ".join(f"{p} {s}" for p, s in state.scores.items())
        seats = " - ".join(duel.seats[z] for z in sorted(duel.seats))
        return (
            f"duel {duel.number}: {seats}, card {duel.card_id}: {call}{duel.reason.replace('_', ' ')}: "
            f"{duel.points} to {duel.award} ({duel.decided_by})   {scores}"
        )
