"""The steps of seeing, in order: mats -> views -> colours -> evidence -> readings -> verdict.

``Observer`` holds what a session knows (piece set, lens, palette, empty frame) and judges frames.
Each step is a function of its own module and can be run and timed alone; ``ZoneSight`` keeps what
each step found, for the overlay and the bench.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.mat import Corners, Mats, detect_mats, find_markers
from calibration.palette import Palette, features, learn, nominal
from cards.build import Build
from cards.card import Card
from cards.deck import Deck
from cards.pieces import PieceSet
from referee.judge import Reason, Verdict
from referee.vision import labels
from referee.vision.canvas import canvas_of, fit_of, to_build
from referee.vision.cardmark import read_card_marker
from referee.vision.catalogue import Catalogue, catalogue, usual_for
from referee.vision.decide import decide
from referee.vision.explain import readings, warm_up
from referee.vision.field import in_field
from referee.vision.shading import lit
from referee.vision.view import ZoneView, zone_view


@dataclass(frozen=True)
class ZoneSight:
    """What was seen of one zone: its view, the evidence, and the build as understood with loose pieces."""

    view: ZoneView
    evidence: labels.Evidence
    build: Build
    margin: float
    explained: float


@dataclass(frozen=True)
class Judgement:
    """Verdicts of all zones in view (a zone whose mat is not in view is left out)."""

    zones: Mapping[str, Verdict]
    seconds: float
    notes: tuple[str, ...] = ()
    views: Mapping[str, ZoneSight] = field(default_factory=dict)
    mats: Mats | None = None
    timings: Mapping[str, float] = field(default_factory=dict)

    def to_json(self, image: str, card: str) -> dict:
        """The contract's object of one image."""
        row = {
            "image": image,
            "card": card,
            "seconds": round(self.seconds, 3),
            "zones": {zone: verdict.to_json() for zone, verdict in self.zones.items()},
        }
        return row | ({"notes": list(self.notes)} if self.notes else {})


class Observer:
    """Judges frames of one rig. Thread-safe for concurrent ``judge`` calls; the ``learn_*`` are not."""

    def __init__(
        self,
        piece_set: PieceSet,
        camera: CameraModel | None = None,
        palette: Palette | None = None,
        empty: np.ndarray | None = None,
    ) -> None:
        self.piece_set = piece_set
        self.camera = camera
        self.palette = palette
        self.empty: np.ndarray | None = None
        self.markers: Corners = {}
        self._catalogues: dict[tuple, Catalogue] = {}
        if empty is not None:
            self.learn_empty(empty)

    def learn_empty(self, image: np.ndarray) -> None:
        """Take a frame (h, w, 3) of the rig with nothing on the mats."""
        self.empty = image
        self.markers = {**self.markers, **find_markers(_gray(image))}

    def learn_colors(self, image: np.ndarray) -> Palette:
        """Learn the palette from a frame where every piece stands apart. Raises CannotSee without a mat."""
        from calibration.errors import CannotSee

        mats = detect_mats(_gray(image), self.camera, self.markers)
        if not mats.poses:
            raise CannotSee("no mat is in view in the colours picture")
        pixels = [self._foreground(view, white) for view, white in self._views(image, mats, None)]
        self.palette = learn(self.piece_set, np.concatenate(pixels))
        return self.palette

    def warm_up(self) -> None:
        """Have the search compiled (the first time on a machine takes about a minute)."""
        warm_up(catalogue(self.piece_set, tuple(self.piece_set.colors)))

    def look(self, frame: np.ndarray) -> Mats:
        """The mats in a frame, completed by markers of the session's earlier frames."""
        return detect_mats(_gray(frame), self.camera, self.markers)

    def read_card(self, gray: np.ndarray, deck: Deck) -> str | None:
        """Id of the card whose marker is in an 8-bit grey frame, when exactly one is."""
        return read_card_marker(gray, deck)

    def judge(
        self, frames: Sequence[np.ndarray] | np.ndarray, card: Card, zones: Collection[str] | None = None
    ) -> Judgement:
        """Verdicts on one frame (h, w, 3) uint8 BGR, or on several settled frames of the same scene.

        Several frames are averaged before anything else: the camera stands still and so does the
        build, so that noise falls and nothing else changes.
        """
        start = time.perf_counter()
        frame = _mean(frames)
        mats = self.look(frame)
        pairs = self._views(frame, mats, None)
        timings = {"mats": time.perf_counter() - start}
        palette = self.palette or self._palette_of(pairs)  # learnt from every mat in view
        pairs = [pair for pair in pairs if zones is None or pair[0].zone in zones]
        cat = self._catalogue(palette.names, card)
        with ThreadPoolExecutor(max_workers=2) as pool:
            seen = list(pool.map(lambda pair: self._zone(*pair, palette, cat, card), pairs))
        verdicts = {sight.view.zone: verdict for verdict, sight in seen}
        views = {sight.view.zone: sight for _, sight in seen}
        seconds = time.perf_counter() - start
        timings["zones"] = seconds - timings["mats"]
        return Judgement(verdicts, seconds, self._notes(mats), views, mats, timings)

    def _notes(self, mats: Mats) -> tuple[str, ...]:
        notes = []
        if not mats.poses:
            notes.append("no mat is in view")
        if self.camera is None and mats.poses:
            notes.append(f"no camera file: focal length estimated from the mats, {mats.camera.focal_px:.0f} px")
        return tuple(notes)

    def _views(self, frame: np.ndarray, mats: Mats, zones: Collection[str] | None) -> list[tuple[ZoneView, np.ndarray]]:
        out = []
        for zone, pose in mats.poses.items():
            if zones is None or zone in zones:
                view = zone_view(frame, mats.camera, pose)
                out.append((view, _white(view, view.image)))
        return out

    def _empty_features(self, view: ZoneView) -> np.ndarray | None:
        if self.empty is None:
            return None
        there = view.crop(self.empty)
        return features(there, _white(view, there))

    def _foreground(self, view: ZoneView, white: np.ndarray) -> np.ndarray:
        f = features(view.image, white)
        return f[labels.foreground(view, f, self._empty_features(view))]

    def _palette_of(self, pairs: list[tuple[ZoneView, np.ndarray]]) -> Palette:
        if not pairs:
            return nominal(self.piece_set)
        return learn(self.piece_set, np.concatenate([self._foreground(v, w) for v, w in pairs]))

    def _catalogue(self, names: tuple[str, ...], card: Card) -> Catalogue:
        asked = usual_for(self.piece_set, card)
        key = (names, asked)
        if key not in self._catalogues:
            self._catalogues[key] = catalogue(self.piece_set, names, asked)
        return self._catalogues[key]

    def _zone(
        self, view: ZoneView, white: np.ndarray, palette: Palette, cat: Catalogue, card: Card
    ) -> tuple[Verdict, ZoneSight]:
        evidence = labels.evidence(view, palette, white, self._empty_features(view))
        canvas = canvas_of(view, evidence, cat)
        found = lit(view, evidence, cat, readings(canvas, card), card)
        weighed = decide(cat, found, card, fit_of(canvas, found[0]), evidence.hidden)
        build = in_field(to_build(cat, found[0]), card)
        sight = ZoneSight(view, evidence, build, weighed.margin, weighed.explained)
        return _hidden(weighed.verdict, view), sight


def _hidden(verdict: Verdict, view: ZoneView) -> Verdict:
    """No verdict where a good part of the field is outside the picture."""
    if view.valid.mean() >= 0.55:
        return verdict
    reason = Reason("out_of_view", "a large part of this field is outside the picture")
    return dataclasses.replace(
        verdict,
        ruling="undecided",
        reasons=(reason,),
        leaning=verdict.leaning or (verdict.ruling if verdict.ruling != "undecided" else None),
    )


def _white(view: ZoneView, image: np.ndarray) -> np.ndarray:
    paper, marker, _ = view.regions
    return labels.paper_white(image, paper & ~marker & view.valid)


def _gray(image: np.ndarray) -> np.ndarray:
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def _mean(frames: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    if isinstance(frames, np.ndarray):
        return frames
    if len(frames) == 1:
        return frames[0]
    return np.clip(np.mean([f.astype(np.float32) for f in frames], 0) + 0.5, 0, 255).astype(np.uint8)
