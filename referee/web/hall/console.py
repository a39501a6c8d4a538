"""``/referee`` of the hall: the organisers' page. Every command is a form, and every refusal one clear line."""

from dataclasses import fields
from typing import Any

import flask
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cards.sentences import say
from referee.core import Needed
from referee.errors import RefereeError
from referee.session.director import Director
from referee.session.people import People
from referee.tournament.commands import FOR_ORGANISERS, Enter, TournamentCommand
from referee.web.hall import views

KINDS = {kind.__name__: kind for kind in FOR_ORGANISERS}


def read_form(kind: type[TournamentCommand], form: MultiDict[str, str], who: str) -> TournamentCommand:
    """The command that was filled in; a number that is none is one that nothing has."""
    given: dict[str, Any] = {}
    for field in fields(kind):
        text = form.get(field.name, "")
        if field.type in (str, Needed):
            given[field.name] = who if field.name == "who" else text
        elif field.type is float:
            given[field.name] = float(text) if text.replace(".", "", 1).isdecimal() and len(text) < 9 else 0.0
        else:
            number = int(text) if text.isdecimal() and len(text) < 7 else -1
            given[field.name] = None if (field.name, text) == ("winner", "shared") else number
    return kind(**given)


def console_pages(director: Director, people: People) -> flask.Blueprint:
    """The organisers' page and its one address for commands."""
    pages = flask.Blueprint("console", __name__)

    def page(fault: str = "") -> tuple[str, int]:
        values = {
            "state": director.state,
            "rounds": views.round_results(director),
            "fault": fault,
            "auto": director.auto,
            "who": flask.session.get("name", ""),
        }
        return flask.render_template("hall_console.html", **values), 409 if fault else 200

    @pages.get("/referee")
    def console() -> ResponseReturnValue:
        return page()

    @pages.post("/referee/do")
    def do() -> ResponseReturnValue:
        form = flask.request.form
        kind = KINDS.get(form.get("command", ""))
        if kind is None:
            flask.abort(400, "no such command")
        who = " ".join(form.get("who", "").split())[:40] or flask.session.get("name", "")
        flask.session["name"] = who
        try:
            command = read_form(kind, form, who or "organiser")
            director.command(command)
            if isinstance(command, Enter):
                people.meet([director.state.entrants[-1].name], who)
        except RefereeError as error:
            return page(say(flask.g.lang, error.wording))
        return flask.redirect("/referee", 303)

    @pages.post("/referee/auto")
    def auto() -> ResponseReturnValue:
        director.auto = flask.request.form.get("auto") == "on"
        director.notifier.touch()
        return flask.redirect("/referee", 303)

    return pages
