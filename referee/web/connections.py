"""Who may hold how many connections, so that no single address takes them all and the referee always gets in."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

try:
    import resource
except ImportError:  # Windows, where sockets are no files
    resource = None  # type: ignore[assignment]

FILES_KEPT = 200
"""Open files that the rest of the program needs: devices, the record, recordings."""


@dataclass(frozen=True)
class Limits:
    """Connections in all, those of them kept for known addresses, and for one address that is not known.

    A hall behind one address is served with fewer connections than viewers: ``crowded`` has them hand each one on.
    """

    most: int = 2000
    kept: int = 100
    per_address: int = 128
    crowded: int = 64


class Connections:
    """The connections that are open. ``known`` tells the addresses from which a referee has logged in."""

    def __init__(self, limits: Limits, known: Callable[[str], bool]) -> None:
        self._limits, self._known = limits, known
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    def enter(self, address: str) -> bool:
        """Whether one more connection of that address is taken; then ``leave`` gives it back."""
        limits, known = self._limits, self._known(address)
        with self._lock:
            free = limits.most - self._open.total() - (0 if known else limits.kept)
            allowed = limits.per_address * (4 if known else 1)
            if free <= 0 or self._open[address] >= allowed:
                return False
            self._open[address] += 1
            return True

    def leave(self, address: str) -> None:
        """A connection of that address has ended."""
        with self._lock:
            self._open -= Counter([address])

    def crowded(self, address: str) -> bool:
        """Whether that address has so many that each should serve one request and go."""
        return self._open[address] > self._limits.crowded

    def count(self) -> int:
        """How many are open."""
        return self._open.total()


def affordable(limits: Limits) -> Limits:
    """The limits, lowered where the system gives this process fewer files; asks it for enough first."""
    if resource is None:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.most + FILES_KEPT
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return replace(limits, most=min(limits.most, max(soft - FILES_KEPT, 2 * limits.kept)))
