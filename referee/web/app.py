"""``create_app(session)``: the dashboard's pages put together. Takes the session as it is; owns no device."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import flask
from markupsafe import Markup

from cards.pieces import PieceSet, builtin_piece_set
from referee.devices.ports import Clock
from referee.errors import FolderUnusable
from referee.files import write_whole
from referee.web import api, live, security
from referee.web.evening import EveningStore
from referee.web.i18n import texts
from referee.web.logins import Logins, fingerprint
from referee.web.pages import attempts, board, cards, console, evening, login, practice, replay, results, setup
from referee.web.pages.setup import Choices
from referee.web.ports import PageSession, WebSession
from referee.web.streaming import media
from referee.web.streaming.streams import Source, Streams

SECRET_FILE, LOGINS_FILE = "web-secret", "logins.json"
SECRET_BYTES = 32


def language() -> str:
    """The visitor's language: chosen (``?lang=de``, then a cookie), else the browser's, else English."""
    chosen = flask.request.args.get("lang") or flask.request.cookies.get("lang")
    if chosen in texts.LANGUAGES:
        return chosen
    return flask.request.accept_languages.best_match(texts.LANGUAGES) or texts.FALLBACK


def set_language() -> None:
    flask.g.lang = language()


def page_values(session: PageSession) -> dict[str, Any]:
    """What every template may use beside its own values."""
    lang = flask.g.lang

    def csrf_field() -> Markup:
        return texts.markup('<input type="hidden" name="csrf_token" value="{}">', security.csrf_token())

    return {
        **texts.tools(lang),
        "simulated": session.simulated,
        "csrf_token": security.csrf_token,
        "csrf_field": csrf_field,
        "is_referee": security.is_referee(),
        "locked": security.needs_pin(),
        "here": flask.request.path,
    }


def remember_language(response: flask.Response) -> flask.Response:
    chosen = flask.request.args.get("lang")
    if chosen in texts.LANGUAGES:
        response.set_cookie("lang", chosen, max_age=31_536_000, samesite="Lax", httponly=True)
    return response


def kept_secret(path: Path) -> bytes:
    """The key in the file, readable by its owner alone; made at first use, and again where a power cut or a full disk
    has left it short or all zeros. Raises FolderUnusable."""
    try:
        key = path.read_bytes() if path.exists() else b""
        if len(key) < SECRET_BYTES or not any(key):
            key = secrets.token_bytes(SECRET_BYTES)
            write_whole(path, key, 0o600)
    except OSError as error:
        raise FolderUnusable(f"{path}: cannot be read or written ({error.strerror or error})") from None
    return key


class ServedSession(PageSession, Source, Protocol):
    """What login, streams and every page need of a session."""

    data_dir: Path


@dataclass
class StillSession:
    """A session without a table's devices, in which nothing changes by itself."""

    data_dir: Path
    clock: Clock
    simulated: bool = False
    piece_set: PieceSet = field(default_factory=builtin_piece_set)
    shift_s: float = 0.0

    def touch(self) -> None:
        """Nothing here is live."""

    def wait(self, version: int, timeout_s: float) -> int:
        """The version, when the time is over."""
        time.sleep(timeout_s)
        return version

    def picture(self, name: str) -> bytes | None:
        """There is no camera."""
        return None


def base_app(
    session: ServedSession,
    pin: str | None,
    values: Callable[[], dict[str, Any]],
    secret_key: bytes | None = None,
    tls: bool = False,
) -> flask.Flask:
    """Pages over a session with what all pages have: languages, logins, streams, and in every template ``values``."""
    app = flask.Flask("referee.web")
    key = app.secret_key = secret_key or kept_secret(Path(session.data_dir) / SECRET_FILE)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.extensions["referee.session.session"] = session
    app.extensions["referee.streams"] = Streams(session)
    app.before_request(set_language)
    file = Path(session.data_dir) / LOGINS_FILE
    kept = Logins(file, fingerprint(pin, key), lambda: session.clock.utc().timestamp())
    security.secure(app, security.Door(pin, time.monotonic), kept, tls)
    app.context_processor(lambda: page_values(session) | values())
    app.after_request(remember_language)
    return app


def create_app(
    session: WebSession,
    pin: str | None = None,
    host: str = "127.0.0.1",
    *,
    secret_key: bytes | None = None,
    choices: Choices | None = None,
    tls: bool = False,
) -> flask.Flask:
    """The dashboard over a running session (``referee.session.session.Session`` or its like).

    ``pin`` is the referee's; without one, ``host`` must be loopback. ``secret_key`` signs the
    session cookies; otherwise one is kept in the session's data folder, so that who was logged in
    still is after a restart. ``choices`` lets the set-up page change over to other devices. ``tls``: the pages
    are served encrypted, by our server or by a proxy in front of it, and cookies travel so only.
    Raises ValueError for a network address without a PIN.
    """
    if pin is None and host not in security.LOOPBACK:
        raise ValueError("a dashboard on the network needs a PIN for the referee")
    app = base_app(session, pin, dict, secret_key, tls)
    app.extensions["referee.choices"] = choices
    app.extensions["referee.evening"] = app.jinja_env.globals["evening"] = EveningStore(Path(session.data_dir))
    for part in (login, live, media, replay, board, console, evening, practice, results, setup, api, cards, attempts):
        app.register_blueprint(part.blueprint(session))
    login.handle_errors(app)
    return app
