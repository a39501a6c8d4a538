"""``create_game_app(table)``: the pages of one game. The board is open to all, a seat's page to who has its link,
the console to the referee (``referee.web.security``). The console shows what the board shows: a seat's secrets stand on
its own page alone, also for the referee, who has the links. Of real cards it lets moves be tapped by what lies open."""

import hashlib
import hmac
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import flask
from flask.typing import ResponseReturnValue

from cards.sentences import say, sentence, word
from referee.devices.ports import Clock
from referee.errors import IllegalCommand, RefereeError
from referee.games.core import Game, GameCommand, Table
from referee.games.match import Correct, Match, UndoMove
from referee.session.game_camera import TableCamera, TableReading
from referee.session.game_table import GameTable
from referee.vision.image.files import picture_of
from referee.web.base_app import SECRET_FILE, TablelessSession, base_app, kept_secret
from referee.web.i18n.texts import command_sentence, line_words, translate
from referee.web.pages import login
from referee.web.pages.evening import qr_svg, spectators_address
from referee.web.security import public

MARKS = ("●", "■", "▲", "◆", "★", "✚")
"""Each seat has a shape beside its colour."""

PAGES = (("/", "nav.board"), ("/referee", "nav.console"))
COMMANDS_SHOWN = 40


def seat_link(key: bytes, match_id: str, seat: int) -> str:
    """The private part of a seat's address: nobody can guess it, and it is the same after a restart."""
    return hmac.new(key, f"{match_id}/{seat}".encode(), hashlib.sha256).hexdigest()[:24]


def create_game_app(
    table: GameTable,
    data_dir: Path,
    clock: Clock,
    pin: str | None = None,
    host: str = "127.0.0.1",
    camera: TableCamera | None = None,
) -> flask.Flask:
    """The pages over a running game. ``pin`` is the referee's; without one, ``host`` must be loopback. With a
    ``camera`` the console takes pictures of the table and offers what they propose.

    Raises ValueError for a network address without a PIN.
    """
    session = TablelessSession(Path(data_dir), clock, table.match.simulated)
    app = base_app(session, pin, host)
    app.context_processor(lambda: {"nav_pages": PAGES, "marks": MARKS} | _words())
    key = kept_secret(session.data_dir / SECRET_FILE)
    links = [seat_link(key, table.match.match_id, seat) for seat in table.match.state.seats]
    for part in (login.blueprint(session), _board(table), _console(table, links, camera), _seats(table, links)):
        app.register_blueprint(part)
    return app


def _words() -> dict[str, Any]:
    """How templates say a command and a card."""
    lang = flask.g.lang
    return {
        "said": lambda command, players: command_sentence(lang, command, players),
        "card": lambda name: word(lang, "game.card", str(name)),
        "line": partial(line_words, lang),
    }


def _shown(table: GameTable, seat: int | None) -> dict[str, Any]:
    """What a page shows: the seat's view, of its log the last commands."""
    view = table.match.view(seat)
    shown = {"view": view, "log": view["log"][: -COMMANDS_SHOWN - 1 : -1], "seat": seat, "version": table.version}
    return shown | {"legal": [move.to_json() for move in _moves(table.match, seat)[1]]}


def _moves(match: Match, seat: int | None) -> tuple[Table, tuple[GameCommand, ...]]:
    """What that seat may tap, and in which state; on the console (None) of real cards: what may be the turn's move by
    what lies open. Dealt hands are hidden there, so no move is offered, nor one chosen in secret."""
    if seat is not None:
        return match.state, match.legal(seat)
    state = replace(match.state, hands=tuple(map(tuple, match.view(None)["hands"])))
    moves = match.game.legal(state, state.turn) if state.mode == "scorer" and not match.over else ()
    return state, tuple(move for move in moves if move.IN_TURN)


def _chosen(table: GameTable, seat: int | None) -> GameCommand | None:
    """The move that was tapped; None where the table has moved on."""
    form, legal = flask.request.form, _moves(table.match, seat)[1]
    choice = form.get("choice", "")
    there = form.get("version") == str(table.version) and choice.isdecimal() and int(choice) < len(legal)
    return legal[int(choice)] if there else None


def _why_not(match: Match, seat: int | None) -> str:
    """Why the legal move ``choice`` with these fields instead would be refused; blank when it would not."""
    given, (state, legal) = flask.request.args, _moves(match, seat)
    choice = given.get("choice", type=int)
    if choice is None or not 0 <= choice < len(legal):
        return ""
    row = legal[choice].to_json()
    for name in given.keys() & row.keys() - {"command", "seat"}:  # nobody asks as somebody else
        row[name] = given.getlist(name) if isinstance(row[name], list) else given[name]
    try:
        match.game.decide(state, match.game.command(row))
    except IllegalCommand as error:
        return say(flask.g.lang, error.wording)
    return ""


def _board(table: GameTable) -> flask.Blueprint:
    pages = flask.Blueprint("board", "referee.games", template_folder=".")  # each game's folder has its board.html

    @pages.get("/")
    @public
    def board() -> str:
        return flask.render_template("game_board.html", **_shown(table, None) | {"legal": ()})

    @pages.get("/version")
    @public
    def version() -> flask.Response:
        return flask.jsonify(version=table.version)

    return pages


def _console(table: GameTable, links: list[str], camera: TableCamera | None) -> flask.Blueprint:
    pages = flask.Blueprint("console", __name__)

    def page(fault: str = "", look: TableReading | None = None) -> tuple[str, int]:
        match = table.match
        values = _shown(table, None) | {"fault": fault, "links": links, "camera": camera is not None}
        values |= {"look": look and shown_look(look, flask.g.lang), "address": "/referee/do"}
        values |= {"seat": match.state.turn} if values["legal"] else {}
        values |= {"forms": {kind.NAME: form_of(kind) for kind in match.game.commands}}
        values["local"] = spectators_address() is None
        values["opened"] = next((kind.NAME for kind in match.game.commands if match.state.phase in kind.PHASES), "")
        return flask.render_template("game_console.html", **values), 409 if fault else 200

    @pages.errorhandler(RefereeError)
    def refused(error: RefereeError) -> ResponseReturnValue:
        return page(say(flask.g.lang, error.wording))

    @pages.get("/referee")
    def console() -> ResponseReturnValue:
        return page()

    @pages.get("/referee/seat/<int:seat>.svg")
    def code(seat: int) -> flask.Response:
        """A seat's private link as a QR code."""
        if seat >= len(links):
            flask.abort(404)
        address = spectators_address() or flask.request.host_url
        return flask.Response(qr_svg(f"{address}seat/{links[seat]}"), mimetype="image/svg+xml")

    @pages.post("/referee/do")
    def do() -> ResponseReturnValue:
        form = flask.request.form
        command = _chosen(table, None) if "choice" in form else read_form(table.match.game, form)
        if command is None or form.get("version", str(table.version)) != str(table.version):
            return page(translate(flask.g.lang, "game.page.moved_on"))
        number, who, why = form.get("number", ""), form.get("who", ""), form.get("why", "")
        table.command(Correct(int(number), command, who, why) if number.isdecimal() else command, who)
        return flask.redirect("/referee", 303)

    @pages.post("/referee/undo")
    def undo() -> ResponseReturnValue:
        who = flask.request.form.get("who", "")
        table.command(UndoMove(who, flask.request.form.get("why", "")), who)
        return flask.redirect("/referee", 303)

    @pages.post("/referee/look")
    def look() -> ResponseReturnValue:
        if camera is None:
            flask.abort(404)
        sent = flask.request.files.get("picture")
        return page(look=camera.look(table.match, picture_of(sent.read() if sent else b"", "picture")))

    @pages.post("/referee/look/again")
    def again() -> ResponseReturnValue:
        if camera is not None:
            camera.forget()
        return flask.redirect("/referee", 303)

    return pages


def _seats(table: GameTable, links: list[str]) -> flask.Blueprint:
    pages = flask.Blueprint("seats", __name__)

    def seat_of(link: str) -> int:
        if link not in links:
            flask.abort(404, say(flask.g.lang, sentence("game.no_such_seat")))
        return links.index(link)

    def page(link: str, fault: str = "") -> tuple[str, int]:
        seat = seat_of(link)
        values = _shown(table, seat) | {"fault": fault, "address": f"/seat/{link}"}
        return flask.render_template("game_seat.html", **values), 409 if fault else 200

    @pages.get("/seat/<link>")
    @public
    def seat(link: str) -> ResponseReturnValue:
        return page(link)

    @pages.post("/seat/<link>")
    @public
    def do(link: str) -> ResponseReturnValue:
        number, command = seat_of(link), _chosen(table, seat_of(link))
        if command is None:
            return page(link, translate(flask.g.lang, "game.page.moved_on"))
        try:
            table.command(command, table.match.state.name(number))
        except IllegalCommand as error:
            return page(link, say(flask.g.lang, error.wording))
        return flask.redirect(f"/seat/{link}", 303)

    @pages.get("/seat/<link>/why")
    @public
    def why(link: str) -> str:
        return _why_not(table.match, seat_of(link))

    @pages.get("/referee/do/why")
    def console_why() -> str:
        return _why_not(table.match, None)

    return pages


def form_of(kind: type[GameCommand]) -> list[dict[str, str]]:
    """The command's fields but the seat: ``name`` and ``kind``: number, yes, words or word."""
    kinds: dict[Any, str] = {int: "number", bool: "yes", str: "word"}
    return [{"name": f.name, "kind": kinds.get(f.type, "words")} for f in fields(kind) if f.name != "seat"]


def read_form(game: Game[Any], form: Mapping[str, str]) -> GameCommand:
    """The command that was filled in. Raises IllegalCommand for one that cannot be read."""
    kind = next((c for c in game.commands if form.get("command") == c.NAME), None)
    if kind is None:
        raise IllegalCommand(sentence("game.choose"))
    row: dict[str, Any] = {"command": kind.NAME, "seat": form.get("seat", "")}
    for field in form_of(kind):
        text = form.get(field["name"], "").strip()
        row[field["name"]] = {"words": text.replace(",", " ").split(), "yes": bool(text)}.get(field["kind"], text)
    return game.command(row)


def shown_look(look: TableReading, lang: str) -> dict[str, Any]:
    """For the template: ``message``, ``moves`` that may be confirmed, ``refusal``, ``unknown``, ``pictures``."""
    proposal = look.proposal
    jpegs = {city: cv2.imencode(".jpg", p, [cv2.IMWRITE_JPEG_QUALITY, 80])[1] for city, p in look.overlays.items()}
    moves = [*([proposal.command] if proposal.command and not proposal.refusal else []), *proposal.others]
    return {
        "message": say(lang, proposal.message),
        "moves": [move.to_json() for move in moves],
        "refusal": say(lang, proposal.refusal),
        "unknown": [f"{city}/{site}" for city, site in proposal.unknown],
        "count": look.pictures,
        "pictures": {n: f"data:image/jpeg;base64,{b64encode(jpeg.tobytes()).decode()}" for n, jpeg in jpegs.items()},
    }
