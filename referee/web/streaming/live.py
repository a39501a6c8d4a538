"""What runs on by itself: ``/events`` (parts of pages), ``/live/<name>.mjpg``, and single pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flask

from referee.web import board, console, security, setup
from referee.web.security import public
from referee.web.streams import Parts, Stream, Streams

PICTURES = frozenset({"live", "zone_A", "zone_B", "overlay", "card"})
"""Names that a session's ``picture`` knows; no other string from a URL reaches it."""

PUBLIC_PICTURES = frozenset({"overlay", "card"})
"""What the board shows. The cameras' own pictures are for the referee."""

PAGES = {"board": board.parts, "console": console.parts, "setup": setup.parts}


def blueprint(session: Any) -> flask.Blueprint:
    """Event streams, picture streams, stills, the verdict's pictures and the cards' drawings."""
    pages = flask.Blueprint("live", __name__)

    @pages.get("/events")
    @public
    def events() -> flask.Response:
        page = flask.request.args.get("page", "board")
        if page not in PAGES:
            flask.abort(404, "no such page")
        if page != "board" and not security.is_referee():
            flask.abort(401, "log in with the referee's PIN")
        name, render = f"{page}.{flask.g.lang}", _renderer(session, page, flask.g.lang)
        return _stream(lambda gone: _streams().events(name, render, gone), "text/event-stream")

    @pages.get("/live/<name>.mjpg")
    @public
    def film(name: str) -> flask.Response:
        _may_see(name)
        kind = "multipart/x-mixed-replace; boundary=frame"
        return _stream(lambda gone: _streams().pictures(name, gone), kind)

    @pages.get("/live/<name>.jpg")
    @public
    def still(name: str) -> flask.Response:
        _may_see(name)
        jpeg = session.picture(name)
        if jpeg is None:
            flask.abort(404, "there is no such picture yet")
        return flask.Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    return pages


def _renderer(session: Any, page: str, lang: str) -> Callable[[], Parts]:
    environment = flask.current_app.jinja_env

    def render() -> Parts:
        return PAGES[page](session, environment, lang)

    return render


def _streams() -> Streams:
    return flask.current_app.extensions["referee.streams"]


def _may_see(name: str) -> None:
    if name not in PICTURES:
        flask.abort(404, "no such picture")
    if name not in PUBLIC_PICTURES and not security.is_referee():
        flask.abort(401, "log in with the referee's PIN")


def _stream(begin: Callable[[Callable[[], bool]], Stream | None], kind: str) -> flask.Response:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if flask.request.method == "HEAD":
        return flask.Response(headers=headers, content_type=kind)
    stream = begin(flask.request.environ.get("waitress.client_disconnected", lambda: False))
    if stream is None:
        flask.abort(flask.Response("too many viewers", 503, {"Retry-After": "5"}))
    return flask.Response(stream, headers=headers, content_type=kind)
