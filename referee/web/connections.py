"""Who may hold how many connections, so that no single address takes them all and the referee always gets in."""

import socket
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

try:
    import resource
except ImportError:  # Windows, where sockets are no files
    resource = None  # type: ignore[assignment]

QUEUE = 1024
"""Connections that the system keeps until they are taken in: a hall's that all come at once."""

CONNECTIONS_AT_ONCE = 16
"""So many connections are taken in, or turned away, at a time."""

FILES_KEPT = 200
"""Open files that the rest of the program needs: devices, the record, recordings."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Connections in all, those of them kept for known addresses, and for one address that is not known.

    A hall behind one address is served with fewer connections than viewers: ``crowded`` has them hand each one on.
    """

    most: int = 2000
    kept: int = 100
    per_address: int = 128
    crowded: int = 64


class Connections:
    """The connections that are open. ``knows`` tells the addresses from which a referee has logged in."""

    def __init__(self, limits: ConnectionLimits, known: Callable[[str], bool]) -> None:
        self._limits, self.knows = limits, known
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    def enter(self, address: str) -> None:
        """One more connection of that address; ``leave`` gives its place back."""
        with self._lock:
            self._open[address] += 1

    def admits(self, address: str) -> bool:
        """Whether one more of that address is taken in now."""
        known = self.knows(address)
        with self._lock:
            free = self._limits.most - self._open.total() - (0 if known else self._limits.kept)
            return free > 0 and self._open[address] < self._limits.per_address * (4 if known else 1)

    def leave(self, address: str) -> None:
        """A connection of that address has ended."""
        with self._lock:
            self._open -= Counter([address])

    def crowded(self, address: str) -> bool:
        """Whether that address has so many that each should serve one request and go."""
        return self._open[address] > self._limits.crowded


class GuardedSocket(socket.socket):
    """A listening socket that turns away who is not admitted before a connection is made of it.

    An event loop takes in all who wait at a time; one who knocks a thousand times a second would keep it busy with
    taking in and throwing out. Here at most ``CONNECTIONS_AT_ONCE`` are turned away before others get their turn, and
    ``QUEUE`` may wait, however few the loop asks for.
    """

    admits: Callable[[str], bool] = staticmethod(lambda address: True)

    def listen(self, backlog: int = 0) -> None:
        """Let ``QUEUE`` wait."""
        super().listen(QUEUE)

    def accept(self) -> tuple[socket.socket, tuple]:
        """The next connection that is admitted. Raises BlockingIOError when there is none now."""
        for _ in range(CONNECTIONS_AT_ONCE):
            line, peer = super().accept()
            if self.admits(peer[0]):
                return line, peer
            line.close()
        raise BlockingIOError


def affordable(limits: ConnectionLimits) -> ConnectionLimits:
    """The limits, lowered where the system gives this process fewer files; asks it for enough first."""
    if resource is None:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.most + FILES_KEPT
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return replace(limits, most=min(limits.most, max(soft - FILES_KEPT, 2 * limits.kept)))
