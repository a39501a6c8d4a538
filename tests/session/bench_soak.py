"""A demo left alone for long: ``python tests/session/bench_soak.py [--minutes M] [--players N] [--fast] [--every S]``.

Starts ``referee demo`` as a user does, asks its board for the match every few seconds and prints, as a table, memory,
threads, open files, the folder's size and how far the match is. Exit status 1 when the match stands still for longer
than ``HANG_S``, the program ends by itself with a fault, or memory, threads or open files grow on and on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

HANG_S = 120.0
"""A duel at normal speed takes half a minute; without a new event for so long the match hangs."""

WARM_S = 120.0
"""Kernels, pictures and the first recordings are in memory by then: what comes later ought to stay."""

GROWN = 1.15
"""The last third may take so much more memory than the first one after warming up."""

MORE = 5
"""So many more threads or files than then may be open."""


@dataclass(frozen=True)
class Row:
    """One look at the program. Memory in MB, ``seq`` is the number of the match's last event."""

    at_s: float
    rss: int
    anon: int
    threads: int
    files: int
    folder: int
    seq: int
    duel: int
    phase: str
    alarms: str

    def text(self) -> str:
        """A line of the table."""
        figures = f"{self.at_s:7.0f} {self.rss:7} {self.anon:8} {self.threads:8} {self.files:6} {self.folder:9}"
        return f"{figures} {self.seq:7} {self.duel:5} {self.phase:10} {self.alarms}"


HEAD = "seconds  RSS MB  anon MB  threads  files  folder MB  events  duel  phase      alarms"


def started(folder: Path, players: int, fast: bool) -> tuple[subprocess.Popen, str]:
    """The demo and the address of its board."""
    what = ["demo", "--players", str(players), "--seed", "5", "--no-browser", "--port", "0", "--data-dir", str(folder)]
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "referee", *what, *(["--fast"] if fast else [])],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    said = ""
    for line in process.stdout:
        said += line
        if found := re.search(r"board: (\S+)", line):
            threading.Thread(target=process.stdout.read, daemon=True).start()  # or its pipe would be full one day
            return process, found[1]
    raise SystemExit(f"the program ended: {said}")


def look(process: subprocess.Popen, board: str, folder: Path, began_s: float) -> Row:
    """One row. Raises OSError when the program is gone or does not answer."""
    with urllib.request.urlopen(f"{board}api/snapshot", timeout=30) as answer:
        told = json.load(answer)
    match = told["match"] or {"seq": 0, "phase": "new", "duel": {}}
    here = Path(f"/proc/{process.pid}")
    said = dict(re.findall(r"^(VmRSS|RssAnon|Threads):\s+(\d+)", (here / "status").read_text(), re.M))
    return Row(
        time.monotonic() - began_s,
        int(said["VmRSS"]) >> 10,
        int(said["RssAnon"]) >> 10,
        int(said["Threads"]),
        len(os.listdir(here / "fd")),
        sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()) >> 20,
        match["seq"],
        match["duel"].get("number", 0),
        match["phase"],
        " ".join(alarm["code"] for alarm in told["alarms"]),
    )


def watch(process: subprocess.Popen, board: str, folder: Path, minutes: float, every_s: float) -> tuple[list[Row], str]:
    """The rows, and what is wrong ('' when nothing is)."""
    rows: list[Row] = []
    began_s = moved_s = time.monotonic()
    print(HEAD, flush=True)
    while time.monotonic() - began_s < 60 * minutes:
        try:
            row = look(process, board, folder, began_s)
        except OSError as error:
            if process.poll() == 0 and rows:
                return rows, ""  # --fast ends with its match
            return rows, f"the program is gone or does not answer: {error}"
        if rows and row.seq != rows[-1].seq:
            moved_s = time.monotonic()
        rows.append(row)
        print(row.text(), flush=True)
        if row.phase == "finished":
            return rows, ""
        if time.monotonic() - moved_s > HANG_S:
            return rows, f"nothing has happened for {HANG_S:.0f} s in phase {row.phase} of duel {row.duel}"
        time.sleep(every_s)
    return rows, ""


def grown(rows: list[Row]) -> str:
    """What grew from the first third after warming up to the last ('' when nothing did)."""
    warm = [row for row in rows if row.at_s > WARM_S]
    if len(warm) < 9:
        return ""
    third = len(warm) // 3
    faults = []
    for name, most in (("rss", None), ("threads", MORE), ("files", MORE)):
        first, last = (statistics.median(getattr(r, name) for r in part) for part in (warm[:third], warm[-third:]))
        print(f"{name}: median of the first third {first:.0f}, of the last {last:.0f}")
        if last > (first * GROWN if most is None else first + most):
            faults.append(f"{name} grew from {first:.0f} to {last:.0f}")
    return "; ".join(faults)


def main(minutes: float, players: int, fast: bool, every_s: float, most_mb: int) -> int:
    """Run and print; 0 when all is well."""
    with tempfile.TemporaryDirectory(prefix="referee-soak-") as name:
        process, board = started(Path(name), players, fast)
        try:
            rows, fault = watch(process, board, Path(name), minutes, every_s)
        finally:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
    peak = max((row.rss for row in rows), default=0)
    fault = "; ".join(filter(None, [fault, grown(rows), f"{peak} MB at most" if peak > most_mb else ""]))
    lasted = f"{rows[-1].at_s / 60:.1f} minutes, {rows[-1].duel} duels, " if rows else ""
    print(f"{lasted}{peak} MB at most: {fault or 'no hang, nothing grows'}")
    return 1 if fault else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--players", type=int, default=8, help="8 play for longer than half an hour.")
    parser.add_argument("--fast", action="store_true")
    parser.add_argument("--every", type=float, default=10.0, help="Seconds from row to row.")
    parser.add_argument("--most-mb", type=int, default=600, help="More resident memory than this is a fault.")
    given = parser.parse_args()
    sys.exit(main(given.minutes, given.players, given.fast, given.every, given.most_mb))
