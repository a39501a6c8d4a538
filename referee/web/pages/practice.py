"""``/practice``: one or two players alone with the camera. Everybody may look; who may run the table may begin."""

from typing import Any

import flask

from referee.fields import displayable
from referee.session.practising import PracticeRunner
from referee.session.session import Session
from referee.web import practice_views, views
from referee.web.board_views import Say
from referee.web.security import public
from referee.web.streaming.fragments import LivePage

ZONES = ("A", "B")
LONGEST_NAME = 40


def _values(session: Session, t: Say) -> dict[str, Any]:
    room = session.practice
    if room is None or not room.now.on:
        quiet = {"key": "", "phase": "new", "sound": "", "say": "", "go_at": None}
        return {"practice": None, "announcement": quiet, "levels": [], "cards": [], "mark": session.simulated}
    now, results = room.now, room.results
    face = session.deck.by_id.get(now.card[0])
    levels, cards = practice_views.best_rows(results, now.players.values())
    go_s = now.go_at_s + session.shift_s if now.go_at_s is not None else None
    return {
        "practice": now,
        "rows": practice_views.rows(now, results),
        "announcement": practice_views.announcement(now, t, session.shift_s),
        "go_s": go_s,
        "faults": dict(room.faults),
        "card": views.card(face) if face and now.phase in ("building", "shown") else None,
        "pictures": [zone for zone in now.players if room.picture(zone)],
        "levels": levels,
        "cards": cards,
        "by": practice_views.BY,
        "mark": session.simulated,
    }


PAGE = LivePage("practice", ("players", "stage", "bests", "evening"), _values)


def require_practice(session: Session) -> PracticeRunner:
    """Practice at this table. 404 where it has none."""
    if session.practice is None:
        flask.abort(404, "there is no practice at this table")
    return session.practice


def blueprint(session: Session) -> flask.Blueprint:
    """The page, its pictures, and what the players ask for."""
    pages = flask.Blueprint("practice", __name__, url_prefix="/practice")

    @pages.get("")
    @public
    def page() -> str:
        room = require_practice(session)
        live = PAGE.for_visitor(session)
        last = room.now if room.now.players else room.left
        values = {"levels": sorted({card.value for card in session.deck.cards}), "last": last, "zones": ZONES}
        return flask.render_template("practice.html", parts=live, on=room.now.on, **values)

    @pages.post("/begin")
    def begin() -> flask.typing.ResponseReturnValue:
        form, room = flask.request.form, require_practice(session)
        names = {zone: displayable(form.get(zone, ""), LONGEST_NAME) for zone in ZONES}
        level = form.get("level", "")
        room.end()
        room.begin({z: n for z, n in names.items() if n}, int(level) if level.isdecimal() else None)
        return flask.redirect("/practice", 303)

    @pages.post("/<any(next, end):what>")
    def run(what: str) -> flask.typing.ResponseReturnValue:
        room = require_practice(session)
        (room.next_card if what == "next" else room.end)()
        return flask.jsonify(ok=True)

    @pages.post("/give-up/<any(A, B):zone>")
    def give_up(zone: str) -> flask.typing.ResponseReturnValue:
        require_practice(session).give_up(zone)
        return flask.jsonify(ok=True)

    @pages.get("/build/<any(A, B):zone>.jpg")
    @public
    def build(zone: str) -> flask.Response:
        jpeg = require_practice(session).picture(zone)
        if jpeg is None:
            flask.abort(404, "there is no such picture")
        return flask.Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    return pages
