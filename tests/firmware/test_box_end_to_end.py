"""`referee run --box …` plays a duel against the firmware in simavr, from the command line to the award."""

import http.cookiejar
import json
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing

import av
import numpy as np
import pytest
from posed_table import PosedTable

from calibration.camera import camera_text
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set
from referee.journal.journal import Journal
from referee.simulator.build_plans import plan_build

CARD, RECORD = "L01", "record.db"
FPS, FRAMES = 10, 12
GAME_S = 2.0  # from the go to the first Stop; presses before 1 s are void
STAMP_ERROR_US = 50
GO_LATE_US = 1_500  # the buzzer's first half wave comes so long after the go at most
TIED_S = 0.008  # the clocks are tied well enough for a go


def film(path, pictures):
    """An H.264 video of these BGR pictures, hardly compressed."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=FPS, options={"crf": "12", "preset": "ultrafast"})
        stream.height, stream.width = pictures[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for picture in pictures:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="bgr24")))
        container.mux(stream.encode())


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recorded table: A has built the card, B nothing. Gives (video, camera file)."""
    folder = tmp_path_factory.mktemp("table")
    table = PosedTable(builtin_piece_set(), 3, seating="across")
    built = plan_build(builtin_deck().card(CARD), builtin_piece_set(), np.random.default_rng(1))
    film(folder / "table.mp4", [table.picture({"A": built}, number=n) for n in range(FRAMES)])
    (folder / "camera.yaml").write_text(camera_text(table.lens.model()))
    return folder / "table.mp4", folder / "camera.yaml"


class Console:
    """The JSON API as another program uses it."""

    def __init__(self, url):
        self._url = url
        self._open = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())).open
        self._csrf = self.get("session")["csrf"]

    def get(self, what):
        with self._open(f"{self._url}api/{what}", timeout=10) as answer:
            return json.load(answer)

    def command(self, name, **body):
        headers = {"Content-Type": "application/json", "X-CSRF-Token": self._csrf}
        url = f"{self._url}api/commands/{name}"
        request = urllib.request.Request(url, json.dumps(body).encode(), headers)
        try:
            with self._open(request, timeout=10) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as refused:
            raise AssertionError(f"{name}: {refused.code} {refused.read().decode()}") from refused

    def until(self, holds, timeout_s=60.0):
        """The snapshot, once it is so."""
        end_s = time.monotonic() + timeout_s
        while not holds(shot := self.get("snapshot")):
            assert time.monotonic() < end_s, shot
            time.sleep(0.1)
        return shot


@pytest.fixture
def referee_run(tmp_path, recording):
    """Starts ``referee run`` with that box and the recorded table; gives its console, ends it politely."""
    video, lens = recording
    started = []

    def start(box_port):
        words = [
            "run",
            "--camera",
            video,
            "--camera-file",
            lens,
            "--box",
            box_port,
            "--players",
            "Ann,Ben",
            "--data-dir",
            tmp_path,
            "--journal",
            tmp_path / RECORD,
            "--port",
            "0",
            "--no-browser",
            "--seed",
            "1",
        ]
        program = subprocess.Popen(
            [sys.executable, "-c", "from referee.cli import main; main()", *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(program)
        for line in program.stdout:
            if found := re.search(r"board: (\S+)", line):
                return Console(found[1])
        raise AssertionError("referee run has ended")

    yield start
    for program in started:
        program.send_signal(signal.SIGTERM)
        rest = program.communicate(timeout=30)[0]
        assert program.returncode == 0, rest


@pytest.mark.slow
def test_a_duel_from_the_go_to_the_award(start_simavr, referee_run, shapes, tmp_path):
    simavr = start_simavr(paced=True, delay_us=10_000)
    console = referee_run(simavr.port)
    live = console.until(lambda shot: (shot["live"]["box"]["offset_error_s"] or 1) < TIED_S)
    assert live["live"]["box"]["box_id"] == "BOX1" and not live["live"]["box"]["simulated"]
    console.command("GoUnsigned", who="Eve")
    console.command("DrawCard", card_id=CARD)
    console.command("Ready")
    console.command("Go")
    assert simavr.wait_for(lambda: simavr.buzzes_us)
    stop_us = int(GAME_S * 1e6)
    simavr.train(0, [stop_us + t for t in shapes["press"][21]])
    simavr.press(1, after_us=stop_us + 20_000, hold_us=300_000)
    shot = console.until(lambda shot: shot["match"]["phase"] in ("decided", "undecided"))
    if shot["match"]["phase"] == "undecided":
        console.command("HumanRuling", ruling="match", who="Eve", why="both looked")
        shot = console.until(lambda shot: shot["match"]["phase"] == "decided")
    clocks_agree(shot["match"]["presses"], recorded(tmp_path), simavr)
    assert simavr.wait_for(lambda: simavr.lamps[0] and not simavr.lamps[1])
    assert shot["match"]["callers"] == ["A"]
    ruling = shot["match"]["rulings"].get("A") or shot["match"]["verdicts"]["A"]["verdict"]
    assert shot["match"]["award"]["player"] == {"match": "Ann", "mismatch": "Ben"}[ruling]


def recorded(folder):
    """Box times of the go and of the first Stop, as the journal has them."""
    with closing(Journal(folder / RECORD)) as journal:
        events = journal.events(journal.matches()[-1])
    return [next(e.data["box_us"] for e in events if e.kind == kind) for kind in ("go", "stop")]


def clocks_agree(presses, box_times_us, simavr):
    """A's Stop is the first; the box's times are the pins', the host's are within their bounds of them."""
    edges_us = {b: next(e.at_us for e in simavr.edges if e.button == b) for b in (0, 1)}
    go_us, stop_us = box_times_us
    true_us = edges_us[0] - simavr.buzzes_us[0]
    print(
        f"elapsed {stop_us - go_us} us by the box, {true_us:.0f} us in the simulation, "
        f"{presses[0]['elapsed_s'] * 1e6:.0f} us by the host, bound {presses[0]['error_s']} s"
    )
    assert [p["zone"] for p in presses] == ["A", "B"][: len(presses)]
    assert abs(stop_us - go_us - true_us) < GO_LATE_US
    assert presses[0]["elapsed_s"] > GAME_S - 0.1  # a busy machine simulates slower, never quicker
    assert 0 < presses[0]["error_s"] < 0.1
    for press, button in zip(presses[1:], (1,), strict=False):
        assert abs(press["box_us"] - stop_us - (edges_us[button] - edges_us[0])) < STAMP_ERROR_US
