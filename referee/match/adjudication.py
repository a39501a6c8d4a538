"""What is said of a duel, by the camera and by people, and the award that follows.

Each function works one command out into its events. A correction never replaces what it corrects:
the camera's verdict, the house's ruling and every human ruling stand in the record side by side.
"""

from dataclasses import asdict
from typing import Any

from cards.law import Reason
from cards.sentences import sentence
from referee.core import refuse_if
from referee.errors import IllegalCommand
from referee.match import commands, progress
from referee.match.cause import CODE_SEPARATOR
from referee.match.duel import BEFORE_GO, OTHER_ZONE, PHASES_IN_PLAY, Duel, house_ruling, outcome
from referee.match.house_rules import FINDINGS
from referee.match.state import MatchBatch, MatchState
from referee.match.verdict import parse_wording


def verdict(batch: MatchBatch, c: commands.CameraVerdict) -> None:
    zones = {**c.others, c.zone: c.verdict}
    counts = batch.state.phase in ("stopped", "judging")
    for zone, verdict in zones.items():
        refuse_if(verdict.ruling not in ("match", "mismatch", "undecided"), "verdict_is", zone=zone)
    refuse_if(counts and not batch.state.card_id and any(z in batch.state.duel.callers for z in zones), "not_named")
    for zone, verdict in zones.items():
        findings = tuple(f for f in c.findings if f in FINDINGS) if zone == c.zone else ()
        early = ("false_start",) if zone in batch.state.duel.touched and not batch.state.duel.waived else ()
        findings = (*findings, *(f for f in early if f not in findings))
        ruling = house_ruling(batch.state.rules, verdict, findings, batch.state.card_of(batch.state.card_id))
        called = counts and zone in batch.state.duel.callers
        batch.add(
            "verdict" if called else "verdict_noted",
            zone=zone,
            verdict=verdict.to_json(),
            findings=list(findings),
            ruling=ruling,
            evidence=dict(c.evidence),
        )
    if counts:
        settle(batch)


def settle(batch: MatchBatch) -> None:
    """Award, void or leave open, as the rulings so far say."""
    state = batch.state
    duel, result = state.duel, outcome(state.duel, state.rules)
    by = "human" if duel.human else "camera"
    winner = duel.at_zone(result.winner) if result.winner is not None else None
    # A finding of this duel that may be against the winner waits for a human.
    accused = any(f.open and f.duel == duel.number and (f.player == winner or f.anybodys) for f in state.fouls)
    if winner is not None and by == "camera" and accused:
        if duel.phase != "undecided":
            batch.add("duel_undecided", reason="open_finding")
    elif winner is not None:
        _award(batch, winner, by, result.reason)
    elif result.kind == "void":
        batch.add("duel_void", by=by, reason=result.reason)
    elif result.kind == "undecided" and duel.phase != "undecided":
        batch.add("duel_undecided", reason=result.reason)


def undo(batch: MatchBatch) -> None:
    """Back to before the last command. Of the same build the camera would only say the same again: once its verdict
    is taken back it stays to be read, and a human rules."""
    was = batch.state
    batch.add("undone", cites=was.first_seq)
    if was.undo_kind != "verdict" or not was.duel.ended:
        return
    for zone in was.duel.callers:
        if zone in was.verdicts and zone not in batch.state.verdicts:
            batch.add(
                "verdict_noted",
                zone=zone,
                verdict=was.verdicts[zone].to_json(),
                findings=list(was.duel.findings[zone]),
                ruling="undecided",
                evidence={},
            )
    batch.add("duel_undecided", reason="taken_back")


def _award(batch: MatchBatch, player: str, by: str, reason: str, **beside: Any) -> None:
    duel = batch.state.duel
    refuse_if(not duel.card_id, "not_named_value")
    batch.add("duel_decided", award=player, value=duel.value, by=by, reason=reason, **beside)


def human(batch: MatchBatch, c: commands.HumanRuling) -> None:
    _known_ruling(c.ruling)
    duel = batch.state.duel
    if c.ruling in ("match", "mismatch"):
        batch.add("ruling", ruling=c.ruling, why=c.why, zone=_open_zone(duel, c.zone))
        settle(batch)
        return
    batch.add("ruling", ruling=c.ruling, why=c.why, zone=None)
    if c.ruling == "void":
        batch.add("duel_void", by="human", reason=c.why)
    else:
        _award(batch, duel.at_zone(c.ruling[-1]), "human", c.why)


def _known_ruling(ruling: str) -> None:
    refuse_if(ruling not in commands.RULINGS, "ruling", name=ruling, known=list(commands.RULINGS))


def _open_zone(duel: Duel, zone: str | None) -> str:
    """The zone a human rules on: the given caller, or the only caller that is open."""
    refuse_if(zone is not None and zone not in duel.callers, "not_called", zone=zone)
    open_zones = [z for z in duel.callers if duel.rulings.get(z) in (None, "undecided")]
    refuse_if(zone is None and len(duel.callers) > 1 and len(open_zones) != 1, "which_zone")
    return zone or (open_zones or list(duel.callers))[0]


def overrule(batch: MatchBatch, c: commands.Overrule) -> None:
    _known_ruling(c.ruling)
    duel = _ended_duel(batch.state, c.number)
    award = _award_of(duel, c.ruling)
    refuse_if(award and not duel.card_id, "no_value", number=duel.number)
    for later in (*batch.state.past, batch.state.duel):
        counts = later.phase != "void" and not later.annulled
        again = later.number > duel.number and later.card_id == duel.card_id and counts
        refuse_if(award and not duel.award and again, "card_again", card=duel.card_id, number=later.number)
    was = {"award": duel.award, "by": duel.decided_by, "reason": duel.reason}
    batch.add(
        "duel_overruled",
        cites=duel.ended_seq,
        number=duel.number,
        ruling=c.ruling,
        award=award,
        why=c.why,
        value=duel.value,
        was=was,
    )
    if batch.state.finished:
        progress.conclude(batch)


def _ended_duel(state: MatchState, number: int | None) -> Duel:
    """The ended duel of that number (None: the latest) that may still be overruled."""
    found = [d for d in state.history if d.number == number] if number is not None else [state.history[-1]]
    refuse_if(not found, "not_ended", number=number)
    duel = found[0]
    refuse_if(duel.annulled, "annulled", number=duel.number, why=duel.annulled)
    if duel.phase == "void" and progress.played_again(state, duel) and duel.number != state.duel.number:
        raise IllegalCommand(sentence("was_void", number=duel.number))
    return duel


def _award_of(duel: Duel, ruling: str) -> str | None:
    """Who gets the card under a human ruling on the whole duel. Raises when it does not say."""
    if ruling == "void":
        return None
    if ruling.startswith("award_"):
        return duel.at_zone(ruling[-1])
    refuse_if(len(duel.callers) != 1, "not_one_caller")
    caller = duel.callers[0]
    return duel.at_zone(caller if ruling == "match" else OTHER_ZONE[caller])


def foul(batch: MatchBatch, c: commands.Foul) -> None:
    refuse_if(c.player not in batch.state.active, "plays_not", player=c.player)
    default = {"human": None, "warning": "warning", "duel": "duel"}[batch.state.rules.foul]
    hidden = batch.state.phase in BEFORE_GO
    sanction = c.sanction or ("warning" if default == "duel" and hidden else default)
    said = parse_wording(c.text)
    if c.seen is not None:  # a camera proposes, a human decides
        batch.add("foul", player=c.player, text=said.text, sanction=None, seen=asdict(c.seen), **_beside(said))
        return
    batch.add("foul", player=c.player, text=said.text, sanction=sanction, **_beside(said))
    if sanction == "duel":
        _duel_to_opponent(batch, c.player, said)


def _beside(said: Reason) -> dict[str, Any]:
    """What is recorded beside a foul's text: the code and values of what a device said, nothing of a human's words."""
    return {"said": said.to_json()} if said.code else {}


def foul_ruling(batch: MatchBatch, c: commands.FoulRuling) -> None:
    fouls = batch.state.fouls
    refuse_if(not 0 <= c.index < len(fouls) or not fouls[c.index].open, "no_foul", number=c.index)
    ruled = fouls[c.index]
    batch.add("foul_ruled", cites=ruled.seq, index=c.index, sanction=c.sanction, why=c.why)
    refuse_if(c.sanction in ("duel", "void") and ruled.duel != batch.state.duel.number, "duel_over")
    if c.sanction == "void":
        refuse_if(batch.state.duel.phase not in (*PHASES_IN_PLAY, "decided"), "foul_void", phase=batch.state.duel.phase)
        batch.add("duel_void", by="human", reason="foul", why=ruled.wording.text, **_beside(ruled.wording))
    if c.sanction == "duel":
        _duel_to_opponent(batch, ruled.player, ruled.wording)
    elif batch.state.phase == "undecided" and batch.state.duel.reason == "open_finding":
        settle(batch)


def _duel_to_opponent(batch: MatchBatch, player: str, said: Reason) -> None:
    duel = batch.state.duel
    zone = duel.zone_of(player)
    refuse_if(duel.phase in BEFORE_GO, "card_hidden")
    refuse_if(duel.phase not in (*PHASES_IN_PLAY, "decided"), "none_in_play", phase=duel.phase)
    _award(batch, duel.at_zone(OTHER_ZONE[zone]), "foul", f"foul{CODE_SEPARATOR}{said.text}", **_beside(said))
