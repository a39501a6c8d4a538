"""Which webcams this machine has, and which of them is meant.

An index tells the order in which webcams were plugged in. Linux links each under ``/dev/v4l/by-id`` by its serial
number and under ``by-path`` by its socket: such a path means the same webcam the next time.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

GUESSED_WEBCAMS = 4
"""So many webcams are offered where the system does not list them."""

ROOT = Path("/")


@dataclass(frozen=True)
class Webcam:
    """One webcam: its ``index`` now, what its maker calls it ('' where the system does not tell), and the ``path`` that
    stays its own (its index where there is none)."""

    index: int
    name: str
    path: str

    def __str__(self) -> str:
        return f"{self.name} ({self.index}, {self.path})" if self.name else f"camera {self.index}"

    def is_called(self, source: str) -> bool:
        """Whether its index, its name or a path that leads to it is meant."""
        if source.startswith("/"):
            return Path(source).resolve().name == f"video{self.index}"
        return source == str(self.index) or source.casefold() == self.name.casefold()


def webcams(root: Path = ROOT) -> list[Webcam]:
    """The webcams that Linux lists below ``root``, by index; the first few to try on other systems."""
    if sys.platform != "linux":
        return [Webcam(n, "", str(n)) for n in range(GUESSED_WEBCAMS)]
    numbers = sorted(int(p.name[5:]) for p in (root / "dev").glob("video*") if p.name[5:].isdigit())
    named = {n: _told(root, n, "name") for n in numbers if _told(root, n, "index") in ("", "0")}  # others: its data
    links = {kind: _links(root / "dev/v4l" / kind) for kind in ("by-id", "by-path")}
    return [Webcam(n, name, _path(n, named, links)) for n, name in named.items()]


def find_webcam(source: str, root: Path = ROOT) -> Webcam | None:
    """The webcam of that index, path or name; part of a name does where one webcam has it. None for none or several."""
    known = webcams(root) if source else []
    meant = [one for one in known if one.is_called(source)]
    if not meant and not source.isdigit():
        meant = [one for one in known if source.casefold() in one.name.casefold()]
    return meant[0] if len(meant) == 1 else None


def _told(root: Path, number: int, what: str) -> str:
    try:
        file = root / "sys/class/video4linux" / f"video{number}" / what
        return file.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _links(folder: Path) -> dict[int, str]:
    """Index -> the link to it; of several the first."""
    links = sorted(folder.glob("*"), reverse=True) if folder.is_dir() else []
    return {int(target[5:]): str(link) for link in links if (target := link.resolve().name)[5:].isdigit()}


def _path(number: int, named: dict[int, str], links: dict[str, dict[int, str]]) -> str:
    """By its serial number; by its socket where another webcam of its name has no such link: two without serial numbers
    share one, which leads to the one plugged in last."""
    alike = [n for n, name in named.items() if name == named[number]]
    by_id = links["by-id"] if all(n in links["by-id"] for n in alike) else {}
    return by_id.get(number) or links["by-path"].get(number) or str(number)
