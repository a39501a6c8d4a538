"""The JSON API ``/api/…`` for other programs; ``referee.web.openapi`` makes its description of what stands here."""

import functools

import flask

from referee.errors import AsksFirst
from referee.match.state import public_match
from referee.session.session import Session
from referee.web import answers as models
from referee.web import security, views
from referee.web.actions import ACTIONS, BadRequest, perform
from referee.web.live import endless, streams, visitor
from referee.web.openapi import answers, as_yaml
from referee.web.pages.login import fault_text, json_object
from referee.web.security import public

MAX_COMMAND_BYTES = 64 * 1024
WRONG_PIN = {401: "the PIN is not right", 429: "too many wrong PINs, wait"}
NOT_NOW_ANSWER = {409: "Not possible in this phase, or for what it says; nothing has changed"}


def blueprint(session: Session) -> flask.Blueprint:
    """All of ``/api``: who I am, what stands, what may be asked, and asking it."""
    api = flask.Blueprint("api", __name__, url_prefix="/api")
    api.register_error_handler(BadRequest, lambda error: (flask.jsonify(error=str(error)), 422))
    api.register_error_handler(
        AsksFirst, lambda e: (flask.jsonify(error=fault_text(e.wording), confirm=e.confirm), 409)
    )
    _session_routes(api, session)
    _reading_routes(api, session)
    _event_route(api, session)
    _command_routes(api, session)
    return api


def _session_routes(api: flask.Blueprint, session: Session) -> None:
    @api.get("/session")
    @public
    @answers(models.SessionAnswer)
    def who_am_i() -> dict:
        """Who this client is."""
        return {
            "csrf": "",  # what older programs send back
            "referee": security.is_referee(),
            "pin_needed": security.pin_access().locked,
            "name": flask.session.get("name", ""),
            "simulated": bool(session.simulated),
        }

    @api.post("/session")
    @public
    @answers(models.SessionAnswer, WRONG_PIN | {422: "Not a PIN and a name"}, models.LogInBody)
    def log_in() -> flask.typing.ResponseReturnValue:
        """Log in with the referee's PIN."""
        body = _body()
        pin, name = body.get("pin"), body.get("name", "")
        if not isinstance(pin, str) or not isinstance(name, str):
            raise BadRequest("session: pin and name are texts")
        refused = security.try_pin(pin, name)
        if refused:
            return flask.jsonify(error=WRONG_PIN[refused.status]), refused.status, refused.headers
        return who_am_i()

    @api.delete("/session")
    @public
    @answers(models.SessionAnswer)
    def log_out() -> dict:
        """Log out."""
        security.log_out()
        return who_am_i()

    @api.get("/openapi.yaml")
    @public
    @answers(None)
    def openapi() -> flask.Response:
        """This description, OpenAPI 3.1."""
        return flask.Response(made(), mimetype="application/yaml")

    @functools.cache
    def made() -> str:
        return as_yaml(flask.current_app)


def _reading_routes(api: flask.Blueprint, session: Session) -> None:
    @api.get("/state")
    @public
    @answers(models.StateAnswer)
    def state() -> dict:
        """The match as the public may know it."""
        return public_state(session.snapshot())

    @api.get("/snapshot")
    @answers(models.SnapshotAnswer)
    def snapshot() -> dict:
        """Everything the referee's console shows."""
        return session.snapshot()

    @api.get("/schedule")
    @public
    @answers(models.ScheduleAnswer)
    def schedule() -> dict:
        """Rounds, pairings and what was won in them."""
        match = _match(session)
        return {"rounds": views.rounds(match) if match else []}

    @api.get("/standings")
    @public
    @answers(models.StandingsAnswer)
    def standings() -> dict:
        """The table, and the winner of a finished match."""
        match = _match(session)
        if not match:
            return {"standings": [], "winner": None, "under_review": False}
        return {key: match[key] for key in ("standings", "winner", "under_review")}

    @api.get("/cards")
    @public
    @answers(models.DeckAnswer)
    def cards() -> dict:
        """The deck."""
        return session.deck.to_json()

    @api.get("/cards/<card_id>")
    @public
    @answers(models.CardAnswer, {404: "No such card"})
    def card(card_id: str) -> dict:
        """One card of the deck."""
        face = session.deck.by_id.get(card_id)
        if face is None:
            flask.abort(404, "no such card")
        return face.to_json()


def _event_route(api: flask.Blueprint, session: Session) -> None:
    heeded = {"Last-Event-ID": "The events after this one; without it those from now on"}

    @api.get("/events")
    @public
    @answers(models.EventAnswer, {503: "Every place is taken"}, media="text/event-stream", headers=heeded)
    def events() -> flask.Response:
        """Every public event as it happens, as server-sent events."""
        last = flask.request.headers.get("Last-Event-ID", "").encode("latin-1").decode("utf-8", "replace")
        known = session.feed.events
        place = session.feed.place_after(last) if last else len(known)
        return endless(streams().matches(known, place, visitor()), "text/event-stream")


def public_state(snapshot: dict) -> dict:
    """What anybody may know: version, the match without what is hidden, the simulated mark."""
    match = snapshot.get("match")
    known = public_match(match) if match and match["phase"] != "new" else None
    return {"version": snapshot["version"], "simulated": snapshot["simulated"], "match": known}


def _match(session: Session) -> dict | None:
    match: dict | None = public_state(session.snapshot())["match"]
    return match


def _command_routes(api: flask.Blueprint, session: Session) -> None:
    @api.get("/commands")
    @answers(models.CommandsAnswer)
    def commands() -> dict:
        """What may be asked now."""
        match = session.snapshot().get("match")
        allowed = match["allowed"] if match else []
        ready = not match or match["phase"] in ("new", "finished")
        return {
            "commands": [
                {"name": name, "allowed": name in allowed or (name == "CreateMatch" and ready)} for name in ACTIONS
            ]
        }

    @api.post("/commands/<name>")
    @answers(models.DoneAnswer, NOT_NOW_ANSWER, {name: action.model for name, action in ACTIONS.items()})
    def command(name: str) -> flask.typing.ResponseReturnValue:
        """Do it."""
        if name not in ACTIONS:
            flask.abort(404, "no such command")
        events = perform(session, name, _body(), flask.session.get("name", ""))
        return {"events": [event.to_json() for event in events], "state": public_state(session.snapshot())}


def _body() -> dict:
    """The request's JSON object. 413 for a large one, 415 for another type, 400 when it is none."""
    if (flask.request.content_length or 0) > MAX_COMMAND_BYTES:
        flask.abort(413, "the body is too large")
    if not flask.request.is_json:
        flask.abort(415, "send JSON, as application/json")
    body = json_object()
    if body is None:
        flask.abort(400, "the body is not a JSON object")
    return body
