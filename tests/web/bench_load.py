"""A hall full of viewers and one who means harm: ``python tests/web/bench_load.py [--viewers N] [--seconds S]``.

The real session, record and server (a camera without a picture, no vision) in a process of their own; in a second
one 1000 viewers from 50 loopback addresses, who poll when they find no place; in a third an enemy who opens
1000 streams and unfinished heads. Meanwhile a referee at the console plays duel after duel. Prints
one line of figures: how long the console waited for its acknowledgement, how long a viewer for the new board after
the command was sent, how long for a whole page, what the server took; exit status 1 when a bar is missed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import multiprocessing
import os
import selectors
import signal
import socket
import sys
import tempfile
import threading
import time
from bisect import bisect_right
from contextlib import closing, suppress
from pathlib import Path
from unittest.mock import MagicMock

import numpy as np

from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.commands.options import PageOptions
from referee.commands.serving import start_server
from referee.devices.box_keyboard import KeysBox
from referee.devices.ports import SystemClock
from referee.journal.recovery import open_sound
from referee.match.house_rules import HouseRules
from referee.session.session import Equipment, Session
from referee.web.app import create_app

ADDRESSES = 50
HOSTILE = "127.0.0.200"
PIN = "4711"
EVERY_S = 0.5
"""The referee does something this often; a board that comes later than the next command counts to that one."""

ACK_P99_S, BOARD_P99_S = 0.25, 2.0
STEPS = {
    "idle": ("DrawCard", {}),
    "void": ("DrawCard", {}),
    "card_drawn": ("Ready", {}),
    "ready": ("Go", {}),
    "building": ("PressStop", {"zone": "A"}),
    "stopped": ("HumanRuling", {"ruling": "match", "who": "Ref", "why": "seen"}),
    "judging": ("HumanRuling", {"ruling": "match", "who": "Ref", "why": "seen"}),
    "undecided": ("HumanRuling", {"ruling": "match", "who": "Ref", "why": "seen"}),
    "decided": ("NextDuel", {}),
    "finished": ("CreateMatch", {"players": ["Ann", "Ben", "Cem", "Dia"]}),
    "new": ("CreateMatch", {"players": ["Ann", "Ben", "Cem", "Dia"]}),
}


def timed(journal) -> list[float]:
    """How long each command was in the record from now on: what disk and database take is no server's."""
    append, took_s = journal.append, []

    def append_timed(*given, **named):
        began_s = time.monotonic()
        try:
            return append(*given, **named)
        finally:
            took_s.append(time.monotonic() - began_s)

    journal.append = append_timed
    return took_s


def run_server(said: multiprocessing.connection.Connection) -> None:
    """Serve until told to end; says the port first, and last how long the record took for each command."""
    clock, rules = SystemClock(), HouseRules(earliest_stop_s=0.0, sign_off="free", empty_fields="free")
    camera = MagicMock(simulated=True)
    camera.latest.side_effect = lambda after=-1, timeout_s=1.0: time.sleep(timeout_s)
    camera.status.return_value = {"name": "none", "frames": 0, "dropped": 0, "fps": 0.0, "lost": None}
    with tempfile.TemporaryDirectory() as folder, closing(open_sound(Path(folder) / "journal.db")[0]) as journal:
        parts = {"observer": MagicMock(camera=None, palette=None, empty=None, markers={}), "gate": MagicMock()}
        where = {"journal": journal, "deck": builtin_deck(), "piece_set": builtin_piece_set(), "camera": camera}
        use = Equipment(
            **parts, **where, box=KeysBox(clock), clock=clock, data_dir=Path(folder), simulated=True, rules=rules
        )
        session = Session(use)
        session.start()
        server = start_server(
            create_app(session, pin=PIN, host="0.0.0.0"), PageOptions(host="127.0.0.1", port=0, pin=PIN, tls=None)
        )
        record_s = timed(journal)
        said.send(server.port)
        said.recv()
        said.send(record_s)
        server.close()
        session.stop()


class Viewer:
    """One viewer: a stream, or a poll each second when he finds no place."""

    def __init__(self, port: int, address: str) -> None:
        self.port, self.address, self.polls, self.tag = port, address, False, b""
        self.arrived: list[float] = []
        self.due_s = 0.0
        self._buffer = b""
        self._connect()

    def _connect(self) -> None:
        self.line = socket.socket()
        self.line.bind((self.address, 0))
        self.line.connect(("127.0.0.1", self.port))
        self.line.setblocking(False)

    def ask(self) -> None:
        """Begin the stream, or poll once."""
        path = b"/snapshot?page=board" if self.polls else b"/events?page=board"
        tag = b"If-None-Match: " + self.tag + b"\r\n" if self.tag else b""
        with suppress(OSError):
            self.line.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n" + tag + b"\r\n")

    def hear(self, now_s: float) -> bool:
        """Take what has come; False when the line is closed."""
        try:
            data = self.line.recv(1 << 18)
        except OSError:
            return False
        if not data:
            return False
        self._buffer = self._buffer[-64:] + data
        if data.startswith(b"HTTP/1.1 503"):
            self.polls, self.due_s = True, now_s + 1.0
        elif self.polls and data.startswith(b"HTTP/1.1 200"):
            self.arrived.append(now_s)
            found = data.lower().partition(b"\r\netag: ")[2].partition(b"\r\n")[0]
            self.tag, self.due_s = found, now_s + 1.0
        elif self.polls:
            self.due_s = now_s + 1.0 if data.startswith(b"HTTP") else self.due_s
        elif b"event: parts" in self._buffer:
            self.arrived.append(now_s)
            self._buffer = b""
        return True


def run_viewers(port: int, count: int, said: multiprocessing.connection.Connection) -> None:
    """Watch until told to end; then says, per viewer, whether he polls and when he heard of news."""
    chooser, viewers = selectors.DefaultSelector(), []
    for n in range(count):
        viewer = Viewer(port, f"127.0.0.{10 + n % ADDRESSES}")
        viewer.ask()
        viewers.append(viewer)
        chooser.register(viewer.line, selectors.EVENT_READ, viewer)
    said.send("there")
    lost = 0
    while not said.poll():
        for key, _ in chooser.select(0.05):
            if not key.data.hear(time.monotonic()):
                chooser.unregister(key.fileobj)
                key.fileobj.close()
                lost += 1
        now_s = time.monotonic()
        for viewer in viewers:
            if viewer.polls and 0 < viewer.due_s < now_s:
                viewer.due_s = 0.0
                viewer.ask()
    said.send((lost, [(viewer.polls, viewer.arrived) for viewer in viewers]))


def run_hostile(port: int, count: int) -> None:
    """Open so many streams and slow heads from one address for ever, and again when cut off."""
    lines: list[socket.socket] = []
    while True:
        while len(lines) < count:
            line = socket.socket()
            with suppress(OSError):
                line.bind((HOSTILE, 0))
                line.settimeout(1.0)
                line.connect(("127.0.0.1", port))
                slow = len(lines) % 2
                line.sendall(b"GET /events?page=board HTTP/1.1\r\nHost: 127.0.0.1\r\n" + (b"X: " if slow else b"\r\n"))
                line.setblocking(False)
            lines.append(line)
        time.sleep(1.0)
        for line in lines[:]:
            try:
                if line.recv(1 << 16) == b"":
                    raise OSError
            except BlockingIOError:
                continue
            except OSError:
                line.close()
                lines.remove(line)


class Console:
    """The referee at the console."""

    def __init__(self, port: int) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=("127.0.0.5", 0))
        self._headers = {"Content-Type": "application/json"}
        self._ask("GET", "/api/session")
        self._ask("POST", "/api/session", {"pin": PIN, "name": "Ref"})
        self.phase = "new"

    def _ask(self, method: str, path: str, body: dict | None = None) -> dict:
        content = json.dumps(body) if body is not None else None
        try:
            self._http.request(method, path, content, self._headers)
            answer = self._http.getresponse()
        except ConnectionError:  # it was idle for too long: a browser opens another, too
            self._http.close()
            self._http.request(method, path, content, self._headers)
            answer = self._http.getresponse()
        for name, value in answer.getheaders():
            if name.lower() == "set-cookie" and value.startswith("referee-"):
                self._headers["Cookie"] = value.split(";")[0]
        said = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {said}")
        self._headers["X-CSRF-Token"] = said.get("csrf", self._headers.get("X-CSRF-Token", ""))
        return said

    def step(self) -> tuple[float, float]:
        """One command: when it was sent, and how long its acknowledgement took."""
        name, body = STEPS[self.phase]
        began_s = time.monotonic()
        said = self._ask("POST", f"/api/commands/{name}", body)
        self.phase = said["state"]["match"]["phase"]
        return began_s, time.monotonic() - began_s


def pages(port: int, over: threading.Event, took_s: list[float]) -> None:
    """Somebody new asks for the board twice a second."""
    while not over.wait(0.5):
        began_s = time.monotonic()
        try:
            asked = http.client.HTTPConnection("127.0.0.1", port, timeout=30, source_address=("127.0.0.6", 0))
            asked.request("GET", "/")
            asked.getresponse().read()
            asked.close()
        except OSError:
            took_s.append(30.0)
        else:
            took_s.append(time.monotonic() - began_s)


def delays(sent: list[float], heard: list[tuple[bool, list[float]]]) -> tuple[list[float], int]:
    """Per command and viewer: seconds until the first news after it; and how many never came."""
    found, missing = [], 0
    for _, arrived in heard:
        for began_s in sent[:-6]:
            at = bisect_right(arrived, began_s)
            if at == len(arrived):
                missing += 1
            else:
                found.append(arrived[at] - began_s)
    return found, missing


def memory_mb(pid: int) -> int:
    """Resident memory of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20


def cpu_s(pid: int) -> float:
    """Processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(viewers: int, hostile: int, seconds: float) -> int:
    """Measure; 0 when every bar is met."""
    fork = multiprocessing.get_context("spawn")
    mine, theirs = fork.Pipe()
    server = fork.Process(target=run_server, args=(theirs,), daemon=True)
    server.start()
    port = mine.recv()
    watching, watched = fork.Pipe()
    crowd = fork.Process(target=run_viewers, args=(port, viewers, watched), daemon=True)
    enemy = fork.Process(target=run_hostile, args=(port, hostile), daemon=True)
    console, over, page_s = Console(port), threading.Event(), []
    console.step()
    before_mb = memory_mb(server.pid)
    enemy.start()
    crowd.start()
    watching.recv()
    time.sleep(5.0)
    asking = threading.Thread(target=pages, args=(port, over, page_s))
    asking.start()
    steps, began_s, used_s, most_mb = [], time.monotonic(), cpu_s(server.pid), 0
    while time.monotonic() - began_s < seconds:
        steps.append(console.step())
        most_mb = max(most_mb, memory_mb(server.pid))
        time.sleep(max(0.0, EVERY_S - steps[-1][1]))
    used_s = cpu_s(server.pid) - used_s
    lasted_s = time.monotonic() - began_s
    time.sleep(3.0)
    over.set()
    asking.join()
    watching.send("end")
    lost, heard = watching.recv()
    os.kill(enemy.pid, signal.SIGKILL)
    mine.send("end")
    record = np.percentile(mine.recv(), [50, 99])
    for process in (crowd, enemy, server):
        process.join(30)
    late, missing = delays([at for at, _ in steps], heard)
    ack, board, page = (np.percentile(rows, [50, 99]) for rows in ([s for _, s in steps], late or [99.0], page_s))
    print(
        f"{viewers} viewers from {ADDRESSES} addresses ({sum(polls for polls, _ in heard)} poll, {lost} lost), "
        f"{hostile} lines of one more, {lasted_s:.0f} s, {len(steps)} commands: "
        f"acknowledged median {1000 * ack[0]:.0f} ms, p99 {1000 * ack[1]:.0f} ms "
        f"(of that the record {1000 * record[0]:.0f} and {1000 * record[1]:.0f} ms); "
        f"board at the viewers median {1000 * board[0]:.0f} ms, p99 {1000 * board[1]:.0f} ms, {missing} never; "
        f"GET / median {1000 * page[0]:.0f} ms, p99 {1000 * page[1]:.0f} ms; "
        f"server {before_mb} -> {most_mb} MB, {100 * used_s / lasted_s:.0f} % of a core, "
        f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} cores"
    )
    met = ack[1] <= ACK_P99_S and board[1] <= BOARD_P99_S and page[1] <= BOARD_P99_S and not (missing or lost)
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--viewers", type=int, default=1000)
    parser.add_argument("--hostile", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    sys.exit(main(given.viewers, given.hostile, given.seconds))
