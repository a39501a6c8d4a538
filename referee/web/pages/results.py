"""``/results``: the match on a page, on paper and as a table; ``/overlay``: the transparent picture for streaming."""

from typing import Any

import flask

from referee.journal.export import csv_of
from referee.match.state import public_match
from referee.session.session import Session
from referee.web import board_views, views
from referee.web.board_views import Say
from referee.web.pages.evening import store
from referee.web.security import public
from referee.web.streaming.fragments import LivePage


def _shown(session: Session) -> dict[str, Any] | None:
    """The match as anybody may know it; None before the first."""
    match = session.snapshot().get("match")
    return public_match(match) if match and match["phase"] != "new" else None


def _values(session: Session, t: Say) -> dict[str, Any]:
    """What the streaming picture's template uses."""
    match = _shown(session)
    if match is None:
        return {"match": None}
    return {
        "match": match,
        "seats": views.seats(match),
        "clock": views.clock(match),
        "round_scores": board_views.round_scores(match),
        "decision": views.decision(match["duel"]),
        "verdicts": views.callers_verdicts(match),
    }


PAGE = LivePage("overlay", ("bar",), _values)


def blueprint(session: Session) -> flask.Blueprint:
    """The pages; everybody may see them."""
    pages = flask.Blueprint("results", __name__)

    @pages.get("/results")
    @public
    def results() -> str:
        match = _shown(session)
        more = {"rows": board_views.ended_duels(match), "best_times": board_views.best_times(match)} if match else {}
        closest = board_views.closest_stop(match) if match else None
        return flask.render_template("results.html", match=match, closest=closest, **more)

    @pages.get("/results.csv")
    @public
    def table() -> flask.Response:
        match = _shown(session)
        if match is None:
            flask.abort(404, "no match has been played yet")
        headers = {"Content-Disposition": f'attachment; filename="{match["match_id"]}.csv"'}
        return flask.Response(csv_of(session.state.history), mimetype="text/csv", headers=headers)

    @pages.get("/overlay")
    @public
    def overlay() -> str:
        return flask.render_template("overlay.html", parts=PAGE.for_visitor(session), swapped=store().now.swapped)

    return pages
