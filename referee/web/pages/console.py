"""The referee's console ``/referee``: all that play needs, with one hand and from the keyboard."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import flask

from referee.match.commands import MODES
from referee.match.progress import played_again
from referee.match.state import CARD_SHOWN_PHASES, MatchState
from referee.session.session import Session
from referee.web import actions, views
from referee.web.board_views import Say, plural_text
from referee.web.pages import replay
from referee.web.streaming.fragments import LivePage

Match = Mapping[str, Any]

REASONS = ("picture", "seen", "agreed", "touched", "camera")
"""What people most often say for a ruling, as chips: texts ``chipwhy.<name>``."""

DIGITS = "3456789"

CONTESTED = ("undecided", "decided")
PEOPLE = ("PlayerLeaves", "PlayerLate", "PlayerJoins")

PRIMARY = {"idle": "DrawCard", "void": "DrawCard", "card_drawn": "Ready", "ready": "Go", "decided": "NextDuel"}
"""What Space does in each phase: the one next step of an undisturbed duel."""


def undone(match: Match, t: Say) -> str:
    """What the next undo takes back, in words; empty where there is nothing."""
    if not match.get("undo"):
        return ""
    award = match["award"]["player"]
    named = t(f"undo.{match['undo']}")
    gives_card = match["undo"] in ("verdict", "ruling", "duel_decided", "duel_overruled")
    return f"{named}, {t('undo.to', name=award)}" if award and gives_card else named


def readings(match: Match) -> list[dict[str, Any]]:
    """The other readings of contested builds, the likeliest first, each with a key of its own: zone, ruling, reason."""
    found = []
    for zone in match["duel"]["callers"]:
        row = match["duel"]["verdicts"].get(zone, {})
        for index, other in enumerate(row.get("alternatives") or ()):
            if other.get("verdict") in ("match", "mismatch"):
                reasons = other.get("reasons") or [None]
                found.append({"zone": zone, "index": index, "ruling": other["verdict"], "reason": reasons[0]})
    return [row | {"key": key} for key, row in zip(DIGITS, found, strict=False)]


def quick(match: Match) -> list[dict[str, Any]]:
    """The five keys: what each rules, of an open duel or an ended one; empty where no ruling is possible."""
    if "HumanRuling" in match["allowed"]:
        command, fixed = "HumanRuling", {}
    elif "Overrule" in match["allowed"] and match["phase"] in ("decided", "void", "finished"):
        command, fixed = "Overrule", {"number": match["history"][-1]["number"]}
    else:
        return []
    one = len(match["duel"]["callers"]) == 1
    rulings = [("match", "q"), ("mismatch", "w")] if one else []
    rulings += [("void", "e"), ("award_A", "a"), ("award_B", "b")]
    return [{"command": command, "key": key, "body": {"ruling": ruling, **fixed}} for ruling, key in rulings]


def _values(session: Session, t: Say) -> dict[str, Any]:
    """What the console's templates use; ``match`` is None before the first match."""
    snapshot = session.snapshot()
    match = snapshot.get("match")
    values = {"match": None, "live": snapshot["live"], "alarms": snapshot["alarms"], "allowed": frozenset()}
    values |= {"chips": _chips(session), "names": [], "active": [], "people_commands": [], "open_match": "", "undo": ""}
    if not match or match["phase"] == "new":
        return values
    shown = match["phase"] in CARD_SHOWN_PHASES
    face = session.deck.by_id.get(match["card_id"] or "") if shown else None
    values |= {
        "match": match,
        "allowed": frozenset(match["allowed"]),
        "seats": views.seats(match),
        "clock": views.clock(match),
        "rounds": views.rounds(match),
        "primary": PRIMARY.get(match["phase"]),
        "decision": views.decision(match["duel"]),
        "verdicts": views.callers_verdicts(match),
        "overlay": views.overlay(session, snapshot),
        "readings": readings(match) if match["phase"] in CONTESTED else [],
        "quick": quick(match),
        "reasons_said": REASONS,
        "open_zones": views.zones_awaiting_ruling(match),
        "card": views.card(face) if face else None,
        "pictures": snapshot.get("pictures", {}),
        "history": list(reversed(match["history"])),  # the latest first
        "replayable": _replayable(session.state) if "ReplayDuel" in match["allowed"] else frozenset(),
        "open_fouls": [(i, foul) for i, foul in enumerate(match["fouls"]) if foul["sanction"] is None],
        "against": partial(_against, match),
        "clips": _clips(session),
    }
    return values | _more(match, t)


def _more(match: Mapping[str, Any], t: Say) -> dict[str, Any]:
    """What stands under 'More': what an undo takes back, who may come and go, and how far the match is."""
    left = sum(row["duels"] for row in match["rounds"][match["round_index"] :]) - match["duel_index"]
    return {
        "undo": undone(match, t),
        "names": [p["name"] for p in match["players"]],
        "active": [p["name"] for p in match["players"] if p["active"]],
        "people_commands": [(c, t(f"do.{c}")) for c in PEOPLE if c in match["allowed"]],
        "played_rounds": [d for d in match["history"] if not d["annulled"]],
        "open_match": "" if match["phase"] == "finished" else plural_text(t, "duels", left),
    }


def _chips(session: Session) -> list[str]:
    """Steps of the set-up that the eyes go without: each makes verdicts more doubtful."""
    eyes = session.observer
    known = {
        "lens": eyes.camera is not None and not eyes.camera.estimated,
        "empty": eyes.empty is not None,
        "colors": eyes.palette is not None,
    }
    return [step for step, there in known.items() if not there]


def _replayable(state: MatchState) -> frozenset[int]:
    """Numbers of the void duels that have no other attempt yet."""
    void = (d for d in state.history if d.phase == "void" and not d.annulled)
    return frozenset(d.number for d in void if not played_again(state, d))


def _against(match: Mapping[str, Any], foul: Mapping[str, Any]) -> list[str]:
    """Who gets the duel if it goes to that player's opponent; nobody where the foul was in another duel."""
    seated = match["seats"].values() if foul["duel"] == match["duel"]["number"] else ()
    return [name for name in seated if name != foul["player"]]


def _clips(session: Session) -> frozenset[int]:
    """Which of the open fouls can be looked at."""
    fouls = enumerate(session.state.fouls)
    return frozenset(i for i, foul in fouls if foul.open and replay.of_foul(session, foul) is not None)


PAGE = LivePage("console", ("alarms", "act", "fields", "log", "table", "status", "logins", "more"), _values)


def blueprint(session: Session) -> flask.Blueprint:
    """The page."""
    pages = flask.Blueprint("console", __name__)

    @pages.get("/referee")
    def console() -> str:
        live = PAGE.for_visitor(session)
        match = session.snapshot().get("match") or {}
        return flask.render_template(
            "console.html",
            second=session.second.camera.name if session.second else "",
            parts=live,
            name=flask.session.get("name", ""),
            modes=tuple(MODES),
            rules=[{"name": n, "value": getattr(session.rules, n), **row} for n, row in actions.rule_choices().items()],
            cards=[card.id for card in session.deck.cards],
            older=session.older(),
            people=[p["name"] for p in match.get("players", ())],
        )

    return pages
