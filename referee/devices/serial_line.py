"""Serial ports: which there are, and how one is opened without disturbing what is at its other end."""

from __future__ import annotations

import glob
import termios

import serial
from serial.tools import list_ports

from referee.devices.box_protocol import BAUDS
from referee.errors import DeviceLost

READ_S = 0.01  # a command waits at most this long for the reader thread to send it


def candidates(port: str | None) -> list[str]:
    """The ports to try: what a pattern matches, the given port itself, or every USB serial port."""
    if port is None:
        return [p.device for p in list_ports.comports() if p.vid is not None]
    return sorted(glob.glob(port)) if glob.has_magic(port) else [port]


def check_url(port: str | None) -> None:
    """Raises DeviceLost for a URL of a kind that is not known."""
    try:
        serial.serial_for_url(port or "", do_not_open=True)
    except ValueError as error:
        raise DeviceLost(f"{port}: {error}") from None


def open_line(path: str) -> serial.SerialBase:
    """The port, at the speed of present boxes, for this program alone. Raises OSError or termios.error."""
    line = serial.serial_for_url(path, BAUDS[0], timeout=READ_S, write_timeout=0.5, exclusive=True)
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
