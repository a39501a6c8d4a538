"""The pictures of a session as JPEG, made on one thread and only while somebody looks at them."""

import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from pydantic import TypeAdapter, ValidationError

from cards.card import Card
from cards.drawing import card_png
from referee.devices.ports import Frame
from referee.errors import DeviceLost
from referee.files import write_whole
from referee.match.state import CARD_SHOWN_PHASES, MatchState
from referee.session.field_previews import FieldPreviews, crop_around_build, crop_around_zones
from referee.session.ports import RunningSession
from referee.vision.observer import Judgement
from referee.workers import JobQueue

PREVIEW_EVERY_S = 0.1
WANTED_S = 3.0
"""A picture that nobody asked for during this time is not made any more."""

WIDTH_PX = 960
OVERLAYS = 24
"""Verdict pictures kept for pages; the attempts keep the frames themselves for good."""

QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 82]


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
    """The pictures of verdicts on the disk: a program that is started again shows them, and so does the end of a match.

    ``<folder>/<match>/<number>.json`` says which duel it is and how wide the pictures are on the table;
    ``<number>.jpg`` is the picture of all that was judged, ``<number>-A.jpg`` mat A's build alone. A picture that
    cannot be written or read is one that is not there.
    """

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


class Previews(JobQueue[Callable[[], None]]):
    """JPEG by name: live, zone_A, zone_B, card, stop, overlay, overlay/N, build/N/A."""

    def __init__(self, session: RunningSession) -> None:
        super().__init__("session previews")
        self._session = session
        self._wanted: dict[str, float] = {}
        self._made: dict[str, tuple[object, bytes]] = {}
        self._ready = threading.Condition()
        self._fields = FieldPreviews(session)
        self._kept = VerdictPictures(session.data_dir / "verdicts")

    def get(self, name: str) -> bytes | None:
        """The latest JPEG: live, live_2, zone_A, zone_B, overlay, overlay/N, build/N/A or card; the first one is waited
        for, half a second at most."""
        with self._ready:
            self._wanted[name] = time.monotonic()
            if name in ("live", "live_2", "zone_A", "zone_B", "card") and self.alive:
                self._ready.wait_for(lambda: name in self._made, 0.5)
            made = self._made.get(name)
        return made[1] if made else self._from_disk(name)

    def _from_disk(self, name: str) -> bytes | None:
        kind, _, rest = name.partition("/")
        number, _, zone = rest.partition("/")
        if kind not in ("overlay", "build") or not number.isdigit():
            return None
        return self._kept.picture(self._session.state.match_id, int(number), zone)

    def last(self) -> int:
        """The highest number that a verdict's picture has in this match."""
        return self._kept.last(self._session.state.match_id)

    def shown(self, state: MatchState) -> dict[int, dict]:
        """Number of the duel -> number and addresses of its latest verdict's pictures."""
        return {duel: drawn.to_json() for duel, drawn in self._kept.of(state.match_id).items()}

    def verdict(self, number: int, frame: np.ndarray, judgement: Judgement, card: Card) -> None:
        """Have the verdict's picture drawn: ``overlay/<number>`` and ``overlay``. It belongs to the duel of this
        moment, whatever is played by the time it is drawn."""
        state = self._session.state
        to = VerdictPicture(number, state.duel.number)
        self._jobs.put(partial(self._draw_verdict, state.match_id, to, frame, judgement, card))

    def freeze(self, frame: Frame, zone: str) -> None:
        """Have that zone's picture of the Stop shown (``stop``) until its verdict's is drawn."""
        self._jobs.put(
            lambda: self._keep("stop", frame.number, jpeg_of(self._fields.picture(zone, frame.image, False)))
        )
        self._jobs.put(self._session.touch)

    def _idle_s(self) -> float:
        return PREVIEW_EVERY_S

    def _do(self, job: Callable[[], None]) -> None:
        job()

    def _draw_verdict(
        self, match_id: str, to: VerdictPicture, frame: np.ndarray, judgement: Judgement, card: Card
    ) -> None:
        self._fields.judged(judgement, to.duel)
        drawn = self._session.draw(frame, judgement, card)
        left, top, right, bottom = crop_around_zones(judgement, drawn.shape[:2])
        jpeg = jpeg_of(drawn[top:bottom, left:right])
        cuts = {zone: cut for zone in judgement.views if (cut := crop_around_build(judgement, zone, drawn.shape[:2]))}
        builds = {zone: jpeg_of(drawn[box[1] : box[3], box[0] : box[2]]) for zone, (box, _) in cuts.items()}
        sizes = {zone: size for zone, (_, size) in cuts.items()}
        self._keep(f"overlay/{to.number}", to.number, jpeg)
        self._keep("overlay", to.number, jpeg)
        self._kept.keep(match_id, replace(to, builds=sizes), {"": jpeg, **builds})
        with self._ready:
            for old in ("stop", f"overlay/{to.number - OVERLAYS}"):
                self._made.pop(old, None)
        self._session.touch()

    def _keep(self, name: str, key: object, jpeg: bytes) -> None:
        with self._ready:
            self._made[name] = (key, jpeg)
            self._ready.notify_all()

    def _idle(self) -> None:
        now = time.monotonic()
        with self._ready:
            names = [n for n, at in self._wanted.items() if now - at < WANTED_S]
        if "card" in names:
            self._make_card()
        if "live_2" in names and self._session.second and (beside := self._session.second.newest()):
            self._keep("live_2", beside.number, jpeg_of(beside.image))
        names = [n for n in names if n in ("live", "zone_A", "zone_B")]
        frame = None
        with suppress(DeviceLost):
            frame = self._session.camera.latest(-1, 0.0) if names else None
        if frame is None:
            return
        for name in names:
            if self._made.get(name, (None,))[0] != frame.number:
                part = frame.image if name == "live" else self._fields.picture(name[-1], frame.image)
                self._keep(name, frame.number, jpeg_of(part))

    def _make_card(self) -> None:
        state = self._session.state
        card = self._session.deck.by_id.get(state.card_id or "") if state.phase in CARD_SHOWN_PHASES else None
        if card is not None and self._made.get("card", (None,))[0] != card.id:
            self._keep("card", card.id, jpeg_of(card_png(card, self._session.deck, self._session.piece_set)))


def jpeg_of(image: np.ndarray, most_px: int = WIDTH_PX) -> bytes:
    """A picture (h, w, 3), no wider than that."""
    if image.shape[1] > most_px:
        scale = most_px / image.shape[1]
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, QUALITY)[1].tobytes()
