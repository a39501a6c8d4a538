"""The button box on a serial port: one reader thread, found by its id, back by itself after an unplugging.

``BoxTalk`` does the thinking; here are the port, the thread and the listeners.
"""

from __future__ import annotations

import glob
import math
import termios
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import serial
from serial.tools import list_ports

from referee.devices.box_protocol import BAUD, Sentence
from referee.devices.box_talk import BoxTalk
from referee.devices.clock_tie import RATE_SPAN, ClockTie
from referee.errors import DeviceLost
from referee.ports import BoxNotice, Clock

READ_S = 0.01  # a command waits at most this long for the reader thread to send it
HELLO_S = 2.5  # an Uno whose reset line follows DTR sits in its bootloader for 1.6 s after opening
RETRY_S = 0.2
HISTORY = 64  # notices kept for the first listener


class SerialBox:
    """A ``ButtonBox`` behind a serial port. Starts looking for the box at once and never gives up.

    ``port`` is a device path, a pattern such as ``/dev/ttyUSB*``, a pyserial URL, or None to try every USB
    serial port; ``box_id`` insists on one box. Commands raise DeviceLost while no box is connected; reading
    never raises.
    """

    def __init__(self, port: str | None, clock: Clock, box_id: str | None = None, rate_span: float = RATE_SPAN) -> None:
        _check_url(port)
        self.name = port or "box"
        self.port: str | None = None  # where the box was found
        self.trouble: str | None = None  # why the port could not be opened or went away
        self._line: serial.SerialBase | None = None
        self._wanted_port, self._clock = port, clock
        self._talk = BoxTalk(box_id, ClockTie(rate_span))
        self._lock = threading.Lock()  # guards the talk; never held while listeners run
        self._listeners: list[Callable[[BoxNotice], None]] = []
        self._history: list[BoxNotice] = []  # what happened before anybody listened
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"box {self.name}", daemon=True)
        self._thread.start()

    # --- the ButtonBox port

    @property
    def connected(self) -> bool:
        """Whether a box answers at present."""
        return self._talk.met

    @property
    def simulated(self) -> bool:
        """Whether the box at the other end says of itself that it is SIMULATED."""
        return self._talk.facts.box_id.startswith("SIM")

    def listen(self, callback: Callable[[BoxNotice], None]) -> None:
        """Call back on the reader thread with every notice; the first listener also gets what was
        told before it.
        """
        with self._lock:
            self._listeners.append(callback)

    def arm(self) -> None:
        """Lamps off; presses from now to the go are no stops."""
        self._command("RFARM")

    def go(self) -> None:
        """Sound the buzzer. The ``go`` notice with the box's time of it follows."""
        self._command("RFGOO")

    def resume(self) -> None:
        """Go on with a duel after the box was restarted: presses count from now on, without another go."""
        self._command("RFRUN")

    def disarm(self) -> None:
        """End the duel on the box: presses no longer rank."""
        self._command("RFDIS")

    def lamp(self, player: int, on: bool) -> None:
        """Light or darken a player's lamp."""
        self._command("RFLMP", player, int(on))

    def self_test(self) -> None:
        """Every lamp in turn and a beep; ``status()['tested']`` then has what the box found."""
        self._command("RFTST")

    def rename(self, box_id: str) -> None:
        """Give the box another id, kept in its EEPROM."""
        self._command("RFNAM", box_id)

    def status(self) -> dict:
        """Version, id, boot, quickest round trip, clock offset with bound, rate and counters; JSON-able."""
        with self._lock:
            talk, facts = self._talk, self._talk.facts
            low, high = talk.tie.rate()
            box_us = talk.tie.newest_us()
            at_s, error_s = talk.tie.to_host(box_us)
            return {
                "connected": talk.met,
                "simulated": self.simulated,
                "port": self.port,
                "trouble": self.trouble,
                "version": facts.version,
                "box_id": facts.box_id,
                "boot": facts.boot,
                "buttons": facts.buttons,
                "latency_s": _finite(talk.latency_s),
                "offset_s": _finite(at_s - box_us * 1e-6),
                "offset_error_s": _finite(error_s),
                "rate_ppm": round(((low + high) / 2 - 1) * 1e6, 1),
                "rate_error_ppm": round((high - low) / 2 * 1e6, 1),
                "tested": facts.tested,
                "garbage": talk.lines.garbage,
                "overwritten": facts.overwritten,
                "clock_restarts": talk.tie.restarts,
                **vars(talk.counters),
            }

    def close(self) -> None:
        """Stop the reader thread and let the port go."""
        self._closing.set()
        self._thread.join()

    def wait_connected(self, timeout_s: float) -> bool:
        """Wait until a box answers; False when the time runs out."""
        end_s = time.monotonic() + timeout_s
        while not self.connected and time.monotonic() < end_s:
            time.sleep(READ_S)
        return self.connected

    def host_time(self, box_us: int) -> tuple[float, float]:
        """(host seconds, error bound) of a time on the box's clock, by what is known now."""
        with self._lock:
            return self._talk.tie.to_host(box_us)

    def _command(self, kind: str, *fields: int | str) -> None:
        with self._lock:
            if not self._talk.met:
                raise DeviceLost(f"button box {self.name} is not connected")
            self._talk.command(kind, *fields, now_s=self._clock.now_s())
            if self._line is not None and hasattr(self._line, "cancel_read"):
                self._line.cancel_read()  # the reader sends it at once

    # --- the reader thread

    def _run(self) -> None:
        while not self._closing.is_set():
            for path in candidates(self._wanted_port):
                if not self._closing.is_set():
                    self._visit(path)
            self._closing.wait(RETRY_S)

    def _visit(self, path: str) -> None:
        """Talk on one port until it is lost or turns out to be something else."""
        try:
            with _open(path) as line, self._talking(path, line):
                self._converse(line)
        except (OSError, termios.error) as error:  # pyserial's own faults are OSErrors: gone, busy, none
            self.trouble = str(error)

    @contextmanager
    def _talking(self, path: str, line: serial.SerialBase) -> Iterator[None]:
        with self._lock:
            self.port, self.trouble, self._line = path, None, line
            self._talk.begin(self._clock.now_s())
        try:
            yield
        finally:
            self._lose(path)

    def _converse(self, line: serial.SerialBase) -> None:
        opened_s = self._clock.now_s()
        while not self._closing.is_set():
            for sentence in self._due():
                self._send(line, sentence)
            data = line.read(max(1, line.in_waiting))
            now_s = self._clock.now_s()
            with self._lock:
                notices = self._talk.hear(data, now_s) if data else []
                gone = self._talk.silent(now_s) if self._talk.met else now_s - opened_s > HELLO_S
            self._tell(notices)
            if gone:
                return

    def _due(self) -> list[Sentence]:
        with self._lock:
            return self._talk.due(self._clock.now_s())

    def _send(self, line: serial.SerialBase, sentence: Sentence) -> None:
        data = sentence.encode()
        with self._lock:
            self._talk.wrote(sentence, self._clock.now_s())
        line.write(data)

    def _lose(self, path: str) -> None:
        with self._lock:
            was_met = self._talk.met
            self._talk.end()
            self.port = self._line = None
        if was_met and not self._closing.is_set():
            self._tell([BoxNotice("lost", self._clock.now_s(), text=f"button box on {path} does not answer")])

    def _tell(self, notices: Iterable[BoxNotice]) -> None:
        with self._lock:
            self._history = [*self._history, *notices][-HISTORY:]
            listeners = list(self._listeners)
            if not listeners:
                return
            told, self._history = self._history, []
        for notice in told:
            for listener in listeners:
                listener(notice)


def candidates(port: str | None) -> list[str]:
    """The ports to try: what a pattern matches, the given port itself, or every USB serial port."""
    if port is None:
        return [p.device for p in list_ports.comports() if p.vid is not None]
    return sorted(glob.glob(port)) if glob.has_magic(port) else [port]


def _check_url(port: str | None) -> None:
    try:
        serial.serial_for_url(port or "", do_not_open=True)
    except ValueError as error:
        raise DeviceLost(f"{port}: {error}") from None


def _open(path: str) -> serial.SerialBase:
    line = serial.serial_for_url(path, BAUD, timeout=READ_S, write_timeout=0.5, exclusive=True)
    _hasten(line)
    _keep_dtr(line)
    return line


def _hasten(line: serial.SerialBase) -> None:
    """Ask the driver for 1 ms instead of FTDI's 16 ms, where it has such a thing."""
    if hasattr(line, "set_low_latency_mode"):
        try:
            line.set_low_latency_mode(True)
        except (ValueError, OSError):
            return


def _keep_dtr(line: serial.SerialBase) -> None:
    """Leave DTR as it is when the port closes: on an Uno its next rise would reset the box and lose
    its record.
    """
    if isinstance(getattr(line, "fd", None), int):
        settings = termios.tcgetattr(line.fd)
        settings[2] &= ~termios.HUPCL
        termios.tcsetattr(line.fd, termios.TCSANOW, settings)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
