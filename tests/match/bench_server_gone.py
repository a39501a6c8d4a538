"""A duel on a PostgreSQL server that hangs for 30 s (SIGSTOP), then is killed.

    python tests/match/bench_server_gone.py [SECONDS]

Prints how long commands and the board waited meanwhile, what reached the server, and in which order.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from referee.journal.journal import Journal
from referee.journal.recovery import open_server
from referee.match.commands import DrawCard, HumanRuling, NextDuel, Ready
from referee.match.house_rules import HouseRules
from referee.web.app import create_app

HERE = Path(__file__).parent
FREE = HouseRules(earliest_stop_s=0.0, empty_fields="free", sign_off="free")
HANGS_S = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0


def beside(name: str):
    """The module of that name in this folder."""
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tell(server, number: int) -> None:
    """Send a signal to every process of the server."""
    head = int((server.folder / "data" / "postmaster.pid").read_text().split()[0])
    children = subprocess.run(["pgrep", "-P", str(head)], capture_output=True, text=True, check=False).stdout.split()
    for pid in [head, *map(int, children)]:
        os.kill(pid, number)


def main() -> int:
    """0 when nothing was lost and all is in order."""
    tables = beside("test_many_tables")
    folder = Path(tempfile.mkdtemp(prefix="referee-pg-"))
    server = beside("conftest").Server(folder)
    url, waits, boards = server.fresh_url(), [], []
    with closing(open_server(url, "A", folder / "a.lines")) as record:
        session = tables.program(record, folder, "A")
        session.create_match(
            ["Ann", "Ben"], rules=HouseRules(earliest_stop_s=0.0, empty_fields="free", sign_off="free")
        )
        board = create_app(session).test_client()

        def timed(step, *given) -> None:
            began_s = time.monotonic()
            step(*given)
            waits.append(time.monotonic() - began_s)
            began_s = time.monotonic()
            assert board.get("/").status_code == 200
            boards.append(time.monotonic() - began_s)

        def duel() -> None:
            timed(session.command, DrawCard())
            timed(session.command, Ready())
            session.go("Ref")  # waits for a box that is not there
            timed(session.press, "A")
            timed(session.command, HumanRuling("match", "Ref", "seen"))
            timed(session.command, NextDuel())

        tell(server, signal.SIGSTOP)
        began_s = time.monotonic()
        duel()
        time.sleep(max(0.0, HANGS_S - (time.monotonic() - began_s)))
        tell(server, signal.SIGCONT)
        duel()
        tell(server, signal.SIGKILL)
        duel()
        time.sleep(1.0)
        (folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        server.start()
        end_s = time.monotonic() + 30
        while record.problem and time.monotonic() < end_s:
            time.sleep(0.1)
        mine = [(e.seq, e.hash) for e in record.entries(session.state.match_id)]
    with closing(Journal(url)) as store:
        theirs = [(e.seq, e.hash) for e in store.entries(session.state.match_id)]
    server.stop("immediate")
    shutil.rmtree(folder)
    print(
        f"hung {HANGS_S:.0f} s, then killed: {len(mine)} events, {len(mine) - len(theirs)} lost, "
        f"{'in order' if mine == theirs else 'NOT in order'}; "
        f"a command waited {1000 * max(waits):.0f} ms at most, the board {1000 * max(boards):.0f} ms"
    )
    return 0 if mine == theirs else 1


if __name__ == "__main__":
    sys.exit(main())
