"""Freed memory goes back to the system.

glibc keeps what threads have freed, in a heap of its own for each; pictures of megabytes that come and go leave
hundreds of them full of holes. Asked for now and then, it gives the holes back.
"""

import ctypes
import sys
from collections.abc import Callable

M_MMAP_THRESHOLD, M_ARENA_MAX = -3, -8
"""As glibc's malloc.h names them."""

LARGE_BYTES = 6_000_000
"""The simulator draws in pictures larger than this, vision looks at smaller ones: those stay on the quicker heap."""


def _of_glibc(name: str) -> Callable[..., object]:
    """That function of the system's library; one that does nothing where there is none."""
    if not sys.platform.startswith("linux"):
        return lambda *numbers: None
    return getattr(ctypes.CDLL(None), name, lambda *numbers: None)  # musl has none


_trim, _option = _of_glibc("malloc_trim"), _of_glibc("mallopt")


def trim_heap() -> None:
    """Give freed memory back, in some milliseconds; nothing where the system's library cannot."""
    _trim(0)


def limit_heap() -> None:
    """Very large arrays go back at once when they are freed, and threads share heaps: 45 MB less for four pictures."""
    _option(M_MMAP_THRESHOLD, LARGE_BYTES)
    _option(M_ARENA_MAX, 2)
