"""The match: commands in, events out, state folded from events. Pure: no clock, no dice, no disk.

    state = fold(events)
    events = decide(state, command, at)     # raises IllegalCommand and changes nothing
    state = fold([*events_so_far, *events])

``decide`` works out everything that a command leads to (a verdict and the award that follows,
the next duel, a tie-break, the final result) and says it in events, so that reading an old log
never depends on today's code for choosing. Randomness is the match's seed, recorded in the log.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from cards.sentences import sentence
from referee import core
from referee.core import Decider, refuse_if
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match import adjudication, commands, piles, progress
from referee.match.commands import FIELD_FAULTS, MODES
from referee.match.duel import OTHER_ZONE, Duel, StopPress
from referee.match.evolve import evolve
from referee.match.schedule import comparable_name, schedule
from referee.match.state import MatchBatch, MatchState

BOX_RESET_S = 1.0
"""Box and host times further apart than this are not of the same run: the box has restarted."""


def decide(state: MatchState, command: commands.MatchCommand, at: str, who: str = "") -> tuple[Event, ...]:
    """The events the command leads to (at least one): ``referee.core.decide`` for a match."""
    return core.decide(_DECIDER, state, command, at, who)


def _create(batch: MatchBatch, c: commands.CreateMatch) -> None:
    names = tuple(name.strip() for name in c.players)
    refuse_if(len({comparable_name(name) for name in names}) != len(names) or not all(names), "names")
    rounds = schedule(names, c.rules.duels_per_round)
    _known_mode(c.mode)
    batch.add(
        "match_created",
        match_id=c.match_id,
        players=list(names),
        mode=c.mode,
        seed=c.seed,
        seed_hash=core.seed_hash(c.seed),
        deck_name=c.deck_name,
        cards={card_id: facts.to_json() for card_id, facts in c.cards.items()},
        rules=c.rules.model_dump(),
        piles=piles.piles(c.cards, c.mode, c.seed),
        rounds=[r.to_json() for r in rounds],
    )


def _known_mode(mode: str) -> None:
    refuse_if(mode not in MODES, "mode", name=mode, known=list(MODES))


def _draw(batch: MatchBatch, c: commands.DrawCard) -> None:
    if c.card_id is not None:
        value = piles.value_by_hand(batch.state, c.card_id, c.again)
        batch.add("card_drawn", card_id=c.card_id, value=value, pile=None)
        return
    pile = piles.pile_for(batch.state)
    if not piles.unseen_cards(batch.state, pile):
        batch.add("reshuffled", **piles.reshuffled(batch.state, pile))
    card_id = piles.next_card(batch.state, pile)
    batch.add("card_drawn", card_id=card_id, value=batch.state.cards[card_id].value, pile=pile)


def _name_card(batch: MatchBatch, c: commands.NameCard) -> None:
    refuse_if(batch.state.card_id == c.card_id, "card_already", card=c.card_id)
    refuse_if(batch.state.verdicts, "verdict_given")
    value = piles.value_by_hand(batch.state, c.card_id, c.again)
    batch.add("card_named", card_id=c.card_id, value=value, source=c.source, was=batch.state.card_id)


def _go(batch: MatchBatch, c: commands.Go) -> None:
    refusal = fields_refusal(batch.state, c.fields)
    if refusal:
        raise IllegalCommand(refusal)
    more: dict[str, Any] = {"fields": dict(c.fields)} if c.fields else {}
    more |= {"touched": list(c.touched)} if c.touched else {}
    batch.add("go", at_s=c.at_s, box_us=c.box_us, boot=c.boot, shift_s=c.shift_s, **more)


def fields_refusal(state: MatchState, fields: Mapping[str, str]) -> str:
    """Why there is no go while the fields are so (zone -> ``FIELD_FAULTS``); empty when there is."""
    if state.rules.empty_fields == "free" or state.duel.waived:
        return ""
    told = [sentence(FIELD_FAULTS[fault], zone=zone) for zone, fault in sorted(fields.items())]
    return sentence("fields", rest=told) if told else ""


def _press(batch: MatchBatch, c: commands.PressStop) -> None:
    refuse_if(c.zone not in OTHER_ZONE, "zone", zone=c.zone)
    duel = batch.state.duel
    press = StopPress(c.zone, c.at_s, c.error_s, c.box_us, by=c.by)
    go = StopPress("", duel.go_at_s or 0.0, 0.0, duel.go_box_us)
    press = replace(press, elapsed_s=round(_gap_s(go, press)[0], 6))
    callers = _callers(duel, press, batch.state.rules.tie_window_ms)
    if press.elapsed_s < batch.state.rules.earliest_stop_s:
        batch.add("press_noted", **replace(press, why="too_early").to_json())
    elif callers == duel.callers:
        batch.add("press_noted", **replace(press, why="late").to_json())
    else:
        batch.add("stop", **replace(press, callers=callers).to_json())
        adjudication.settle(batch)


def _callers(duel: Duel, press: StopPress, tie_window_ms: float) -> tuple[str, ...]:
    """Whose Stop counts once this press is in: the earlier one, or both within the tie window, which is the sum of both
    bounds where a press is not timed by a box."""
    if not duel.stops:
        return (press.zone,)
    if any(stop.zone == press.zone for stop in duel.stops):
        return duel.callers
    gap, error = _gap_s(duel.stops[0], press)
    window = tie_window_ms / 1000
    if abs(gap) <= (max(window, error) if press.by or duel.stops[0].by else window + error):
        return ("A", "B")
    return duel.callers if gap > 0 else (press.zone,)


def _gap_s(first: StopPress, second: StopPress) -> tuple[float, float]:
    """Seconds from the first time to the second, and the bound of the error (0 in box time)."""
    host_s, error_s = second.at_s - first.at_s, first.error_s + second.error_s
    if first.box_us is None or second.box_us is None:
        return host_s, error_s
    box_s = (second.box_us - first.box_us) / 1e6
    return (host_s, error_s) if abs(box_s - host_s) > BOX_RESET_S + error_s else (box_s, 0.0)


def _timeout(batch: MatchBatch, c: commands.CallTimeout) -> None:
    limit, elapsed = batch.state.rules.time_limit_s or 0.0, c.at_s - (batch.state.duel.go_at_s or 0.0)
    refuse_if(elapsed < limit, "limit", passed=elapsed, limit=limit)
    batch.add("duel_void", by="clock", reason="timeout", at_s=c.at_s)


def _mode(batch: MatchBatch, c: commands.ChangeMode) -> None:
    _known_mode(c.mode)
    state = batch.state
    drawn = {d.card_id for d in state.past} - set(state.returned)
    batch.add("mode_changed", mode=c.mode, piles=piles.piles(state.cards, c.mode, state.seed, drawn))


def _sign_setup(batch: MatchBatch, c: commands.SignSetup) -> None:
    names = tuple(name.strip() for name in c.names)
    refuse_if(len(names) < 2 or not all(names) or len(set(names)) < len(names), "both_sign")
    batch.add("setup_signed", names=list(names), record=dict(c.record))


_HANDLERS: Mapping[type[commands.MatchCommand], Callable[[MatchBatch, Any], None]] = {
    commands.CreateMatch: _create,
    commands.DrawCard: _draw,
    commands.DrawByHand: lambda b, c: b.add("card_drawn", card_id=None, value=0, pile=None),
    commands.NameCard: _name_card,
    commands.Ready: lambda b, c: b.add("ready"),
    commands.Go: _go,
    commands.WaiveFields: lambda b, c: b.add("fields_waived", why=c.why),
    commands.PressStop: _press,
    commands.BeginJudging: lambda b, c: b.add("judging", at_s=c.at_s),
    commands.CameraVerdict: adjudication.verdict,
    commands.HumanRuling: adjudication.human,
    commands.Overrule: adjudication.overrule,
    commands.OpenReview: lambda b, c: b.add("review_opened", why=c.why),
    commands.CloseReview: lambda b, c: b.add("review_closed"),
    commands.Foul: adjudication.foul,
    commands.FoulRuling: adjudication.foul_ruling,
    commands.VoidDuel: lambda b, c: b.add("duel_void", by="human", reason=c.reason, why=c.why),
    commands.CallTimeout: _timeout,
    commands.NextDuel: lambda b, c: progress.advance(b),
    commands.Undo: lambda b, c: adjudication.undo(b),
    commands.PlayerLeaves: lambda b, c: progress.leave(b, c.player, c.why),
    commands.PlayerJoins: lambda b, c: progress.join(b, c.player.strip()),
    commands.PlayerLate: lambda b, c: progress.postpone(b, c.player),
    commands.RenamePlayer: lambda b, c: progress.rename(b, c.player, c.name.strip()),
    commands.ReplayRound: lambda b, c: progress.replay(b, c.round_index, c.why),
    commands.ReplayDuel: lambda b, c: progress.replay_duel(b, c.number, c.why),
    commands.LeaveMatch: lambda b, c: b.add("match_left", for_match=c.for_match),
    commands.TakeUpMatch: lambda b, c: b.add("match_taken_up"),
    commands.ChangeMode: _mode,
    commands.SignSetup: _sign_setup,
    commands.OpenSetup: lambda b, c: b.add("setup_opened", why=c.why),
    commands.GoUnsigned: lambda b, c: b.add("setup_waived"),
    commands.RuleByHand: lambda b, c: b.add("by_hand", on=c.on),
    commands.ChangeLens: lambda b, c: b.add("lens_changed", lens=dict(c.lens)),
    commands.SealRecording: lambda b, c: b.add("recording_sealed", attempt=c.attempt, sha256=c.sha256),
}

_DECIDER = Decider(evolve, lambda state, command: state.refusal(type(command)), _HANDLERS)
