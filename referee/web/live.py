"""What runs on by itself: ``/events`` (parts of pages), ``/live/<name>.mjpg``, and single pictures."""

from collections.abc import Callable

import flask
from werkzeug.wrappers import Response

from referee.session.session import Session
from referee.web import security
from referee.web.pages import board, console, practice, prove, results, setup
from referee.web.security import public
from referee.web.streaming.streams import Parts, Stream, Streams, Visitor

PICTURES = frozenset({"live", "live_2", "zone_A", "zone_B", "stop", "overlay", "card"})
"""Names that a session's ``picture`` knows; no other string from a URL reaches it."""

PUBLIC_PICTURES = frozenset({"stop", "overlay", "card"})
"""What the board shows. The cameras' own pictures are for the referee."""

PAGES = {page.name: page for page in (board.PAGE, console.PAGE, setup.PAGE, results.PAGE, practice.PAGE, prove.PAGE)}
PUBLIC_PAGES = frozenset({"board", "overlay", "practice"})


def blueprint(session: Session) -> flask.Blueprint:
    """Event streams, picture streams, stills, the verdict's pictures and the cards' drawings."""
    pages = flask.Blueprint("live", __name__)
    add_feeds(pages, lambda: _asked(session))

    @pages.get("/live/<name>.mjpg")
    @public
    def film(name: str) -> flask.Response:
        _may_see(name)
        kind = "multipart/x-mixed-replace; boundary=frame"
        return endless(streams().pictures(name, visitor()), kind)

    @pages.get("/live/<name>.jpg")
    @public
    def still(name: str) -> flask.Response:
        _may_see(name)
        jpeg = session.picture(name)
        if jpeg is None:
            flask.abort(404, "there is no such picture yet")
        return flask.Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    return pages


def add_feeds(pages: flask.Blueprint, asked: Callable[[], tuple[str, Callable[[], Parts]]]) -> None:
    """The events of a feed, and its parts as they are now; ``asked`` says which one this visitor asks for and may see:
    its name and what renders it, or it aborts."""

    @pages.get("/events")
    @public
    def events() -> flask.Response:
        name, render = asked()
        return endless(streams().events(name, render, visitor()), "text/event-stream")

    @pages.get("/snapshot")
    @public
    def snapshot() -> Response:
        now = streams().snapshot(*asked())
        answer = flask.jsonify(parts=now.parts, serial=now.tag)
        answer.set_etag(now.tag)
        answer.headers["X-Session-Now"] = f"{now.now_s:.3f}"
        return answer.make_conditional(flask.request)


def _asked(session: Session) -> tuple[str, Callable[[], Parts]]:
    """The feed that is asked for, if this visitor may see it: its name and what renders it."""
    page, lang, environment = flask.request.args.get("page", "board"), flask.g.lang, flask.current_app.jinja_env
    if page not in PAGES:
        flask.abort(404, "no such page")
    if page not in PUBLIC_PAGES and not security.is_referee():
        flask.abort(401, "log in with the referee's PIN")
    return f"{page}.{lang}", lambda: PAGES[page].render(session, environment, lang)


def visitor() -> Visitor:
    """Who asks."""
    return Visitor(security.visitor_of(flask.request.remote_addr or ""), security.is_referee())


def streams() -> Streams:
    """The running app's."""
    running: Streams = flask.current_app.extensions["referee.streams"]
    return running


def _may_see(name: str) -> None:
    if name not in PICTURES:
        flask.abort(404, "no such picture")
    if name not in PUBLIC_PICTURES and not security.is_referee():
        flask.abort(401, "log in with the referee's PIN")


def endless(stream: Stream | None, kind: str) -> flask.Response:
    """The answer that hands the stream to the server (``referee.web.server``), which feeds it from then on."""
    if stream is None:
        flask.abort(flask.Response("every place is taken: ask for /snapshot", 503, {"Retry-After": "5"}))
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    if flask.request.method == "HEAD":
        stream.close()
        return flask.Response(headers=headers, content_type=kind)
    return flask.Response(stream, headers=headers, content_type=kind, direct_passthrough=True)  # type: ignore[arg-type]
