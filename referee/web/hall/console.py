"""``/referee`` of the hall: the organisers' page. Every command is a form, and every refusal one clear line."""

from collections.abc import Callable, Mapping

import flask
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cards.sentences import say
from referee.errors import RefereeError
from referee.session.director import Director
from referee.session.people import People
from referee.tournament.commands import (
    CloseTable,
    Enter,
    Leave,
    OpenTable,
    PairRound,
    Rename,
    Rerun,
    Return,
    RuleGame,
    TournamentCommand,
)
from referee.web.hall import views

Form = MultiDict[str, str]


def _number(form: Form, name: str) -> int:
    """The number of that field; one that nothing has where it is none."""
    text = form.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 7 else -1


def _winner(form: Form) -> int | None:
    return None if form.get("winner", "") == "shared" else _number(form, "winner")


READ: Mapping[str, Callable[[Form, str], TournamentCommand]] = {
    "Enter": lambda form, who: Enter(form.get("name", ""), who=who),
    "Leave": lambda form, who: Leave(_number(form, "player"), form.get("why", ""), who),
    "Return": lambda form, who: Return(_number(form, "player"), who),
    "Rename": lambda form, who: Rename(_number(form, "player"), form.get("name", ""), who),
    "OpenTable": lambda form, who: OpenTable(form.get("table", ""), who),
    "CloseTable": lambda form, who: CloseTable(form.get("table", ""), form.get("why", ""), who),
    "PairRound": lambda form, who: PairRound(),
    "Rerun": lambda form, who: Rerun(_number(form, "game"), form.get("why", ""), who),
    "RuleGame": lambda form, who: RuleGame(_number(form, "game"), _winner(form), form.get("why", ""), who),
}
"""TournamentCommand -> how it is read from its form."""


def console_pages(director: Director, people: People) -> flask.Blueprint:
    """The organisers' page and its one address for commands."""
    pages = flask.Blueprint("console", __name__)

    def page(fault: str = "") -> tuple[str, int]:
        values = {
            "head": views.head(director),
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
        read = READ.get(form.get("command", ""))
        if read is None:
            flask.abort(400, "no such command")
        who = " ".join(form.get("who", "").split())[:40] or flask.session.get("name", "")
        flask.session["name"] = who
        try:
            command = read(form, who or "organiser")
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
