"""No worker outlives the program that it works for."""

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import os, sys, time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from referee.workers import end_with_parent

if __name__ == "__main__":
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        print(pool.submit(os.getpid).result(), flush=True)
        time.sleep(600)
"""
LONG_S = 120.0
"""Longer than any machine takes to end a process."""


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks at processes as Linux shows them")
def test_a_worker_ends_when_its_program_is_killed(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    with subprocess.Popen([sys.executable, path], stdout=subprocess.PIPE, text=True) as program:
        worker = int(program.stdout.readline())
        assert os.path.exists(f"/proc/{worker}")
        program.send_signal(signal.SIGKILL)
    end = time.monotonic() + LONG_S
    while os.path.exists(f"/proc/{worker}") and time.monotonic() < end:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{worker}")


def test_every_pool_of_processes_ends_with_its_program():
    """Each call of ProcessPoolExecutor in the program names an initializer that says so."""
    import ast
    from pathlib import Path

    import referee

    pools = []
    for path in Path(referee.__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "ProcessPoolExecutor" not in text:
            continue
        tree = ast.parse(text)
        ends = {
            each.name
            for each in ast.walk(tree)
            if isinstance(each, ast.FunctionDef) and "end_with_parent()" in ast.unparse(each)
        } | {"end_with_parent"}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func).endswith("ProcessPoolExecutor"):
                given = {each.arg: ast.unparse(each.value) for each in call.keywords}
                pools.append((path.name, given.get("initializer") in ends))
    assert len(pools) >= 3 and all(ok for _, ok in pools), pools
