"""Logging in with the referee's PIN, logging out; what requests carry, and what a refused or failed one looks like."""

from typing import Any

import flask
from werkzeug.exceptions import HTTPException, default_exceptions
from werkzeug.wrappers import Response

from cards.sentences import say
from referee.errors import RefereeError
from referee.fields import displayable
from referee.session.ports import PageSession
from referee.web import security
from referee.web.security import public


def blueprint(session: PageSession) -> flask.Blueprint:
    """``/login`` and ``/logout``."""
    pages = flask.Blueprint("door", __name__)

    @pages.get("/login")
    @public
    def login() -> str | Response:
        if security.is_referee():
            return flask.redirect(_next_page())
        return flask.render_template("login.html", next=_next_page())

    @pages.post("/login")
    @public
    def login_post() -> Response | tuple[str, int] | tuple[str, int, dict]:
        fault = security.try_pin(flask.request.form.get("pin", ""), flask.request.form.get("name", ""))
        if fault is None:
            return flask.redirect(_next_page(), 303)
        page = flask.render_template("login.html", next=_next_page(), fault=fault)
        return page, fault.status, fault.headers

    @pages.post("/logout")
    @public
    def logout() -> Response:
        security.log_out()
        return flask.redirect("/", 303)

    @pages.post("/name")
    def name() -> Response:
        flask.session["name"] = name = displayable(flask.request.form.get("name", ""), 40)
        security.logins().rename(flask.session.get("login"), name)
        return flask.redirect(_next_page(), 303)

    @pages.post("/logins/<int:number>/end")
    def end(number: int) -> Response:
        security.logins().end_number(number)
        session.touch()
        return flask.redirect(_console(), 303)

    return pages


def _next_page() -> str:
    """Where to go on: a path of ours, never another site."""
    wanted = flask.request.values.get("next", "")
    ours = wanted.startswith("/") and not wanted.startswith(("//", "/\\")) and wanted.isprintable()
    return wanted if ours else _console()


def _console() -> str:
    """The console's page, or the first one where there is none: an archive."""
    return "/referee" if "console.console" in flask.current_app.view_functions else "/"


def handle_errors(app: flask.Flask) -> None:
    """Faults become one line: JSON for programs, a page for people."""
    app.register_error_handler(HTTPException, _http_fault)
    app.register_error_handler(RefereeError, our_fault)


def json_object() -> dict[str, Any] | None:
    """The request's body as a JSON object; None when it is none, however deep it is nested."""
    try:
        body = flask.request.get_json(silent=True)
    except RecursionError:  # json gives up on a body of nothing but brackets
        return None
    return body if isinstance(body, dict) else None


def wants_json() -> bool:
    best = flask.request.accept_mimetypes.best_match(["application/json", "text/html"], "application/json")
    return flask.request.path.startswith("/api/") or flask.request.is_json or best == "application/json"


def _http_fault(error: HTTPException) -> flask.typing.ResponseReturnValue:
    if error.code is not None and error.code < 400:
        return error
    return _fault(error.code or 500, error.description or error.name, error.get_headers())


def our_fault(error: RefereeError) -> flask.typing.ResponseReturnValue:
    """A command that the state does not allow, or input that is no good: the text is for the user."""
    return _fault(409, fault_text(error.wording), ())


def fault_text(text: str) -> str:
    """A fault of ours in this visitor's language."""
    return say(flask.g.lang, text)


def _fault(code: int, text: str, headers: Any) -> flask.typing.ResponseReturnValue:
    kept = {k: v for k, v in headers if k in ("Allow", "Retry-After", "Location", "Content-Range")}
    if wants_json():
        return flask.jsonify(error=text), code, kept
    ours = text not in {error.description for error in default_exceptions.values()}  # not what the code means anyway
    return flask.render_template("error.html", code=code, text=text, ours=ours), code, kept
