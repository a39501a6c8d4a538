"""The match: commands in, events out, state folded from events. Pure: no clock, no dice, no disk.

    state = fold(events)
    events = decide(state, command, at)     # raises IllegalCommand and changes nothing
    state = fold([*events_so_far, *events])

``decide`` works out everything that a command leads to (a verdict and the award that follows,
the next duel, a tie-break, the final result) and says it in events, so that reading an old log
never depends on today's code for choosing. Randomness is the match's seed, recorded in the log.
"""

from __future__ import annotations

from collections.abc import Callable

from referee import draws, ending, rulings
from referee.duel import OTHER_ZONE, Duel, Event
from referee.errors import IllegalCommand
from referee.folding import evolve, fold
from referee.moves import (
    COMMANDS,
    IN_PLAY,
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
    ReplayRound,
    SignSetup,
    Undo,
    VoidDuel,
    cards_of,
)
from referee.plan import Plan
from referee.rules import FINDINGS
from referee.schedule import schedule
from referee.state import MatchState, Standing

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
    "ReplayRound",
    "SignSetup",
    "Standing",
    "Undo",
    "VoidDuel",
    "cards_of",
    "decide",
    "evolve",
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
    if state.phase not in command.PHASES:
        raise IllegalCommand(f"{name} is not possible in phase {state.phase}")
    for needed in command.NEEDS:
        if not str(getattr(command, needed)).strip():
            raise IllegalCommand(f"{name} needs {needed}")
    plan = Plan(state, at, getattr(command, "who", ""))
    _HANDLERS[type(command)](plan, command)
    return tuple(plan.events)


def _create(plan: Plan, c: CreateMatch) -> None:
    names = tuple(name.strip() for name in c.players)
    if len(set(names)) != len(names) or not all(names):
        raise IllegalCommand("players need different names that are not blank")
    rounds = schedule(names, c.rules.duels_per_round)
    _known_mode(c.mode)
    cards = {card_id: dict(row) for card_id, row in c.cards.items()}
    piles = draws.piles(cards, c.mode, c.seed)
    plan.simulated = c.simulated
    plan.add(
        "match_created",
        match_id=c.match_id,
        players=list(names),
        mode=c.mode,
        seed=c.seed,
        deck_name=c.deck_name,
        cards=cards,
        rules=c.rules.model_dump(),
        piles=piles,
        rounds=[r.to_json() for r in rounds],
    )


def _known_mode(mode: str) -> None:
    if mode not in MODES:
        raise IllegalCommand(f"no mode {mode!r}: it is one of {', '.join(MODES)}")


def _draw(plan: Plan, c: DrawCard) -> None:
    _signed(plan.state)
    if c.card_id is not None:
        value = draws.value_by_hand(plan.state, c.card_id)
        plan.add("card_drawn", card_id=c.card_id, value=value, pile=None)
        return
    pile = draws.pile_for(plan.state)
    if not draws.unseen(plan.state, pile):
        plan.add("reshuffled", **draws.reshuffled(plan.state, pile))
    card_id = draws.unseen(plan.state, pile)[0]
    plan.add("card_drawn", card_id=card_id, value=plan.state.cards[card_id]["value"], pile=pile)


def _signed(state: MatchState) -> None:
    if state.unsigned:
        raise IllegalCommand("both players have not signed the set-up yet: sign it, or go on without")


def _draw_by_hand(plan: Plan, c: DrawByHand) -> None:
    _signed(plan.state)
    plan.add("card_drawn", card_id=None, value=0, pile=None)


def _name_card(plan: Plan, c: NameCard) -> None:
    if plan.state.card_id == c.card_id:
        raise IllegalCommand(f"the card is {c.card_id} already")
    if plan.state.verdicts:
        raise IllegalCommand("a verdict on this card has been given: void the duel instead")
    value = draws.value_by_hand(plan.state, c.card_id)
    plan.add("card_named", card_id=c.card_id, value=value, source=c.source, was=plan.state.card_id)


def _ready(plan: Plan, c: Ready) -> None:
    plan.add("ready")


def _go(plan: Plan, c: Go) -> None:
    plan.add("go", at_s=c.at_s, box_us=c.box_us)


def _press(plan: Plan, c: PressStop) -> None:
    if c.zone not in OTHER_ZONE:
        raise IllegalCommand(f"no zone {c.zone!r} plays: A or B")
    duel = plan.state.duel
    press = {"zone": c.zone, "at_s": c.at_s, "error_s": c.error_s, "box_us": c.box_us}
    go = {"at_s": duel.go_at_s, "error_s": 0.0, "box_us": duel.go_box_us}
    press["elapsed_s"] = round(_gap_s(go, press)[0], 6)
    if press["elapsed_s"] < plan.state.rules.earliest_stop_s:
        plan.add("press_noted", **press, why="too_early")
        return
    callers = _callers(plan.state, press)
    if callers == duel.callers:
        plan.add("press_noted", **press, why="late")
        return
    plan.add("stop", **press, callers=list(callers))
    rulings.settle(plan)


def _callers(state: MatchState, press: dict) -> tuple[str, ...]:
    """Whose Stop counts once this press is in: the earlier one, or both within the tie window."""
    stops = [p for p in state.presses if "callers" in p]
    if not stops:
        return (press["zone"],)
    if any(p["zone"] == press["zone"] for p in stops):
        return state.duel.callers
    gap, error = _gap_s(stops[0], press)
    if abs(gap) <= state.rules.tie_window_ms / 1000 + error:
        return ("A", "B")
    return state.duel.callers if gap > 0 else (press["zone"],)


def _gap_s(first: dict, second: dict) -> tuple[float, float]:
    """Seconds from the first time to the second, and the bound of the error (0 in box time)."""
    host_s, error_s = second["at_s"] - first["at_s"], first["error_s"] + second["error_s"]
    if first["box_us"] is None or second["box_us"] is None:
        return host_s, error_s
    box_s = (second["box_us"] - first["box_us"]) / 1e6
    return (host_s, error_s) if abs(box_s - host_s) > BOX_RESET_S + error_s else (box_s, 0.0)


def _judging(plan: Plan, c: BeginJudging) -> None:
    plan.add("judging", at_s=c.at_s)


def _void(plan: Plan, c: VoidDuel) -> None:
    plan.add("duel_void", by="human", reason=c.reason, why=c.why)


def _timeout(plan: Plan, c: CallTimeout) -> None:
    limit, elapsed = plan.state.rules.time_limit_s, c.at_s - plan.state.duel.go_at_s
    if limit is None:
        raise IllegalCommand("the house has no time limit")
    if elapsed < limit:
        raise IllegalCommand(f"{elapsed:.1f} s have passed, the limit is {limit:g} s")
    plan.add("duel_void", by="clock", reason="timeout", at_s=c.at_s)


def _next(plan: Plan, c: NextDuel) -> None:
    ending.advance(plan)


def _undo(plan: Plan, c: Undo) -> None:
    if not plan.state.can(Undo):
        raise IllegalCommand("there is nothing to undo")
    plan.add("undone", cites=plan.state.first_seq)


def _leaves(plan: Plan, c: PlayerLeaves) -> None:
    ending.leave(plan, c.player, c.why)


def _joins(plan: Plan, c: PlayerJoins) -> None:
    ending.join(plan, c.player.strip())


def _late(plan: Plan, c: PlayerLate) -> None:
    ending.postpone(plan, c.player)


def _replay(plan: Plan, c: ReplayRound) -> None:
    ending.replay(plan, c.round_index, c.why)


def _mode(plan: Plan, c: ChangeMode) -> None:
    _known_mode(c.mode)
    state = plan.state
    drawn = {d.card_id for d in state.past} - set(state.returned)
    plan.add("mode_changed", mode=c.mode, piles=draws.piles(state.cards, c.mode, state.seed, drawn))


def _sign_setup(plan: Plan, c: SignSetup) -> None:
    names = tuple(name.strip() for name in c.names)
    if len(names) < 2 or not all(names) or len(set(names)) < len(names):
        raise IllegalCommand("both players sign, each with a name")
    if plan.state.setup == "signed":
        raise IllegalCommand(f"{' and '.join(plan.state.signed)} have signed the set-up already")
    plan.add("setup_signed", names=list(names), record=dict(c.record))


def _open_setup(plan: Plan, c: OpenSetup) -> None:
    if plan.state.setup != "signed":
        raise IllegalCommand("the set-up is open already")
    plan.add("setup_opened", why=c.why)


def _go_unsigned(plan: Plan, c: GoUnsigned) -> None:
    if not plan.state.unsigned:
        raise IllegalCommand("nothing waits for signatures under the set-up")
    plan.add("setup_waived")


def _change_lens(plan: Plan, c: ChangeLens) -> None:
    if plan.state.setup == "signed":
        raise IllegalCommand("the set-up is signed and frozen for this match: open it again first")
    plan.add("lens_changed", lens=dict(c.lens))


_HANDLERS: dict[type[Command], Callable] = {
    CreateMatch: _create,
    DrawCard: _draw,
    DrawByHand: _draw_by_hand,
    NameCard: _name_card,
    Ready: _ready,
    Go: _go,
    PressStop: _press,
    BeginJudging: _judging,
    CameraVerdict: rulings.verdict,
    HumanRuling: rulings.human,
    Overrule: rulings.overrule,
    OpenReview: rulings.open_review,
    CloseReview: rulings.close_review,
    Foul: rulings.foul,
    FoulRuling: rulings.foul_ruling,
    VoidDuel: _void,
    CallTimeout: _timeout,
    NextDuel: _next,
    Undo: _undo,
    PlayerLeaves: _leaves,
    PlayerJoins: _joins,
    PlayerLate: _late,
    ReplayRound: _replay,
    ChangeMode: _mode,
    SignSetup: _sign_setup,
    OpenSetup: _open_setup,
    GoUnsigned: _go_unsigned,
    ChangeLens: _change_lens,
}
