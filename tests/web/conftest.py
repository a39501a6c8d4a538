"""The dashboard over a session without devices, in process and as a real server with a browser."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import flask
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_session import FakeSession, table_picture

from referee.web import security
from referee.web.app import create_app
from referee.web.server import Server

PIN = "4711-blue-tongs"


@pytest.fixture(autouse=True)
def quick_pins(monkeypatch):
    """PINs are hashed as ever, a hundred times quicker: guessing them is to be slow, not each test with a PIN."""
    hashed = security.generate_password_hash
    monkeypatch.setattr(security, "generate_password_hash", lambda pin, method: hashed(pin, f"{method}:256:8:1"))


@pytest.fixture
def session() -> FakeSession:
    """A session without a match."""
    return FakeSession()


@pytest.fixture(scope="session")
def pictures() -> None:
    """The simulated table's picture is drawn, so that no request waits for that."""
    table_picture()


@pytest.fixture
def app(session: FakeSession) -> flask.Flask:
    """On loopback without a PIN: everybody is the referee."""
    return create_app(session)


@pytest.fixture
def locked_app(session: FakeSession) -> flask.Flask:
    """As on a network: reading is open, changing takes the PIN."""
    return create_app(session, pin=PIN, host="0.0.0.0")


@pytest.fixture
def server(app: flask.Flask) -> Iterator[Server]:
    """The app under the real server on a free port."""
    running = Server(app, "127.0.0.1", 0)
    yield running
    running.close()
