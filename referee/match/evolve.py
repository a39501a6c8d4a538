"""Events to state: ``evolve`` one event, ``fold`` them all. Pure; the events carry what was decided.

Every prefix of a log folds to a valid state. Nothing here chooses: what a command led to was
worked out once by ``referee.match.decide`` and stands in the events.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from cards.sentences import sentence
from referee import core
from referee.core import Data
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.card_facts import facts_of
from referee.match.duel import TABLE, Duel, step
from referee.match.foul import foul_from_event
from referee.match.house_rules import parse_rules
from referee.match.schedule import Round
from referee.match.state import MatchState

NOTE_EVENTS = (
    "fields_waived",
    "press_noted",
    "verdict_noted",
    "card_named",
    "setup_signed",
    "setup_opened",
    "setup_waived",
    "by_hand",
    "lens_changed",
    "recording_sealed",
    "match_left",
    "match_taken_up",
)
"""Evidence and the set-up that changes no phase: an undo passes over it to the command before."""


def fold(events: Iterable[Event]) -> MatchState:
    """The state after all of the events."""
    return core.fold(evolve, MatchState(), events)


def evolve(state: MatchState, event: Event) -> MatchState:
    """The state after one more event. Raises IllegalCommand for one that cannot follow."""
    opens = event.kind not in NOTE_EVENTS and event.step != state.undo_step
    after = core.apply_event(state, event, KINDS, "match_created")
    if event.kind == "undone" or not opens:
        return after
    return replace(after, first_seq=after.seq, undo_step=event.step, undo_kind=event.kind).after(state)


def _of_duel(state: MatchState, data: Data, event: Event) -> MatchState:
    """What changes the duel alone."""
    return replace(state, duel=step(state.duel, event))


def _created(state: MatchState, data: Data, event: Event) -> MatchState:
    rules = parse_rules(data["rules"], "match_created")
    state = MatchState(
        match_id=data["match_id"],
        players=tuple(data["players"]),
        mode=data["mode"],
        seed=data["seed"],
        seed_hash=data.get("seed_hash", ""),
        deck_name=data["deck_name"],
        rules=rules,
        cards={card_id: facts_of(row) for card_id, row in data["cards"].items()},
        piles=_piles(data["piles"]),
        rounds=_rounds(data["rounds"]),
        created_at=event.at,
    )
    return replace(state, duel=_fresh(state, 1, 0, 0, 1))


def _rounds(rows: Iterable[Mapping[str, Any]]) -> tuple[Round, ...]:
    return tuple(Round(**row) for row in rows)


def _piles(piles: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {name: tuple(cards) for name, cards in piles.items()}


def _fresh(state: MatchState, number: int, round_index: int, duel_index: int, attempt: int) -> Duel:
    """An idle duel at that place of the schedule."""
    r = state.rounds[round_index] if round_index < len(state.rounds) else None
    seats = {"A": r.a, "B": r.b} if r else {}
    return Duel(number, round_index, duel_index, attempt, seats)


def _drawn(state: MatchState, data: Data, event: Event) -> MatchState:
    """Draw: a void attempt goes to the past and its card among the returned ones."""
    if state.duel.phase == "void":
        old = state.duel
        lying = {*state.returned, *(card for cards in state.piles.values() for card in cards)}
        returned = state.returned if not old.card_id or old.card_id in lying else (*state.returned, old.card_id)
        fresh = _fresh(state, old.number + 1, state.round_index, state.duel_index, old.attempt + 1)
        state = replace(state, past=(*state.past, old), duel=fresh, returned=returned)
    return _taken(_of_duel(state, data, event), data["card_id"])


def _taken(state: MatchState, card_id: str | None) -> MatchState:
    """That card is no longer in any pile."""
    piles = {name: tuple(c for c in cards if c != card_id) for name, cards in state.piles.items()}
    return replace(state, piles=piles, returned=tuple(c for c in state.returned if c != card_id))


def _named(state: MatchState, data: Data, event: Event) -> MatchState:
    """The card is another one than was thought: that one is back among the returned cards."""
    state = _of_duel(state, data, event)
    if data["was"] and data["was"] not in state.returned:
        state = replace(state, returned=(*state.returned, data["was"]))
    state = _taken(state, data["card_id"])
    shown = state.duel.go_at is not None
    return replace(state, seen=state.seen | {data["card_id"]}) if shown else state


def _went(state: MatchState, data: Data, event: Event) -> MatchState:
    state = _of_duel(state, data, event)
    return replace(state, seen=state.seen | {state.duel.card_id}) if state.duel.card_id else state


def _reshuffled(state: MatchState, data: Data, event: Event) -> MatchState:
    piles = {**state.piles, data["pile"]: tuple(data["order"])}
    rest = tuple(c for c in state.returned if c not in data["order"])
    return replace(
        state, piles=piles, returned=rest, reshuffles=state.reshuffles + 1, seen=state.seen - set(data["order"])
    )


def _next(state: MatchState, data: Data, event: Event) -> MatchState:
    old, r, d = state.duel, data["round_index"], data["duel_index"]
    state = replace(state, duel=step(old, event), past=(*state.past, old), round_index=r, duel_index=d)
    return replace(state, duel=_fresh(state, old.number + 1, r, d, 1))


def _rescheduled(state: MatchState, data: Data, event: Event) -> MatchState:
    """New rounds from an event, and, when it says so, another place in them."""
    state = replace(state, rounds=_rounds(data["rounds"]))
    if data.get("round_index") is None:
        return state
    number, past = state.duel.number, state.past
    if state.duel.ended:
        number, past = number + 1, (*past, state.duel)
    r, d = data["round_index"], data["duel_index"]
    state = replace(state, round_index=r, duel_index=d, past=past, finished=None)
    return replace(state, duel=_fresh(state, number, r, d, 1))


def _left(state: MatchState, data: Data, event: Event) -> MatchState:
    state = replace(state, gone={**state.gone, data["player"]: data["why"]})
    return _rescheduled(_annul(state, data), data, event)


def _renamed(state: MatchState, data: Data, event: Event) -> MatchState:
    """The right name everywhere. States that an undo leads back to keep the one of their time."""
    was, name, result = data["player"], data["name"], state.finished

    def right(player: str | None) -> Any:
        return name if player == was else player

    def keys(row: Mapping[str, Any]) -> dict[str, Any]:
        return {right(player): value for player, value in row.items()}

    def duel(d: Duel) -> Duel:
        return replace(d, seats={zone: right(player) for zone, player in d.seats.items()}, award=right(d.award))

    return replace(
        state,
        players=tuple(right(p) for p in state.players),
        gone=keys(state.gone),
        rounds=tuple(replace(r, a=right(r.a), b=right(r.b)) for r in state.rounds),
        duel=duel(state.duel),
        past=tuple(duel(d) for d in state.past),
        fouls=tuple(replace(f, player=right(f.player)) for f in state.fouls),
        frozen=None if state.frozen is None else keys(state.frozen),
        signed=tuple(right(p) for p in state.signed),
        finished=result
        and {
            **result,
            "winner": right(result["winner"]),
            "shared": [right(p) for p in result.get("shared", ())],
            "standings": [{**row, "player": right(row["player"])} for row in result.get("standings", ())],
        },
    )


def _annul(state: MatchState, data: Mapping[str, Any]) -> MatchState:
    """The duels numbered in ``data['annulled']`` count no longer; their record stays."""
    return _change(state, data["annulled"], lambda duel: replace(duel, annulled=data["why"]))


def _change(state: MatchState, numbers: Iterable[int], change: Callable[[Duel], Duel]) -> MatchState:
    chosen = set(numbers)
    past = tuple(change(d) if d.number in chosen else d for d in state.past)
    duel = change(state.duel) if state.duel.number in chosen else state.duel
    return replace(state, past=past, duel=duel)


def _overruled(state: MatchState, data: Data, event: Event) -> MatchState:
    """An ended duel is awarded anew; the camera's verdict and all earlier rulings stay in it."""
    kind = "duel_decided" if data["award"] else "duel_void"
    note = {"ruling": data["ruling"], "why": data["why"], "overruled": True}

    def change(duel: Duel) -> Duel:
        noted = step(duel, replace(event, kind="ruling", data=note))
        ended = step(noted, replace(event, kind=kind, data={**data, "by": "human", "reason": "overruled"}))
        return replace(ended, ended_seq=state.seq + 1)

    state = _change(replace(state, frozen=None), [data["number"]], change)
    (card,) = (duel.card_id for duel in state.history if duel.number == data["number"])
    return _taken(state, card) if data["award"] else state


def _ended(state: MatchState, data: Data, event: Event) -> MatchState:
    by_hand = state.by_hand and data["by"] != "camera"
    return replace(state, duel=replace(step(state.duel, event), ended_seq=state.seq + 1, by_hand=by_hand))


def _foul(state: MatchState, data: Data, event: Event) -> MatchState:
    noted = foul_from_event(data, event.who, event.at, state.duel.number, state.seq + 1)
    return replace(state, fouls=(*state.fouls, noted))


def _foul_ruled(state: MatchState, data: Data, event: Event) -> MatchState:
    index = data["index"]
    ruled = state.fouls[index].ruled(data["sanction"], event.who, data["why"])
    return replace(state, fouls=(*state.fouls[:index], ruled, *state.fouls[index + 1 :]))


def _mode(state: MatchState, data: Data, event: Event) -> MatchState:
    piles = _piles(data["piles"])
    lying = {card for cards in piles.values() for card in cards}
    returned = tuple(card for card in state.returned if card not in lying)
    return replace(state, mode=data["mode"], piles=piles, returned=returned)


def _undone(state: MatchState, data: Data, event: Event) -> MatchState:
    """Back to before the last command; what people have seen stays seen, and the set-up as it is.

    A match that is played is not left."""
    before = state.before
    if before is None:
        raise IllegalCommand(sentence("nothing_to_undo"))
    kept = replace(before, setup=state.setup, signed=state.signed, by_hand=state.by_hand)
    return replace(kept, seen=before.seen | state.seen, left_for="")


_DUEL = (*TABLE, "fields_waived", "press_noted", "verdict", "verdict_noted", "ruling")
KINDS: Mapping[str, core.Change[MatchState]] = dict.fromkeys(_DUEL, _of_duel) | {
    "match_created": _created,
    "card_drawn": _drawn,
    "next_duel": _next,
    "rounds_added": _rescheduled,
    "player_left": _left,
    "player_joined": lambda s, data, event: _rescheduled(replace(s, players=(*s.players, data["player"])), data, event),
    "player_late": _rescheduled,
    "player_renamed": _renamed,
    "round_replayed": lambda s, data, event: _rescheduled(_annul(s, data), data, event),
    "duel_replayed": lambda s, data, event: _rescheduled(_annul(s, data), data, event),
    "match_left": lambda s, data, event: replace(s, left_for=data["for_match"]),
    "match_taken_up": lambda s, data, event: replace(s, left_for=""),
    "duel_overruled": _overruled,
    "foul": _foul,
    "foul_ruled": _foul_ruled,
    "reshuffled": _reshuffled,
    "review_opened": lambda s, data, event: replace(s, frozen=s.scores),
    "review_closed": lambda s, data, event: replace(s, frozen=None),
    "match_finished": lambda s, data, event: replace(s, finished=data),
    "mode_changed": _mode,
    "undone": _undone,
    "setup_signed": lambda s, data, event: replace(s, setup="signed", signed=tuple(data["names"])),
    "setup_opened": lambda s, data, event: replace(s, setup="open", signed=()),
    "setup_waived": lambda s, data, event: replace(s, setup="waived", signed=()),
    "by_hand": lambda s, data, event: replace(s, by_hand=data["on"]),
    "lens_changed": lambda s, data, event: s,
    "recording_sealed": lambda s, data, event: s,
    "go": _went,
    "card_named": _named,
    "duel_decided": _ended,
    "duel_void": _ended,
}
"""Every kind of event there is, and what it changes."""
