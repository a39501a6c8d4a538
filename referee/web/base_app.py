"""What the app of a duel's table, of an archive, of a hall and of a tower game have in common."""

import json
import secrets
import time
from pathlib import Path
from typing import Any

import flask

from cards.pieces import PieceSet, builtin_piece_set
from referee.devices.ports import Clock
from referee.errors import FolderUnusable
from referee.files import write_whole
from referee.session.notifier import Notifier
from referee.session.ports import PageSession
from referee.web import security
from referee.web.i18n import texts
from referee.web.logins import Logins, fingerprint
from referee.web.pages import login
from referee.web.streaming.streams import Streams

SECRET_FILE, LOGINS_FILE = "web-secret", "logins.json"
SECRET_BYTES = 32


def set_language() -> None:
    """The visitor's language: chosen (``?lang=de``, then a cookie), else the browser's, else English."""
    chosen = flask.request.args.get("lang") or flask.request.cookies.get("lang")
    accepted = flask.request.accept_languages.best_match(texts.LANGUAGES) or texts.WRITTEN
    flask.g.lang = chosen if chosen in texts.LANGUAGES else accepted


def page_values(session: PageSession) -> dict[str, Any]:
    """What every template may use beside its own values."""
    return {
        **texts.tools(flask.g.lang),
        "simulated": session.simulated,
        "is_referee": security.is_referee(),
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


def knows_pin(data_dir: Path, pin: str) -> bool:
    """Whether somebody has logged in with that PIN in this data folder."""
    try:
        said, key = json.loads((data_dir / LOGINS_FILE).read_bytes()), (data_dir / SECRET_FILE).read_bytes()
        return bool(said["pin"] == fingerprint(pin, key))
    except (OSError, ValueError, TypeError, KeyError):
        return False


class TablelessSession:
    """A ``PageSession`` without devices, where nothing changes but what the ``notifier`` is told."""

    shift_s = 0.0

    def __init__(self, data_dir: Path, clock: Clock, simulated: bool = False, notifier: Notifier | None = None) -> None:
        self.data_dir, self.clock, self.simulated = data_dir, clock, simulated
        self._notifier = notifier or Notifier(clock)
        self.piece_set: PieceSet = builtin_piece_set()

    def touch(self) -> None:
        """Something a page shows has changed."""
        self._notifier.touch()

    def wait(self, version: int, timeout_s: float) -> int:
        """Wait until something has changed since that version; gives the version."""
        return self._notifier.wait(version, timeout_s)

    def picture(self, name: str) -> bytes | None:
        """There is no camera."""
        return None


def base_app(
    session: PageSession,
    pin: str | None,
    host: str,
    *,
    role: str = "referee",
    secret_key: bytes | None = None,
    tls: bool = False,
) -> flask.Flask:
    """An app over the session with log-in, languages, streams and errors, and no pages yet.

    ``pin`` is that of the ``role``; without one, ``host`` must be loopback.
    Raises ValueError for a network address without a PIN, FolderUnusable.
    """
    if pin is None and host not in security.LOOPBACK:
        raise ValueError(f"pages on the network need a PIN for the {role}")
    app = flask.Flask("referee.web")
    key = app.secret_key = secret_key or kept_secret(Path(session.data_dir) / SECRET_FILE)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.extensions["referee.session.session"] = session
    app.extensions["referee.streams"] = Streams(session)
    app.before_request(set_language)
    kept = Logins(Path(session.data_dir) / LOGINS_FILE, fingerprint(pin, key), lambda: session.clock.utc().timestamp())
    security.guard_app(app, security.Access(pin, time.monotonic), kept, tls)
    app.context_processor(lambda: page_values(session))
    app.after_request(remember_language)
    login.handle_errors(app)
    return app
