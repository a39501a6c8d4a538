"""The real demo of many tables as processes: started, killed, started again, counted anew."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tournament_recount import misplaced, rows, swiss_table

from referee.journal.journal import Journal
from referee.session.director import tournaments
from referee.tournament.evolve import fold
from referee.tournament.standings import standings

REFEREE = (sys.executable, "-c", "from referee.cli import main; main()")


def start(url: str, folder: Path, tables: int, players: int, *more: str) -> subprocess.Popen:
    """The demo, fast and without pages, on that journal."""
    command = ("demo", "--fast", "--headless", "--tables", tables, "--players", players, "--journal", url, "--seed", 7)
    return subprocess.Popen(
        [*REFEREE, *map(str, command), "--data-dir", str(folder), *map(str, more)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def children(process: int) -> list[int]:
    """The processes that it has started."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process:
            found.append(int(path.parent.name))
    return found


def tables_of(process: int) -> list[int]:
    """The tables, whom one of them has started."""
    return [table for child in children(process) for table in children(child)]


def kill_all(process: subprocess.Popen) -> None:
    """kill -9 for the director and every table of his at once."""
    for number in [process.pid, *children(process.pid), *tables_of(process.pid)]:
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
    process.communicate()


def state_of(url: str):
    """The tournament as the record has it."""
    journal = Journal(url, reading=True)
    try:
        journal.verify()
        (cup,) = tournaments(journal)
        return fold(journal.events(cup))
    finally:
        journal.close()


def compared(url: str) -> dict[str, int]:
    """Figures of a finished tournament. Raises AssertionError where anything is misplaced or counted otherwise."""
    state, counted, wrong = state_of(url), swiss_table(url), misplaced(url)
    assert state.phase == "finished" and wrong == [], wrong
    lines = standings(state)
    assert {row.name: (row.match_points, row.buchholz, row.cards, row.duels_won) for row in lines} == counted
    keys = [counted[row.name] for row in lines]
    assert keys == sorted(keys, reverse=True)
    events, tables = rows(url)
    kinds = Counter(e["kind"] for m in events.values() for e in m)
    return {
        "tables": len({t for t in tables.values() if t != "tournament"}),
        "players": len(state.entrants),
        "rounds": state.round,
        "games": sum(not g.bye for g in state.games),
        "duels": kinds["duel_decided"],
        "events": sum(kinds.values()),
    }
