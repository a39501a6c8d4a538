"""One program at a time: on a data folder, and on a table's matches in a store.

A lock is the operating system's (flock): it ends with the program that holds it, however that ends. The file
beside it says who holds it, for whom it keeps out.
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from referee.errors import FolderUnusable, HeldElsewhere

try:
    import fcntl
except ImportError:  # Windows: msvcrt has no lock that a second program may look behind
    fcntl = None  # type: ignore[assignment]

LOCK = "in-use"


def lock_owner() -> str:
    """This program, as others are told of it: process, host, since when."""
    return f"process {os.getpid()} on {socket.gethostname()} since {datetime.now(UTC):%m-%d %H:%M} UTC"


@contextmanager
def private_files() -> Iterator[None]:
    """While the context lasts no other user of the machine may read what this program writes."""
    before = os.umask(0o077)
    try:
        yield
    finally:
        os.umask(before)


def usable_folder(path: Path) -> Path:
    """The folder as an absolute path, made where it is missing. Raises FolderUnusable in one line."""
    try:
        folder = Path(path).expanduser().resolve()
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.write_bytes(b"")
        probe.unlink()
    except (OSError, RuntimeError, ValueError) as error:
        raise FolderUnusable(f"{path}: cannot be written to ({getattr(error, 'strerror', None) or error})") from None
    return folder


@contextmanager
def lock_file(path: Path, what: str) -> Iterator[None]:
    """Hold the lock ``path`` while the context lasts. Raises HeldElsewhere saying who holds ``what``."""
    try:
        file = open(path, "a+", encoding="utf-8")  # noqa: SIM115 - closed below, which lets the lock go
    except OSError as error:
        raise FolderUnusable(f"{path}: {error.strerror}") from None
    with file:
        try:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise HeldElsewhere(f"{what} is in use: {file.read().strip() or 'by another program'}") from None
        file.truncate(0)
        file.write(lock_owner() + "\n")
        file.flush()
        yield
