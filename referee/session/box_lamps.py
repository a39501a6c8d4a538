"""What the players' lamps show of a match. Pure."""

from collections.abc import Mapping

from referee.devices.ports import Lamp
from referee.match.state import MatchState

ZONES = "AB"


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
