"""One copy of a data folder's records, people and settings as they are at one moment, while programs write to them."""

import os
import shutil
import sqlite3
import tarfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

from referee.errors import FolderUnusable, JournalDamaged
from referee.files import put_in_place, sync
from referee.journal.file_lock import LOCK, private_files
from referee.journal.journal import Journal
from referee.journal.recovery import check_journal

LEFT_OUT = ("attempts", "simulated")
"""Folders: recordings, which are large and never change, and what simulated devices played."""

DERIVED = (".db.lines", "-wal", "-shm", ".tmp", LOCK)
"""Ends of names: a record's second copy is made anew from it, the others belong to a program that runs."""

SQLITE = b"SQLite format 3\0"
IS_JOURNAL = "SELECT 1 FROM sqlite_master WHERE name = 'events'"
WAIT_S = 10.0
"""A program writes for milliseconds; one that takes longer is hung, and is not waited for."""


def back_up(data: Path, target: Path) -> list[str]:
    """Write the data folder without its recordings into the new tar file ``target``; gives the files in it.

    Every database is seen as it is at one moment. Writers wait for that moment alone: SQLite keeps what a view shows
    while they go on. Raises JournalDamaged for a database that cannot be copied, FolderUnusable: then there is no
    ``target``.
    """
    if target.exists():
        raise FolderUnusable(f"{target}: is there already")
    files, file = sorted(_files(data)), data
    try:
        with private_files(), ExitStack() as stack, ExitStack() as moment:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix=".backup-", dir=target.parent)))
            databases = [file for file in files if stack.enter_context(open(file, "rb")).read(len(SQLITE)) == SQLITE]
            for file in databases:
                _begun(file, "BEGIN IMMEDIATE", moment)
            views = {file: _begun(file, "BEGIN", stack) for file in databases}
            moment.close()
            for file in files:
                place = folder / "data" / file.relative_to(data)
                place.parent.mkdir(parents=True, exist_ok=True)
                if file in views:
                    with closing(sqlite3.connect(place)) as copy:
                        views[file].backup(copy)
                else:
                    shutil.copyfile(file, place)
            with tarfile.open(folder / "tar", "w") as tar:
                tar.add(folder / "data", ".")
            put_in_place(folder / "tar", target)
    except sqlite3.Error as error:
        raise JournalDamaged(f"{file}: cannot be copied ({error})") from None
    except OSError as error:
        raise FolderUnusable(f"{target}: {error.strerror or error}") from None
    return [str(file.relative_to(data)) for file in files]


def restore(archive: Path, data: Path) -> str:
    """Unpack a backup into the new or empty folder ``data``, all of it or nothing; says in a line what is there now.

    Raises JournalDamaged for a record that is not sound, FolderUnusable.
    """
    events: list[int] = []
    try:
        with private_files(), TemporaryDirectory(prefix=".restore-", dir=data.parent) as folder:
            new = Path(folder) / "data"
            with tarfile.open(archive, "r:") as tar:
                tar.extractall(new, filter="data")
            files = [file for file in new.rglob("*") if file.is_file()]
            for file in files:
                sync(file)
                with ExitStack() as seen:
                    if file.suffix == ".db" and _begun(file, "BEGIN", seen).execute(IS_JOURNAL).fetchone():
                        events += check_journal(seen.enter_context(closing(Journal(file, reading=True)))).values()
            put_in_place(new, data)  # the system refuses a folder that has anything in it
    except (OSError, sqlite3.Error, tarfile.TarError, TypeError) as error:  # the last: before Python 3.11.4
        raise FolderUnusable(f"{data}: {archive} cannot be restored there ({error})") from None
    return f"{data}: {len(files)} files of {archive}, {len(events)} matches with {sum(events)} events, sound"


def _begun(file: Path, statement: str, stack: ExitStack) -> sqlite3.Connection:
    """A connection in a transaction that has looked at the database."""
    connection = stack.enter_context(closing(sqlite3.connect(file, timeout=WAIT_S, isolation_level=None)))
    connection.execute(statement)
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection


def _files(data: Path) -> Iterator[Path]:
    for folder, inner, names in os.walk(data):
        inner[:] = [name for name in inner if name not in LEFT_OUT and not name.startswith(".")]
        for path in (Path(folder, name) for name in names if not name.endswith(DERIVED) and not name.startswith(".")):
            if path.is_file() and not path.is_symlink():
                yield path
