"""The real program, started as a user starts it: pixels in, score lines out."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import cv2
import pytest
from browser import PROJECTOR
from playwright.sync_api import expect
from posed_table import PosedTable

from cards.pieces import builtin_piece_set
from referee.journal.journal import Journal
from referee.match.evolve import fold
from referee.recording.recorder import PENDING_BYTES
from referee.session.rig_setup import kept_cameras

REFEREE = (sys.executable, "-c", "from referee.cli import main; main()")
FAST = ("demo", "--fast", "--players", "Ann,Ben", "--data-dir", "data")
SERVED = ("--no-browser", "--port", 0)
MOST_MB = 600 + PENDING_BYTES // (1 << 20)
"""A quiet machine stays under 600 MB (the figure is printed); on a busy one frames wait for the encoder besides."""

LINE_LIMIT_S = 60.0
"""A line that is waited for comes sooner, also at a load of 20; but a duel takes its time."""

MATCH_LIMIT_S = 600.0
"""Hangs fail; how long it took is printed, for a noisy machine proves nothing about speed. Bar: 120 s."""


def start(*args, cwd):
    return subprocess.Popen(
        [*REFEREE, *map(str, args)],
        cwd=cwd,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


@contextmanager
def program(*args, cwd):
    process = start(*args, cwd=cwd)
    try:
        yield process
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def read_until(process, pattern, within_s=LINE_LIMIT_S):
    """(lines so far, the match); fails when the program ends first, or is killed because the line does not come."""
    lines, late = [], threading.Timer(within_s, process.kill)
    late.start()
    for line in process.stdout:
        lines.append(line)
        if found := re.search(pattern, line):
            late.cancel()
            return lines, found
    late.cancel()
    raise AssertionError(f"the program ended, or {within_s:.0f} s went by, without {pattern!r}: " + "".join(lines))


def heard_to_its_end(process):
    """All that the program says, and the most memory that it had at any of these lines, MB; killed when it hangs."""
    said, most_kb, hung = "", 0, threading.Timer(MATCH_LIMIT_S, process.kill)
    hung.start()
    for line in process.stdout:
        said += line
        found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
        most_kb = max(most_kb, int(found[1]) if found else 0)
    process.wait()
    hung.cancel()
    hung.join()
    return said, most_kb >> 10


def state_of(path):
    journal = Journal(path)
    try:
        journal.verify()
        (match_id,) = journal.matches()
        return fold(journal.events(match_id))
    finally:
        journal.close()


@pytest.mark.slow
def test_a_four_player_match_is_played_to_a_winner(tmp_path, capsys):
    begin = time.monotonic()
    with program(
        "demo", "--fast", "--players", 4, "--seed", 5, *SERVED, "--data-dir", tmp_path / "data", cwd=tmp_path
    ) as process:
        said, most_mb = heard_to_its_end(process)
    took_s = time.monotonic() - begin
    assert process.returncode == 0, said
    assert "SIMULATED" in said.splitlines()[0]
    tally = re.search(r"(\d+) right, (\d+) wrong, (\d+) undecided", said)
    right, wrong, _ = map(int, tally.groups())
    state = state_of(tmp_path / "data" / "journal.db")
    decided = [d for d in state.history if d.award]
    assert state.phase == "finished" and state.simulated and len(decided) >= 18
    assert f"winner: {state.winner or 'shared'}" in said
    with capsys.disabled():
        print(f"\na four-player match, {len(state.history)} duels: {took_s:.0f} s; {tally[0]}; {most_mb} MB at most")
    said_of = [verdict.codes for duel in state.history for verdict in duel.verdicts.values()]
    unseen = sum("press_unseen" in codes for codes in said_of)  # a busy machine looks too seldom, and says so
    assert right + unseen >= 12 and wrong <= 2, said
    assert 0 < most_mb < MOST_MB


@pytest.mark.slow
def test_a_program_that_is_killed_again_and_again_loses_nothing_it_said(tmp_path):
    chance, said = random.Random(7), ""
    # At random instants, and once soon after a duel was decided, however slow the machine.
    for sign in ("SIMULATED", "going on", "going on", r"^duel \d+", "going on"):
        with program(*FAST, "--headless", "--seed", 3, cwd=tmp_path) as process:
            lines, _ = read_until(process, f"{sign}|duel \\d+: .* to ", MATCH_LIMIT_S)
            time.sleep(chance.uniform(0.5, 6.0))
            process.send_signal(signal.SIGKILL)
            said += "".join(lines) + process.communicate()[0]
    state = state_of(tmp_path / "data" / "journal.db")
    kept = {d.number: d for d in state.history if d.award}
    for number, points, player in re.findall(r"^duel (\d+): .*: (\d) to (\w+) \(", said, re.M):
        assert (kept[int(number)].points, kept[int(number)].award) == (int(points), player)
    assert kept and state.phase != "new"


@pytest.mark.slow
def test_a_duel_ends_with_the_card_at_the_right_player_in_a_real_browser(browser, tmp_path):
    with program(*FAST, "--seed", 11, "--duels", 2, "--no-browser", "--port", 0, cwd=tmp_path) as process:
        _, found = read_until(process, r"board: (\S+)")
        with closing(browser.new_page(viewport=PROJECTOR)) as page:
            page.goto(found[1])
            expect(page.locator("body")).to_contain_text("SIMULATED")
            _, award = read_until(process, r"^duel \d+: .*: (\d) to (\w+) \(", MATCH_LIMIT_S)
            points, player = award.groups()
            row = page.locator("[data-part=table] tr, [data-part=table] li").filter(has_text=player).first
            expect(row).to_contain_text(points, timeout=30_000)


@pytest.fixture
def film(tmp_path):
    """A recorded camera: the empty simulated table for two seconds."""
    table = PosedTable(builtin_piece_set(), 4)
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 15, (1280, 720))
    for number in range(30):
        writer.write(table.empty(number))
    writer.release()
    return path


@pytest.mark.slow
def test_run_takes_the_file_that_was_its_camera_last_and_keys_and_ends_politely(tmp_path, film):
    web = ("--no-browser", "--port", 0, "--data-dir", "data")
    given = ("--box", "none", "--players", "Ann,Ben")
    (tmp_path / "data" / "rig").mkdir(parents=True)
    kept = {"camera": str(film), "settings": {}}
    (tmp_path / "data" / "rig" / "camera.json").write_text(json.dumps(kept))
    with program("run", *given, *web, cwd=tmp_path) as process:
        read_until(process, r"board: http")
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 0 and "not found" not in said, said
    state = state_of(tmp_path / "data" / "journal.db")
    assert state.phase == "idle" and state.players == ("Ann", "Ben") and not state.simulated


class Visitor:
    """A browser on the set-up page of a program."""

    def __init__(self, url: str) -> None:
        self._open = build_opener(HTTPCookieProcessor()).open
        self.url = url
        self.token = json.loads(self.get("api/session"))["csrf"]

    def get(self, path: str, **form: str) -> str:
        """The page that comes, after redirects; ``form`` is posted."""
        data = urlencode({"csrf_token": self.token, **form}).encode() if form else None
        request = Request(self.url + path, data, {"Accept": "text/html", "Accept-Language": "en"})
        with closing(self._open(request, timeout=60)) as answer:
            return answer.read().decode("utf-8", "replace")


@pytest.mark.slow
def test_a_wrong_camera_is_said_and_another_one_is_chosen_while_the_program_runs(tmp_path, film):
    (tmp_path / "data").mkdir()
    film.rename(tmp_path / "data" / "film.avi")
    given = ("--camera", 97, "--box", "none", "--players", "Ann,Ben", "--data-dir", "data")
    with program("run", *given, *SERVED, cwd=tmp_path) as process:
        _, found = read_until(process, r"board: (\S+)")
        read_until(process, r"^referee: camera 97: was not found, or cannot be opened: .*/setup\. Webcams here: none$")
        visitor = Visitor(found[1])
        assert "Camera 97 gives no picture" in visitor.get("setup")
        assert "camera 97: was not found, or cannot be opened" in visitor.get("setup/measure/mats", go="1")
        assert "no camera" in visitor.get("setup/devices", camera="97", address="../film.avi", box="none")
        page = visitor.get("setup/devices", camera="97", address="film.avi", box="none")
        assert "Camera 97 gives no picture" not in page and "film.avi</b>" in page
        assert "✓ pass" in visitor.get("setup/measure/mats", go="1")
    assert kept_cameras(tmp_path / "data") == [(str(tmp_path / "data" / "film.avi"), {})]


@pytest.mark.parametrize(
    "args, says",
    [
        (("run", "--deck", "nowhere.json"), "nowhere.json: No such file"),
        (("run", *("--camera", "0") * 2, "--camera", "1"), "--camera: a table has two cameras at most"),
        (("run", *("--camera", "film") * 2), "--camera: film and film are the same camera"),
        (("run", "--camera-file", "nowhere.yaml"), "nowhere.yaml: No such file"),
        (("demo", "--players", "13", "--headless"), "from 2 to 12 can play"),
    ],
)
def test_what_cannot_be_is_one_line_and_status_2(referee, tmp_path, monkeypatch, args, says):
    monkeypatch.chdir(tmp_path)
    done = referee(*args)
    assert done.returncode == 2
    assert says in done.stderr and "Traceback" not in done.stderr
