"""A hundred viewers from a process of their own: ``python viewers.py URL COUNT``.

Reads ``/events?page=board`` on COUNT connections with one thread (selectors), so that the measuring
costs little. For every event it writes one line ``viewer serial seconds`` on standard output: the time
(CLOCK_MONOTONIC, the same for all processes of a machine) at which that viewer had the event whole.
Ends when standard input closes.
"""

from __future__ import annotations

import re
import selectors
import socket
import sys
import time
from urllib.parse import urlsplit

SERIAL = re.compile(rb"id: (\d+)\nevent: parts\n(?:.*\n)*?\n")


def connect(url: str) -> socket.socket:
    """One viewer, not blocking."""
    place = urlsplit(url)
    line = socket.create_connection((place.hostname, place.port))
    line.sendall(f"GET /events?page=board HTTP/1.1\r\nHost: {place.netloc}\r\n\r\n".encode())
    line.setblocking(False)
    return line


def main(url: str, count: int) -> None:
    """Watch until standard input is closed."""
    chooser = selectors.DefaultSelector()
    buffers: dict[socket.socket, bytes] = {}
    for _ in range(count):
        line = connect(url)
        buffers[line] = b""
        chooser.register(line, selectors.EVENT_READ)
    chooser.register(sys.stdin, selectors.EVENT_READ)
    print("ready", flush=True)
    while True:
        for key, _ in chooser.select():
            if key.fileobj is sys.stdin:
                return
            take(key.fileobj, buffers)


def take(line: socket.socket, buffers: dict[socket.socket, bytes]) -> None:
    """Read what is there, and tell of each event that has become whole."""
    data = line.recv(1 << 16)
    if not data:
        sys.exit("a viewer was cut off")
    buffers[line] += data.replace(b"\r\n", b"\n")
    found = list(SERIAL.finditer(buffers[line]))
    for match in found:
        print(line.fileno(), int(match[1]), time.monotonic())
    if found:
        buffers[line] = buffers[line][found[-1].end() :]
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
