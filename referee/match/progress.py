"""What follows a duel: the next one, a tie-break, the result; and changes to the schedule."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from typing import Any

from cards.sentences import sentence
from referee.core import refuse_if
from referee.errors import IllegalCommand
from referee.match.duel import PHASES_IN_PLAY, Duel
from referee.match.schedule import MOST, Round, comparable_name, round_robin
from referee.match.state import MatchBatch, MatchState


def advance(batch: MatchBatch) -> None:
    """After a decided duel: the next of the round, the next round, or the end."""
    state = batch.state
    if state.round is not None and state.duel_index + 1 < state.round.duels:
        batch.add("next_duel", round_index=state.round_index, duel_index=state.duel_index + 1)
    elif state.round_index + 1 < len(state.rounds):
        following = state.rounds[state.round_index + 1]
        batch.add("next_duel", round_index=state.round_index + 1, duel_index=following.first)
    else:
        conclude(batch)


def conclude(batch: MatchBatch) -> None:
    """All rounds are played: name the winner, or add extra duels for those level at the top."""
    state = batch.state
    top = [row.player for row in state.standings if row.rank == 1]
    if _sudden_death(batch, top):
        return
    sudden = bool(state.rounds) and state.rounds[-1].kind == "sudden"
    survivor = state.history[-1].award if sudden and state.history else None  # of the last duel of a sudden death
    if survivor is None and len(top) > 1 and (len(top) == 2 or state.rules.tie_of_many == "round_robin"):
        rounds = [*state.rounds, *round_robin(top, 1, "extra")]
        _reschedule(batch, "rounds_added", rounds, len(state.rounds), reason="tie", level=top)
        return
    top = [survivor] if survivor is not None else top
    winner = top[0] if len(top) == 1 else None
    extra = any(r.kind in ("extra", "sudden") for r in state.rounds[-1:])
    batch.add(
        "match_finished",
        winner=winner,
        shared=top if len(top) > 1 else [],
        deciding_duel=deciding_duel(state, winner),
        extra=extra,
        standings=[asdict(row) for row in state.standings],
    )


EXTRA_ROUNDS = 2
"""So many rounds of extra duels are played by three or more who stay level; then sudden death decides."""


def _sudden_death(batch: MatchBatch, top: Sequence[str]) -> bool:
    """The next duel of a sudden death, where there is one: who loses it is out, the winner meets the next."""
    state = batch.state
    level = [p for p in state.active if any(r.kind == "extra" and p in r.players for r in state.rounds)]
    sudden = [r for r in state.rounds if r.kind == "sudden"]
    laps = sum(r.kind == "extra" for r in state.rounds) // max(1, len(level) * (len(level) - 1) // 2)
    if not sudden and not (len(top) > 2 and laps >= EXTRA_ROUNDS):
        return False
    waiting = [p for p in level if not any(p in r.players for r in sudden)] if sudden else list(top)
    first = state.history[-1].award if sudden else waiting.pop(0)
    if not waiting or first is None:
        return False
    rounds = [*state.rounds, Round(first, waiting[0], 1, "sudden")]
    _reschedule(batch, "rounds_added", rounds, len(state.rounds), reason="sudden_death", level=list(level))
    return True


def deciding_duel(state: MatchState, winner: str | None) -> int | None:
    """The number of the duel after which the winner led alone to the end; None without one."""
    totals, deciding = dict.fromkeys(state.players, 0), None
    for duel in state.history:
        if duel.points and duel.award is not None:
            totals[duel.award] += duel.points
        alone = winner is not None and all(totals[winner] > totals[p] for p in state.active if p != winner)
        deciding = (deciding or duel.number) if alone else None
    return deciding


def _reschedule(batch: MatchBatch, kind: str, rounds: Sequence[Round], round_index: int | None, **data: Any) -> None:
    """New rounds, and with ``round_index`` on to the first duel of that one."""
    duel_index = rounds[round_index].first if round_index is not None and round_index < len(rounds) else 0
    rows = [r.to_json() for r in rounds]
    batch.add(kind, rounds=rows, round_index=round_index, duel_index=duel_index, **data)


def _present(state: MatchState, player: str) -> None:
    refuse_if(player not in state.active, "plays_not", player=player)


def _begun(state: MatchState) -> bool:
    """Whether the present round has a duel in it that ended or is in play."""
    first = state.round.first if state.round is not None else 0
    return state.duel_index > first or state.phase != "idle"


def _free(taken: Iterable[str], name: str) -> None:
    """Raises IllegalCommand when somebody has that name; capitals make no other one of it."""
    refuse_if(comparable_name(name) in map(comparable_name, taken), "plays_already", player=name)


def rename(batch: MatchBatch, player: str, name: str) -> None:
    """The player's name was entered wrongly: everything of this match says the right one from now on."""
    refuse_if(player not in batch.state.players, "plays_not", player=player)
    refuse_if(name == player, "named_already", player=player)
    _free((p for p in batch.state.players if p != player), name)
    batch.add("player_renamed", player=player, name=name)


def leave(batch: MatchBatch, player: str, why: str) -> None:
    """The player's duel in play is void, the rounds still to come with the player are dropped."""
    state = batch.state
    _present(state, player)
    here = player in state.duel.seats.values()
    if here and state.phase in PHASES_IN_PLAY:
        batch.add("duel_void", by="human", reason="player_left", why=why)
    annul = [d.number for d in state.history if player in d.seats.values()]
    if state.rules.leaver_points == "kept":
        annul = []
    keep = [r for r in state.rounds[state.round_index + 1 :] if player not in r.players]
    rounds = [*state.rounds[: state.round_index + 1], *keep]
    data: dict[str, Any] = {"player": player, "why": why, "annulled": annul}
    if not here:
        _reschedule(batch, "player_left", rounds, None, **data)
        return
    if not _begun(state):
        del rounds[state.round_index]
    _reschedule(batch, "player_left", rounds, state.round_index + _begun(state), **data)
    if batch.state.round is None:
        conclude(batch)


def join(batch: MatchBatch, player: str) -> None:
    """A latecomer meets everyone present once, after the rounds already listed."""
    state = batch.state
    _free(state.players, player)
    refuse_if(len(state.active) >= MOST, "too_many", most=MOST)
    swap, added = len(state.rounds) % 2, []
    for i, other in enumerate(state.active):
        a, b = (player, other) if (i + swap) % 2 else (other, player)
        added.append(Round(a, b, state.rules.duels_per_round, "late"))
    _reschedule(batch, "player_joined", [*state.rounds, *added], None, player=player)


def postpone(batch: MatchBatch, player: str) -> None:
    """The rounds with a player who is not there yet move to the end, in their order."""
    state = batch.state
    _present(state, player)
    first = state.round_index + _begun(state)
    rest = state.rounds[first:]
    later = [r for r in rest if player in r.players]
    rounds = [*state.rounds[:first], *(r for r in rest if player not in r.players), *later]
    refuse_if(tuple(rounds) == state.rounds, "no_wait", player=player)
    _reschedule(batch, "player_late", rounds, None if _begun(state) else first, player=player)


def replay(batch: MatchBatch, round_index: int, why: str) -> None:
    """The round's duels count no longer; the same two play it again as soon as no other round is begun."""
    state = batch.state
    if not 0 <= round_index <= state.round_index or (round_index == state.round_index and not _begun(state)):
        raise IllegalCommand(sentence("not_played", number=round_index + 1))
    annulled = [d.number for d in state.history if d.round_index == round_index and not d.annulled]
    refuse_if(not annulled, "none_counts", number=round_index + 1)
    old = state.rounds[round_index]
    for player in old.players:
        _present(state, player)
    again = replace(old, kind="replay")
    at = min(state.round_index + _begun(state), len(state.rounds))
    rounds = [*state.rounds[:at], again, *state.rounds[at:]]
    now = round_index == state.round_index or not _begun(state) or state.finished
    _reschedule(batch, "round_replayed", rounds, at if now else None, why=why, annulled=annulled, round=round_index)


def replay_duel(batch: MatchBatch, number: int, why: str) -> None:
    """The same two play that void duel once more, after the round that is begun."""
    state = batch.state
    duel = next((d for d in state.history if d.number == number), None)
    if duel is None:
        raise IllegalCommand(sentence("not_ended", number=number))
    refuse_if(duel.annulled, "annulled", number=duel.number, why=duel.annulled)
    refuse_if(duel.phase != "void", "replayduel_decided", n=number)
    refuse_if(played_again(state, duel), "replayduel_fresh", n=number)
    for player in duel.seats.values():
        _present(state, player)
    again = Round(duel.seats["A"], duel.seats["B"], duel.duel_index + 1, "replay", duel.duel_index)
    at = min(state.round_index + _begun(state), len(state.rounds))
    rounds = [*state.rounds[:at], again, *state.rounds[at:]]
    now = not _begun(state) or state.finished
    _reschedule(batch, "duel_replayed", rounds, at if now else None, why=why, annulled=[number])


def played_again(state: MatchState, duel: Duel) -> bool:
    """Whether a void duel has, or gets with the next draw, another attempt at its place of the schedule."""
    place = (duel.round_index, duel.duel_index, duel.attempt + 1)
    attempts = [(d.round_index, d.duel_index, d.attempt) for d in (*state.past, state.duel)]
    return place in attempts or (duel.number == state.duel.number and state.phase == "void")
