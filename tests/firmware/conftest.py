"""The firmware, compiled: for the ATmega328P in simavr, and its headers for the PC under the sanitizers."""

from __future__ import annotations

import fcntl
import importlib.util
import itertools
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from referee.devices.box import SerialBox
from referee.devices.ports import BoxNotice, SystemClock

HERE = Path(__file__).parent
SKETCH = HERE.parents[1] / "firmware" / "button_box"
FAST_RATE_SPAN = 0.99  # an unpaced simulation is several times too quick
PLAYERS = 4


def run(*command: object, cwd: Path | None = None) -> str:
    """Standard output of a command that must succeed without a word on standard error."""
    done = subprocess.run([str(c) for c in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


def load_script(name: str):
    """A script of firmware/ as a module."""
    spec = importlib.util.spec_from_file_location(f"firmware_{name}", SKETCH.parent / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up there
    spec.loader.exec_module(module)
    return module


build = load_script("build")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """``made_once(name, make)``: the file of that name, made by ``make(path)`` in the first of several processes."""
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent

    def file(name: str, make: Callable[[Path], object]) -> Path:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with open(path.with_suffix(".lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                make(path)
        return path

    return file


@pytest.fixture(scope="session")
def elf(made_once) -> Path:
    """The sketch for the Uno, without a warning in our own code."""
    return made_once("uno/box.elf", lambda path: build.build(build.BOARDS["uno"], path.parent))


@pytest.fixture(scope="session")
def mega_elf(made_once) -> Path:
    """The sketch for the Mega."""
    return made_once("mega/box.elf", lambda path: build.build(build.BOARDS["mega"], path.parent))


def harness(path: Path, *options: str) -> None:
    """Compile the program of that name against simavr."""
    source = HERE / f"{path.name}.c"
    run("gcc", "-O2", "-Wall", "-o", path, source, "-I/usr/include/simavr", "-lsimavr", *options)


@pytest.fixture(scope="session")
def simulator(made_once) -> Path:
    """The simavr harness."""
    return made_once("simavr/simavr_box", lambda path: harness(path, "-lutil"))


@pytest.fixture(scope="session")
def timeline_program(made_once) -> Path:
    """The simavr harness that runs timelines at exact cycles."""
    return made_once("simavr/simavr_timeline", lambda path: harness(path, "-Wextra"))


@pytest.fixture(scope="session")
def box_host(made_once) -> Path:
    """The headers in a program for this PC; any sanitizer's complaint ends it with an error."""
    return made_once("host/box_host", sanitized)


def sanitized(path: Path) -> None:
    """Compile the headers for this PC, with every check."""
    run(
        "g++",
        "-std=c++11",
        "-O1",
        "-g",
        "-Wall",
        "-Wextra",
        "-Wconversion",
        "-Wshadow",
        "-Werror",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
        f"-I{SKETCH}",
        "-o",
        path,
        HERE / "box_host.cpp",
    )


class Headers:
    """The firmware's headers on this PC; see box_host.cpp for the commands."""

    def __init__(self, program: Path) -> None:
        self._process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(self, lines: list[str]) -> list[str]:
        """What the box says to these lines of a timeline."""
        self._process.stdin.write("\n".join([*lines, "end", ""]))
        self._process.stdin.flush()
        return list(itertools.takewhile(lambda line: line != "--", map(str.strip, self._process.stdout)))

    def stop(self) -> None:
        """End it; a sanitizer's complaint fails here."""
        self._process.stdin.close()
        self._process.stdout.close()
        assert self._process.wait(10) == 0


@pytest.fixture(scope="session")
def headers(box_host):
    """One running ``Headers`` for all tests; every timeline begins with a fresh box."""
    running = Headers(box_host)
    yield running
    running.stop()


@dataclass(frozen=True)
class Edge:
    """One change of a contact, with the simulated time at which the pin really moved."""

    button: int
    closed: bool
    at_us: float


@dataclass
class SimavrBox:
    """The firmware running in simavr, with a hand on its buttons."""

    process: subprocess.Popen
    port: str
    edges: list[Edge] = field(default_factory=list)
    lamps: dict[int, bool] = field(default_factory=dict)
    buzzes_us: list[int] = field(default_factory=list)
    _more: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        self._watcher = threading.Thread(target=self.watch, daemon=True)
        self._watcher.start()

    def stop(self) -> None:
        """Switch it off."""
        self.process.stdin.close()
        self.process.wait(10)
        self._watcher.join()
        self.process.stdout.close()

    def watch(self) -> None:
        """Collect what the simulator tells; runs on a thread of its own."""
        for line in self.process.stdout:
            with self._more:
                self._note(line.split())
                self._more.notify_all()

    def _note(self, words: list[str]) -> None:
        if words[:1] == ["edge"]:
            self.edges.append(Edge(int(words[1]), words[2] == "1", float(words[3])))
        elif words[:1] == ["lamp"]:
            self.lamps[int(words[1])] = words[2] == "1"
        elif words[:1] == ["buzz"]:
            self.buzzes_us.append(int(words[1]))

    def wait_for(self, condition, timeout_s: float = 10.0) -> bool:
        """Wait until the condition holds for what has been told."""
        with self._more:
            return self._more.wait_for(condition, timeout_s)

    def wait_edges(self, count: int) -> None:
        """Wait until that many pin changes have happened."""
        assert self.wait_for(lambda: len(self.edges) >= count), f"{len(self.edges)} of {count} edges"

    def send(self, *lines: str) -> None:
        """Commands to the simulator."""
        self.process.stdin.write("".join(f"{line}\n" for line in lines))
        self.process.stdin.flush()

    def press(self, button: int, after_us: int = 0, hold_us: int = 30_000) -> None:
        """A clean press and release."""
        self.train(button, [after_us], [after_us + hold_us])

    def train(self, button: int, press_us: list[int], release_us: list[int] = ()) -> None:
        """A press and a release with bounce, by the times at which the contact changes; see
        bounce_shapes.txt.
        """
        closed = [
            *zip(press_us, itertools.cycle([1, 0]), strict=False),
            *zip(release_us, itertools.cycle([0, 1]), strict=False),
        ]
        self.send(*(f"edge {button} {c} {t}" for t, c in closed))


@pytest.fixture
def start_simavr(elf, simulator, tmp_path):
    """Starts simulations: ``start(paced, delay_us, seed) -> SimavrBox``; all are ended with the test."""
    started = []

    def start(paced: bool = False, delay_us: int = 0, seed: int = 1) -> SimavrBox:
        link = tmp_path / f"box{len(started)}"
        command = [simulator, elf, link, str(int(paced)), str(delay_us), str(seed)]
        process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        while "ready" not in process.stdout.readline():
            assert process.poll() is None
        started.append(SimavrBox(process, str(link)))
        return started[-1]

    yield start
    for box in started:
        box.stop()


class Heard:
    """Collects a driver's notices and waits for them."""

    def __init__(self):
        self.notices: list[BoxNotice] = []
        self._more = threading.Condition()

    def __call__(self, notice: BoxNotice) -> None:
        with self._more:
            self.notices.append(notice)
            self._more.notify_all()

    def of(self, kind: str) -> list[BoxNotice]:
        """The notices of that kind so far."""
        return [n for n in self.notices if n.kind == kind]

    def wait(self, kind: str, count: int = 1, timeout_s: float = 15.0) -> list[BoxNotice]:
        """The notices of that kind, once there are ``count`` of them."""
        with self._more:
            assert self._more.wait_for(lambda: len(self.of(kind)) >= count, timeout_s), self.notices[-10:]
            return self.of(kind)


@pytest.fixture
def drive():
    """Starts drivers: ``drive(simavr_box, rate_span) -> (SerialBox, Heard)``, connected; all are
    closed with the test.
    """
    started = []

    def start(box: SimavrBox, rate_span: float = FAST_RATE_SPAN) -> tuple[SerialBox, Heard]:
        driver, heard = SerialBox(box.port, SystemClock(), rate_span=rate_span), Heard()
        started.append(driver)
        driver.listen(heard)
        heard.wait("found")
        return driver, heard

    yield start
    for driver in started:
        driver.close()


@pytest.fixture(scope="session")
def shapes() -> dict[str, dict[int, list[int]]]:
    """The recorded bounce: ``shapes()["press"][21]`` is the times in microseconds at which the
    contact changes.
    """
    text = (HERE / "bounce_shapes.txt").read_text()
    rows = re.findall(r"^(press|release) (\d+): (.*)$", text, re.MULTILINE)
    return {
        kind: {int(n): [int(t) for t in times.split()] for k, n, times in rows if k == kind}
        for kind in ("press", "release")
    }
