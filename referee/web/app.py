"""``create_app(session)``: the dashboard's pages put together. Takes the session as it is; owns no device."""

from pathlib import Path

import flask

from cards.sentences import sentence
from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.commands import MatchCommand
from referee.match.state import MatchState
from referee.recording.address import Mirror
from referee.session.device_choice import DeviceChoices
from referee.session.session import Session
from referee.web import api, live, security
from referee.web.base_app import TablelessSession, base_app
from referee.web.pages import (
    attempts,
    board,
    cards,
    console,
    evening,
    keys,
    login,
    practice,
    prove,
    replay,
    results,
    setup,
)
from referee.web.pages.attempt_archive import Archive
from referee.web.pages.evening import EveningStore
from referee.web.streaming import media
from referee.web.streaming.streams import MATCHES


def create_app(
    session: Session,
    pin: str | None = None,
    host: str = "127.0.0.1",
    *,
    secret_key: bytes | None = None,
    choices: DeviceChoices | None = None,
    tls: bool = False,
) -> flask.Flask:
    """The dashboard over a running session (``referee.session.session.Session`` or its like).

    ``pin`` is the referee's; without one, ``host`` must be loopback. ``secret_key`` signs the
    session cookies; otherwise one is kept in the session's data folder, so that who was logged in
    still is after a restart. ``choices`` lets the set-up page change over to other devices. ``tls``: the pages
    are served encrypted, by our server or by a proxy in front of it, and cookies travel so only.
    Raises ValueError for a network address without a PIN.
    """
    app = base_app(session, pin, host, secret_key=secret_key, tls=tls)
    app.extensions["referee.choices"] = choices
    app.extensions["referee.evening"] = app.jinja_env.globals["evening"] = EveningStore(Path(session.data_dir))
    session.listen(lambda *_: app.extensions["referee.streams"].tell(MATCHES))
    pages = (board, console, evening, keys, practice, prove, results, setup, cards, attempts)
    for part in (login, live, media, replay, api, *pages):
        app.register_blueprint(part.blueprint(session))
    return app


PAGES = (("/attempts", "nav.attempts"),)


class ArchiveSession(TablelessSession):
    """What the pages of recorded duels need of a session. A ruling is noted beside the attempt, as for any duel of an
    older match."""

    state = MatchState()

    def command(self, command: MatchCommand, who: str = "") -> tuple[Event, ...]:
        """Raises IllegalCommand: no match is on."""
        raise IllegalCommand(sentence("no_match_here"))


def create_archive_app(
    place: Path, data_dir: Path, pin: str | None = None, host: str = "127.0.0.1", mirror: Mirror | None = None
) -> flask.Flask:
    """The pages over the attempts in the folder ``place``, which a ``mirror`` fills where they lie elsewhere.

    ``data_dir`` keeps logins. ``pin`` is the referee's; without one, ``host`` must be loopback, else ValueError.
    """
    session = ArchiveSession(data_dir, SystemClock())
    app = base_app(session, pin, host)
    app.context_processor(lambda: {"nav_pages": PAGES})
    for part in (login.blueprint(session), attempts.blueprint(session, Archive(place, mirror))):
        app.register_blueprint(part)
    app.add_url_rule("/", "front", security.public(lambda: flask.redirect("/attempts")))
    return app
