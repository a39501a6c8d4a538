"""One attempt judged again: recorded verdict beside today's, and the award that would follow.

Two ways, by ``Options.look``. *Looking* judges the recorded frames anew with today's vision. *Not looking*
takes the builds as they were understood then and applies the rules to them: enough for another deck or
other house rules, and a hundred times quicker. A human's ruling on a duel stands in both.
"""

import importlib
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from cards.build import Build, Piece
from cards.card import Card
from cards.deck import load_deck
from cards.errors import RefereeError
from cards.law import Reason
from cards.pieces import PieceSet
from referee.errors import BadAttempt
from referee.match.card_facts import facts_of
from referee.match.duel import Duel, house_ruling, outcome
from referee.match.house_rules import HouseRules
from referee.match.stop_views import OF_TWO, PRESS_UNSEEN, combine_verdicts
from referee.match.verdict import zone_verdict
from referee.recording import Attempt, load_attempt
from referee.recording.address import AttemptSource, fetched_attempt
from referee.recording.folder import DECK, JOURNAL, PIECES, REVIEW, STOP, VIDEO, read_image
from referee.recording.writer import pixel_hash
from referee.review.film import observer_of
from referee.review.options import RejudgeOptions, files_used, is_unjudged
from referee.review.stop_ruling import Row, Rows, judge_both_views, player_name, recorded_rules, row_at_press, rows_of
from referee.review.stop_watch import watch_stop
from referee.review.timeline import CACHE
from referee.vision.observer import EarlierPicture, EarlierPictures, Judgement, judge_views

FILES_NOT_JUDGED = (REVIEW, JOURNAL, CACHE)
"""What nobody judges by."""


def needed_files(options: RejudgeOptions, folder: Path, names: Sequence[str]) -> Sequence[str]:
    """Which files of an attempt are needed to judge it in this way, given the names of all; the film only where it is
    looked at. With the options it is an ``address.Which``."""
    if not (options.look or options.watch):
        return [name for name in (DECK, PIECES) if name in names]
    attempt = load_attempt(folder)
    film = attempt.film.name
    unjudged = options.look and not attempt.meta.get("judged") and STOP not in names
    films = {VIDEO, attempt.seen_by(2).film.name, film} - ({film} if options.watch or unjudged else set())
    return [name for name in names if name not in (*films, *FILES_NOT_JUDGED)]


def judge_again(source: AttemptSource, options: RejudgeOptions) -> dict:
    """The attempt's row of the report, wherever it lies; one that cannot be judged says so in ``problem``.

    Keys: attempt, folder, match, card, value, players, caller, zones (zone -> was, now: the contract's rows),
    award_was, award_now (player or None), human (whether a human ruled), changed, pixels, seconds, problem.
    """
    begun = time.perf_counter()
    row: dict[str, Any] = {"attempt": source.name, "folder": source.address, "problem": None}
    folder = Path(source.address)
    try:
        with fetched_attempt(source, partial(needed_files, options)) as folder:
            row |= _judged(load_attempt(folder), options)
    except (RefereeError, OSError) as error:
        row |= {"problem": str(error).replace(str(folder), source.address), "changed": False, "zones": {}}
    return row | {"seconds": round(time.perf_counter() - begun, 4)}


_deck = lru_cache(maxsize=8)(load_deck)


def _judged(attempt: Attempt, options: RejudgeOptions) -> dict:
    for problem in attempt.problems(files_used(attempt, options)):
        raise BadAttempt(f"{attempt.folder}: {problem}")
    card = _deck(options.deck).card(attempt.meta["card"]) if options.deck else attempt.card
    was_rules, rules = recorded_rules(attempt, None), recorded_rules(attempt, options.rules)
    was_found = attempt.meta.get("findings") or {}
    was, was_seen = with_press_view(
        attempt, settled_rows(attempt), was_found, lambda zone: attempt.at_press[zone]["row"]
    )
    now, seen = _now(attempt, card, rules, options)
    zones = {z: {"was": was.get(z), "now": now.get(z)} for z in sorted({*was, *now})}
    was_award = award_of(attempt, was, attempt.card, was_rules, was_seen)
    now_award = award_of(attempt, now, card, rules, seen)
    looked_at = attempt.judged_views if options.look and not is_unjudged(attempt) else []
    rulings = [[row and row["verdict"] for row in both.values()] for both in zones.values()]
    changed = was_award != now_award or any(then != today for then, today in rulings)
    return {
        "match": attempt.meta.get("match_id", ""),
        "card": card.id,
        "value": card.value,
        "players": dict(attempt.players),
        "caller": attempt.caller,
        "zones": zones,
        "value_was": attempt.card.value,
        "award_was": was_award,
        "award_now": now_award,
        "human": bool(attempt.meta.get("human")),
        "changed": changed,
        "cut_short": attempt.cut_short,
        "findings": seen,
        "pixels": [pixel_hash(frame) for view in looked_at for frame in view.judged_frames()],
    }


def settled_rows(attempt: Attempt) -> dict[str, dict]:
    """The recorded rows of the settled views; an import records what both views say beside them."""
    return {z: attempt.at_press.get(z, {}).get("settled", row) for z, row in attempt.verdicts.items()}


def _now(
    attempt: Attempt, card: Card, rules: HouseRules, options: RejudgeOptions
) -> tuple[dict[str, Row], dict[str, list[str]]]:
    """Rows and findings as they are seen now; from the film, where no frame was ever judged."""
    if options.look and options.eye == RejudgeOptions.eye and is_unjudged(attempt):
        said = judge_both_views(attempt, watch_stop(attempt), options.palette, card)
        return dict(said.verdicts), dict(said.findings)
    settled = judge_attempt(attempt, card, options) if options.look else reconsider(attempt, card, rules)
    found = _watched(attempt) if options.watch else attempt.meta.get("findings") or {}
    return with_press_view(attempt, settled, found, lambda zone: press_row(attempt, zone, card, options, settled[zone]))


FELL = "fell_after_stop"

Found = Mapping[str, Sequence[str]]
"""Zone -> findings."""


def with_press_view(
    attempt: Attempt, rows: Mapping[str, dict], found: Found, press_row: Callable[[str], Row]
) -> tuple[dict[str, Row], dict[str, list[str]]]:
    """The settled rows and findings with what was seen at the press taken in, where the field was touched after it."""
    said: dict[str, Row] = dict(rows)
    findings = {
        zone: [f for f in names if zone not in attempt.at_press or f not in OF_TWO] for zone, names in found.items()
    }
    for zone, seen in attempt.at_press.items():
        if zone in rows:
            culprit = player_name(attempt, seen.get("culprit"))
            views = zone_verdict(press_row(zone)), seen["after"], zone_verdict(rows[zone])
            both, finding = combine_verdicts(*views, culprit)
            said[zone] = both.to_json()
            findings.setdefault(zone, []).extend([finding] if finding else [])
    return said, findings


def press_row(attempt: Attempt, zone: str, card: Card, options: RejudgeOptions, settled: Row) -> Row:
    """The row of the view at the press as it is seen now, or as it was where nobody looks again; ``settled`` is that of
    the settled view."""
    at_press = attempt.at_press[zone]
    recorded: Row = at_press.get("row", {})
    unseen = zone_verdict(recorded).codes == PRESS_UNSEEN.codes
    if unseen or not options.look or options.eye != RejudgeOptions.eye or not at_press["files"]:
        return recorded
    tolerances = recorded_rules(attempt, options.rules).tolerances
    views = [
        (observer_of(view, options.palette), [read_image(attempt.folder / name) for name in names])  # without loss
        for view, names in attempt.press_views(zone)
    ]
    seen = rows_of(judge_views(views, card, [zone], tolerances, earlier=earlier_of(attempt)))
    return row_at_press(seen.get(zone), settled, at_press.get("placed", "unknown"), bool(at_press.get("covered")))


AttemptJudge = Callable[[Attempt, Card, str | None], Mapping[str, dict]]
"""Who looks: the attempt, its card and the palette's file or None -> zone -> the contract's row."""


def judge_attempt(attempt: Attempt, card: Card, options: RejudgeOptions) -> Mapping[str, dict]:
    """Zone -> the contract's row, from the recorded frames, by the eye the options name."""
    module, _, function = options.eye.partition(":")
    eye: AttemptJudge = getattr(importlib.import_module(module), function)
    return eye(attempt, card, options.palette)


def earlier_of(attempt: Attempt) -> dict[str, EarlierPictures]:
    """Zone -> what gives the recorded pictures from while its build grew."""
    pictures = {zone: [EarlierPicture.of(*one) for one in kept] for zone, kept in attempt.earlier_pictures().items()}
    return {zone: lambda *_, kept=kept: kept for zone, kept in pictures.items()}


def judge_frames(attempt: Attempt, card: Card, palette: str | None = None) -> Mapping[str, dict]:
    """Today's vision on the attempt's judged frames: zone -> the contract's row."""
    return rows_of(judge_recorded(attempt, card, palette, earlier_of(attempt)))


def judge_recorded(
    attempt: Attempt, card: Card, palette: str | None, earlier: Mapping[str, EarlierPictures]
) -> Judgement:
    """The same with other ``earlier`` pictures of the zones."""
    views = [(observer_of(view, palette), view.judged_frames()) for view in attempt.judged_views]
    zones = sorted(attempt.verdicts) or attempt.meta.get("zones")  # where none was judged those that are named
    return judge_views(views, card, zones, recorded_rules(attempt, None).tolerances, earlier=earlier)


def stored_build(row: Mapping, piece_set: PieceSet) -> Build:
    """The build of a recorded verdict: the inverse of ``judge.build_to_json``, to its rounding."""
    return Build(piece_set, tuple(map(Piece.from_json, row.get("pieces", ()))))


def reconsider(attempt: Attempt, card: Card, rules: HouseRules) -> Mapping[str, dict]:
    """The recorded verdicts under another card or other tolerances, from the builds as they were understood then.

    A verdict moves only where the rules find other faults in the stored build than they did under the
    recorded card; what could not be told from the pixels still cannot.
    """
    was = recorded_rules(attempt, None)
    if card == attempt.card and rules.tolerances == was.tolerances:
        return settled_rows(attempt)
    now = {}
    for zone, row in settled_rows(attempt).items():
        build = stored_build(row, attempt.piece_set)
        before = attempt.card.faults(build, was.tolerances)
        now[zone] = _reconsidered(row, before, card.faults(build, rules.tolerances))
    return now


def _reconsidered(row: dict, before: Sequence[Reason], after: Sequence[Reason]) -> dict:
    if before == after:
        return row
    ruling = "mismatch" if after else "match"
    if row["verdict"] == "undecided":
        return {**row, "leaning": ruling}
    return {**row, "verdict": ruling, "reasons": [r.to_json() for r in after]}


def _watched(attempt: Attempt) -> dict[str, list[str]]:
    """The findings with those about a fall read from the video anew."""
    recorded, now = attempt.meta.get("findings") or {}, judge_both_views(attempt, watch_stop(attempt)).findings
    names = {z: [f for f in recorded.get(z, ()) if f != FELL] for z in sorted({*recorded, *now})}
    found = {z: [*of, *(f for f in now.get(z, ()) if f == FELL)] for z, of in names.items()}
    return {z: of for z, of in found.items() if of or z in recorded}


def award_of(attempt: Attempt, verdicts: Rows, card: Card, rules: HouseRules, found: Found) -> str | None:
    """Who gets the card by these verdicts, rules and findings; None when nobody does or a human has to say.

    A human's ruling stands: then it is the recorded award.
    """
    meta = attempt.meta
    if meta.get("human"):
        return meta.get("award")
    facts = facts_of(card.to_json())
    rulings = {z: house_ruling(rules, zone_verdict(row), tuple(found.get(z, ())), facts) for z, row in verdicts.items()}
    callers = tuple(meta.get("callers") or filter(None, [attempt.caller]))
    duel = Duel(seats=attempt.players, callers=callers, rulings=rulings, value=card.value)
    ended = outcome(duel, rules)
    return attempt.players.get(ended.winner) if ended.kind == "decided" and ended.winner else None
