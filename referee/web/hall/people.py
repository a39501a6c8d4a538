"""``/people``: everybody's record, a page each; rename, merge, colour, picture, deletion."""

from collections.abc import Callable, Mapping

import flask
from flask.typing import ResponseReturnValue

from cards.sentences import say
from referee.errors import RefereeError
from referee.session.director import Director
from referee.session.people import People
from referee.tournament.people import careers, ratings

Listed = Callable[[str], ResponseReturnValue]
Page = Callable[[str, str], ResponseReturnValue]
"""The pages: everybody's with a fault or '', one person's with a fault or ''."""


def people_pages(director: Director, people: People) -> flask.Blueprint:
    """The pages; for who has the PIN."""
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
