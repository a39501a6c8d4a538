"""What the practice page shows of a practice: each player's state and time, new bests, what is heard. Pure."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from referee.match.practice import MAX_REPEATED_VIEWS, Practice, PracticeResult, best_by_level, best_results

Say = Callable[..., str]

PHASES = {"counting": "ready", "building": "building"}
"""What the board's script calls these phases: it counts down in the first and shows live pictures in the second."""

BY = ("camera", "box")


@dataclass(frozen=True)
class PracticeRow:
    """One player at his card. ``state``: building, looking (pressed or given up, not judged yet), untold (the camera
    cannot tell what stands there) or ended. ``best`` is his fastest time for this card before, by the same means as
    the present one; ``record`` that the present one beats it, or is the first."""

    zone: str
    player: str
    state: str
    result: PracticeResult | None
    best: PracticeResult | None
    record: bool


def rows(practice: Practice, results: Iterable[PracticeResult]) -> list[PracticeRow]:
    """A row for each player."""
    known, ended = list(results), practice.last
    fresh = list(ended.values())
    earlier = best_results(r for r in known if not any(r is new for new in fresh))
    return [_row(practice, zone, ended.get(zone), earlier) for zone in practice.players]


def _row(
    practice: Practice, zone: str, result: PracticeResult | None, earlier: Mapping[tuple[str, str, str], PracticeResult]
) -> PracticeRow:
    field, by = practice.fields[zone], result.by if result and result.by else "camera"
    best = earlier.get((field.player, practice.card[0], by))
    beats = result is not None and result.seconds is not None and (not best or result.seconds < (best.seconds or 0.0))
    untold = field.view is not None and field.view.ruling == "undecided" and field.view.times >= MAX_REPEATED_VIEWS
    state = "ended" if field.ended else "looking" if field.ending else "untold" if untold else "building"
    return PracticeRow(zone, field.player, state, result, best, beats)


@dataclass(frozen=True)
class Best:
    """A line of the table of bests: a card or a difficulty, and the fastest time by each means."""

    player: str
    what: str
    value: int
    times: Mapping[str, PracticeResult]


def best_rows(results: Iterable[PracticeResult], players: Iterable[str]) -> tuple[list[Best], list[Best]]:
    """The players' bests by difficulty and by card, each in order."""
    known, names = list(results), list(players)
    levels = _table(best_by_level(known), names, lambda r: (str(r.value), r.value))
    cards = _table(best_results(known), names, lambda r: (r.card_id, r.value))
    return levels, cards


def _table(
    found: Mapping[Any, PracticeResult], players: list[str], named: Callable[[PracticeResult], tuple[str, int]]
) -> list[Best]:
    lines: dict[tuple[str, str, int], dict[str, PracticeResult]] = {}
    for best in found.values():
        if best.player in players:
            lines.setdefault((best.player, *named(best)), {})[best.by] = best
    rows = [Best(*key, times) for key, times in lines.items()]
    return sorted(rows, key=lambda row: (row.value, row.what, row.player))


def announcement(practice: Practice, t: Say, shift_s: float = 0.0) -> dict[str, Any]:
    """What is heard when this state comes in, in the form of ``board_views.announcement``, and the go that is counted
    down to."""
    ended = practice.last
    key = ".".join([practice.session_id, str(practice.turn), practice.phase, *sorted(ended)])
    heard = {"key": key, "phase": PHASES.get(practice.phase, practice.phase), "sound": "", "say": "", "go_at": None}
    if practice.phase == "counting" and practice.go_at_s is not None:
        return heard | {"go_at": practice.go_at_s + shift_s}
    if practice.phase in ("building", "shown") and ended:
        last = practice.results[-1]
        sound = {"match": "right", "mismatch": "wrong"}.get(last.ruling, "ask")
        words = t("practice.say", name=last.player, seconds=f"{last.seconds:.1f}") if last.seconds is not None else ""
        return heard | {"sound": sound, "say": words}
    return heard | {"sound": "go" if practice.phase == "building" else ""}
