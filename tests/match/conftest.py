"""A table for tests: plays commands through ``decide`` and ``fold`` and keeps the log."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import psycopg
import pytest

from referee.events import event_from_json
from referee.match.card_facts import CardFacts
from referee.match.commands import CameraVerdict, CreateMatch, DrawCard, Go, NextDuel, PressStop, Ready
from referee.match.decide import decide
from referee.match.evolve import evolve, fold
from referee.match.verdict import zone_verdict

CARDS = {f"C{i:02}": CardFacts("height", i % 4 + 1, 4) for i in range(80)}
RIGHT, WRONG, UNSURE = {"verdict": "match"}, {"verdict": "mismatch"}, {"verdict": "undecided"}
NAMES = ("Ann", "Ben", "Cem", "Dia", "Eva", "Fin", "Gus", "Hal", "Ida", "Jan", "Kim", "Leo")


class Table:
    """A match in the making. ``log`` holds all events, ``state`` is their fold."""

    def __init__(self, players=4, mode="all", seed=3, cards=CARDS, create=True, **rules):
        self.log, self.state = [], fold([])
        if create:
            from referee.match.house_rules import HouseRules

            names = NAMES[:players] if isinstance(players, int) else tuple(players)
            self.do(CreateMatch(names, mode, seed, "test deck", HouseRules(**rules), cards, "m1"))

    def do(self, *commands):
        for command in commands:
            events = decide(self.state, command, f"2026-01-01T00:00:{len(self.log) % 60:02}+00:00")
            for event in events:
                self.state = evolve(self.state, event)
            self.log += events
        return self.state

    def build(self):
        """From idle to the go."""
        return self.do(DrawCard(), Ready(), Go(100.0))

    def stop(self, zone="A", at_s=110.0, **more):
        """To the press."""
        self.build()
        return self.do(PressStop(zone, at_s, **more))

    def duel(self, caller="A", verdict=RIGHT, **more):
        """One whole duel to its award."""
        self.stop(caller)
        return self.do(CameraVerdict(caller, zone_verdict(verdict), **more))

    def win(self, player):
        """A duel that this player wins, and on to the next."""
        self.duel(self.state.duel.zone_of(player))
        return self.do(NextDuel())

    def play_on(self, decide_duel):
        """Play to the end; ``decide_duel(state)`` names the winner of each duel."""
        while self.state.phase != "finished":
            self.win(decide_duel(self.state))
        return self.state

    def replayed(self):
        """The state from the log as the journal would give it back."""
        return fold(event_from_json(json.loads(json.dumps(e.to_json()))) for e in self.log)


@pytest.fixture(scope="session")
def table():
    """Makes tables: ``table(players=4, mode='all', both_right='human', …)``."""
    return Table


@pytest.fixture
def verdicts():
    """The three verdicts of a camera on one zone, in the contract's form: right, wrong, unsure."""
    return RIGHT, WRONG, UNSURE


def postgres_program(name: str) -> str:
    """Debian keeps the server's programs out of PATH, one folder per version."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(found[-1]) if found else shutil.which(name)


class Server:
    """A real PostgreSQL server of our own in a folder of its own, on a unix socket."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            shutil.chown(folder, "postgres")
        self._as("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "-N")
        self.start()

    def _as(self, program: str, *arguments: str) -> None:
        command = [postgres_program(program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        with open(self.folder / "said.txt", "ab") as said:
            subprocess.run(command, check=True, cwd="/", stdout=said, stderr=said, stdin=subprocess.DEVNULL)

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.folder}"
        log = f"{self.folder}/log"
        self._as("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", log, "-o", options, "start")

    def stop(self, how: str = "fast") -> None:
        self._as("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", how, "stop")

    def fresh_url(self) -> str:
        """The URL of a new, empty schema."""
        name, url = f"t{next(_NUMBERS)}", f"postgresql://postgres@/postgres?host={self.folder}"
        with psycopg.connect(url) as connection:
            connection.execute(f"CREATE SCHEMA {name}")
        return f"{url}&options=-csearch_path%3D{name}"


_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres():
    """The server, started once for all tests and removed after them."""
    folder = Path(tempfile.mkdtemp(prefix="referee-pg-"))
    server = Server(folder)
    yield server
    server.stop("immediate")
    shutil.rmtree(folder)


@pytest.fixture(params=["sqlite", "postgresql"])
def store(request, tmp_path):
    """Where a journal may live: a new SQLite file's path, then a new PostgreSQL database's URL."""
    if request.param == "sqlite":
        return str(tmp_path / "journal.db")
    return request.getfixturevalue("postgres").fresh_url()
