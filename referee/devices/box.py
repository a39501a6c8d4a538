"""The button box on a serial port: one reader thread, found by its id, back by itself after an unplugging.

``BoxTalk`` does the thinking; here are the port, the thread and the listeners.
"""

import glob
import math
import secrets
import termios
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import serial
from serial.tools import list_ports

from cards import sentences
from referee.devices.box_conversation import BoxTalk
from referee.devices.box_protocol import BAUDS, NEXT_BUTTON
from referee.devices.clock_sync import RATE_SPAN, ClockTie
from referee.devices.ports import BoxNotice, Clock, Lamp
from referee.errors import DeviceLost

HELLO_S = 3.2  # an Uno whose reset line follows DTR sits in its bootloader for 1.6 s after opening
BAUD_S = 0.4  # each speed is tried this long in turn until a box answers
RETRY_S = 0.2
HISTORY = 64  # notices kept for the first listener


class SerialBox:
    """A ``ButtonBox`` behind a serial port. Starts looking for the box at once and never gives up.

    ``port`` is a device path, a pattern such as ``/dev/ttyUSB*``, a pyserial URL, or None to try every USB
    serial port; ``box_id`` insists on one box. Commands raise DeviceLost while no box is connected; reading
    never raises.
    """

    def __init__(self, port: str | None, clock: Clock, box_id: str | None = None, rate_span: float = RATE_SPAN) -> None:
        try:
            serial.serial_for_url(port or "", do_not_open=True)
        except ValueError as error:  # a URL of a kind that is not known
            raise DeviceLost(f"{port}: {error}") from None
        self.name = port or "box"
        self.port: str | None = None  # where the box was found
        self.trouble: str | None = None  # why the port could not be opened or went away
        self._line: serial.SerialBase | None = None
        self._wanted_port, self._wanted_id, self._clock = port, box_id, clock
        self._talk = BoxTalk(box_id, ClockTie(rate_span), number=secrets.randbelow(0xFFFF))
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

    def go(self, countdown: bool = False) -> None:
        """Sound the buzzer, after three tones if asked. The ``go`` notice with the box's time of it follows.

        A box of protocol 1 has no countdown and goes at once.
        """
        self._command("RFGOO", *((int(countdown),) if self._talk.protocol > 1 else ()))

    def resume(self) -> None:
        """Go on with a duel after the box was restarted: presses count from now on, without another go."""
        self._command("RFRUN")

    def disarm(self) -> None:
        """End the duel on the box: presses no longer rank."""
        self._command("RFDIS")

    def lamp(self, player: int, lamp: Lamp) -> None:
        """What a player's lamp shows; a box of protocol 1 only knows on and off."""
        self._command("RFLMP", player, int(lamp) if self._talk.protocol > 1 else int(lamp != Lamp.OFF))

    def insist(self, box_id: str | None) -> None:
        """Believe only this box from now on; any other that answers is told as ``foreign`` and not connected.

        None goes back to what was asked for at the beginning.
        """
        with self._lock:
            self._talk.insist(box_id or self._wanted_id)

    def clear_counts(self) -> None:
        """Begin to count edges anew; see ``ask_counts``."""
        self.ask_counts()
        with self._lock:
            self._talk.facts.counts.clear()

    def ask_counts(self) -> None:
        """Ask what every line did since it was last asked; ``status()['counts']`` then has the sums."""
        if self._talk.protocol > 1:
            for button in range(NEXT_BUTTON + 1):
                self._command("RFCNT", button)

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
                **{name: getattr(facts, name) for name in ("version", "box_id", "boot", "buttons", "cause", "tested")},
                "protocol": talk.protocol,
                "noisy": facts.noisy_lines(),
                "pads": facts.pads(),
                "counts": dict(facts.counts),
                "latency_s": _finite(talk.latency_s),
                "offset_s": _finite(at_s - box_us * 1e-6),
                "offset_error_s": _finite(error_s),
                "rate_ppm": round(((low + high) / 2 - 1) * 1e6, 1),
                "rate_error_ppm": round((high - low) / 2 * 1e6, 1),
                "garbage": talk.lines.garbage,
                "overwritten": facts.overwritten,
                "clock_restarts": talk.tie.restarts,
                "resent": talk.queue.resent,
                "given_up": talk.queue.given_up,
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

    def _command(self, kind: str, *fields: int | str) -> None:
        with self._lock:
            if not self._talk.met:
                raise DeviceLost(sentences.sentence("box_unconnected", name=self.name))
            self._talk.command(kind, *fields, now_s=self._clock.now_s())
            if self._line is not None and hasattr(self._line, "cancel_read"):
                self._line.cancel_read()  # the reader sends it at once

    # --- the reader thread

    def _run(self) -> None:
        while not self._closing.is_set():
            for path in candidate_ports(self._wanted_port):
                if not self._closing.is_set():
                    self._visit(path)
            self._closing.wait(RETRY_S * (1 + secrets.randbelow(100) / 100))  # two programs never swap ports in step

    def _visit(self, path: str) -> None:
        """Talk on one port until it is lost or turns out to be something else."""
        try:
            with open_line(path) as line:
                with self._lock:
                    self.port, self.trouble, self._line = path, None, line
                    self._talk.begin(self._clock.now_s())
                try:
                    self._converse(line)
                finally:
                    self._lose(path)
        except (OSError, termios.error) as error:  # pyserial's own faults are OSErrors: gone, busy, none
            self.trouble = str(error)

    def _converse(self, line: serial.SerialBase) -> None:
        opened_s = self._clock.now_s()
        while not self._closing.is_set():
            with self._lock:
                due = self._talk.due(self._clock.now_s())
            for sentence in due:
                message = sentence.encode()
                with self._lock:
                    self._talk.wrote(sentence, self._clock.now_s())
                line.write(message)
            data = line.read(max(1, line.in_waiting))
            now_s = self._clock.now_s()
            with self._lock:
                notices = self._talk.hear(data, now_s) if data else []
                gone = self._talk.silent(now_s) if self._talk.met else self._talk.foreign or now_s - opened_s > HELLO_S
                self._explain()
            self._tell(notices)
            if gone:
                return
            baud = BAUDS[int((now_s - opened_s) / BAUD_S) % len(BAUDS)]
            if not self._talk.met and line.baudrate != baud:  # firmware 1 has another; setting it does not touch DTR
                line.baudrate = baud
                self._talk.lines.restart()

    def _explain(self) -> None:
        """Why there is no box although something answers."""
        bad = self._talk.lines.bad_hello
        if not self._talk.met and bad:
            self.trouble = (
                f"something there speaks the box's protocol, but its hello is malformed: {bad}; a used Arduino with "
                'the first firmware does that: send it the present one with "referee box flash"'
            )

    def _lose(self, path: str) -> None:
        with self._lock:
            was_met = self._talk.met
            self._talk.end()
            self.port = self._line = None
        if was_met and not self._closing.is_set():
            self._tell([BoxNotice("lost", self._clock.now_s(), text=sentences.sentence("box_away", name=path))])

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


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


READ_S = 0.01  # a command waits at most this long for the reader thread to send it


def candidate_ports(port: str | None) -> list[str]:
    """The ports to try: what a pattern matches, the given port itself, or every USB serial port."""
    if port is None:
        return [p.device for p in list_ports.comports() if p.vid is not None]
    return sorted(glob.glob(port)) if glob.has_magic(port) else [port]


def open_line(path: str) -> serial.SerialBase:
    """The port, at the speed of present boxes, for this program alone. Raises OSError or termios.error."""
    line = serial.serial_for_url(path, BAUDS[0], timeout=READ_S, write_timeout=0.5, exclusive=True)
    with suppress(AttributeError, ValueError, OSError):  # 1 ms instead of FTDI's 16 ms, where the driver has that
        line.set_low_latency_mode(True)
    if isinstance(getattr(line, "fd", None), int):
        # leave DTR as it is when the port closes: on an Uno its next rise would reset the box and lose its record
        settings = termios.tcgetattr(line.fd)
        settings[2] &= ~termios.HUPCL
        termios.tcsetattr(line.fd, termios.TCSANOW, settings)
    return line
