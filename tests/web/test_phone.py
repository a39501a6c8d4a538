"""A phone's browser as the camera: Chromium with a capture file in the place of its lens, over the real server."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch
from urllib.parse import urlsplit

import cv2
import numpy as np
import pytest
from browser import PHONE, chromium, serious
from playwright.sync_api import expect
from posed_table import PosedTable

from cards.deck import builtin_deck
from cards.kinds.layout import LayoutCard
from cards.pieces import builtin_piece_set
from referee.commands.options import PageOptions
from referee.commands.play import AT_A_TABLE
from referee.commands.serving import open_phone_or_camera
from referee.devices.box_keyboard import KeysBox
from referee.devices.phone import PhoneCamera
from referee.devices.ports import Frame, SystemClock
from referee.journal.journal import Journal
from referee.match.commands import DrawCard, Ready
from referee.recording import Recorder, load_attempt
from referee.session.device_choice import DeviceChoices
from referee.session.session import Equipment, Session
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import place_piece
from referee.simulator.table import World
from referee.vision.live.gate import Gate
from referee.vision.live.gate_history import GateHistory
from referee.vision.observer import Observer
from referee.web.app import create_app
from referee.web.server import Server

CLOCK = SystemClock()
FPS, LOOP, BLOCK_PX, BITS = 10, 30, 24, 5
"""The capture file's pictures a second, how many it holds before it begins again, and its time code's squares."""

BOUND_S = 0.05
"""A frame's time has to be known so well."""

SOONEST_STOP_S = 1.2
"""A press sooner after the go is only noted."""

READ_S = 0.002
"""When a picture was captured is read so well in the page beside."""


def time_code(picture: np.ndarray) -> int:
    """The number painted into the picture's corner: so many squares, and their complement; -1 where it is none."""
    middle = BLOCK_PX // 2
    bits = picture[middle, middle : 2 * BITS * BLOCK_PX : BLOCK_PX, 1] > 127
    return int(bits[:BITS] @ (1 << np.arange(BITS))) if (bits[:BITS] != bits[BITS:]).all() else -1


class CaptureFile:
    """What the phone's lens sees: a y4m film that is written over in place while the browser plays it round and
    round, so that the table can be changed. Every picture bears its number."""

    def __init__(self, path: Path, picture: np.ndarray) -> None:
        self.path = path
        self.path.write_bytes(self._film(picture))

    def stage(self, picture: np.ndarray) -> None:
        """Another table from now on."""
        with open(self.path, "r+b") as film:
            film.write(self._film(picture))

    def _film(self, picture: np.ndarray) -> bytes:
        height, width = picture.shape[:2]
        parts = [f"YUV4MPEG2 W{width} H{height} F{FPS}:1 Ip A1:1 C420mpeg2\n".encode()]
        for number in range(LOOP):
            coded = picture.copy()
            bits = [(number >> k) & 1 for k in range(BITS)]
            for k, bit in enumerate(bits + [1 - b for b in bits]):
                coded[:BLOCK_PX, k * BLOCK_PX : (k + 1) * BLOCK_PX] = 255 * bit
            parts += [b"FRAME\n", cv2.cvtColor(coded, cv2.COLOR_BGR2YUV_I420).tobytes()]
        return b"".join(parts)


class Cable:
    """A way to the server that can be cut: then nothing goes either way, and nobody is told."""

    def __init__(self, port: int) -> None:
        self._to, self._whole = port, threading.Event()
        self._whole.set()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = self._door.getsockname()[1]
        self._threads: list[threading.Thread] = []
        self._ends: list[socket.socket] = []
        self._start(self._accept)

    def cut(self, seconds: float) -> float:
        """For so long; gives when it was whole again."""
        self._whole.clear()
        time.sleep(seconds)
        self._whole.set()
        return CLOCK.now_s()

    def close(self) -> None:
        """Let nobody in any more."""
        self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, work: Callable[..., None], *sockets: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=sockets))
        self._threads[-1].start()

    def _accept(self) -> None:
        while True:
            try:
                here = self._door.accept()[0]
            except OSError:
                return
            self._whole.wait()
            there = socket.create_connection(("127.0.0.1", self._to))
            self._ends += here, there
            for one, other in ((here, there), (there, here)):
                self._start(self._pump, one, other)

    def _pump(self, source: socket.socket, sink: socket.socket) -> None:
        with source, sink:
            while True:
                try:
                    data = source.recv(1 << 16)
                    self._whole.wait()
                    if not data:
                        return sink.shutdown(socket.SHUT_RDWR)
                    sink.sendall(data)
                except OSError:
                    return


@dataclass
class Seen:
    """Frames as the session got them: time code, time, told bound, arrival; and the newest picture."""

    camera: PhoneCamera
    rows: list[tuple[int, float, float, float]] = field(default_factory=list)
    picture: np.ndarray | None = None

    def __call__(self, frame: Frame) -> None:
        self.picture = frame.image
        self.rows.append((time_code(frame.image), frame.at_s, self.camera.frame_error_s, CLOCK.now_s()))


def until(holds: Callable[[], object], patience_s: float = 30.0) -> None:
    end_s = CLOCK.now_s() + patience_s
    while not holds():
        assert CLOCK.now_s() < end_s, "it did not happen"
        time.sleep(0.02)


LENS_OF_ITS_OWN = """
  const set = {};
  MediaStreamTrack.prototype.getCapabilities = () => ({ exposureMode: ["continuous", "manual"],
    focusMode: ["continuous"], whiteBalanceMode: ["continuous", "manual"] });
  MediaStreamTrack.prototype.applyConstraints = async (wanted) => {
    Object.assign(set, wanted.advanced[0]);
    delete set.whiteBalanceMode; // says that it can, and does not
  };
  const usual = MediaStreamTrack.prototype.getSettings;
  MediaStreamTrack.prototype.getSettings = function () { return { ...usual.call(this), ...set }; };
"""
"""A phone whose exposure can be held; of the white balance it only says so."""

EMISSIONS = """async (count) => {
  const track = document.querySelector("video").srcObject.getVideoTracks()[0].clone(), rows = [];
  const reader = new MediaStreamTrackProcessor({ track }).readable.getReader();
  const square = new OffscreenCanvas(BITS, 1).getContext("2d", { willReadFrequently: true });
  while (rows.length < count) {
    const { value: frame } = await reader.read(), at = performance.now();
    square.drawImage(frame, 0, 0, BITS * SIDE, SIDE, 0, 0, BITS, 1);
    const data = square.getImageData(0, 0, BITS, 1).data;
    let code = 0;
    for (let k = 0; k < BITS; k++) code |= (data[4 * k] > 127) << k;
    rows.push([code, frame.timestamp / 1000, at]);
    frame.close();
  }
  track.stop();
  return rows;
}""".replace("BITS", str(BITS)).replace("SIDE", str(BLOCK_PX))
"""Code, the capture's own time stamp and when the page had it, of so many pictures: read beside what is sent."""


def emissions_s(page, count: int) -> dict[int, list[float]]:
    """When the capture gave the pictures of each code, by the host's clock: the page's clock is read between two
    readings of it, which owes nothing to the protocol."""
    rows = page.evaluate(EMISSIONS, count)
    offsets = []
    for _ in range(20):
        before_s = CLOCK.now_s()
        page_ms = page.evaluate("performance.now()")
        after_s = CLOCK.now_s()
        offsets.append((after_s - before_s, (before_s + after_s) / 2 - page_ms / 1000))
    quickest_ms = min(at - stamp for _, stamp, at in rows)
    found: dict[int, list[float]] = {}
    for code, stamp, _ in rows:
        found.setdefault(code, []).append((stamp + quickest_ms) / 1000 + min(offsets)[1])
    return found


@contextmanager
def table(folder: Path, seen_first: np.ndarray, lens) -> Iterator[tuple[Session, Seen, CaptureFile, str]]:
    """A session whose camera is a phone that has not come yet; what its lens will see; the pages' address."""
    pieces = builtin_piece_set()
    asked = PageOptions(host="127.0.0.1", port=None, pin=None, tls=None)
    with ExitStack() as stack:
        camera = stack.enter_context(closing(open_phone_or_camera(folder, asked, "phone", CLOCK)))
        assert isinstance(camera, PhoneCamera)
        observer, box = Observer(pieces, lens), KeysBox(CLOCK)
        session = Session(
            Equipment(
                journal=stack.enter_context(closing(Journal(folder / "journal.db"))),
                deck=builtin_deck(),
                piece_set=pieces,
                observer=observer,
                gate=Gate(observer),
                camera=camera,
                box=box,
                clock=CLOCK,
                rules=AT_A_TABLE,
                data_dir=folder,
                simulated=False,
                recorder=stack.enter_context(closing(Recorder(folder / "attempts", CLOCK))),
            )
        )
        seen = Seen(camera)
        camera.listen(seen)
        session.start()
        stack.callback(session.stop)
        choices = DeviceChoices(session, "none", CLOCK)
        server = stack.enter_context(closing(Server(create_app(session, choices=choices), "127.0.0.1", 0)))
        yield session, seen, CaptureFile(folder / "lens.y4m", seen_first), server.url


def shown(seen: Seen, picture: np.ndarray) -> bool:
    """Whether the newest frame is of that table."""
    newest = seen.picture
    return newest is not None and float(np.abs(newest[100:].astype(int) - picture[100:]).mean()) < 4


class Play:
    """The referee's laptop and the phone, before the table."""

    def __init__(self, session: Session, seen: Seen, lens: CaptureFile, laptop, phone) -> None:
        self.session, self.seen, self.lens, self.laptop, self.phone = session, seen, lens, laptop, phone

    def stage(self, picture: np.ndarray) -> None:
        """Another table, and the session sees it."""
        self.lens.stage(picture)
        until(lambda: shown(self.seen, picture))
        time.sleep(0.3)

    def become_camera(self, url: str) -> None:
        """The phone opens the link, is asked, and is the camera."""
        self.phone.goto(url)
        self.phone.locator("#start").click()
        expect(self.phone.locator(".state.live")).to_be_visible()
        until(lambda: self.seen.rows and self.seen.camera.frame_error_s < BOUND_S)
        self.seen.rows.clear()

    def set_up(self, empty: np.ndarray, colors: np.ndarray) -> None:
        """Mats, empty table and colours, measured by what the phone sends; both players sign."""
        for step, picture in (("mats", empty), ("empty", empty), ("colors", colors)):
            if not shown(self.seen, picture):
                self.stage(picture)
            self.laptop.locator(f"#{step} form button").click()
            expect(self.laptop.locator(f"#{step} .state").first).to_contain_text("pass", timeout=20_000)
        self.laptop.locator("[name=name_A]").fill("Ann")
        self.laptop.locator("[name=name_B]").fill("Ben")
        self.laptop.locator("#sign button").click()
        expect(self.laptop.locator("#sign .state").first).to_contain_text("frozen")

    def duel(self, card: LayoutCard, begun: np.ndarray, built: np.ndarray) -> None:
        """Go, a build, a Stop, a verdict."""
        self.session.command(DrawCard(card.id))
        self.stage(begun)
        self.session.command(Ready())
        self.session.go()
        until(lambda: self.session.state.phase == "building")
        self.stage(built)
        time.sleep(SOONEST_STOP_S)
        self.session.press("A")
        until(lambda: self.session.state.phase in ("decided", "undecided", "void"))


def check_times(seen: Seen, emitted: dict[int, list[float]]) -> list[float]:
    """Every frame that came meanwhile is where its time code says, within the bound that was told with it."""
    off_s = []
    for code, at_s, bound_s, _ in list(seen.rows):
        nearest_s = min(emitted.get(code, ()), key=lambda s: abs(s - at_s), default=0.0)
        if code > 0 and abs(nearest_s - at_s) < LOOP / FPS / 2:  # the first comes twice as the film begins again
            assert abs(at_s - nearest_s) - READ_S <= bound_s <= BOUND_S, (code, at_s - nearest_s, bound_s)
            off_s.append(at_s - nearest_s)
    return off_s


@pytest.mark.slow
def test_a_duel_is_set_up_judged_and_recorded_by_a_phones_browser(tmp_path):
    rig = PosedTable(builtin_piece_set(), 3, seating="across")
    card = next(c for c in builtin_deck().cards if isinstance(c, LayoutCard) and len(c.pieces) < 5)
    standing = [place_piece(p) for p in spread_set(rig.piece_set)]
    empty, colors = rig.empty(), rig.render(World({"A": standing, "B": standing}))
    built = rig.render(World({"A": [place_piece(p) for p in card.pieces]}))
    flags = ("--use-fake-ui-for-media-stream", "--use-fake-device-for-media-stream")
    with ExitStack() as stack:
        stack.enter_context(patch.object(GateHistory, "_unseen", lambda *_: False))  # however busy the machine is
        session, seen, lens, url = stack.enter_context(table(tmp_path, empty, rig.lens.model()))
        browser = stack.enter_context(chromium(*flags, f"--use-file-for-fake-video-capture={lens.path}"))
        phones = browser.new_context(viewport=PHONE, ignore_https_errors=True)
        play = Play(session, seen, lens, browser.new_page(), phones.new_page())
        play.laptop.goto(f"{url}setup")
        link = play.laptop.locator("#phone .address a").get_attribute("href")
        play.laptop.locator("#phone > img").wait_for()
        cable = stack.enter_context(closing(Cable(urlsplit(link).port)))
        near = urlsplit(link)._replace(netloc=f"127.0.0.1:{cable.port}").geturl()
        play.become_camera(near)

        off_s = check_times(seen, emissions_s(play.phone, 2 * FPS))
        assert len(off_s) > FPS, "too few frames to tell"
        assert np.abs((seen.picture[100:].astype(int) - empty[100:]).mean((0, 1))).max() < 1.5, "other colours"

        assert serious(play.phone) == [] and serious(play.laptop) == []
        second = browser.new_context(ignore_https_errors=True).new_page()
        second.goto(near)
        expect(second.locator(".state.taken")).to_be_visible()
        assert second.locator("#start").count() == 0
        assert second.request.post(f"{near}begin").status == 409
        assert second.request.post(f"{near}records", data=b"").status == 403

        session.create_match(["Ann", "Ben"])
        play.laptop.reload()
        play.set_up(empty, colors)
        play.duel(card, empty, built)
        assert session.state.phase == "decided" and session.state.duel.award == "Ann"
        check_cut(play, cable)
        check_next_phone(play, browser, built)
        session.stop()
        (meta,) = (tmp_path / "attempts").glob("*/attempt.json")
        attempt = load_attempt(meta.parent)
        assert attempt.verdicts["A"]["verdict"] == "match" and len(attempt.seconds) > FPS
        (stop,) = [mark for mark in attempt.meta["marks"] if mark["name"] == "stop"]
        assert 0 < stop["frame_error_s"] <= BOUND_S


def check_cut(play: Play, cable: Cable) -> None:
    """While nothing goes either way the camera is lost; frames come again within two seconds, in their own time."""
    whole_s = cable.cut(3.0)
    assert play.session.camera.status()["lost"]
    count = len(play.seen.rows)
    until(lambda: any(row[3] - row[1] < 0.5 for row in play.seen.rows[count:]))
    assert play.seen.rows[-1][3] - whole_s < 2.0
    times = [row[1] for row in play.seen.rows]
    assert times == sorted(times)
    expect(play.phone.locator(".state.live")).to_be_visible()


def check_next_phone(play: Play, browser, table: np.ndarray) -> None:
    """A new link lets in another phone, here one whose browser has no encoder, and the first is told."""
    play.laptop.goto(play.laptop.url.replace("#sign", ""))
    play.laptop.locator("#phone form button").click()
    expect(play.phone.locator(".state.gone")).to_be_visible()
    play.phone = browser.new_context(viewport=PHONE, ignore_https_errors=True).new_page()
    play.phone.add_init_script(LENS_OF_ITS_OWN + "delete window.VideoEncoder")
    play.seen.rows.clear()
    play.become_camera(play.seen.camera.link)
    expect(play.phone.locator("#form")).to_have_text("JPEG")
    until(lambda: shown(play.seen, table))
    for what, told in (("exposure", "locked"), ("focus", "not possible here"), ("white", "not locked")):
        expect(play.phone.locator(f"#{what}")).to_have_text(told)
    check_what_stops_it(play)


def check_what_stops_it(play: Play) -> None:
    """A camera that the phone pauses, and a page that is hidden, are said; seen again it goes on by itself."""
    for name, state in (("mute", "muted"), ("unmute", "live")):
        play.phone.evaluate(
            f"document.querySelector('video').srcObject.getVideoTracks()[0].dispatchEvent(new Event('{name}'))"
        )
        expect(play.phone.locator(f".state.{state}")).to_be_visible()
    for hidden, state in (("true", "hidden"), ("false", "live")):
        play.phone.evaluate(f"Object.defineProperty(document, 'hidden', {{ value: {hidden}, configurable: true }})")
        play.phone.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(play.phone.locator(f".state.{state}")).to_be_visible()
        assert ("⚠" in play.phone.title()) == (hidden == "true")
    count = len(play.seen.rows)
    until(lambda: len(play.seen.rows) > count + 3)
