"""The public board ``/``: what everybody in the room looks at, on a projector and on phones."""

from collections.abc import Mapping
from typing import Any

import flask

from cards.scene import bounds
from referee.match.piles import pile_for, values_of
from referee.match.state import public_match
from referee.session.session import Session
from referee.web import board_views, views
from referee.web.board_views import Say
from referee.web.pages import replay
from referee.web.pages.evening import spectators_address
from referee.web.security import public
from referee.web.streaming.fragments import LivePage
from referee.web.streaming.media import MARGIN_MM


def _values(session: Session, t: Say) -> dict[str, Any]:
    """What the board's templates use; ``match`` is None before the first match."""
    snapshot = session.snapshot()
    if not snapshot.get("match") or snapshot["match"]["phase"] == "new":
        said = {"match": None, "announcement": {"key": "", "phase": "new", "sound": "", "say": ""}}
        return said | {"live": snapshot["live"], "alarms": snapshot["alarms"], "practice": session.practice is not None}
    match = public_match(snapshot["match"])
    decision = views.decision(match["duel"])
    face = session.deck.by_id.get(match["card_id"] or "")  # none while it is hidden
    values = values_of(session.state.mode, pile_for(session.state))
    return {
        "announcement": board_views.announcement(match, decision, t),
        "round_scores": board_views.round_scores(match),
        "up_next": board_views.up_next(match),
        "worth": values[0] if len(values) == 1 else None,  # experts' piles are of one value each: everybody knows
        "moments": board_views.moments(match),
        "pace": board_views.pace(match),
        "closest": board_views.closest_stop(match),
        "podium": board_views.podium(match),
        "best_times": board_views.best_times(match),
        "played": board_views.ended_duels(match) if match["phase"] == "finished" else [],
        "pictures": snapshot.get("pictures", {}),
        "faces": faces(session, snapshot, match),
        "match": match,
        "live": snapshot["live"],
        "alarms": snapshot["alarms"],
        "seats": views.seats(match),
        "clock": views.clock(match),
        "rounds": views.rounds(match),
        "decision": decision,
        "verdicts": views.callers_verdicts(match),
        "card": views.card(face) if face else None,
        "overlay": views.overlay(session, snapshot),
        "frozen": session.picture("stop") is not None,
        "replay": replay.address(session, match["duel"]),
    }


def faces(session: Session, snapshot: Mapping[str, Any], match: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The builds that were judged beside their card at one scale: lengths in mm, pictures by address.

    Empty where no picture of a build alone is there, and for cards that show no build.
    """
    face = session.deck.by_id.get(match["card_id"] or "")
    builds = (snapshot.get("verdict") or {}).get("builds") or {}
    if face is None or not face.shown:
        return []
    x0, y0, x1, y1 = bounds(face.picture(session.piece_set))
    width, height = x1 - x0 + 2 * MARGIN_MM, y1 - y0 + 2 * MARGIN_MM
    return [
        {"zone": zone, **row, "card_width": width, "card_height": height}
        for zone, row in sorted(builds.items())
        if zone in match["duel"]["callers"] and session.picture(row["src"].removeprefix("/media/").removesuffix(".jpg"))
    ]


PAGE = LivePage("board", ("camera", "duel", "stage", "table", "schedule", "evening"), _values)


def blueprint(session: Session) -> flask.Blueprint:
    """The page."""
    pages = flask.Blueprint("board", __name__)

    @pages.get("/")
    @public
    def board() -> str:
        live = PAGE.for_visitor(session)
        kiosk = "kiosk" in flask.request.args
        return flask.render_template("board.html", parts=live, kiosk=kiosk, address=spectators_address())

    return pages
