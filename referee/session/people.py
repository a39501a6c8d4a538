"""People's records as a program works with them: decide (pure), keep, read again; and their careers and ratings."""

import hashlib
import io
import threading
from collections.abc import Iterable
from contextlib import suppress

from PIL import Image, ImageOps, UnidentifiedImageError

from calibration.picture_size import too_large
from cards.sentences import sentence
from referee.devices.ports import Clock
from referee.errors import IllegalCommand, JournalUnwritable
from referee.events import Event
from referee.journal.side_tables import PeopleStore
from referee.tournament import people as records
from referee.tournament.people import Person, Register

PICTURE_PX = 256
"""A picture's longer side as it is kept; nothing else of the file is, neither place nor camera."""


class People:
    """Everybody's records. Thread-safe."""

    def __init__(self, store: PeopleStore, clock: Clock) -> None:
        self._store, self._clock, self._lock = store, clock, threading.RLock()
        self._register, self._last = Register(), 0
        with suppress(JournalUnwritable):  # a server that is away now: tried again at every use
            self._read()

    def _read(self) -> None:
        rows, self._last = self._store.rows()
        self._register = records.fold(rows)

    @property
    def register(self) -> Register:
        """Everybody, as it stands in the store."""
        with self._lock:
            self._read()
            return self._register

    def person(self, id_or_name: str) -> Person:
        """One record. Raises IllegalCommand."""
        return self.register.person(id_or_name)

    def picture(self, picture: str) -> bytes | None:
        """The JPEG of that name."""
        return self._store.picture(picture)

    def meet(self, names: Iterable[str], who: str = "") -> None:
        """Make a record for each of these names that has none."""
        for name in names:
            with self._lock:
                if self.register.named(name) is None:
                    self.add(name, who)

    def add(self, name: str, who: str = "", color: str = "") -> Person:
        """A new record. Raises IllegalCommand."""
        with self._lock:
            return self._keep(*records.add_person(self.register, name, self._now(), who, color))

    def rename(self, person: str, name: str, who: str = "") -> Person:
        """Another name; results under the earlier ones stay."""
        with self._lock:
            return self._keep(*records.rename_person(self.register, self.person(person), name, self._now(), who))

    def recolor(self, person: str, color: str, who: str = "") -> Person:
        """Another colour, '' for none."""
        with self._lock:
            return self._keep(*records.color_person(self.person(person), color, self._now(), who))

    def merge(self, person: str, other: str, who: str = "") -> Person:
        """The other record goes into the person's."""
        with self._lock:
            return self._keep(*records.merge_people(self.person(person), self.person(other), self._now(), who))

    def take_picture(self, person: str, data: bytes, who: str = "") -> Person:
        """Keep a picture, made small; b'' takes it away. Raises IllegalCommand for what is none."""
        with self._lock:
            found, jpeg = self.person(person), _small(data) if data else b""
            name = hashlib.sha256(found.id.encode() + jpeg).hexdigest()[:24] if jpeg else ""  # each person's own
            self._store.keep_picture(found.id, name, jpeg)
            return self._keep(found.id, Event("person_pictured", {"picture": name}, self._now(), who))

    def delete(self, person: str, who: str = "") -> None:
        """Everything of this record goes: names, colour, picture, history. What matches say of a name stays theirs. The
        event that stays names nobody, and keeps ids from being given again."""
        with self._lock:
            register, found = self.register, self.person(person)
            gone = Event("person_deleted", {"number": register.number}, self._now(), who)
            self._store.delete((found.id, *found.merged), gone)

    def _keep(self, person: str, event: Event) -> Person:
        self._store.add(person, event, self._last)
        return self.register.people[person]

    def _now(self) -> str:
        return self._clock.utc().isoformat(timespec="seconds")


def _small(data: bytes) -> bytes:
    """The picture as a small JPEG of its pixels alone. Raises IllegalCommand."""
    try:
        if size := too_large(data):
            raise IllegalCommand(sentence("people.picture_large", size=size))
        with Image.open(io.BytesIO(data), formats=("JPEG", "PNG", "WEBP")) as opened:
            upright = ImageOps.exif_transpose(opened).convert("RGB")
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise IllegalCommand(sentence("people.picture")) from None
    upright.thumbnail((PICTURE_PX, PICTURE_PX))
    out = io.BytesIO()
    upright.save(out, "JPEG", quality=85)
    return out.getvalue()
