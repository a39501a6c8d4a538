"""Attempts where they lie: in folders, and at addresses (``s3://``, ``file://``, ``memory://`` …) by fsspec.

What is asked of an attempt at an address is brought to a folder of this machine for as long as it is needed, and no
more of it than that: the film mostly stays where it is.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.errors import BadAttempt
from referee.recording.folder import META, REVIEW, append_line, find_attempts, unpack

LOCAL_PROTOCOL = "file"
REQUESTS_AT_ONCE = 100
"""So many records are asked for at once."""

Which = Callable[[Path, Sequence[str]], Sequence[str]]
"""Which files are needed: the folder, in which ``attempt.json`` is already, and the names of all -> their names."""


@dataclass(frozen=True)
class AttemptSource:
    """An attempt: the path of its folder, or an address. For an address: ``stamp``, what changes with its files, and
    ``noted``, what changes with what people say of it."""

    address: str
    stamp: str = ""
    noted: str = ""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder of this machine."""
        return not is_address(self.address)

    @property
    def name(self) -> str:
        """The folder's name."""
        return Path(self.address).name


def is_address(text: object) -> bool:
    """Whether it is the address of a store and not a path."""
    return "://" in str(text)


def attempt_sources(place: str | Path, temporary: Path) -> list[AttemptSource]:
    """The attempts at a path or an address: a folder, an archive of them, or a bundle, which is unpacked under
    ``temporary``. Raises BadAttempt naming the place."""
    if not is_address(place):
        found = _here(Path(place), temporary)
    else:
        fs, path = _opened(str(place))
        if LOCAL_PROTOCOL in ((fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol):
            found = _here(Path(path), temporary)
        elif path.endswith(".zip"):
            bundle = temporary / os.path.basename(path)
            temporary.mkdir(parents=True, exist_ok=True)
            with _told(str(place)):
                fs.get_file(path, os.fspath(bundle))
            found = _here(bundle, temporary)
        else:
            found = _there(str(place), fs, path)
    if not found:
        raise BadAttempt(f"{place}: neither an attempt nor an archive of attempts")
    return found


def text_beside(place: str, name: str) -> str:
    """What the file of that name in an archive's folder says, at a path or an address; '' where there is none."""
    fs, path = _opened(place)
    with _told(place):
        return fs.cat_file(f"{path}/{name}").decode() if fs.exists(f"{path}/{name}") else ""


@contextmanager
def fetched_attempt(source: AttemptSource, which: Which = lambda folder, names: names) -> Iterator[Path]:
    """The attempt's folder: its own, or one with the files that are needed of it, which goes afterwards. Raises
    BadAttempt when they cannot be fetched."""
    if source.is_folder:
        yield Path(source.address)
        return
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        folder = Path(scratch) / source.name
        folder.mkdir()
        fs, path = _opened(source.address)
        with _told(source.address):
            names = [os.path.basename(child) for child in fs.ls(path, detail=False)]
            fs.get_file(f"{path}/{META}", os.fspath(folder / META))
            for name in which(folder, sorted(set(names) - {META})):
                fs.get_file(f"{path}/{name}", os.fspath(folder / name))
        yield folder


class Mirror:
    """A copy of the archive at an address in the folder ``root``, of no more than has been asked for.

    Every attempt's record is there after ``refresh``, its other files after ``bring``. Every call raises BadAttempt
    when the store cannot be reached. For one thread at a time.
    """

    def __init__(self, address: str, root: Path) -> None:
        self.address, self.root = address, root
        fs, path = _opened(address)
        self._top = fs.unstrip_protocol(path)
        self._known: dict[Path, AttemptSource] = {}
        root.mkdir(parents=True, exist_ok=True)

    def refresh(self, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
        """Bring the records that have come or changed, and drop what has gone; ``progress`` is told (brought, all)."""
        there = {
            self.root / path: source
            for source in attempt_sources(self.address, self.root)
            if (path := self._path(source))
        }
        for folder in self._known.keys() - there.keys():
            shutil.rmtree(folder, ignore_errors=True)
            del self._known[folder]
        todo = [(folder, source) for folder, source in there.items() if self._known.get(folder) != source]
        for n in range(0, len(todo), REQUESTS_AT_ONCE):
            progress(n, len(todo))
            self._bring_records(dict(todo[n : n + REQUESTS_AT_ONCE]))
        progress(len(todo), len(todo))

    def bring(self, folder: Path, wanted: Collection[str] | None = None) -> None:
        """Bring the files of an attempt (``wanted`` these, as far as there are any) that are not here yet."""
        source = self._known.get(folder)
        if source is None:
            return
        fs, path = _opened(source.address)
        with _told(source.address):
            names = {os.path.basename(child) for child in fs.ls(path, detail=False)}
            for name in sorted(names if wanted is None else names & set(wanted)):
                if not (folder / name).exists():
                    fs.get_file(f"{path}/{name}", os.fspath(folder / f"{name}.tmp"))
                    os.replace(folder / f"{name}.tmp", folder / name)

    def add_review(self, folder: Path, row: Mapping[str, Any]) -> None:
        """Add a line to what people say of the attempt, there and here."""
        source = self._known[folder]
        fs, path = _opened(source.address)
        with _told(source.address):
            if fs.exists(f"{path}/{REVIEW}"):  # others may have said something since
                fs.get_file(f"{path}/{REVIEW}", os.fspath(folder / REVIEW))
            append_line(folder / REVIEW, row)
            fs.put_file(os.fspath(folder / REVIEW), f"{path}/{REVIEW}")

    def _path(self, source: AttemptSource) -> str:
        """Where under ``root`` an attempt belongs; empty for one whose name would lead elsewhere."""
        path = source.address.removeprefix(self._top).strip("/")
        return "" if {"", ".", ".."} & set(path.split("/")) else path

    def _bring_records(self, some: Mapping[Path, AttemptSource]) -> None:
        """Bring these records; one that is here already is there at every instant, and its other files go."""
        files: dict[str, Path] = {}
        for folder, source in some.items():
            folder.mkdir(parents=True, exist_ok=True)
            _, path = _opened(source.address)
            files |= {f"{path}/{name}": folder / name for name in ((META, REVIEW) if source.noted else (META,))}
        with _told(self.address):
            fs, _ = _opened(self.address)
            fs.get(list(files), [f"{file}.tmp" for file in files.values()])
        for file in files.values():
            os.replace(f"{file}.tmp", file)
        for folder, source in some.items():
            known = self._known.get(folder)
            for child in folder.iterdir() if known and known.stamp != source.stamp else ():
                if child not in files.values():
                    child.unlink()
        self._known.update(some)


def _here(path: Path, temporary: Path) -> list[AttemptSource]:
    if path.suffix == ".zip" and path.is_file():
        folders = unpack(path, temporary / path.stem)
    else:
        folders = find_attempts(path)
    return [AttemptSource(str(folder.resolve())) for folder in folders]


def _there(address: str, fs: Any, path: str) -> list[AttemptSource]:
    """The attempts below an address, by one listing of all its files; one inside another is not looked at."""
    with _told(address):
        every = fs.find(path, detail=True)
    folders: dict[str, list[str]] = {}
    for file in sorted(every):
        folders.setdefault(os.path.dirname(file), []).append(file)
    found: list[AttemptSource] = []
    last = ""
    for folder, files in sorted(folders.items()):
        inside = last and folder.startswith(f"{last}/")
        if f"{folder}/{META}" not in every or inside or "/." in folder[len(path) :]:
            continue
        last = folder
        told = {f: str(sorted(every[f].items(), key=str)) for f in files}
        noted = told.pop(f"{folder}/{REVIEW}", "")
        digest = hashlib.sha256("\n".join(told.values()).encode()).hexdigest()
        found.append(AttemptSource(fs.unstrip_protocol(folder), digest, noted))
    return found


def _opened(address: str) -> tuple[Any, str]:
    """The file system of an address and the path in it."""
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise BadAttempt(f"{address}: an address needs fsspec: pip install fsspec") from None
    with _told(address):
        fs, path = url_to_fs(address, use_listings_cache=False)
        return fs, path.rstrip("/")


@contextmanager
def _told(address: str) -> Iterator[None]:
    """What a store says of a fault as BadAttempt in one line. Unknown and uninstalled stores are ValueError and
    ImportError there."""
    try:
        yield
    except (OSError, ValueError, ImportError) as error:
        said = str(error).splitlines()
        raise BadAttempt(f"{address}: {said[0] if said else type(error).__name__}") from None
