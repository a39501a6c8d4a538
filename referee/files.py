"""Files that a power cut or a full disk leaves whole: the old content or the new, never a part of it."""

import os
from contextlib import suppress
from pathlib import Path

BLOCK_BYTES = 512
"""What a disk writes at once."""


def sync(path: Path) -> None:
    """Wait until a file's content, or the names in a folder, are on the disk. May raise OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def put_in_place(draft: Path, path: Path) -> None:
    """Give a finished draft its name, in the same folder; both are on the disk when this returns. May raise OSError."""
    sync(draft)
    os.replace(draft, path)
    sync(path.parent)


def write_whole(path: Path, data: bytes, mode: int = 0o666) -> None:
    """Write a file whole and onto the disk. ``mode``: who may read a new one, less the umask. May raise OSError: then
    nothing is left of the draft. One writer a path at a time: the draft is ``path`` with ``.tmp`` behind it."""
    draft = path.with_name(path.name + ".tmp")
    try:
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "wb") as file:
            file.write(data)
        put_in_place(draft, path)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        raise


def torn(path: Path) -> bool:
    """Whether the file is empty or its last block is all zeros: so a power cut or a full disk leaves a file."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - BLOCK_BYTES))
        return not any(file.read())
