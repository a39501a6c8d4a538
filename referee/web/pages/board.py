"""The public board ``/``: what everybody in the room looks at, on a projector and on phones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import flask

from referee.web import views
from referee.web.pages import replay
from referee.web.ports import WebSession
from referee.web.security import public
from referee.web.streaming.fragments import rendered
from referee.web.streaming.streams import Parts

PARTS = ("duel", "stage", "table", "schedule")


def parts(session: WebSession, environment: Any, lang: str) -> Parts:
    """The board's parts as they are now."""
    return rendered(session, environment, lang, "board", PARTS, _values(session))


def _values(session: WebSession) -> dict[str, Any]:
    """What the board's templates use; ``match`` is None before the first match."""
    snapshot = session.snapshot()
    if not snapshot.get("match") or snapshot["match"]["phase"] == "new":
        return {"match": None, "live": snapshot["live"]}
    match = views.public_match(snapshot["match"])
    seen = {**snapshot, "match": match}
    return {
        "match": match,
        "live": snapshot["live"],
        "seats": views.seats(match),
        "clock": views.clock(match),
        "rounds": views.rounds(match),
        "verdicts": views.callers_verdicts(seen),
        "card": _card(session, match),
        "overlay": views.overlay(session, snapshot),
        "replay": replay.address(session, match["duel"]),
    }


def _card(session: WebSession, match: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card on the table for the public, with a row of words per piece colour; None while hidden."""
    if not match["card_id"] or match["card_id"] not in session.deck.by_id:
        return None
    return views.card(session.deck.by_id[match["card_id"]])


def blueprint(session: WebSession) -> flask.Blueprint:
    """The page."""
    pages = flask.Blueprint("board", __name__)

    @pages.get("/")
    @public
    def board() -> str:
        live = parts(session, flask.current_app.jinja_env, flask.g.lang)
        return flask.render_template("board.html", parts=live)

    return pages
