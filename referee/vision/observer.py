"""The steps of seeing, in order: mats -> views -> colours -> evidence -> readings -> verdict.

``Observer`` holds what a session knows (piece set, lens, palette, empty frame) and judges frames.
Each step is a function of its own module and can be run and timed alone; ``ZoneSight`` keeps what
each step found, for the overlay and the bench.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.errors import CannotSee
from calibration.markers import Corners, find_markers
from calibration.mat import FIELD, Mats
from calibration.palette import Palette, drifted, features, learn, learn_wear, nominal
from cards.build import Build
from cards.card import Card
from cards.deck import Deck
from cards.pieces import PieceSet
from referee.match.judge import TOLERANCES, Tolerances
from referee.match.verdict import Verdict
from referee.vision.image.aids import believed_mats, light_alarms, moved, occupied
from referee.vision.image.card_marker import read_card_marker
from referee.vision.image.evidence import Evidence, foreground, gather_evidence, paper_white
from referee.vision.image.view import ZoneView, zone_view
from referee.vision.parameters import SIZES_TOLD
from referee.vision.search.canvas import canvas_of, fit_of
from referee.vision.search.readings import readings, warm_up
from referee.vision.search.sizes import size_factor
from referee.vision.search.stances import Catalogue, catalogue, usual_for
from referee.vision.verdict.decide import decide
from referee.vision.verdict.field import field_of
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.shading import lit
from referee.vision.verdict.visibility import size_fault, sized, withheld

INNER_PX = 2
"""So far inside of what stands on the sheet no pixel is a mixture with the paper."""


@dataclass(frozen=True, eq=False)
class Empty:
    """The empty frame in one zone's view: ``features`` (h, w, 3), and the paper's white (3,) there."""

    features: np.ndarray
    white: np.ndarray


Pair = tuple[ZoneView, np.ndarray]
"""A zone's view with its paper's white."""


@dataclass(frozen=True)
class ZoneSight:
    """What was seen of one zone: its view, the evidence, the build as understood with loose pieces, and the
    ``features`` that the verdict's confidence comes from."""

    view: ZoneView
    evidence: Evidence
    build: Build
    margin: float
    explained: float
    features: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Judgement:
    """Verdicts of all zones in view (a zone whose mat is not in view is left out)."""

    zones: Mapping[str, Verdict]
    seconds: float
    mats: Mats
    notes: tuple[str, ...] = ()
    views: Mapping[str, ZoneSight] = field(default_factory=dict)
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
        self.empty_mats: Mats | None = None
        self.markers: Corners = {}
        self.size_factor = 1.0
        self._catalogues: dict[tuple, Catalogue] = {}
        if empty is not None:
            self.learn_empty(empty)

    def learn_empty(self, image: np.ndarray) -> None:
        """Take a frame (h, w, 3) of the rig with nothing on the mats."""
        self.empty, self.empty_mats = image, None
        self.markers = {**self.markers, **find_markers(_gray(image))}

    def learn_colors(self, image: np.ndarray) -> Palette:
        """Learn the palette from a frame where every piece stands apart. Raises CannotSee without a mat."""
        views, empties = self._calibrating(image)
        palette = self._palette_of(views, empties)
        tables = [empties[v.zone].features if v.zone in empties else None for v, _ in views]
        inner = np.concatenate([self._foreground(*pair, INNER_PX, e) for pair, e in zip(views, tables, strict=True)])
        self.palette = learn_wear(palette, self.piece_set, inner)
        return self.palette

    def learn_sizes(self, image: np.ndarray) -> float:
        """Learn how many times the piece file's lengths the pieces have, from the same frame after its colours; 1
        where it cannot be told. Takes some seconds. Raises CannotSee without a mat."""
        views, empties = self._calibrating(image)
        palette = self.palette or self._palette_of(views, empties)
        seen = [(view, self._evidence((view, white), empties, palette)) for view, white in views]
        self.size_factor = size_factor(self.piece_set, seen) or 1.0
        return self.size_factor

    def _calibrating(self, image: np.ndarray) -> tuple[list[Pair], dict[str, Empty]]:
        """Every mat's view in a frame to learn from, and the empty frame in it. Raises CannotSee without a mat."""
        mats = self.look(image)
        if not mats.poses:
            raise CannotSee("no mat is in view in the colours picture")
        views = self._views(image, mats, None)
        return views, self._empties(mats, views)

    def warm_up(self) -> None:
        """Have the search compiled (the first time on a machine takes about a minute)."""
        warm_up(catalogue(self.piece_set, tuple(self.piece_set.colors)))

    @property
    def ready(self) -> bool:
        """Whether judging waits for nothing."""
        return True

    def look(self, frame: np.ndarray) -> Mats:
        """The mats in a frame, completed by markers of the session's earlier frames; through the lens file where it
        fits them, else through an estimated lens."""
        return believed_mats(_gray(frame), self.camera, self.markers)

    def read_card(self, gray: np.ndarray, deck: Deck) -> str | None:
        """Id of the card whose marker is in an 8-bit grey frame, when exactly one is."""
        return read_card_marker(gray, deck)

    def judge(
        self,
        frames: Sequence[np.ndarray] | np.ndarray,
        card: Card,
        zones: Collection[str] | None = None,
        tolerances: Tolerances = TOLERANCES,
    ) -> Judgement:
        """Verdicts on one frame (h, w, 3) uint8 BGR, or on several settled frames of the same scene.

        Several frames are averaged before anything else: the camera stands still and so does the
        build, so that noise falls and nothing else changes.
        """
        start = time.perf_counter()
        frame = _mean(frames)
        mats = self.look(frame)
        pairs = self._views(frame, mats, None, field_of(card))
        timings = {"mats": time.perf_counter() - start}
        empties = self._empties(mats, pairs)
        palette = self._palette_now(pairs, empties)
        notes = (*self._notes(mats), *self._left_out(pairs, empties), *self._light(pairs, empties))
        pairs = [pair for pair in pairs if zones is None or pair[0].zone in zones]
        cat = self._catalogue(palette.names, card)
        with ThreadPoolExecutor(max_workers=2) as pool:
            seen = list(
                pool.map(lambda pair: self._zone(pair, empties, palette, Rulings(cat, card, tolerances)), pairs)
            )
        verdicts = {sight.view.zone: verdict for verdict, sight in seen}
        views = {sight.view.zone: sight for _, sight in seen}
        seconds = time.perf_counter() - start
        timings["zones"] = seconds - timings["mats"]
        return Judgement(verdicts, seconds, mats, notes, views, timings)

    def _notes(self, mats: Mats) -> tuple[str, ...]:
        notes = []
        if mats.doubtful:
            notes.append(f"the markers of mat {' and '.join(mats.doubtful)} fit no sheet: are two of them in view?")
        if not mats.poses:
            notes.append("no mat is in view")
        if abs(self.size_factor - 1) > SIZES_TOLD.value:
            notes.append(size_fault(self.size_factor))
        if self.camera is not None and mats.poses and mats.camera.estimated and not self.camera.estimated:
            notes.append("the lens file does not fit the markers; left out")
        elif self.camera is None and mats.poses:
            notes.append(f"no camera file: focal length estimated from the mats, {mats.camera.focal_px:.0f} px")
        return tuple(notes)

    def _views(
        self, frame: np.ndarray, mats: Mats, zones: Collection[str] | None, field: tuple[float, float] = FIELD
    ) -> list[Pair]:
        out = []
        for zone, pose in mats.poses.items():
            if zones is None or zone in zones:
                view = zone_view(frame, mats.camera, pose, field)
                out.append((view, _white(view, view.image)))
        return out

    def _empties(self, mats: Mats, pairs: list[Pair]) -> dict[str, Empty]:
        """By zone the features of the empty frame in its view, and its white, where the mat lies as it lay and is
        bare in it."""
        if self.empty is None:
            return {}
        if self.empty_mats is None:
            self.empty_mats = believed_mats(_gray(self.empty), self.camera, {})
        out = {}
        for view, _ in pairs:
            if self.empty.shape == (mats.camera.height, mats.camera.width, 3) and not moved(
                self.empty_mats, mats, view.zone
            ):
                there = view.crop(self.empty)
                white = _white(view, there)
                f = features(there, white)
                if not occupied(view, f):
                    out[view.zone] = Empty(f, white)
        return out

    def _left_out(self, pairs: list[Pair], empties: Mapping[str, Empty]) -> tuple[str, ...]:
        lacking = sorted(view.zone for view, _ in pairs if view.zone not in empties)
        if self.empty is None or not lacking:
            return ()
        return (
            f"the empty frame does not fit mat {' and '.join(lacking)}: it was taken elsewhere, the mat has moved, "
            "or there are pieces on it; left out",
        )

    def _light(self, pairs: list[Pair], empties: Mapping[str, Empty]) -> tuple[str, ...]:
        return light_alarms(
            {view.zone: (view, white) for view, white in pairs}, {zone: e.white for zone, e in empties.items()}
        )

    def _foreground(
        self,
        view: ZoneView,
        white: np.ndarray,
        rim_px: int = 0,
        empty: np.ndarray | None = None,
        shadows: bool = True,
    ) -> np.ndarray:
        """Features (n, 3) of what stands on the sheet, but its rim."""
        f = features(view.image, white)
        where = foreground(view, f, empty, shadows).astype(np.uint8)
        return f[cv2.erode(where, np.ones((2 * rim_px + 1,) * 2, np.uint8)) > 0]

    def _palette_of(self, pairs: list[Pair], empties: Mapping[str, Empty], shadows: bool = True) -> Palette:
        if not pairs:
            return nominal(self.piece_set)
        tables = [empties[v.zone].features if v.zone in empties else None for v, _ in pairs]
        return learn(
            self.piece_set,
            np.concatenate([self._foreground(v, w, 0, e, shadows) for (v, w), e in zip(pairs, tables, strict=True)]),
        )

    def _palette_now(self, pairs: list[Pair], empties: Mapping[str, Empty]) -> Palette:
        """The learnt palette in the light of today's mats, or one learnt from every mat in view."""
        if self.palette is None:
            return self._palette_of(pairs, empties, shadows=False)
        there = [self._foreground(v, w, INNER_PX, _table(empties, v.zone), shadows=False) for v, w in pairs]
        return drifted(self.palette, np.concatenate(there)) if there else self.palette

    def _catalogue(self, names: tuple[str, ...], card: Card) -> Catalogue:
        asked = usual_for(self.piece_set, card)
        key = (names, asked)
        if key not in self._catalogues:
            self._catalogues[key] = catalogue(self.piece_set, names, asked)
        return self._catalogues[key]

    def _zone(
        self, pair: Pair, empties: Mapping[str, Empty], palette: Palette, rulings: Rulings
    ) -> tuple[Verdict, ZoneSight]:
        (view, _), card = pair, rulings.card
        evidence = self._evidence(pair, empties, palette)
        canvas = canvas_of(view, evidence, rulings.cat, field_of(card))
        found = lit(view, evidence, rulings, readings(canvas, card, rulings.is_right))
        weighed = decide(rulings, found, fit_of(canvas, found[0]), evidence.hidden)
        build, _ = rulings.of(found[0])
        sight = ZoneSight(view, evidence, build, weighed.margin, weighed.explained, weighed.features)
        return withheld(sized(weighed.verdict, self.size_factor), view, evidence, self.piece_set), sight

    def _evidence(self, pair: Pair, empties: Mapping[str, Empty], palette: Palette) -> Evidence:
        view, white = pair
        empty = empties.get(view.zone)
        return gather_evidence(view, palette, white, *((empty.features, empty.white) if empty else (None, None)))


def _table(empties: Mapping[str, Empty], zone: str) -> np.ndarray | None:
    return empties[zone].features if zone in empties else None


def _white(view: ZoneView, image: np.ndarray) -> np.ndarray:
    paper, marker, _ = view.regions
    return paper_white(image, paper & ~marker & view.valid)


def _gray(image: np.ndarray) -> np.ndarray:
    return image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


def _mean(frames: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    if isinstance(frames, np.ndarray):
        return frames
    if len(frames) == 1:
        return frames[0]
    return np.clip(np.mean([f.astype(np.float32) for f in frames], 0) + 0.5, 0, 255).astype(np.uint8)
