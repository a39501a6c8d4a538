"""The button box's firmware itself, compiled for this machine: what the simulated box runs.

``firmware/button_box`` is made for a board with a clock, pins and a serial line; here all three are the caller's. Times
are microseconds since the box's start, as the 32-bit counter of a real box shows them: ask at least once an hour.
"""

import cython


@cython.cclass
class Firmware:
    """A box that is switched off until ``start``. A line goes out at once."""

    def start(self, name: str, boot: cython.int, closed: cython.int, cause: cython.int, now_us: cython.ulonglong):
        """Power on: its id, the number of its start, the contacts that are down as bits, and why the processor runs."""
        kept: bytes = name.encode()
        self.box.now_us = now_us
        self.box.keep_name(kept)
        self.box.start(kept, boot, closed, cause)

    def edge(self, button: cython.int, closed: cython.bint, at_us: cython.ulonglong):
        """A button's contact has closed or opened."""
        self.box.edge(button, closed, at_us)

    def pad(self, player: cython.int, closed: cython.bint):
        """Tongs lie on a player's pad, or have left it."""
        self.box.pads[player] = closed

    def poll(self, now_us: cython.ulonglong) -> bytes:
        """One turn of the loop; the line that it says, if any."""
        self.box.now_us = now_us
        self.box.poll()
        return self._said()

    def hear(self, data: bytes, now_us: cython.ulonglong) -> bytes:
        """Bytes from the host. The last whole line is answered at the next turn; gives what is said before."""
        self.box.now_us = now_us
        said = b""
        for byte in data:
            while not self.box.ready():
                said += self.poll(now_us)
            self.box.take(byte)
        return said

    @cython.cfunc
    def _said(self) -> bytes:
        said = self.box.said[: self.box.length]
        self.box.length = 0
        return said

    @property
    def box_id(self) -> str:
        """Its id, which the host may change."""
        return self.box.name.decode()

    @property
    def lamps(self) -> list:
        """Which lamps shine: the players', that of the connection, that of the go."""
        return [self.box.lamps[i] for i in range(LAMPS)]

    @property
    def tone_hz(self) -> int:
        """The tone that sounds; 0 for none."""
        return self.box.hz
