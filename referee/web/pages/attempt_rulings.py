"""What became of a recorded duel: the camera's award, or what people have said of it since."""

from typing import Any

from referee.match.cause import cause_of
from referee.match.duel import OTHER_ZONE
from referee.match.state import MatchState
from referee.recording import Attempt
from referee.web.views import HumanDecision, decision


def human_decision(attempt: Attempt, state: MatchState) -> HumanDecision | None:
    """A human's last word on the attempt; None where the camera's stands.

    The match that is on says it best: names mended, rulings of today. Of any other match the record beside the video
    is asked.
    """
    if state.match_id and state.match_id == attempt.meta.get("match_id"):
        for duel in state.history:
            if duel.number == attempt.meta.get("duel"):
                return decision(duel.to_json())
    return decision(_recorded(attempt))


def _recorded(attempt: Attempt) -> dict[str, Any]:
    """The duel as the folder tells it, the latest line beside it taken in."""
    meta = attempt.meta
    human = [dict(row) for row in meta.get("human") or ()]
    duel: dict[str, Any] = {
        "phase": "decided" if meta.get("award") else "void",
        "award": meta.get("award"),
        "points": meta.get("value") or 0,
        "decided_by": meta.get("decided_by", ""),
        "cause": cause_of(meta.get("reason") or "", meta.get("said")).to_json(),
        "human": human,
        "verdicts": attempt.verdicts,
        "callers": meta.get("callers") or [attempt.caller],
        "seats": attempt.players,
    }
    rulings = [row for row in attempt.reviews() if row.get("kind") == "ruling"]
    if rulings:
        award = _award(attempt, rulings[-1])
        duel |= {"decided_by": "human", "award": award, "phase": "decided" if award else "void"}
        duel["human"] = [*human, rulings[-1]]
    return duel


def _award(attempt: Attempt, row: dict[str, Any]) -> str | None:
    ruling, zone = row.get("ruling", ""), row.get("zone") or attempt.caller
    if ruling.startswith("award_"):
        return attempt.players.get(ruling[-1])
    if ruling == "void" or zone not in OTHER_ZONE:
        return None
    return attempt.players.get(zone if ruling == "match" else OTHER_ZONE[zone])
