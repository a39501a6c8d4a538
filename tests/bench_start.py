"""How long the program takes to start: medians of ten, wall-clock and processor seconds; and the first start of all.

    python tests/bench_start.py            warm: --help, judge of one picture, bench of one in process, demo's board
                                           and, from there, to its end

On a busy machine the processor's seconds are the ones to compare. The program's bytecode is on disk, as ``pip`` leaves
it, also where the environment says that Python is to write none.
"""

from __future__ import annotations

import os
import re
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

sys.path[0] = str(Path(__file__).parents[1])  # beside this file lie folders that are named as packages are
ROUNDS = 10
REFEREE = [sys.executable, "-m", "referee"]
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
SESSION = Path(__file__).parents[1] / "referee" / "example" / "sessions" / "challenge"
DEMO = ["demo", "--no-browser", "--port", "0", "--seed", "3"]


def measured(name: str, bar_s: float, run: Callable[[], object], rounds: int = ROUNDS) -> None:
    """Print the median of so many runs, and the bar."""
    told(name, bar_s, [_timed(run) for _ in range(rounds)])


def told(name: str, bar_s: float | None, runs: Sequence[tuple[float, float]]) -> None:
    """Print the median of runs' (wall, processor) seconds, and the bar."""
    wall, processor = zip(*runs, strict=True)
    bar = f"bar {bar_s:g} s; " if bar_s else ""
    print(
        f"{name:44} median {statistics.median(wall):6.2f} s wall, {statistics.median(processor):6.2f} s processor"
        f"   ({bar}{len(runs)} runs, slowest {max(wall):.2f} s)",
        flush=True,
    )


def _timed(run: Callable[[], object]) -> tuple[float, float]:
    began, before = time.perf_counter(), _processor_s()
    run()
    return time.perf_counter() - began, _processor_s() - before


def _used_s(process: int) -> float:
    """Processor seconds of a process that runs, by Linux's count; 0 elsewhere."""
    stat = Path(f"/proc/{process}/stat")
    if not stat.exists():
        return 0.0
    ticks = stat.read_text().rpartition(")")[2].split()[11:13]
    return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")


def _processor_s() -> float:
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in both)


def said(*args: object) -> None:
    """Run the program to its end."""
    subprocess.run([*REFEREE, *map(str, args)], check=True, stdout=subprocess.DEVNULL, env=ENVIRONMENT)


@contextmanager
def demo() -> Iterator[subprocess.Popen[str]]:
    """A demo, whose lines are read as it says them; it is ended as Ctrl-C does."""
    with tempfile.TemporaryDirectory() as folder:
        env = {**ENVIRONMENT, "PYTHONUNBUFFERED": "1"}
        command = [*REFEREE, *DEMO, "--data-dir", folder]
        program = subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            yield program
        finally:
            program.send_signal(signal.SIGINT)
            program.communicate()


def board(lines: Iterator[str]) -> str:
    """Wait for the board; its address."""
    return next(found[1] for line in lines if (found := re.search(r"board: (\S+?)/? ", line)))


def warm() -> None:
    """Everything compiled."""
    picture = next(SESSION.glob("duel_*.jpg"))
    given = ["--pieces", SESSION / "pieces.json", "--deck", SESSION / "deck.json", "--camera", SESSION / "camera.yaml"]
    judge = ["judge", picture, "--card", _first_card(), *given]
    said(*judge)
    measured("referee --help", 0.3, lambda: said("--help"))
    measured("referee judge, one picture", 0.9, lambda: said(*judge))
    from referee.benchmark.run import Knowledge, jobs, run_all, sessions

    one = jobs(sessions([SESSION]), Knowledge(True, True, True), False, 1)[:1]
    list(run_all(one, 1))
    measured("referee bench, one picture, in process", 0.3, lambda: list(run_all(one, 1)))

    boards, ends = zip(*(_demo() for _ in range(ROUNDS)), strict=True)
    told("referee demo to its board", 3.0, boards)
    told("and, ended there, to its end", None, ends)


def _demo() -> tuple[tuple[float, float], tuple[float, float]]:
    """(wall, processor) seconds of a demo to its board, and from there to its end."""
    began, before = time.perf_counter(), _processor_s()
    with demo() as program:
        board(program.stdout)
        to_board, used = time.perf_counter() - began, _used_s(program.pid)
    return (to_board, used), (time.perf_counter() - began - to_board, _processor_s() - before - used)


def _first_card() -> str:
    import json

    return json.loads((SESSION / "truth.json").read_text())["frames"][0]["card"]


if __name__ == "__main__":
    warm()
