"""``create_archive_app(place, …)``: the pages of recorded duels alone, wherever the archive lies.

There is no table and no match: a ruling is noted beside the attempt, as for any duel of an older match.
"""

from __future__ import annotations

import time
from pathlib import Path

import flask

from cards.pieces import PieceSet, builtin_piece_set
from cards.sentences import sentence
from referee.devices.ports import Clock, SystemClock
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.commands import MatchCommand
from referee.match.state import MatchState
from referee.recording.address import Mirror
from referee.web import security
from referee.web.app import LOGINS_FILE, SECRET_FILE, kept_secret, page_values, remember_language, set_language
from referee.web.logins import Logins, fingerprint
from referee.web.pages import attempts, login
from referee.web.pages.attempt_archive import Archive
from referee.web.streaming.streams import Streams

PAGES = (("/attempts", "nav.attempts"),)


class ArchiveSession:
    """What pages, login and server need of a session, for an archive without a table."""

    shift_s, simulated = 0.0, False

    def __init__(self, data_dir: Path) -> None:
        self.data_dir, self.state = data_dir, MatchState()
        self.clock: Clock = SystemClock()
        self.piece_set: PieceSet = builtin_piece_set()

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Raises IllegalCommand: no match is on."""
        raise IllegalCommand(sentence("no_match_here"))

    def touch(self) -> None:
        """Nothing here is live."""

    def wait(self, version: int, timeout_s: float) -> int:
        """Nothing changes by itself; gives the version when the time is over."""
        time.sleep(timeout_s)
        return version

    def picture(self, name: str) -> bytes | None:
        """There is no camera."""
        return None


def create_archive_app(
    place: Path, data_dir: Path, pin: str | None = None, host: str = "127.0.0.1", mirror: Mirror | None = None
) -> flask.Flask:
    """The pages over the attempts in the folder ``place``, which a ``mirror`` fills where they lie elsewhere.

    ``data_dir`` keeps logins. ``pin`` is the referee's; without one, ``host`` must be loopback, else ValueError.
    """
    if pin is None and host not in security.LOOPBACK:
        raise ValueError("pages on the network need a PIN for the referee")
    app = flask.Flask("referee.web")
    key = app.secret_key = kept_secret(data_dir / SECRET_FILE)
    session = ArchiveSession(data_dir)
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    app.extensions["referee.session.session"] = session
    app.extensions["referee.streams"] = Streams(session)
    app.before_request(set_language)
    kept = Logins(data_dir / LOGINS_FILE, fingerprint(pin, key), lambda: session.clock.utc().timestamp())
    security.secure(app, security.Door(pin, time.monotonic), kept, False)
    app.context_processor(lambda: page_values(session) | {"nav_pages": PAGES})
    app.after_request(remember_language)
    for part in (login.blueprint(session), attempts.blueprint(session, Archive(place, mirror))):
        app.register_blueprint(part)
    app.add_url_rule("/", "front", security.public(lambda: flask.redirect("/attempts")))
    login.handle_errors(app)
    return app
