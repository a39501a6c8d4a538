"""A hundred viewers: every state reaches everyone, and vision goes on meanwhile.

Vision is the real session's live one (gate, card in the holder, gate history) on a recorded duel at 30 pictures a
second, and beside the hundred boards a console has both live pictures with their outlines open.

How fast is printed and never asserted: a machine that does other things proves nothing about speed
(``bench_load.py`` measures it). ``REFEREE_LOAD_S`` sets how long it runs: 20 seconds unless told.
"""

from __future__ import annotations

import functools
import itertools
import os
import socket
import subprocess
import sys
import threading
import time
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import av
import numpy as np
import pytest

from calibration.camera import load_camera
from cards.deck import load_deck
from cards.pieces import load_piece_set
from referee.devices.box_keyboard import KeysBox
from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import Frame, SystemClock
from referee.journal.journal import Journal
from referee.match.commands import DrawCard
from referee.match.decide import decide
from referee.match.evolve import evolve
from referee.session.session import Equipment, Session
from referee.vision.live.gate import Gate
from referee.vision.observer import Observer

CLOCK = SystemClock()
GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
VIEWERS = 100
SECONDS = float(os.environ.get("REFEREE_LOAD_S", "20"))
EVERY_S = 0.5
FRAME_S = 1 / 30


class Tape:
    """A recorded duel as a camera: its pictures again and again, 30 a second."""

    name, simulated = "tape", True

    def __init__(self) -> None:
        with av.open(str(GOLDEN / "video.mp4")) as video:
            pictures = (frame.to_ndarray(format="bgr24") for frame in video.decode(video=0))
            self._images = list(itertools.islice(pictures, 20, 60, 2))
        self._begin_s, self.settings = CLOCK.now_s(), CameraSettings()

    def adjust(self, how) -> None:
        pass  # a tape has no settings

    def latest(self, after: int = -1, timeout_s: float = 1.0) -> Frame | None:
        due_s = self._begin_s + (after + 1) * FRAME_S
        if (wait_s := due_s - CLOCK.now_s()) > 0:
            time.sleep(min(wait_s, timeout_s))
            if wait_s > timeout_s:
                return None
        number = int((CLOCK.now_s() - self._begin_s) / FRAME_S)
        return Frame(self._images[number % len(self._images)], number, self._begin_s + number * FRAME_S)

    def listen(self, callback) -> None:
        """Nobody records this."""

    def status(self) -> dict:
        return {"name": self.name, "simulated": True, "frames": 0, "dropped": 0, "fps": 30.0, "lost": None}


class Counted(Gate):
    """The real gate, and how many frames it has looked at with how much of its thread's time."""

    frames, cpu_s = 0, 0.0

    def look(self, frame: Frame):
        seen = super().look(frame)
        self.frames, self.cpu_s = self.frames + 1, time.thread_time()
        return seen

    def rate(self, seconds: float) -> float:
        """Frames per second over that long."""
        before, began = self.frames, time.monotonic()
        time.sleep(seconds)
        return (self.frames - before) / (time.monotonic() - began)


@pytest.fixture
def session(tmp_path) -> Iterator[Session]:
    """The real session with the real live vision on a recorded duel."""
    pieces = load_piece_set(GOLDEN / "pieces.json")
    observer = Observer(pieces, load_camera(GOLDEN / "camera.yaml"))
    deck, clock = load_deck(GOLDEN / "deck.json", pieces), CLOCK
    with closing(Journal(tmp_path / "journal.db")) as journal, closing(KeysBox(clock)) as box:
        made = Session(
            Equipment(
                journal=journal,
                deck=deck,
                piece_set=pieces,
                observer=observer,
                gate=Counted(observer),
                camera=Tape(),
                box=box,
                clock=clock,
                data_dir=tmp_path,
                simulated=True,
            )
        )
        made.start()
        try:
            yield made
        finally:
            made.stop()


def console_open(url: str) -> list[socket.socket]:
    """The two live pictures of one console, taken as fast as they come."""
    lines = []
    for zone in "AB":
        line = socket.create_connection((urlsplit(url).hostname, urlsplit(url).port))
        line.sendall(f"GET /live/zone_{zone}.mjpg HTTP/1.1\r\nHost: {urlsplit(url).netloc}\r\n\r\n".encode())
        threading.Thread(target=_swallow, args=(line,), name=f"console {zone}").start()
        lines.append(line)
    return lines


def _swallow(line: socket.socket) -> None:
    with suppress(OSError):
        while line.recv(1 << 16):
            pass


def resident_bytes() -> int:
    """Memory of this process that is in use now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Broadcaster:
    """The viewers' process and what they have told: viewer -> serial, time of arrival, serial, …"""

    def __init__(self, url: str) -> None:
        script = Path(__file__).parent / "viewers.py"
        self._process = subprocess.Popen(
            [sys.executable, str(script), url, str(VIEWERS)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout.readline().strip() == "ready"
        self.arrived: dict[str, array] = {}
        self._thread = threading.Thread(target=self._read, name="crowd")
        self._thread.start()

    def _read(self) -> None:
        for line in self._process.stdout:
            viewer, serial, at = line.split()
            self.arrived.setdefault(viewer, array("d")).extend((float(serial), float(at)))

    def delays(self, sent: dict[int, float]) -> list[float]:
        """Per viewer and state sent: seconds until he had it, or a newer one when he was too slow for it."""
        assert len(self.arrived) == VIEWERS
        found = []
        for heard in self.arrived.values():
            states = zip(heard[::2], heard[1::2], strict=True)
            serial, arrived = next(states)
            for wanted, at in sorted(sent.items()):
                while serial < wanted:
                    serial, arrived = next(states)
                found.append(arrived - at)
        return found

    def close(self) -> None:
        """Let them go home."""
        self._process.stdin.close()
        self._thread.join()
        assert self._process.wait(timeout=5) == 0
        self._process.stdout.close()


def play(session: Session, crowd: Broadcaster, feed, seconds: float) -> list[float]:
    """A card drawn and taken back for that long; every viewer's delay of every state, in seconds."""
    idle = session.state
    drawn = functools.reduce(evolve, decide(idle, DrawCard(), ""), idle)
    states = itertools.cycle((drawn, idle))
    sent: dict[int, float] = {}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        before, at = feed.serial, time.monotonic()
        session.match.state = next(states)
        session.touch()
        while feed.serial == before and time.monotonic() - at < 2:
            time.sleep(0.005)
        sent[feed.serial] = at
        time.sleep(EVERY_S)
    time.sleep(1)
    session.match.state = idle
    return crowd.delays(sent)


def all_watching(streams):
    """The board's feed once every viewer is there."""
    end = time.monotonic() + 120
    while (feed := streams._feeds.get("board.en")) is None or feed.viewers < VIEWERS:
        assert time.monotonic() < end
        time.sleep(0.05)
    return feed


@pytest.mark.slow
def test_a_hundred_viewers_have_every_state_while_vision_goes_on(session, app, server, capsys):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    vision = session.gate
    while not session.judging.gates():
        time.sleep(0.05)
    alone = vision.rate(5)
    crowd, console = Broadcaster(server.url), console_open(server.url)
    try:
        feed = all_watching(app.extensions["referee.streams"])
        play(session, crowd, feed, 5)
        memory, frames, began = resident_bytes(), vision.frames, time.monotonic()
        web_cpu_s = time.process_time() - vision.cpu_s
        delays = play(session, crowd, feed, SECONDS)
        lasted = time.monotonic() - began
        watched = (vision.frames - frames) / lasted
        web_cpu_s = time.process_time() - vision.cpu_s - web_cpu_s
        grown = resident_bytes() - memory
    finally:
        crowd.close()
        for line in console:
            line.shutdown(socket.SHUT_RDWR)
            line.close()
    alone = (alone + vision.rate(5)) / 2
    p50, p99 = np.percentile(delays, [50, 99])
    with capsys.disabled():
        print(
            f"\n{VIEWERS} viewers and a console, {len(delays)} deliveries in {SECONDS:.0f} s: "
            f"median {1000 * p50:.0f} ms, p99 {1000 * p99:.0f} ms, longest {1000 * max(delays):.0f} ms; "
            f"live vision {alone:.1f} -> {watched:.1f} frames/s; "
            f"web and pictures {100 * web_cpu_s / lasted:.0f} % of a core; memory {grown / 2**20:+.1f} MB"
        )
    assert watched > 0
