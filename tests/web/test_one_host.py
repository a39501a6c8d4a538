"""Several programs on one machine: a browser sends a host's cookies to all its ports; that logs nobody out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from http.cookies import SimpleCookie
from pathlib import Path

import flask
import pytest
from conftest import PIN
from fake_session import FakeSession

from referee.devices.ports import SystemClock
from referee.games.catalogue import GAMES
from referee.journal.journal import Journal
from referee.journal.side_tables import PeopleStore
from referee.session.director import Director
from referee.session.game_table import GameTable
from referee.session.people import People
from referee.web.app import create_app, create_archive_app
from referee.web.games.app import create_game_app
from referee.web.hall.app import create_hall_app


def table(folder: Path, journal: Journal, stack: ExitStack) -> flask.Flask:
    return create_app(FakeSession(), PIN, "0.0.0.0")


def hall(folder: Path, journal: Journal, stack: ExitStack) -> flask.Flask:
    store = stack.enter_context(closing(PeopleStore(folder / "journal.db")))
    app = create_hall_app(Director(journal, SystemClock()), People(store, SystemClock()), folder, PIN, "0.0.0.0")
    stack.callback(app.extensions["referee.streams"].close)
    return app


def game(folder: Path, journal: Journal, stack: ExitStack) -> flask.Flask:
    begun = GameTable.begun(journal, SystemClock(), "city_towers", GAMES["city_towers"].setup(["Ann", "Ben"], {}, 4))
    return create_game_app(begun, folder, SystemClock(), PIN, "0.0.0.0")


def archive(folder: Path, journal: Journal, stack: ExitStack) -> flask.Flask:
    return create_archive_app(folder, folder, PIN, "0.0.0.0")


PROGRAMS: tuple[Callable[[Path, Journal, ExitStack], flask.Flask], ...] = (table, hall, game, archive)


@pytest.fixture
def apps(tmp_path):
    """Every kind of program on one host, each with a data folder of its own."""
    with ExitStack() as stack:
        made = []
        for make in PROGRAMS:
            folder = tmp_path / make.__name__
            folder.mkdir()
            journal = stack.enter_context(closing(Journal(folder / "journal.db")))
            made.append(make(folder, journal, stack))
        yield made


def taken_over(client, answer) -> None:
    """The browser keeps what another port of the host has set, and sends it here too."""
    for line in answer.headers.getlist("Set-Cookie"):
        for name, cookie in SimpleCookie(line).items():
            client.set_cookie(name, cookie.value)


def log_in(app: flask.Flask):
    """A browser that is logged in, and the answer that made it so."""
    client = app.test_client()
    client.get("/login")
    answer = client.post("/login", data={"pin": PIN})
    assert answer.status_code == 303
    return client, answer


def is_referee(client) -> bool:
    """Whether the login page sends this browser on, as it does with who is logged in."""
    return client.get("/login").status_code == 302


@pytest.mark.parametrize("mine", range(len(PROGRAMS)), ids=lambda n: PROGRAMS[n].__name__)
def test_looking_at_another_port_logs_nobody_out(apps, mine):
    client, _ = log_in(apps[mine])
    for other in (app for app in apps if app is not apps[mine]):
        taken_over(client, other.test_client().get("/login"))
        assert is_referee(client)


def test_logging_in_at_another_port_takes_neither_login_nor_the_known_mark(apps):
    client, answer = log_in(apps[0])
    names = {name for line in answer.headers.getlist("Set-Cookie") for name in SimpleCookie(line)}
    for other in apps[1:]:
        _, elsewhere = log_in(other)
        assert not names & {name for line in elsewhere.headers.getlist("Set-Cookie") for name in SimpleCookie(line)}
        taken_over(client, elsewhere)
    assert is_referee(client)


def test_who_only_watches_gets_no_cookie_from_any_program(apps):
    for app in apps:
        for path in ("/", "/login"):
            assert "Set-Cookie" not in app.test_client().get(path).headers, (app, path)


def test_every_program_has_a_way_out_too(apps):
    for app in apps:
        client, _ = log_in(app)
        answer = client.post("/logout")
        assert (answer.status_code, answer.location) == (303, "/") and not is_referee(client)
