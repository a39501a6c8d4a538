"""``--mode`` of ``run`` and ``demo``: which cards the match that they begin is played with."""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest
from click.testing import CliRunner

from referee.commands import play
from referee.match.commands import MODES


class Begun(Exception):
    """A match has been asked for; nothing more is needed."""


class Table:
    """A session on which no match goes on yet."""

    state = SimpleNamespace(phase="new", match_id="")
    judging = SimpleNamespace(gates=lambda: {"A": None})

    def __init__(self):
        self.asked = []

    def listen(self, listener):
        """Nobody is told anything."""

    def alarm(self, code, text):
        """Nobody is alarmed."""

    def start(self):
        """Nothing runs."""

    def create_match(self, names, mode, seed):
        self.asked.append((names, mode))
        raise Begun


@pytest.fixture
def table(monkeypatch):
    """The session that the commands get; all that draws or sees is left out."""
    session = Table()

    @contextmanager
    def running_session(use, players):
        yield session

    monkeypatch.setattr(play, "at_table", lambda asked, begin, *_: begin(session))
    for name in ("SimulatedTable", "Observer", "Gate"):
        stand_in = MagicMock()
        stand_in.return_value.__exit__.return_value = False
        monkeypatch.setattr(play, name, stand_in)
    monkeypatch.setattr(play.serving, "dashboard", lambda *_: nullcontext())
    monkeypatch.setattr(play.serving, "running_session", running_session)
    return session


def asked(command, tmp_path, *words):
    """What came of the command with these words."""
    return CliRunner().invoke(command, ["--players", "Ann,Ben", "--data-dir", str(tmp_path / "data"), *words])


@pytest.mark.parametrize("command", [play.run, play.demo])
@pytest.mark.parametrize("mode", MODES)
def test_the_match_is_begun_with_the_mode_that_was_asked_for(table, tmp_path, command, mode):
    assert isinstance(asked(command, tmp_path, "--mode", mode).exception, Begun)
    assert table.asked == [(["Ann", "Ben"], mode)]


@pytest.mark.parametrize("command", [play.run, play.demo])
def test_without_one_all_cards_are_played(table, tmp_path, command):
    asked(command, tmp_path)
    assert [mode for _, mode in table.asked] == ["all"]


@pytest.mark.parametrize("command", [play.run, play.demo])
def test_a_mode_that_there_is_not_is_refused_before_anything_is_begun(table, tmp_path, command):
    said = asked(command, tmp_path, "--mode", "expert")
    assert said.exit_code == 2 and "expert" in said.output and not table.asked
