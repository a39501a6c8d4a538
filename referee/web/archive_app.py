"""``create_archive_app(place, …)``: the pages of recorded duels alone, wherever the archive lies.

There is no table and no match: a ruling is noted beside the attempt, as for any duel of an older match.
"""

from pathlib import Path

import flask

from cards.sentences import sentence
from referee.devices.ports import SystemClock
from referee.errors import IllegalCommand
from referee.events import Event
from referee.match.commands import MatchCommand
from referee.match.state import MatchState
from referee.recording.address import Mirror
from referee.web import security
from referee.web.base_app import TablelessSession, base_app
from referee.web.pages import attempts, login
from referee.web.pages.attempt_archive import Archive

PAGES = (("/attempts", "nav.attempts"),)


class ArchiveSession(TablelessSession):
    """What the pages of recorded duels need of a session."""

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
