"""The two views of a recorded Stop judged: the same law, fed with the same facts, as live.

``rule_recorded_stop`` makes the rows and the findings of what ``referee.review.stop_watch`` saw; ``stop_findings``
gives the findings their times for the time line.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cards.card import Card
from referee.devices.ports import Frame
from referee.match.house_rules import DEFAULT_RULES, HouseRules, load_rules, parse_rules
from referee.match.stop_views import PRESS_UNSEEN, UNSEEN, Placed, Views, rule_stop, verdict_at_press
from referee.match.verdict import ZoneVerdict, zone_verdict
from referee.recording import Attempt
from referee.review.film import as_decoded, is_shaken, observer_of
from referee.review.stop_watch import StopSeen, watch_stop
from referee.vision.observer import Judgement


def player_name(attempt: Attempt, zone: str | None) -> str:
    """The player at that zone, or its letter where no name is known; empty for no zone."""
    return attempt.players.get(zone, zone) if zone else ""


Row = Mapping[str, Any]
"""What is recorded of one zone: the contract's object."""

_rules_file = lru_cache(maxsize=8)(load_rules)


def recorded_rules(attempt: Attempt, path: str | None) -> HouseRules:
    if path:
        return _rules_file(path)
    recorded = attempt.meta.get("rules")
    return parse_rules(recorded, f"{attempt.folder}: rules") if recorded else DEFAULT_RULES


@dataclass(frozen=True)
class StopRuled:
    """``verdicts``: zone -> what both views say; ``at_press``: zone -> both views' rows, where they count; ``findings``
    by zone."""

    verdicts: Mapping[str, Row]
    at_press: Mapping[str, Mapping]
    findings: Mapping[str, list[str]]


Rows = Mapping[str, Row]
AtPress = Callable[[str], Row | None]
"""Zone -> the row of its view at the press; None where there are no frames of it."""


def rule_recorded_stop(attempt: Attempt, seen: StopSeen, settled: Rows, at_press: AtPress) -> StopRuled:
    """What both views of a recorded Stop say."""
    verdicts, press_rows, findings = dict(settled), dict[str, Mapping](), dict[str, list[str]]()
    for zone, around in seen.fields.items():
        after, row, press = around.after, _said(settled.get(zone)), None
        if after.press_counts:
            press = PRESS_UNSEEN if after.unseen else _said(at_press(zone))
            press_rows[zone] = {"row": press.to_json(), "settled": row.to_json()}
        views = Views(row, press, after.after, player_name(attempt, after.culprit), around.hand)
        said, names = rule_stop(views, recorded_rules(attempt, None).hand_at_stop)
        verdicts[zone] = said.to_json()
        early = ("false_start",) if zone in seen.early else ()
        if early or names:
            findings[zone] = [*early, *names]
    return StopRuled(verdicts, press_rows, findings)


def rows_of(judged: Judgement) -> dict[str, dict]:
    """Zone -> the row of what was judged there."""
    return {zone: verdict.to_json() for zone, verdict in judged.zones.items()}


def _said(row: Row | None) -> ZoneVerdict:
    """What a row says; that of a view nobody has, where there is none."""
    return zone_verdict(row) if row else UNSEEN


def row_at_press(row: Row | None, settled: Row | None, placed: Placed, covered: bool) -> Row:
    """What the row of a view at the press says: ``placed``, when what stands in the settled view came; ``covered``,
    whether a hand is in that view."""
    return verdict_at_press(_said(row), _said(settled), placed, covered).to_json()


def stop_findings(attempt: Attempt, tick: Callable[[], object] = lambda: None) -> list[dict]:
    """What an attempt's record, or today's eyes where it says nothing yet, found around the Stop: ``zone``, ``finding``
    and ``seconds`` of video time, by time. Empty for an attempt without a Stop."""
    if attempt.stop_s is None:
        return []
    seen = watch_stop(attempt, tick)
    found = attempt.meta.get("findings") if attempt.verdicts else judge_both_views(attempt, seen).findings
    told = [
        {"zone": zone, "finding": name, "seconds": round(finding_s(attempt, seen, zone, name), 3)}
        for zone, names in (found or {}).items()
        for name in names
    ]
    return sorted(told, key=lambda row: row["seconds"])


def judge_both_views(
    attempt: Attempt, seen: StopSeen, palette: str | None = None, card: Card | None = None
) -> StopRuled:
    """Both views of an attempt of which no judged frame is kept, from its film; by another palette (a file) or for
    another card, where they are given."""
    card = card or attempt.card
    observer = observer_of(attempt, palette)
    tolerances = recorded_rules(attempt, None).tolerances

    def judge(frames: Sequence[Frame], zones: Sequence[str]) -> Rows:
        shaken = is_shaken(attempt)
        shown = [as_decoded(f) for f in (frames[-1:] if shaken else frames)]
        earlier = {} if shaken else seen.earlier()
        return rows_of(observer.judge(shown, card, zones, tolerances, earlier=earlier))

    settled = judge(seen.frames, seen.zones)

    def at_press(zone: str) -> Row | None:
        around = seen.fields[zone]
        if not around.frames:
            return None
        row = judge(around.frames, [zone]).get(zone)
        return row_at_press(row, settled.get(zone), around.placed, around.covered)

    return rule_recorded_stop(attempt, seen, settled, at_press)


def finding_s(attempt: Attempt, seen: StopSeen, zone: str, finding: str) -> float:
    """Video time of a finding: when the field was first touched, by which it is named."""
    stop = attempt.stop_s or 0.0
    if finding == "false_start":
        return seen.early.get(zone, attempt.go_s or 0.0)
    around = seen.fields.get(zone)
    moved = around.after.since_s if around is not None else None
    return stop if finding == "hand_at_stop" or moved is None else moved
