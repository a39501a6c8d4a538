"""The pictures of verdicts on the disk: a program that is started again shows them, and so does the end of a match.

``<folder>/<match>/<number>.json`` says which duel it is and how wide the pictures are on the table; ``<number>.jpg`` is
the picture of all that was judged, ``<number>-A.jpg`` mat A's build alone.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from referee.files import write_whole


@dataclass(frozen=True)
class VerdictPicture:
    """The pictures of one judging. ``builds``: zone -> width and height in mm of the part that its picture shows."""

    number: int
    duel: int
    builds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """What the pages need: the number, and the address of each picture."""
        return {
            "number": self.number,
            "overlay": f"/media/overlay/{self.number}.jpg",
            "builds": {
                zone: {"src": f"/media/build/{self.number}/{zone}.jpg", "width": width, "height": height}
                for zone, (width, height) in self.builds.items()
            },
        }


_ADAPTER = TypeAdapter(VerdictPicture)


class VerdictPictures:
    """All of one data folder. A picture that cannot be written or read is one that is not there."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[str, dict[int, VerdictPicture]] = {}

    def of(self, match_id: str) -> dict[int, VerdictPicture]:
        """Number of the duel -> its latest pictures."""
        if match_id not in self._known:
            found = [drawn for path in self._place(match_id).glob("*.json") if (drawn := _read(path))]
            self._known[match_id] = {drawn.duel: drawn for drawn in sorted(found, key=lambda drawn: drawn.number)}
        return self._known[match_id]

    def last(self, match_id: str) -> int:
        """The highest number given in the match; 0 before the first."""
        return max((drawn.number for drawn in self.of(match_id).values()), default=0)

    def keep(self, match_id: str, drawn: VerdictPicture, pictures: Mapping[str, bytes]) -> None:
        """Write the pictures (JPEG by zone, '' for the whole), then the row that names them."""
        place = self._place(match_id)
        with suppress(OSError):
            place.mkdir(parents=True, exist_ok=True)
            for zone, jpeg in pictures.items():
                write_whole(place / f"{_name(drawn.number, zone)}.jpg", jpeg)
            write_whole(place / f"{drawn.number}.json", _ADAPTER.dump_json(drawn))
        self.of(match_id)[drawn.duel] = drawn  # only now do the pages ask for them

    def picture(self, match_id: str, number: int, zone: str = "") -> bytes | None:
        """The JPEG kept under that number: of everything, or of one zone's build."""
        try:
            return (self._place(match_id) / f"{_name(number, zone)}.jpg").read_bytes()
        except OSError:
            return None

    def _place(self, match_id: str) -> Path:
        return self._folder / (match_id or "none")


def _name(number: int, zone: str) -> str:
    return f"{number}-{zone}" if zone else str(number)


def _read(path: Path) -> VerdictPicture | None:
    try:
        return _ADAPTER.validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None  # cut short when the program was killed: as good as none
