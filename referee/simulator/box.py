"""SIMULATED button box: speaks the real protocol on a pseudo-terminal, so that the real driver talks to it.

It runs the firmware of the real one (``referee.kernels.button_box``); here are its pins (with bounce), its
crooked clock, its line with faults, and plain-text fault commands in the manner of OctoPrint's virtual printer. Nothing
in production asks whether it is there.
"""

import heapq
import os
import random
import re
import select
import tempfile
import threading
import tty
from collections.abc import Callable
from pathlib import Path
from typing import Self

from referee.devices.box_protocol import NEXT_BUTTON, PADS, PLAYERS, Message
from referee.devices.ports import Clock
from referee.errors import RefereeError
from referee.kernels.button_box import Firmware

FAULTS = """\
bounce B        the next press of button B bounces for up to 6 ms
stuck B         button B goes down and stays down
free B          button B comes up again
unplug S        the cable is out for S seconds; the box keeps running
garbage N       N random bytes appear on the line
delay MS        every sentence from now on takes 0 to MS milliseconds more
lost line N     the next N sentences of the box are lost
noise B MS      for MS milliseconds spikes and short touches come down the line of button B, at most 9 ms apart
emi             a burst as a relay makes it: 75 spikes in 15 ms on every line at once
reset           the box restarts; its pins stay as they are
swap            another box, with an old duel in its memory, takes the place of this one"""
_FAULT = re.compile(r"(bounce|stuck|free|unplug|garbage|delay|lost line|noise|emi|reset|swap)((?: +\d+(?:\.\d+)?)*)")
_NUMBERS = {"noise": 2, "emi": 0, "reset": 0, "swap": 0}  # one for all others
SPIKE_S = 1e-6
TOUCH_S = 577e-6  # of a mobile phone's transmitter, 217 times a second
TURN_S = 0.002
HOLD_S = 0.12
POWER_ON = 1  # why the processor started, as the ATmega says it


class BadFault(RefereeError):
    """A fault command that is not in ``FAULTS``."""


class SimulatedBox:
    """A box of its own with ``port``, a path that stays the same when it is unplugged. Marked SIMULATED.

    ``seed`` decides bounce, delays, garbage, and how crooked its clock is. ``port`` is where the port shall
    appear; None for a folder of its own. Call ``start`` first and ``stop`` last.
    """

    simulated = True

    def __init__(self, seed: int, clock: Clock, box_id: str = "SIMULATED", port: str | None = None) -> None:
        self._random, self._clock = random.Random(seed), clock
        self._folder = tempfile.TemporaryDirectory(prefix="referee-box-")
        self.port = port or str(Path(self._folder.name) / "SIMULATED-box")
        self.rate = 1 + self._random.uniform(-0.004, 0.004)  # box microseconds per host microsecond
        self._closed, self._resting = [False] * (PLAYERS + 1), [False] * PADS  # contacts and pads
        self._power_on(box_id, boot=1)
        self._due: list[tuple[float, int, Callable[[float], None]]] = []  # when, its order, what is done, given when
        self._order = 0
        self._bounce: set[int] = set()
        self._delay_s, self._lose, self._free_s = 0.0, 0, 0.0
        self._master: int | None = None
        self._lock = threading.RLock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="SIMULATED box", daemon=True)

    def start(self) -> Self:
        """Power on and plug in."""
        self._plug()
        self._thread.start()
        return self

    def stop(self) -> None:
        """Power off; the port goes away."""
        self._stopping.set()
        self._thread.join()
        self._unplug()
        self._folder.cleanup()

    def press(self, player: int, hold_s: float = HOLD_S, after_s: float = 0.0) -> None:
        """Press and release a player's button (``NEXT_BUTTON`` for Start/Next), from any thread."""
        with self._lock:
            down_s = self._clock.now_s() + after_s
            for edge_s in self._edges(player):
                self._at(down_s + edge_s, lambda at_s: self._edge(player, not self._closed[player], at_s))
            self._at(down_s + hold_s, lambda at_s: self._edge(player, False, at_s))

    def next(self) -> None:
        """Press the Start/Next button."""
        self.press(NEXT_BUTTON)

    def rest(self, player: int, after_s: float = 0.0) -> None:
        """The player's tongs are laid behind the mark."""
        self._put(player, True, after_s)

    def lift(self, player: int, after_s: float = 0.0) -> None:
        """The player's tongs leave the mark."""
        self._put(player, False, after_s)

    def _put(self, player: int, resting: bool, after_s: float) -> None:
        def act(_: float) -> None:
            self._resting[player] = resting
            self.firmware.pad(player, resting)

        with self._lock:
            self._at(self._clock.now_s() + after_s, act)

    def fault(self, text: str) -> None:
        """Carry out a fault command; see ``FAULTS``. Raises BadFault."""
        words = _FAULT.fullmatch(text.strip())
        values = [float(word) for word in words[2].split()] if words else []
        if words is None or len(values) != _NUMBERS.get(words[1], 1):
            raise BadFault(
                f"no such fault: {text.strip()!r}; known are bounce, stuck, free, unplug, garbage, delay, lost line "
                "(each with a number), noise (with two), emi, reset and swap"
            )
        if words[1] in ("bounce", "stuck", "free", "noise") and values[0] not in range(PLAYERS + 1):
            raise BadFault(f"no button {words[2].split()[0]}")
        with self._lock:
            getattr(self, "_fault_" + words[1].replace(" ", "_"))(*values)

    # --- faults

    def _fault_bounce(self, button: float) -> None:
        self._bounce.add(int(button))

    def _fault_stuck(self, button: float) -> None:
        self._edge(int(button), True, self._clock.now_s())

    def _fault_free(self, button: float) -> None:
        self._edge(int(button), False, self._clock.now_s())

    def _fault_unplug(self, seconds: float) -> None:
        self._unplug()
        self._at(self._clock.now_s() + seconds, lambda _: self._plug())

    def _fault_garbage(self, count: float) -> None:
        self._write(self._random.randbytes(int(count)))

    def _fault_delay(self, milliseconds: float) -> None:
        self._delay_s = milliseconds / 1000

    def _fault_lost_line(self, count: float) -> None:
        self._lose += int(count)

    def _fault_noise(self, button: float, milliseconds: float) -> None:
        at_s = self._clock.now_s()
        end_s = at_s + milliseconds / 1000
        while at_s < end_s:
            self._pulse(int(button), at_s, self._random.choice([SPIKE_S, TOUCH_S]))
            at_s += self._random.uniform(0.001, 0.009)

    def _fault_emi(self) -> None:
        now_s = self._clock.now_s()
        for button in range(PLAYERS + 1):
            for n in range(75):
                self._pulse(button, now_s + n * 200e-6, SPIKE_S)

    def _fault_reset(self) -> None:
        self._power_on(self.firmware.box_id, self._boot + 1)

    def _fault_swap(self) -> None:
        self._unplug()
        self._power_on("SIM-OTHER", self._random.randrange(1000))
        for number, kind in enumerate(("RFARM", "RFGOO"), 1):
            self.firmware.hear(Message(kind, number).encode(), number)
        self._plug()

    def _power_on(self, box_id: str, boot: int) -> None:
        """This box or another starts; buttons and pads are as they were."""
        self.firmware, self._boot, self._zero_s = Firmware(), boot, self._clock.now_s()
        for player, resting in enumerate(self._resting):
            self.firmware.pad(player, resting)
        self.firmware.start(box_id, boot, sum(closed << n for n, closed in enumerate(self._closed)), POWER_ON, 0)

    # --- pins, clock and line

    def _edges(self, player: int) -> list[float]:
        """Seconds after the first edge at which the contact changes; an odd number, so it ends closed."""
        if player not in self._bounce:
            return [0.0]
        self._bounce.discard(player)
        count = 2 * self._random.randint(1, 12)
        return [0.0, *sorted(self._random.uniform(2e-5, 6e-3) for _ in range(count))]

    def _pulse(self, button: int, at_s: float, for_s: float) -> None:
        """Something closes an open line for a moment; a closed one it cannot open."""

        def act(now_s: float) -> None:
            if not self._closed[button]:
                self._edge(button, True, now_s)
                self._at(now_s + for_s, lambda then_s: self._edge(button, False, then_s))

        self._at(at_s, act)

    def _edge(self, player: int, closed: bool, at_s: float) -> None:
        if closed != self._closed[player]:
            self._closed[player] = closed
            self.firmware.edge(player, closed, self._us(at_s))

    def _us(self, at_s: float) -> int:
        """The box's clock at that time; 0 before its start."""
        return max(0, int((at_s - self._zero_s) * self.rate * 1e6))

    def _at(self, at_s: float, act: Callable[[float], None]) -> None:
        self._order += 1
        heapq.heappush(self._due, (at_s, self._order, act))

    def _plug(self) -> None:
        master, slave = os.openpty()
        tty.setraw(slave)
        os.set_blocking(master, False)
        fresh = Path(self.port + ".new")
        fresh.symlink_to(os.ttyname(slave))
        os.close(slave)
        fresh.replace(self.port)
        self._master = master

    def _unplug(self) -> None:
        if self._master is not None:
            os.close(self._master)
            self._master = None
            Path(self.port).unlink()

    def _run(self) -> None:
        while not self._stopping.is_set():
            with self._lock:
                self._turn()
            self._stopping.wait(TURN_S)  # POLLHUP of an unopened port would make a select spin

    def _turn(self) -> None:
        """Everything up to one instant. The real box has a processor of its own and looks every millisecond; this
        thread may sleep through a press, so it looks before each edge: with both ends of a press at once it
        would take it for a spike, and with an end still to come a spike for a press.
        """
        data = self._read()  # before the clock is read: an answer is no older than its question
        now_s = self._clock.now_s()
        while self._due and self._due[0][0] <= now_s:
            at_s, _, act = heapq.heappop(self._due)
            self._say(self.firmware.poll(self._us(at_s)))
            act(at_s)
        self._say(self.firmware.hear(data, self._us(now_s)))
        self._say(self.firmware.poll(self._us(now_s)))

    def _say(self, lines: bytes) -> None:
        for line in lines.splitlines(keepends=True):
            self._send(line)

    def _send(self, line: bytes) -> None:
        if self._lose > 0:
            self._lose -= 1
            return
        now_s = self._clock.now_s()
        late_s = now_s + self._random.uniform(0, self._delay_s)
        self._free_s = max(self._free_s, late_s)  # a line keeps its order
        self._at(self._free_s, lambda _: self._write(line))

    def _read(self) -> bytes:
        try:
            return os.read(self._master, 4096) if self._master is not None else b""
        except OSError:  # nobody has the other end open, or nothing to read
            return b""

    def _write(self, data: bytes) -> None:
        if self._master is None or not select.select([], [self._master], [], 0)[1]:
            return  # the bytes go nowhere, as on an open cable
        try:
            os.write(self._master, data)
        except OSError:
            return
