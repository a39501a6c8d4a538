"""``create_hall_app(director, people, …)``: the pages of an evening of many tables, over one director.

The hall's board, the standings and every table's board are open to all; the list of tables with its alarms, the
organisers' page and people's records are for who has the PIN (``referee.web.security``).
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import flask
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from cards.sentences import say
from referee.core import Needed
from referee.errors import RefereeError
from referee.match.schedule import pairings as schedule_pairings
from referee.session.director import Director
from referee.session.people import People
from referee.tournament.commands import FOR_ORGANISERS, Enter, TournamentCommand
from referee.tournament.people import careers, ratings
from referee.tournament.standings import RULES, standings
from referee.web import security
from referee.web.base_app import TablelessSession, base_app
from referee.web.hall import views
from referee.web.hall.export import to_json, to_trf
from referee.web.i18n.texts import catalogue, translate
from referee.web.live import add_feeds
from referee.web.pages import login
from referee.web.pages.evening import add_qr, spectators_address
from referee.web.security import public
from referee.web.streaming.fragments import rendered
from referee.web.streaming.streams import Parts

PAGES = (
    ("/", "hall.nav.board"),
    ("/tables", "hall.nav.tables"),
    ("/standings", "hall.nav.standings"),
    ("/people", "hall.nav.people"),
    ("/referee", "hall.nav.organiser"),
)
FEEDS = {"hall": ("head", "calls", "lines"), "tables": ("head", "tables"), "overlay": ("bar",)}
"""Page -> its parts, each a template ``parts/hall_<part>.html``."""

EXPORTS, MIMETYPES = {"json": to_json, "trf": to_trf}, {"json": "application/json", "trf": "text/plain"}
PUBLIC_FEEDS = frozenset({"hall", "overlay"})
TABLE_FEED = "table/"
"""How the feeds of single tables' boards begin."""


def create_hall_app(
    director: Director, people: People, data_dir: Path, pin: str | None = None, host: str = "127.0.0.1"
) -> flask.Flask:
    """The pages. ``pin`` is the organisers'; without one, ``host`` must be loopback.

    Raises ValueError for a network address without a PIN.
    """
    session = TablelessSession(Path(data_dir), director.clock, director.state.simulated, director.notifier)
    app = base_app(session, pin, host, role="organisers")
    app.context_processor(lambda: {"nav_pages": PAGES, "rules": RULES, "head": views.head(director)})
    app.jinja_env.globals["known"] = lambda lang, name: name in catalogue(lang)
    pages = (_board(director), console_pages(director, people), people_pages(director, people))
    for part in (login.blueprint(session), *pages):
        app.register_blueprint(part)
    return app


def parts_of(director: Director, environment: Any, page: str, lang: str) -> Parts:
    """The parts of a page as they are now; of a table's board for ``table/NAME``."""
    with director.lock:
        values: dict[str, Any] = {"head": views.head(director)}
        if page.startswith(TABLE_FEED):
            table = director.table(page.removeprefix(TABLE_FEED))
            shown = views.one_table(director, table) if table else None
            return rendered(environment, lang, "hall", ("one",), values | {"table": shown})
        if page == "tables":
            values["tables"] = [views.table_row(director, table) for table in director.tables()]
        else:
            values |= {"calls": views.calls(director), "lines": standings(director.state)}
        return rendered(environment, lang, "hall", FEEDS[page], values)


def _board(director: Director) -> flask.Blueprint:
    pages = flask.Blueprint("board", __name__)

    def parts(page: str) -> Parts:
        return parts_of(director, flask.current_app.jinja_env, page, flask.g.lang)

    def asked() -> tuple[str, Callable[[], Parts]]:
        page, lang, environment = flask.request.args.get("page", "hall"), flask.g.lang, flask.current_app.jinja_env
        one = page.startswith(TABLE_FEED) and director.table(page.removeprefix(TABLE_FEED)) is not None
        if page not in FEEDS and not one:
            flask.abort(404, "no such page")
        if page in FEEDS and page not in PUBLIC_FEEDS and not security.is_referee():
            flask.abort(401, "log in with the PIN")
        return f"{page}.{lang}", lambda: parts_of(director, environment, page, lang)

    add_feeds(pages, asked)
    add_qr(pages)

    @pages.get("/")
    @public
    def board() -> str:
        values = {"kiosk": "kiosk" in flask.request.args, "address": spectators_address()}
        return flask.render_template("hall_board.html", parts=parts("hall"), **values)

    @pages.get("/overlay")
    @public
    def overlay() -> str:
        return flask.render_template("overlay.html", parts=parts("overlay"), swapped=False)

    @pages.get("/tables")
    def tables() -> str:
        return flask.render_template("hall_tables.html", parts=parts("tables"))

    @pages.get("/tables/<path:name>")
    @public
    def one(name: str) -> str:
        if director.table(name) is None:
            flask.abort(404, translate(flask.g.lang, "hall.no_table", table=name[:60]))
        return flask.render_template("hall_one.html", parts=parts(TABLE_FEED + name), name=name)

    _add_papers(pages, director)
    return pages


def _add_papers(pages: flask.Blueprint, director: Director) -> None:
    """What one reads at leisure, prints or takes away."""

    @pages.get("/pairings")
    @public
    def pairings() -> str:
        values = {"rounds": views.round_results(director), "schedule": schedule_pairings}
        return flask.render_template("hall_pairings.html", **values)

    @pages.get("/standings")
    @pages.get("/results")
    @public
    def table() -> str:
        values = {"lines": standings(director.state), "rounds": views.round_results(director)}
        return flask.render_template("hall_standings.html", **values)

    @pages.get("/export.<kind>")
    @public
    def export(kind: str) -> ResponseReturnValue:
        if not director.id or kind not in EXPORTS:
            flask.abort(404, translate(flask.g.lang, "hall.none"))
        headers = {"Content-Disposition": f'attachment; filename="{director.id}.{kind}"'}
        return flask.Response(EXPORTS[kind](director.state), mimetype=MIMETYPES[kind], headers=headers)


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
    """The organisers' page and its one address for commands: every one is a form, every refusal one clear line."""
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


Listed = Callable[[str], ResponseReturnValue]
Page = Callable[[str, str], ResponseReturnValue]
"""The pages: everybody's with a fault or '', one person's with a fault or ''."""


def people_pages(director: Director, people: People) -> flask.Blueprint:
    """``/people``: everybody's record, a page each, to rename, merge, picture, delete; for who has the PIN."""
    pages = flask.Blueprint("people", __name__)

    def listed(fault: str) -> ResponseReturnValue:
        register, played = people.register, director.played()
        rated, lives = ratings(register, played), careers(register, played)
        order = sorted(register.people, key=lambda p: (-rated[p].careful, register.people[p].name))
        rows = [(register.people[p], rated[p], lives[p]) for p in order]
        return flask.render_template("hall_people.html", rows=rows, fault=fault), 409 if fault else 200

    def page(person: str, fault: str) -> ResponseReturnValue:
        register, played = people.register, director.played()
        found = register.person(person)
        values = {
            "person": found,
            "rating": ratings(register, played)[found.id],
            "career": careers(register, played)[found.id],
            "names": {p.id: p.name for p in register.people.values()},
            "others": [p for p in register.people.values() if p.id != found.id],
            "fault": fault,
        }
        return flask.render_template("hall_person.html", **values), 409 if fault else 200

    @pages.get("/people")
    def everybody() -> ResponseReturnValue:
        return listed("")

    @pages.get("/people/<person>")
    def one(person: str) -> ResponseReturnValue:
        return page(person, "")

    @pages.get("/people/<person>/picture.jpg")
    def picture(person: str) -> ResponseReturnValue:
        jpeg = people.picture(people.person(person).picture)
        if jpeg is None:
            flask.abort(404)
        return flask.Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-cache"})

    _changing(pages, people, listed, page)
    return pages


def _changing(pages: flask.Blueprint, people: People, listed: Listed, page: Page) -> None:
    """What may be done."""

    @pages.post("/people")
    def add() -> ResponseReturnValue:
        try:
            found = people.add(flask.request.form.get("name", ""), _who())
        except RefereeError as error:
            return listed(say(flask.g.lang, error.wording))
        return flask.redirect(f"/people/{found.id}", 303)

    @pages.post("/people/<person>")
    def change(person: str) -> ResponseReturnValue:
        form = flask.request.form
        sent = flask.request.files.get("picture")
        doings: Mapping[str, Callable[[], object]] = {
            "rename": lambda: people.rename(person, form.get("name", ""), _who()),
            "color": lambda: people.recolor(person, form.get("color", "") if form.get("use") else "", _who()),
            "merge": lambda: people.merge(person, form.get("other", ""), _who()),
            "picture": lambda: people.take_picture(person, sent.read() if sent else b"", _who()),
            "delete": lambda: people.delete(person, _who()),
        }
        what = form.get("do", "")
        if what not in doings:
            flask.abort(400, "no such command")
        people.person(person)
        try:
            doings[what]()
        except RefereeError as error:
            return page(person, say(flask.g.lang, error.wording))
        return flask.redirect("/people" if what == "delete" else f"/people/{person}", 303)


def _who() -> str:
    return str(flask.session.get("name", ""))
