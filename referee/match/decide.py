"""The match: commands in, events out, state folded from events. Pure: no clock, no dice, no disk.

    state = fold(events)
    events = decide(state, command, at)     # raises IllegalCommand and changes nothing
    state = fold([*events_so_far, *events])

``decide`` works out everything that a command leads to (a verdict and the award that follows,
the next duel, a tie-break, the final result) and says it in events, so that reading an old log
never depends on today's code for choosing. Randomness is the match's seed, recorded in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.match import adjudication, piles, progress
from referee.match.card_facts import cards_of
from referee.match.commands import (
    COMMANDS,
    FIELD_FAULTS,
    MODES,
    RULINGS,
    BeginJudging,
    CallTimeout,
    CameraVerdict,
    ChangeLens,
    ChangeMode,
    CloseReview,
    Command,
    CreateMatch,
    DrawByHand,
    DrawCard,
    Foul,
    FoulRuling,
    Go,
    GoUnsigned,
    HumanRuling,
    LeaveMatch,
    NameCard,
    NextDuel,
    OpenReview,
    OpenSetup,
    Overrule,
    PlayerJoins,
    PlayerLate,
    PlayerLeaves,
    PressStop,
    Ready,
    RenamePlayer,
    ReplayDuel,
    ReplayRound,
    SealRecording,
    SignSetup,
    TakeUpMatch,
    Undo,
    VoidDuel,
    WaiveFields,
)
from referee.match.decision import Plan
from referee.match.duel import IN_PLAY, OTHER_ZONE, Duel, Event, StopPress
from referee.match.evolve import evolve, fold
from referee.match.house_rules import FINDINGS
from referee.match.schedule import folded, schedule
from referee.match.state import MatchState, Standing

__all__ = [
    "COMMANDS",
    "FINDINGS",
    "IN_PLAY",
    "MODES",
    "RULINGS",
    "BeginJudging",
    "CallTimeout",
    "CameraVerdict",
    "ChangeLens",
    "ChangeMode",
    "CloseReview",
    "Command",
    "CreateMatch",
    "DrawByHand",
    "DrawCard",
    "Duel",
    "Event",
    "Foul",
    "FoulRuling",
    "Go",
    "GoUnsigned",
    "HumanRuling",
    "IllegalCommand",
    "LeaveMatch",
    "MatchState",
    "NameCard",
    "NextDuel",
    "OpenReview",
    "OpenSetup",
    "Overrule",
    "PlayerJoins",
    "PlayerLate",
    "PlayerLeaves",
    "PressStop",
    "Ready",
    "RenamePlayer",
    "ReplayDuel",
    "ReplayRound",
    "SealRecording",
    "SignSetup",
    "Standing",
    "TakeUpMatch",
    "Undo",
    "VoidDuel",
    "WaiveFields",
    "cards_of",
    "decide",
    "evolve",
    "fields_refusal",
    "fold",
]


BOX_RESET_S = 1.0
"""Box and host times further apart than this are not of the same run: the box has restarted."""


def decide(state: MatchState, command: Command, at: str) -> tuple[Event, ...]:
    """The events the command leads to (at least one), stamped with time ``at`` (ISO 8601 UTC).

    Raises IllegalCommand with the reason when the phase or what the command says does not allow
    it; ``state`` is a value and stays as it is.
    """
    name = type(command).__name__
    for needed in command.NEEDS:
        if not str(getattr(command, needed)).strip():
            raise IllegalCommand(sentence("needs", command=name, field=needed))
    refusal = state.refusal(type(command))
    if refusal:
        raise IllegalCommand(refusal)
    plan = Plan(state, at, getattr(command, "who", ""))
    _HANDLERS[type(command)](plan, command)
    return tuple(plan.events)


def _create(plan: Plan, c: CreateMatch) -> None:
    names = tuple(name.strip() for name in c.players)
    if len({folded(name) for name in names}) != len(names) or not all(names):
        raise IllegalCommand(sentence("names"))
    rounds = schedule(names, c.rules.duels_per_round)
    _known_mode(c.mode)
    plan.simulated = c.simulated
    plan.add(
        "match_created",
        match_id=c.match_id,
        players=list(names),
        mode=c.mode,
        seed=c.seed,
        deck_name=c.deck_name,
        cards={card_id: facts.to_json() for card_id, facts in c.cards.items()},
        rules=c.rules.model_dump(),
        piles=piles.piles(c.cards, c.mode, c.seed),
        rounds=[r.to_json() for r in rounds],
    )


def _known_mode(mode: str) -> None:
    if mode not in MODES:
        raise IllegalCommand(sentence("mode", name=mode, known=list(MODES)))


def _draw(plan: Plan, c: DrawCard) -> None:
    if c.card_id is not None:
        value = piles.value_by_hand(plan.state, c.card_id, c.again)
        plan.add("card_drawn", card_id=c.card_id, value=value, pile=None)
        return
    pile = piles.pile_for(plan.state)
    if not piles.unseen(plan.state, pile):
        plan.add("reshuffled", **piles.reshuffled(plan.state, pile))
    card_id = piles.next_card(plan.state, pile)
    plan.add("card_drawn", card_id=card_id, value=plan.state.cards[card_id].value, pile=pile)


def _draw_by_hand(plan: Plan, c: DrawByHand) -> None:
    plan.add("card_drawn", card_id=None, value=0, pile=None)


def _name_card(plan: Plan, c: NameCard) -> None:
    if plan.state.card_id == c.card_id:
        raise IllegalCommand(sentence("card_already", card=c.card_id))
    if plan.state.verdicts:
        raise IllegalCommand(sentence("verdict_given"))
    value = piles.value_by_hand(plan.state, c.card_id, c.again)
    plan.add("card_named", card_id=c.card_id, value=value, source=c.source, was=plan.state.card_id)


def _ready(plan: Plan, c: Ready) -> None:
    plan.add("ready")


def _go(plan: Plan, c: Go) -> None:
    refusal = fields_refusal(plan.state, c.fields)
    if refusal:
        raise IllegalCommand(refusal)
    more: dict[str, Any] = {"fields": dict(c.fields)} if c.fields else {}
    more |= {"touched": list(c.touched)} if c.touched else {}
    plan.add("go", at_s=c.at_s, box_us=c.box_us, boot=c.boot, shift_s=c.shift_s, **more)


def fields_refusal(state: MatchState, fields: Mapping[str, str]) -> str:
    """Why there is no go while the fields are so (zone -> ``FIELD_FAULTS``); empty when there is."""
    if state.rules.empty_fields == "free" or state.duel.waived:
        return ""
    told = [sentence(FIELD_FAULTS[fault], zone=zone) for zone, fault in sorted(fields.items())]
    return sentence("fields", rest=told) if told else ""


def _waive_fields(plan: Plan, c: WaiveFields) -> None:
    plan.add("fields_waived", why=c.why)


def _press(plan: Plan, c: PressStop) -> None:
    if c.zone not in OTHER_ZONE:
        raise IllegalCommand(sentence("zone", zone=c.zone))
    duel = plan.state.duel
    press = StopPress(c.zone, c.at_s, c.error_s, c.box_us)
    go = StopPress("", duel.go_at_s or 0.0, 0.0, duel.go_box_us)
    press = replace(press, elapsed_s=round(_gap_s(go, press)[0], 6))
    callers = _callers(duel, press, plan.state.rules.tie_window_ms)
    if press.elapsed_s < plan.state.rules.earliest_stop_s:
        plan.add("press_noted", **replace(press, why="too_early").to_json())
    elif callers == duel.callers:
        plan.add("press_noted", **replace(press, why="late").to_json())
    else:
        plan.add("stop", **replace(press, callers=callers).to_json())
        adjudication.settle(plan)


def _callers(duel: Duel, press: StopPress, tie_window_ms: float) -> tuple[str, ...]:
    """Whose Stop counts once this press is in: the earlier one, or both within the tie window."""
    if not duel.stops:
        return (press.zone,)
    if duel.stop_of(press.zone):
        return duel.callers
    gap, error = _gap_s(duel.stops[0], press)
    if abs(gap) <= tie_window_ms / 1000 + error:
        return ("A", "B")
    return duel.callers if gap > 0 else (press.zone,)


def _gap_s(first: StopPress, second: StopPress) -> tuple[float, float]:
    """Seconds from the first time to the second, and the bound of the error (0 in box time)."""
    host_s, error_s = second.at_s - first.at_s, first.error_s + second.error_s
    if first.box_us is None or second.box_us is None:
        return host_s, error_s
    box_s = (second.box_us - first.box_us) / 1e6
    return (host_s, error_s) if abs(box_s - host_s) > BOX_RESET_S + error_s else (box_s, 0.0)


def _judging(plan: Plan, c: BeginJudging) -> None:
    plan.add("judging", at_s=c.at_s)


def _void(plan: Plan, c: VoidDuel) -> None:
    plan.add("duel_void", by="human", reason=c.reason, why=c.why)


def _timeout(plan: Plan, c: CallTimeout) -> None:
    limit, elapsed = plan.state.rules.time_limit_s or 0.0, c.at_s - (plan.state.duel.go_at_s or 0.0)
    if elapsed < limit:
        raise IllegalCommand(sentence("limit", passed=elapsed, limit=limit))
    plan.add("duel_void", by="clock", reason="timeout", at_s=c.at_s)


def _next(plan: Plan, c: NextDuel) -> None:
    progress.advance(plan)


def _undo(plan: Plan, c: Undo) -> None:
    adjudication.undo(plan)


def _leaves(plan: Plan, c: PlayerLeaves) -> None:
    progress.leave(plan, c.player, c.why)


def _joins(plan: Plan, c: PlayerJoins) -> None:
    progress.join(plan, c.player.strip())


def _late(plan: Plan, c: PlayerLate) -> None:
    progress.postpone(plan, c.player)


def _rename(plan: Plan, c: RenamePlayer) -> None:
    progress.rename(plan, c.player, c.name.strip())


def _replay(plan: Plan, c: ReplayRound) -> None:
    progress.replay(plan, c.round_index, c.why)


def _replay_duel(plan: Plan, c: ReplayDuel) -> None:
    progress.replay_duel(plan, c.number, c.why)


def _leave_match(plan: Plan, c: LeaveMatch) -> None:
    plan.add("match_left", for_match=c.for_match)


def _take_up_match(plan: Plan, c: TakeUpMatch) -> None:
    plan.add("match_taken_up")


def _mode(plan: Plan, c: ChangeMode) -> None:
    _known_mode(c.mode)
    state = plan.state
    drawn = {d.card_id for d in state.past} - set(state.returned)
    plan.add("mode_changed", mode=c.mode, piles=piles.piles(state.cards, c.mode, state.seed, drawn))


def _sign_setup(plan: Plan, c: SignSetup) -> None:
    names = tuple(name.strip() for name in c.names)
    if len(names) < 2 or not all(names) or len(set(names)) < len(names):
        raise IllegalCommand(sentence("both_sign"))
    plan.add("setup_signed", names=list(names), record=dict(c.record))


def _open_setup(plan: Plan, c: OpenSetup) -> None:
    plan.add("setup_opened", why=c.why)


def _go_unsigned(plan: Plan, c: GoUnsigned) -> None:
    plan.add("setup_waived")


def _seal_recording(plan: Plan, c: SealRecording) -> None:
    plan.add("recording_sealed", attempt=c.attempt, sha256=c.sha256)


def _change_lens(plan: Plan, c: ChangeLens) -> None:
    plan.add("lens_changed", lens=dict(c.lens))


_HANDLERS: dict[type[Command], Callable[..., None]] = {
    CreateMatch: _create,
    DrawCard: _draw,
    DrawByHand: _draw_by_hand,
    NameCard: _name_card,
    Ready: _ready,
    Go: _go,
    WaiveFields: _waive_fields,
    PressStop: _press,
    BeginJudging: _judging,
    CameraVerdict: adjudication.verdict,
    HumanRuling: adjudication.human,
    Overrule: adjudication.overrule,
    OpenReview: adjudication.open_review,
    CloseReview: adjudication.close_review,
    Foul: adjudication.foul,
    FoulRuling: adjudication.foul_ruling,
    VoidDuel: _void,
    CallTimeout: _timeout,
    NextDuel: _next,
    Undo: _undo,
    PlayerLeaves: _leaves,
    PlayerJoins: _joins,
    PlayerLate: _late,
    RenamePlayer: _rename,
    ReplayRound: _replay,
    ReplayDuel: _replay_duel,
    LeaveMatch: _leave_match,
    TakeUpMatch: _take_up_match,
    ChangeMode: _mode,
    SignSetup: _sign_setup,
    OpenSetup: _open_setup,
    GoUnsigned: _go_unsigned,
    ChangeLens: _change_lens,
    SealRecording: _seal_recording,
}
