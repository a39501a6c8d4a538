"""Runs the real ``referee run``, plays on its API, and kills it by SIGKILL at random instants.

    python kill_program.py FOLDER KILLS SEED

Each life is a fork of this process (which has imported the program, nothing more) that runs the command line; the first
one compiles the pages' templates for all. A client plays as a referee at the console would and keeps every event the
program acknowledged to it. After each kill all of them must stand in the record, and the next life must go on in the
phase the record says. Prints one JSON line.
"""

from __future__ import annotations

import http.client
import importlib
import json
import os
import pkgutil
import random
import re
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import closing
from pathlib import Path

import cv2
import numpy as np
from flask import Flask
from jinja2 import FileSystemBytecodeCache

import referee.commands.play
import referee.web
from referee.cli import cli
from referee.journal.chain import canonical
from referee.journal.journal import Journal
from referee.match.evolve import fold

for module in pkgutil.iter_modules(referee.web.__path__):  # loaded late by the program: once, here
    importlib.import_module(f"referee.web.{module.name}")

GONE = (OSError, http.client.HTTPException, ValueError)
"""What a client meets when the program dies under it."""


class Client:
    """Plays a match on the API of the program at that port."""

    def __init__(self, port: int, dice: random.Random) -> None:
        self._http, self._dice = http.client.HTTPConnection("127.0.0.1", port, timeout=5), dice
        self._headers = {"Content-Type": "application/json"}
        self._headers["X-CSRF-Token"] = self._ask("GET", "/api/session")["csrf"]
        self.match = self._ask("GET", "/api/snapshot")["match"]

    def _ask(self, method: str, path: str, body: dict | None = None) -> dict:
        self._http.request(method, path, json.dumps(body) if body is not None else None, self._headers)
        answer = self._http.getresponse()
        cookie = answer.getheader("Set-Cookie")
        if cookie:
            self._headers["Cookie"] = cookie.split(";")[0]
        data = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(f"{path}: {answer.status} {data}")
        return data

    def step(self) -> list[dict]:
        """One command, as the phase asks; the events that were acknowledged."""
        name, body = self._next()
        answer = self._ask("POST", f"/api/commands/{name}", body)
        self.match = answer["state"]["match"]
        return answer["events"]

    def _next(self) -> tuple[str, dict]:
        phase = self.match["phase"] if self.match else "new"
        if phase == "decided" and self._dice.random() < 0.1:
            return "Undo", {"who": "Ref"}
        ruling = {"ruling": self._dice.choice(["match", "mismatch"]), "who": "Ref", "why": "seen"}
        table = {
            "idle": ("DrawCard", {}),
            "void": ("DrawCard", {}),
            "card_drawn": ("Ready", {}),
            "ready": ("Go", {}),
            "building": ("PressStop", {"zone": self._dice.choice("AB")}),
            "decided": ("NextDuel", {}),
        }
        table |= dict.fromkeys(("stopped", "judging", "undecided"), ("HumanRuling", ruling))
        create = ("CreateMatch", {"players": ["Ann", "Ben", "Cem", "Dia"]})
        table |= dict.fromkeys(("new", "finished"), create)
        return table[phase]


def started(folder: Path) -> tuple[int, object]:
    """Fork the program; its process id and its output."""
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, os.fdopen(reading, "r")
    os.close(reading)
    os.dup2(writing, 1)
    os.dup2(writing, 2)
    arguments = [
        "run",
        "--camera",
        str(folder / "table.png"),
        "--box",
        "none",
        "--port",
        "0",
        "--no-browser",
        "--data-dir",
        str(folder),
        "--rules",
        str(folder / "rules.toml"),
    ]
    try:
        cli.main(arguments, standalone_mode=False)
    finally:
        os._exit(3)


def life(folder: Path, lasts_s: float, once_served: bool, dice: random.Random, kept: list[dict]) -> str:
    """One life, killed so long after its start or, ``once_served``, after it serves; adds what was acknowledged to
    ``kept``. Gives its output."""
    child, output = started(folder)
    timer = threading.Timer(lasts_s, os.kill, (child, signal.SIGKILL))
    if not once_served:
        timer.start()
    said = ""
    try:
        for line in output:
            said += line
            if found := re.search(r"127\.0\.0\.1:(\d+)", line):
                if once_served:
                    timer.start()
                client = Client(int(found[1]), dice)
                while True:
                    kept += client.step()
    except GONE:
        pass
    _, status = os.waitpid(child, 0)
    said += output.read()
    output.close()
    if not os.WIFSIGNALED(status):
        raise SystemExit(f"the program ended by itself: {said}")
    timer.join()
    return said


def start_s(folder: Path) -> float:
    """How long the program takes here, now, until it serves; it is killed then."""
    began, (child, output) = time.monotonic(), started(folder)
    for line in output:
        if "127.0.0.1:" in line:
            break
    took = time.monotonic() - began
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    output.close()
    return took


def prepare(folder: Path) -> None:
    """A picture as the camera, and rules under which a Stop counts at once."""
    folder.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(folder / "table.png"), np.full((240, 320, 3), 90, np.uint8))
    (folder / "rules.toml").write_text("earliest_stop_s = 0.0\n")
    (folder / "compiled").mkdir(exist_ok=True)
    Flask.jinja_options = {"bytecode_cache": FileSystemBytecodeCache(str(folder / "compiled"))}


def recorded(folder: Path) -> tuple[set[str], str]:
    """Every event of the record, and the phase of its last match ('' without one)."""
    with closing(Journal(folder / "journal.db")) as journal:
        journal.verify()
        matches = {m: journal.events(m) for m in journal.matches()}
    events = {canonical(e.to_json()) for log in matches.values() for e in log}
    return events, fold(matches[list(matches)[-1]]).phase if matches else ""


def main(folder: Path, kills: int, seed: int) -> dict:
    """Kill that often: in turn while it starts, and for as long after it serves. (A busy machine does both slowly.)"""
    prepare(folder)
    start_s(folder)
    starting_s = start_s(folder)
    dice, kept, phases, phase, strayed = random.Random(seed), [], Counter(), "", []
    for n in range(kills):
        said = life(folder, dice.uniform(0.0, starting_s), n % 2 > 0, dice, kept)
        went_on = re.search(r"going on with match \S+, phase (\w+)", said)
        if went_on and went_on[1] != phase:
            strayed.append([phase, went_on[1]])
        events, phase = recorded(folder)
        phases[phase] += 1
    lost = [e for e in kept if canonical(e) not in events]
    return {
        "kills": kills,
        "acknowledged": len(kept),
        "recorded": len(events),
        "lost": lost,
        "phases": phases,
        "strayed": strayed,
    }


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
