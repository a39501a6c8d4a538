"""Sixteen tables, a process each, on one PostgreSQL: a tournament that is killed in the middle ends as it should."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from hall_program import compared, kill_all, start, tables_of


def was_killed(table: int) -> bool:
    """Whether it was there to be killed: the one whose game is told ends at about that time."""
    try:
        os.kill(table, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.slow
def test_sixteen_tables_on_one_server_killed_in_the_middle(postgres, tmp_path):
    url = postgres.fresh_url()
    process = start(url, tmp_path, 16, 32, "--rounds", 1)
    for line in process.stdout:
        if line.startswith("game "):
            break
    kill_all(process)
    process = start(url, tmp_path, 16, 32, "--rounds", 1)
    for line in process.stdout:
        if line.startswith("going on"):
            break
    with process:
        for line in process.stdout:
            if line.startswith("game "):
                break
        assert any(was_killed(table) for table in tables_of(process.pid)), "every table had ended"
        said = process.stdout.read()
    assert process.returncode == 0 and "Traceback" not in said, said
    figures = compared(url)
    assert (figures["tables"], figures["games"]) == (16, 16) and figures["duels"] >= 6 * 16
    print(json.dumps(figures))
