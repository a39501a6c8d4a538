"""The pictures of a session as JPEG, made on one thread and only while somebody looks at them."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial

import cv2
import numpy as np

from cards.card import Card
from cards.drawing import card_png
from referee.devices.ports import Frame
from referee.errors import DeviceLost
from referee.match.state import CARD_SHOWN_PHASES, MatchState
from referee.session.field_previews import FieldPreviews, crop_around_build, crop_around_zones
from referee.session.ports import RunningSession
from referee.session.verdict_pictures import VerdictPicture, VerdictPictures
from referee.vision.observer import Judgement
from referee.workers import JobQueue

PREVIEW_EVERY_S = 0.1
WANTED_S = 3.0
"""A picture that nobody asked for during this time is not made any more."""

WIDTH_PX = 960
OVERLAYS = 24
"""Verdict pictures kept for pages; the attempts keep the frames themselves for good."""

QUALITY = [cv2.IMWRITE_JPEG_QUALITY, 82]


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
        """The latest picture; the first one is waited for, half a second at most."""
        with self._ready:
            self._wanted[name] = time.monotonic()
            if name in ("live", "zone_A", "zone_B", "card") and self.alive:
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
        self._jobs.put(lambda: self._keep("stop", frame.number, _jpeg(self._fields.picture(zone, frame.image, False))))
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
        jpeg = _jpeg(drawn[top:bottom, left:right])
        cuts = {zone: cut for zone in judgement.views if (cut := crop_around_build(judgement, zone, drawn.shape[:2]))}
        builds = {zone: _jpeg(drawn[box[1] : box[3], box[0] : box[2]]) for zone, (box, _) in cuts.items()}
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
        names = [n for n in names if n in ("live", "zone_A", "zone_B")]
        frame = None
        with suppress(DeviceLost):
            frame = self._session.camera.latest(-1, 0.0) if names else None
        if frame is None:
            return
        for name in names:
            if self._made.get(name, (None,))[0] != frame.number:
                part = frame.image if name == "live" else self._fields.picture(name[-1], frame.image)
                self._keep(name, frame.number, _jpeg(part))

    def _make_card(self) -> None:
        state = self._session.state
        card = self._session.deck.by_id.get(state.card_id or "") if state.phase in CARD_SHOWN_PHASES else None
        if card is not None and self._made.get("card", (None,))[0] != card.id:
            self._keep("card", card.id, _jpeg(card_png(card, self._session.deck, self._session.piece_set)))


def _jpeg(image: np.ndarray) -> bytes:
    if image.shape[1] > WIDTH_PX:
        scale = WIDTH_PX / image.shape[1]
        image = cv2.resize(image, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return cv2.imencode(".jpg", image, QUALITY)[1].tobytes()
