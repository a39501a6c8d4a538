"""From a session's snapshot to what the pages show. Pure: dictionaries in, values out, nothing drawn.

A snapshot is ``Session.snapshot()``: ``match`` (``MatchState.to_json()``, the referee's view),
``live``, ``alarms``, ``verdict``.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cards.card import Card
from cards.sentences import from_record
from referee.match.house_rules import FINDINGS
from referee.session.session import Session

Match = Mapping[str, Any]
RoundState = Literal["done", "now", "next", "open"]


@dataclass(frozen=True)
class SeatView:
    """One side of the table. ``press_s`` is the time of his Stop after the go, in seconds."""

    zone: str
    name: str
    score: int
    called: bool
    ruling: str | None
    won: bool
    press_s: float | None


@dataclass(frozen=True)
class Cell:
    """One duel of a round: who got how much."""

    state: Literal["done", "now", "open"]
    winner: str | None = None
    points: int = 0
    side: str = ""


@dataclass(frozen=True)
class RoundRow:
    """One round of the schedule."""

    number: int
    a: str
    b: str
    kind: str
    state: RoundState
    duels: tuple[Cell, ...]


@dataclass(frozen=True)
class DuelClock:
    """The duel's clock: running since ``go_s`` on the session's scale, or stopped at ``elapsed_s``."""

    running: bool = False
    go_s: float = 0.0
    elapsed_s: float | None = None
    by_key: bool = False


def seats(match: Match) -> tuple[SeatView, ...]:
    """Both sides of the present duel, A first; empty before a match."""
    duel, scores, callers = match["duel"], {p["name"]: p["score"] for p in match["players"]}, match["duel"]["callers"]
    winner = duel["award"] if duel["phase"] == "decided" else None
    rulings = {zone: duel["rulings"].get(zone) for zone in callers}
    return tuple(
        SeatView(zone, name, scores[name], zone in callers, rulings.get(zone), name == winner, press_s(duel, zone))
        for zone, name in sorted(match["seats"].items())
    )


def press_s(duel: Match, zone: str) -> float | None:
    """Seconds from the go to the zone's first counted Stop: the box's own where it has told them, as everywhere."""
    if duel["go_at_s"] is None or zone not in duel["callers"]:
        return None
    stop = next((p for p in duel["presses"] if p["zone"] == zone and p.get("callers")), None)
    return stop and (stop["elapsed_s"] or stop["at_s"] - duel["go_at_s"])


def by_key(duel: Match) -> bool:
    """Whether a Stop that counts was given by a key, and not timed by a box."""
    return any(p.get("callers") and p.get("by") == "key" for p in duel["presses"])


@dataclass(frozen=True)
class HumanDecision:
    """How a human ended a duel: who gets the card (None: nobody) and how much, in the human's own words or, after a
    foul that a device has told, as a sentence; and which of the camera's rulings, zone -> ruling, hold no longer."""

    to: str | None
    points: int
    why: str
    who: str
    overturned: dict[str, str]


def decision(duel: Match) -> HumanDecision | None:
    """A human's last word on an ended duel; None where the camera's stands, and while nobody has spoken."""
    if duel["phase"] not in ("decided", "void") or duel["decided_by"] not in ("human", "foul"):
        return None
    last = duel["human"][-1] if duel["human"] and duel["decided_by"] == "human" else {}
    said = duel["cause"]["said"] if duel["cause"]["code"] == "foul" else None
    why = last.get("why") or (said and from_record(said)) or duel.get("why") or ""
    return HumanDecision(duel["award"], duel["points"], why, last.get("who", ""), _overturned(duel))


def _overturned(duel: Match) -> dict[str, str]:
    """What the camera said of the callers' builds and what came otherwise."""
    said = {zone: row.get("verdict", "") for zone, row in duel["verdicts"].items() if zone in duel["callers"]}
    right = {zone: duel["award"] == duel["seats"][zone] for zone in said}
    return {
        zone: ruling
        for zone, ruling in said.items()
        if ruling != "undecided" and (duel["award"] is None or (ruling == "match") != right[zone])
    }


def clock(match: Match) -> DuelClock:
    """The present duel's clock."""
    duel = match["duel"]
    if duel["phase"] == "building" and duel["go_at_s"] is not None:
        return DuelClock(True, duel["go_at_s"])
    times = [t for zone in duel["callers"] if (t := press_s(duel, zone)) is not None]
    return DuelClock(elapsed_s=min(times), by_key=by_key(duel)) if times else DuelClock()


def rounds(match: Match) -> tuple[RoundRow, ...]:
    """The schedule with what has been won in it."""
    done = {(d["round_index"], d["duel_index"]): d for d in match["history"] if d["phase"] == "decided"}
    return tuple(_round(match, i, row, done) for i, row in enumerate(match["rounds"]))


def _round(match: Match, i: int, row: Match, done: Mapping[tuple[int, int], Match]) -> RoundRow:
    over = match["phase"] == "finished"
    at = match["round_index"]
    cells = tuple(
        _cell(match, row, done.get((i, j)), i == at and j == match["duel_index"] and not over)
        for j in range(row.get("first", 0), row["duels"])
    )
    state: RoundState = "now" if i == at and not over else "done" if i <= at else "next" if i == at + 1 else "open"
    return RoundRow(i + 1, row["a"], row["b"], row["kind"], state, cells)


def _cell(match: Match, row: Match, duel: Match | None, now: bool) -> Cell:
    if duel is None or (now and match["under_review"]):
        return Cell("now" if now else "open")
    won = duel["award"]
    return Cell("done", won, duel["points"], "A" if won == row["a"] else "B")


def callers_verdicts(match: Match) -> list[dict[str, Any]]:
    """For each zone whose Stop counts: the camera's verdict and the house's ruling on it, with the ``finding`` that
    goes before the build's faults ('' where the build is right, or nothing was seen around the press)."""
    duel, names = match["duel"], match["seats"]
    return [
        {"zone": zone, "name": names[zone], "ruling": duel["rulings"].get(zone), "finding": _finding(duel, zone)}
        | duel["verdicts"].get(zone, {})
        for zone in duel["callers"]
    ]


def _finding(duel: Match, zone: str) -> str:
    seen = [duel["cause"]["finding"], *FINDINGS] if duel["rulings"].get(zone) == "mismatch" else []
    return next((f for f in seen if f in duel["findings"].get(zone, ())), "")


def zones_awaiting_ruling(match: Match) -> list[tuple[str, str]]:
    """Zones that called Stop and wait for a ruling, with their players' names."""
    duel = match["duel"]
    return [
        (zone, match["seats"][zone])
        for zone in duel["callers"]
        if duel["rulings"].get(zone) in (None, "undecided") and match["in_play"]
    ]


def why(duel: Mapping[str, Any], t: Callable[..., str]) -> str:
    """Why a duel ended as it did, in words; a human's own words as they were said."""
    cause = duel["cause"]
    if cause["code"] == "foul":
        return t("why.foul", text=from_record(cause["said"]))
    if not cause["code"]:
        return str(cause["text"])
    return ", ".join(t(f"why.{word}") for word in (cause["code"], cause["finding"]) if word)


def opposite_ruling(duel: Mapping[str, Any]) -> str:
    """The ruling that an overruling most likely means: the other one than the duel ended with."""
    if len(duel["callers"]) != 1:
        return "award_A"
    return "mismatch" if duel["award"] == duel["seats"][duel["callers"][0]] else "match"


def card(face: Card) -> dict[str, Any]:
    """A card in words: ``rows`` are (count, colour or '', shape), colours named for who cannot tell them."""
    return {
        "id": face.id,
        "kind": face.kind,
        "value": face.value,
        "count": face.piece_count,
        "rows": [(n, color, shape) for (shape, color), n in face.asked.items()],
    }


def overlay(session: Session, snapshot: Mapping[str, Any]) -> str | None:
    """The address of the verdict's picture, once it is drawn; it is drawn a moment after the verdict."""
    address = (snapshot.get("verdict") or {}).get("overlay")
    name = (address or "").removeprefix("/media/").removesuffix(".jpg")
    return address if name and session.picture(name) is not None else None
