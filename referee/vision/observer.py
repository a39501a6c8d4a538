"""The steps of seeing, in order: mats -> views -> colours -> evidence -> readings -> verdict.

``Observer`` holds what a session knows (piece set, lens, palette, empty frame) and judges frames.
Each step is a function of its own module and can be run and timed alone; ``ZoneSight`` keeps what
each step found, for the overlay and the bench.
"""

import dataclasses
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.errors import CannotSee, FewPieces
from calibration.markers import Corners, find_markers
from calibration.mat import FIELD, MatPose, Mats
from calibration.palette import Palette, color_features, drifted_palette, learn_palette, learn_wear, nominal_palette
from calibration.quality import clipped_pixels
from cards.build import Build, Piece
from cards.card import Card
from cards.law import TOLERANCES, Tolerances
from cards.pieces import PieceSet
from cards.sentences import sentence
from referee.match.verdict import Ruling, Verdict
from referee.vision.image.aids import (
    STILL_THERE,
    believed_mats,
    empty_today,
    gray_of,
    light_alarms,
    moved,
    shown_apart,
    things_on_sheet,
    unmoved,
)
from referee.vision.image.background import UNKNOWN_DENSITY, log_empty, shadow_tints
from referee.vision.image.evidence import Empty, Evidence, foreground, gather_evidence, paper_white
from referee.vision.image.view import ZoneView, zone_view
from referee.vision.measured import measured
from referee.vision.render.solids import piece_tags
from referee.vision.search.canvas import (
    FEW_PX,
    Canvas,
    Reading,
    canvas_of,
    coarse_canvas,
    field_outline,
    joint_fit,
    over_field,
    to_build,
)
from referee.vision.search.hidden_pieces import (
    earlier_views,
    has_gone,
    inside_and_outside,
    is_covered,
    is_doubtful,
    is_repeated,
    is_unlike,
    with_hidden_pieces,
)
from referee.vision.search.joint import Hypothesis, joint_readings, together
from referee.vision.search.out_of_sight import (
    SURROUNDINGS_FACTOR,
    SURROUNDINGS_MM,
    TELLS,
    kinds_out_of_sight,
    lying_about,
    rests_in_sight,
    unseen_places,
)
from referee.vision.search.readings import SEARCHES, Searched, may_be_right, search
from referee.vision.search.sizes import size_factor
from referee.vision.search.stances import Catalogue, catalogue
from referee.vision.verdict.case import Case, SeenEarlier
from referee.vision.verdict.doubts import LEAST_TOGETHER, Decision, decide, hides
from referee.vision.verdict.proof import ShownPixels, proof_of, shown_of
from referee.vision.verdict.rulings import Rulings, field_of
from referee.vision.verdict.visibility import Visibility, size_fault, visibility_of

PIECES_APART = measured(
    1.1,
    "of the least that all of a player's pieces show standing apart",
    "13 colours frames 1.38 to 1.90 on their fuller mat; of 91 frames of duels all but five, flat rows, less",
)
UNKNOWN_SHARE = measured(0.05, "of where builds are seen", "by hand: a picture that hides more is not whole")
SIZES_TOLD = measured(
    0.04, "of the piece file's lengths", "fits of the 27 sessions with their own files are off by up to 0.023"
)

CLEARLY_NEARER_MM = measured(60.0, "mm", "by hand: what lies between two mats may be either player's")
INNER_PX = measured(
    2, "px of the view (mm)", "by hand: so far inside of what stands on the sheet no pixel is a mixture"
)


class ReadPicture(NamedTuple):
    """What is read in an earlier picture of a field, and whether it shows the ``whole`` of it; ``built``: columns and
    rows (n,) of the frame that show a piece in the field, by the best reading; ``file``: the picture as
    recordings keep it, where it was encoded as it was read."""

    searched: Searched
    whole: bool
    built: tuple[np.ndarray, np.ndarray]
    file: bytes | None = None


class EarlierPicture(NamedTuple):
    """A frame from while a build grew, which ``draw`` gives. ``lost``: whether it is from before something was lost
    from the build, shortly before the Stop. ``reading``: what is read in it, where that was begun already."""

    draw: Callable[[], np.ndarray]
    lost: bool = False
    reading: Future[ReadPicture | None] | None = None

    @classmethod
    def of(cls, image: np.ndarray, lost: bool = False) -> "EarlierPicture":
        """One that is drawn already."""
        return cls(lambda: image, lost)

    @property
    def image(self) -> np.ndarray:
        """The frame (h, w, 3), or (h, w, 4), transparent where nothing is known."""
        return self.draw()

    @property
    def read(self) -> ReadPicture | None:
        """What is read in it, once that is done; None where that was not begun, or failed."""
        return self.reading.result() if self.reading and self.reading.exception() is None else None

    @property
    def evidence(self) -> np.ndarray | bytes:
        """The picture as it is kept: its file, where there is one already."""
        return (self.read and self.read.file) or self.image


EarlierPictures = Callable[[bool], Sequence[EarlierPicture]]
"""Gives them for a zone, by whether the build as the settled view has it is right."""

NO_EARLIER_PICTURES: Mapping[str, EarlierPictures] = MappingProxyType({})
"""Of a film that has nothing to add: recordings keep those pictures alone that changed what was said."""


def no_pictures(_: bool) -> Sequence[EarlierPicture]:
    """Of a zone whose film has nothing to add."""
    return ()


MapFunction = Callable
"""``map``, or that of a pool of threads: zones are looked at one beside the other."""


@dataclass(frozen=True, eq=False)
class ZonePixels:
    """One zone of a frame: its view, the paper's ``white`` (3,) there, features (k, 3) of the pieces' ``paints``, and
    the empty frame in the same view, where the mat lies as it lay and is bare in it. Colours are learnt by whether its
    shadows may be ``tinted``."""

    view: ZoneView
    white: np.ndarray
    paints: np.ndarray
    empty: Empty | None = None
    tinted: bool = True

    @property
    def table(self) -> np.ndarray | None:
        """The features (h, w, 3) of the bare table, where they are known."""
        return self.empty.features if self.empty else None

    def evidence(self, palette: Palette, hidden: np.ndarray | None = None) -> Evidence:
        """What the pixels tell by the palette's colours; where (h, w) they are ``hidden``, nothing."""
        return gather_evidence(self.view, palette, self.white, self.empty, self.paints, hidden)

    def foreground(self, rim_px: int = 0, shadows: bool = True) -> np.ndarray:
        """Features (n, 3) of what stands on the sheet, but its rim."""
        f = self.view.features(self.white)
        tints = shadow_tints(self.view, f - self.table, self.paints) if self.empty and self.tinted else ()
        where = foreground(self.view, f, self.table, tints, shadows).astype(np.uint8)
        return f[cv2.erode(where, np.ones((2 * rim_px + 1,) * 2, np.uint8)) > 0]


@dataclass(frozen=True)
class ZoneSight:
    """What was seen of one zone: its view, the evidence without what judging alone needs (gains, features and light are
    empty), the build as understood with loose pieces, the ``features`` that the verdict's confidence comes from, by
    name the ``doubts`` that apply, and the ``earlier`` pictures that showed what is hidden."""

    view: ZoneView
    evidence: Evidence
    build: Build
    margin: float
    explained: float
    features: Mapping[str, float] = field(default_factory=dict)
    doubts: tuple[str, ...] = ()
    earlier: Sequence[EarlierPicture] = ()


@dataclass(frozen=True, eq=False)
class ZoneStudy:
    """All that judging a zone worked out, in its order; ``hypotheses`` best first."""

    view: ZoneView
    evidence: Evidence
    canvas: Canvas
    hypotheses: Sequence[Reading]
    decision: Decision
    piece_set: PieceSet


@dataclass(frozen=True)
class Judgement:
    """Verdicts of all zones in view (a zone whose mat is not in view is left out)."""

    zones: Mapping[str, Verdict]
    seconds: float
    mats: Mats
    notes: tuple[str, ...] = ()
    views: Mapping[str, ZoneSight] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)

    def has_piece(self, zone: str) -> bool:
        """Whether any piece is read in that zone; where it cannot be read one may stand there. Colours alone do not
        tell: a loose piece that stands before a field covers some of it in the picture."""
        verdict = self.zones.get(zone)
        return verdict is not None and (verdict.build is None or bool(verdict.build.pieces))

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
        self.colors: np.ndarray | None = None
        """The frame that the colours were learnt from."""
        self.empty_mats: Mats | None = None
        self.at_go: np.ndarray | None = None
        """A frame from before the go, in which pieces lie about: those that lie so yet are of no build."""
        self.markers: Corners = {}
        self.placed: dict[str, np.ndarray] = {}
        """Zone -> its sheet's corners (4, 2), shares of the picture, placed by hand where its markers are not read."""
        self.left_out: tuple[str, ...] = ()
        """Aids that it was not to learn from, in words: noted with every judgement."""
        self._catalogues: dict[tuple, Catalogue] = {}
        if empty is not None:
            self.learn_empty(empty)

    def learn_empty(self, image: np.ndarray) -> None:
        """Take a frame (h, w, 3) of the rig with nothing on the mats."""
        self.empty, self.empty_mats, self.at_go = image, None, None
        self.markers = {**self.markers, **find_markers(gray_of(image))}

    def renew_empty(self, frame: np.ndarray) -> None:
        """Take the empty table from a frame in which both fields are empty and pieces lie about them, where the mats
        lie as they lay in the empty frame known so far; else that one stays."""
        if self.empty is None or self.empty.shape != frame.shape:
            return
        mats, then = self.look(frame), self._mats_when_empty(self.empty)
        if mats.poses.keys() == then.poses.keys() and not any(moved(then, mats, zone) for zone in mats.poses):
            self.learn_empty(empty_today(frame, self.empty))
            self.at_go = frame

    def learn_colors(self, image: np.ndarray) -> Palette:
        """Learn the palette from a frame where every piece stands apart. Raises CannotSee without a mat, and FewPieces
        where no mat shows as much of a player's pieces as that: colours learnt from builds are other pieces' too."""
        zones = self._calibrating(image)
        if not self._all_apart(zones):
            zones = [dataclasses.replace(zone, tinted=False) for zone in zones]  # tints may be a pale paint's
            if not self._all_apart(zones):
                raise FewPieces(sentence("few_pieces"))
        inner = np.concatenate([zone.foreground(INNER_PX) for zone in zones])
        self.palette, self.colors = learn_wear(self._palette_of(zones), self.piece_set, inner), image
        return self.palette

    def _all_apart(self, zones: Sequence[ZonePixels]) -> bool:
        """Whether a mat shows as much of a player's pieces as all of them show standing apart."""
        shown = [shown_apart(zone.foreground(shadows=False), zone.view, self.piece_set) for zone in zones]
        return max(shown) >= PIECES_APART

    def learn_sizes(self, image: np.ndarray) -> float:
        """Learn how many times the piece file's lengths the pieces have, from the same frame after its colours; 1
        where it cannot be told. The palette keeps it. Raises CannotSee without a mat."""
        zones = self._calibrating(image)
        palette = self.palette or self._palette_of(zones)
        factor = size_factor(self.piece_set, [(zone.view, zone.evidence(palette)) for zone in zones])
        self.palette = dataclasses.replace(palette, piece_mm=factor and factor * self.piece_set.typical_mm)
        return self.size_factor

    @property
    def paints(self) -> np.ndarray:
        """Features (k, 3) of the set's paints in white light, and as they were learnt."""
        nominal = nominal_palette(self.piece_set).means
        return nominal if self.palette is None else np.concatenate([nominal, self.palette.means])

    @property
    def size_factor(self) -> float:
        """How many times the piece file's lengths the pieces have, as far as the colours frame told; else 1."""
        mm = self.palette.piece_mm if self.palette else None
        return mm / self.piece_set.typical_mm if mm else 1.0

    def _calibrating(self, image: np.ndarray) -> list[ZonePixels]:
        """Every zone of a frame to learn from. Raises CannotSee without a mat."""
        zones = self.zones(image, self.look(image))
        if not zones:
            raise CannotSee("no mat is in view in the colours picture")
        return zones

    def look(self, frame: np.ndarray) -> Mats:
        """The mats in a frame, completed by markers of the session's earlier frames; through the lens file where it
        fits them, else through an estimated lens."""
        return believed_mats(frame, self.camera, self.markers, self.empty, self.placed)

    def gather(self, frame: np.ndarray) -> tuple[Mats, tuple[str, ...], dict[str, tuple[ZoneView, Evidence]]]:
        """The mats in a frame (h, w, 3) uint8 BGR, what is to be said of them, and by zone what its pixels tell."""
        mats = self.look(frame)
        zones = self.zones(frame, mats)
        palette = self._palette_now(zones)
        return mats, self._notes(mats, zones), {z.view.zone: (z.view, z.evidence(palette)) for z in zones}

    def judge(
        self,
        frames: Sequence[np.ndarray] | np.ndarray,
        card: Card,
        zones: Collection[str] | None = None,
        tolerances: Tolerances = TOLERANCES,
        studied: Callable[[ZoneStudy], None] = lambda study: None,
        earlier: Mapping[str, EarlierPictures] | None = None,
    ) -> Judgement:
        """Verdicts on one frame (h, w, 3) uint8 BGR, or on several settled frames of the same scene, as
        ``judge_views`` gives them."""
        return judge_views([(self, frames)], card, zones, tolerances, studied, earlier)

    def seen(
        self, frames: Sequence[np.ndarray] | np.ndarray, card: Card, each: MapFunction = map, alone: str | None = None
    ) -> "SeenFrame":
        """What one or several settled frames of the same scene show of the mats, or of one ``alone``.

        Several are averaged before anything else: the camera stands still and so does the build, so that noise falls
        and nothing else changes.
        """
        frame = mean_frame(frames)
        mats = self.look(frame)
        if alone is not None:
            mats = dataclasses.replace(mats, poses={z: pose for z, pose in mats.poses.items() if z == alone})
        zones = self.zones(frame, mats, field_of(card), each)
        palette = self._palette_now(zones, each)
        by_name = {zone.view.zone: zone for zone in zones}
        return SeenFrame(self, frame, mats, by_name, palette, self._notes(mats, zones))

    def read_earlier(
        self, image: np.ndarray, zone: str, card: Card, encode: Callable[[np.ndarray], bytes] | None = None
    ) -> ReadPicture | None:
        """What an earlier picture, as ``EarlierPicture`` has it, shows of a zone; None where its mat is not in view.
        ``encode`` makes its file, where it may be kept."""
        seen = self.seen(np.ascontiguousarray(image[..., :3]), card, alone=zone)
        if zone not in seen.zones:
            return None
        unknown = np.zeros(seen.zones[zone].view.valid.shape, bool)
        if image.shape[2] == 4:
            unknown = cv2.remap(image[..., 3], *seen.zones[zone].view.maps, cv2.INTER_NEAREST, borderValue=255) == 0
        look = ZoneLook(0, seen, zone, self.catalogue(card), unknown)
        one = look.search_unfinished(card)
        whole = bool(unknown[over_field(one.canvas)].mean() < UNKNOWN_SHARE)
        standing = to_build(look.cat, Reading(0.0, inside_and_outside(one.canvas, one.readings[0])[0], 0.0)).pieces
        built = piece_tags(look.view, self.piece_set, standing) >= 0
        x, y = look.view.maps
        return ReadPicture(one, whole, (x[built], y[built]), encode(image) if encode else None)

    def _notes(self, mats: Mats, zones: Sequence[ZonePixels]) -> tuple[str, ...]:
        """What is to be said of a frame's mats, of the aids and of the light."""
        notes = [*self.left_out]
        if mats.doubtful:
            notes.append(f"the markers of mat {' and '.join(mats.doubtful)} fit no sheet: are two of them in view?")
        if not mats.poses:
            notes.append("no mat is in view")
        if by_hand := sorted(self.placed.keys() & mats.poses.keys()):
            notes.append(f"placed by hand, for its markers were not read: mat {' and '.join(by_hand)}")
        if abs(self.size_factor - 1) > SIZES_TOLD:
            notes.append(size_fault(self.size_factor))
        if self.camera is not None and mats.poses and mats.camera.estimated and not self.camera.estimated:
            notes.append("the lens file does not fit the markers; left out")
        elif self.camera is None and mats.poses:
            notes.append(f"no camera file: focal length estimated from the mats, {mats.camera.focal_px:.0f} px")
        lacking = sorted(zone.view.zone for zone in zones if zone.empty is None)
        if self.empty is not None and lacking:
            fault = "it was taken elsewhere, the mat has moved, or there are pieces on it; left out"
            notes.append(f"the empty frame does not fit mat {' and '.join(lacking)}: {fault}")
        before = sorted(zone.view.zone for zone in zones if zone.empty is not None and zone.empty.things.any())
        if before:
            notes.append(f"something stands before mat {' and '.join(before)}, as in the empty frame: take it away")
        return (*notes, *light_alarms([(z.view, z.white, z.empty.white if z.empty else None) for z in zones]))

    def zones(
        self, frame: np.ndarray, mats: Mats, field: tuple[float, float] = FIELD, each: MapFunction = map
    ) -> list[ZonePixels]:
        """Every mat's zone in a frame (h, w, 3)."""
        if self.empty is not None:
            self._mats_when_empty(self.empty)  # before several threads ask for them
        return list(each(lambda pose: self.zone(frame, mats, pose, field), mats.poses.values()))

    def zone(self, frame: np.ndarray, mats: Mats, pose: MatPose, field: tuple[float, float]) -> ZonePixels:
        """One mat's zone in a frame (h, w, 3), as wide as a field of this half extent."""
        view = zone_view(frame, mats.camera, pose, field)
        white = sheet_white(view, view.image)
        return ZonePixels(view, white, self.paints, self._empty(mats, view, white))

    def _mats_when_empty(self, empty: np.ndarray) -> Mats:
        if self.empty_mats is None:
            self.empty_mats = believed_mats(empty, self.camera, {}, None, self.placed)
        return self.empty_mats

    def _empty(self, mats: Mats, view: ZoneView, now: np.ndarray) -> Empty | None:
        size = (mats.camera.height, mats.camera.width, 3)
        if self.empty is None or self.empty.shape != size or moved(self._mats_when_empty(self.empty), mats, view.zone):
            return None
        there = view.crop(self.empty)
        white = sheet_white(view, there)
        f = color_features(there, white)
        things = things_on_sheet(view, f)
        if things.any():  # what stands there yet is no piece, but hides some; what does not was a piece
            still = log_empty(view.features(now), f) > UNKNOWN_DENSITY
            if still[things].mean() < STILL_THERE:
                return None
            things &= still
        lying = np.zeros(things.shape, bool)
        if self.at_go is not None and self.at_go.shape == size:
            at_go = view.crop(self.at_go)
            lying = unmoved(color_features(at_go, sheet_white(view, at_go)), view.features(now), f)
        return Empty(f, white, clipped_pixels(there), things, lying)

    def _palette_of(self, zones: Sequence[ZonePixels], shadows: bool = True) -> Palette:
        return learn_palette(self.piece_set, np.concatenate([zone.foreground(0, shadows) for zone in zones]))

    def _palette_now(self, zones: Sequence[ZonePixels], each: MapFunction = map) -> Palette:
        """The learnt palette in the light of today's mats, or one learnt from every mat in view, worn wood too."""
        if not zones:
            return self.palette or nominal_palette(self.piece_set)
        palette = self.palette or self._palette_of(zones, shadows=False)
        inner = np.concatenate(list(each(lambda zone: zone.foreground(INNER_PX, shadows=False), zones)))
        return learn_wear(palette, self.piece_set, inner) if self.palette is None else drifted_palette(palette, inner)

    def catalogue(self, card: Card) -> Catalogue:
        """The poses that pieces may stand in."""
        names = (self.palette or nominal_palette(self.piece_set)).names
        asked = card.usual_poses(self.piece_set)
        key = (names, asked)
        if key not in self._catalogues:
            self._catalogues[key] = catalogue(self.piece_set, names, asked)
        return self._catalogues[key]


@dataclass(frozen=True, eq=False)
class SeenFrame:
    """What one camera shows at a moment: the ``frame`` (h, w, 3), its ``mats``, each zone's pixels, the ``palette`` in
    this light, and what is to be said of the picture."""

    observer: Observer
    frame: np.ndarray
    mats: Mats
    zones: Mapping[str, ZonePixels]
    palette: Palette
    notes: tuple[str, ...]


def judge_views(
    views: Sequence[tuple[Observer, Sequence[np.ndarray] | np.ndarray]],
    card: Card,
    zones: Collection[str] | None = None,
    tolerances: Tolerances = TOLERANCES,
    studied: Callable[[ZoneStudy], None] = lambda study: None,
    earlier: Mapping[str, EarlierPictures] | None = None,
) -> Judgement:
    """Verdicts on what one camera or several show at a moment: of each its observer and its settled frames, the main
    camera's first, whose mats and views the judgement has. ``earlier`` None: a picture alone, without a film that would
    tell of a piece that it hides.

    A zone is judged by all views in which its mat is seen, but those that do not show what stands there while another
    does; that is noted. What the main camera's ``earlier`` pictures show, by zone, and the build hides now stands there
    yet. ``studied`` is called with what each zone's verdict was worked out from, by several threads.
    """
    start = time.perf_counter()
    with ThreadPoolExecutor(max_workers=2) as pool:
        # The first picture's catalogue takes as long as the search for its markers: beside it, on another core.
        catalogued = [pool.submit(one.catalogue, card) for one, _ in views]
        seen = [one.seen(frames, card, pool.map) for one, frames in views]
        timings = {"mats": time.perf_counter() - start}
        cats = [future.result() for future in catalogued]

        in_view = dict.fromkeys(zone for one in seen for zone in one.zones)
        asked = [zone for zone in in_view if zones is None or zone in zones]
        hiding = [z for z in in_view if z not in asked and any(_may_hide(one, z, asked, card) for one in seen)]
        shown = {zone: [k for k, one in enumerate(seen) if zone in one.zones] for zone in in_view}
        rulings = {zone: Rulings(cats[shown[zone][0]], card, tolerances) for zone in in_view}

        def searched(zone: str) -> dict[ZoneLook, Searched]:
            looks = [ZoneLook(k, seen[k], zone, cats[k]) for k in shown[zone]]
            return {look: look.search(rulings[zone]) for look in looks}

        found = dict(zip(asked + hiding, pool.map(searched, asked + hiding), strict=True))

        def judged(zone: str) -> tuple[Verdict, ZoneSight, tuple[str, ...]]:
            others = {look: one for other in found if other != zone for look, one in found[other].items()}
            searched = _without_hidden(found[zone], others, rulings[zone])
            film = None if earlier is None else earlier.get(zone, no_pictures)
            return _judged(searched, rulings[zone], studied, film)

        rows = dict(zip(asked, pool.map(judged, asked), strict=True))
    notes = [*seen[0].notes, *(note for *_, told in rows.values() for note in told)]
    notes += [f"camera {k}: {note}" for k, one in enumerate(seen[1:], 2) for note in one.notes]
    seconds = time.perf_counter() - start
    timings["zones"] = seconds - timings["mats"]
    return Judgement(
        {zone: verdict for zone, (verdict, *_) in rows.items()},
        seconds,
        seen[0].mats,
        tuple(notes),
        {zone: sight for zone, (_, sight, _) in rows.items() if zone in seen[0].zones},
        timings,
    )


class ZoneLook:
    """One zone as one camera shows it, with the evidence there; ``number`` of the camera from 0."""

    def __init__(
        self, number: int, seen: SeenFrame, zone: str, cat: Catalogue, hidden: np.ndarray | None = None
    ) -> None:
        self.number, self.observer, self.cat, self.seen = number, seen.observer, cat, seen
        self.pixels = seen.zones[zone]
        self.view, self.evidence = self.pixels.view, self.pixels.evidence(seen.palette, hidden)

    def search(self, rulings: Rulings) -> Searched:
        """The readings of this view alone."""
        return search(self._canvas(rulings.card), rulings.card, rulings.is_right)

    def search_unfinished(self, card: Card) -> Searched:
        """The same of a build that is growing: what the card shows is tried, but no likelier for that, and no
        very wide search follows."""
        return search(self._canvas(card), card, searches=SEARCHES[:2])

    def _canvas(self, card: Card) -> Canvas:
        return canvas_of(self.view, self.evidence, self.cat, field_of(card))

    def hidden_by(self, nearer: "ZoneLook", reading: Reading) -> np.ndarray:
        """Where (h, w) this view shows a piece of what stands on a mat nearer to the camera, by its ``reading``."""
        pieces = to_build(nearer.cat, reading).pieces
        there = dataclasses.replace(self.view, camera=nearer.view.camera)
        colors = np.array([*(self.evidence.names.index(p.color) for p in pieces), len(self.evidence.names)])
        return self.evidence.labels == colors[piece_tags(there, self.observer.piece_set, pieces)]

    def out_of_sight(self, rulings: Rulings, canvas: Canvas, reading: Reading) -> Piece | None:
        """A piece of the set that lies nowhere in sight and could stand in the field unseen, where the ruling would be
        another with it there."""
        completes = not rulings.is_right(reading)
        further, won = unseen_places(canvas, reading, completes)
        turning = rulings.turned_by(reading, further)
        if not turning:
            return None
        wide = self.observer.zone(self.seen.frame, self.seen.mats, self.view.pose, SURROUNDINGS_MM)
        if wide.empty is not None:  # what lies as before the go is in sight too
            wide = dataclasses.replace(
                wide, empty=dataclasses.replace(wide.empty, lying=np.zeros_like(wide.empty.lying))
            )
        evidence = wide.evidence(self.seen.palette, self._behind_nearer_fields(wide.view, canvas.field_mm))
        whole = canvas_of(wide.view, evidence, self.cat, canvas.field_mm)
        around = coarse_canvas(whole, SURROUNDINGS_FACTOR)
        lying = lying_about(around, reading)
        ground = cv2.resize(wide.view.ground, around.gains.shape[:0:-1], interpolation=cv2.INTER_NEAREST)
        nearer_mm = 0.0 if completes else CLEARLY_NEARER_MM
        rests = rests_in_sight(around, ~self._is_of_another(ground, nearer_mm), completes)
        own = lying[~self._is_of_another(lying[:, 1:3], nearer_mm)]
        lacking, nowhere = kinds_out_of_sight(around, reading, own, rests)
        for i in turning:
            stance = int(further[i, 0])
            if self.cat.kind[stance] in lacking and (won[i] > TELLS or nowhere[self.cat.color[stance]]):
                return to_build(self.cat, Reading(0.0, further[i : i + 1], 0.0)).pieces[0]
        return None

    def _behind_nearer_fields(self, view: ZoneView, field_mm: tuple[float, float]) -> np.ndarray:
        """(h, w) bool: where a view may show what stands in the field of a mat nearer to the camera than this one."""
        mask = np.zeros(view.valid.shape, np.uint8)
        for camera in (zone.view.camera for zone in self.seen.zones.values()):
            if camera[2, 3] < self.view.camera[2, 3]:
                cv2.fillConvexPoly(mask, field_outline(camera, view.matrix, field_mm).round().astype(np.int32), 1)
        return mask > 0

    def _is_of_another(self, at_mm: np.ndarray, nearer_mm: float) -> np.ndarray:
        """Which places (..., 2) on the table, in the mat's frame, are ``nearer_mm`` nearer to another mat's field."""
        own = self.view.pose
        world = np.concatenate([at_mm, np.zeros((*at_mm.shape[:-1], 1))], -1) @ own.rotation.T + own.translation

        def outside_mm(pose: MatPose) -> np.ndarray:
            there = (world - pose.translation) @ pose.rotation
            return np.linalg.norm(np.maximum(np.abs(there[..., :2]) - FIELD, 0.0), axis=-1)

        least_mm = outside_mm(own) - nearer_mm
        return np.any([outside_mm(pose) < least_mm for pose in self.seen.mats.poses.values()], 0)

    def shown(self, rulings: Rulings, best: Reading, rival: Reading | None) -> ShownPixels:
        """How far these pixels show the ``best`` reading beside its ``rival``, as fitted here."""
        other = None if rival is None else rulings.build(rival)
        return shown_of(self.view, self.evidence, self.observer.piece_set, rulings.build(best), other)

    def visibility(self, build: Build) -> Visibility:
        """What the picture allows to be told of a build."""
        clipped = None if self.pixels.empty is None else self.pixels.empty.clipped
        return visibility_of(self.view, self.evidence, self.observer.piece_set, build, clipped)


def _may_hide(seen: SeenFrame, near: str, zones: Collection[str], card: Card) -> bool:
    """Whether what stands on the mat ``near`` may be seen before the field of one of the ``zones``."""
    if near not in seen.zones:
        return False
    camera, field_mm = seen.zones[near].view.camera, field_of(card)
    for view in (seen.zones[zone].view for zone in zones if zone in seen.zones):
        field, before = (field_outline(of, view.matrix, field_mm) for of in (view.camera, camera))
        if view.camera[2, 3] > camera[2, 3] and cv2.intersectConvexConvex(field, before)[0] > 0:
            return True
    return False


def _without_hidden(
    searched: Mapping[ZoneLook, Searched], others: Mapping[ZoneLook, Searched], rulings: Rulings
) -> dict[ZoneLook, Searched]:
    """A zone's looks and what was found in them, searched again where what stands on a nearer mat is seen before the
    field: by other zones' looks, it hides what is behind it and tells nothing of it."""
    found = {}
    for look, one in searched.items():
        depth = look.view.camera[2, 3]
        near = [n for n in others if n.number == look.number and n.view.camera[2, 3] < depth]
        hidden = [look.hidden_by(n, others[n].readings[0]) for n in near]
        if hidden and (np.any(hidden, 0) & over_field(one.canvas)).sum() > FEW_PX:
            look = ZoneLook(look.number, look.seen, look.view.zone, look.cat, np.any(hidden, 0))
            one = look.search(rulings)
        found[look] = one
    return found


def _judged(
    searched: Mapping[ZoneLook, Searched],
    rulings: Rulings,
    studied: Callable[[ZoneStudy], None],
    earlier: EarlierPictures | None,
) -> tuple[Verdict, ZoneSight, tuple[str, ...]]:
    """The verdict on a zone by all its looks, what the first of them shows, and what is to be noted."""
    looks = list(searched)
    counted, of_all = looks, None
    while True:
        found = [searched[look] for look in counted]
        hypotheses = joint_readings(found, rulings.is_right, rulings.card)
        hypotheses, pictures, told = _with_earlier(looks[0], found, hypotheses, rulings, earlier)
        cases = _cases(counted, found, hypotheses, rulings, told, of_all)
        if counted is looks and cases[looks[0]].fit.together >= LEAST_TOGETHER:
            of_all = cases[looks[0]].compared.ruling
        clear = [look for look in counted if not hides(cases[look])]
        if len(clear) in (0, len(counted)):
            break
        counted = clear
    look, case, readings = looks[0], cases[counted[0]], [views[0] for views in hypotheses]
    if len(looks) == 1 and (earlier is None or case.compared.ruling == "mismatch"):
        unseen = look.out_of_sight(rulings, found[0].beam.canvas, case.best.reading)
        case = dataclasses.replace(case, out_of_sight=unseen)
    decision = decide(case, readings)
    observer = look.observer
    studied(ZoneStudy(look.view, look.evidence, searched[look].canvas, readings, decision, observer.piece_set))
    left_out = [str(one.number + 1) for one in looks if one not in counted]
    notes = [sentence("view_left_out", zone=look.view.zone, cameras=left_out)] if left_out else []
    notes += [sentence("seen_earlier", zone=look.view.zone)] if pictures else []
    sight = ZoneSight(
        look.view.lean(),
        look.evidence.lean(),
        case.best.build,
        case.compared.margin,
        case.fit.share,
        case.features,
        decision.doubts,
        pictures,
    )
    return decision.verdict, sight, tuple(notes)


def _with_earlier(
    look: ZoneLook,
    found: Sequence[Searched],
    hypotheses: list[Hypothesis],
    rulings: Rulings,
    earlier: EarlierPictures | None,
) -> tuple[list[Hypothesis], list[EarlierPicture], SeenEarlier | None]:
    """The hypotheses scored by earlier pictures of the main camera too, these pictures, and what they tell besides;
    None where they change nothing."""
    if earlier is None or look.number:
        return hypotheses, [], None
    best, observer = hypotheses[0][0], look.observer
    given = earlier(rulings.is_right(best))

    def read(picture: EarlierPicture) -> ReadPicture | None:
        known = picture.read
        if known and known.searched.canvas.cat is look.cat:
            return known
        return observer.read_earlier(picture.image, look.view.zone, rulings.card)

    with ThreadPoolExecutor(max_workers=2) as pool:
        seen = [(picture, one) for picture, one in zip(given, pool.map(read, given), strict=True) if one]
    *views, settled = earlier_views([*(one[:2] for _, one in seen), (found[0], True)])
    shown = [
        (picture, view)
        for k, ((picture, _), view) in enumerate(zip(seen, views, strict=True))
        if len(view.standing) and not is_covered(k, views, settled) and (picture.lost or not is_repeated(k, views))
    ]
    were_right = [one for picture, one in shown if picture.lost and may_be_right(one.searched, rulings.is_right)]
    if not were_right and not is_doubtful(found, hypotheses[0], [view for _, view in shown]):
        return hypotheses, [], None
    pictures, stages = zip(*shown, strict=True)
    now = with_hidden_pieces(found, hypotheses, stages, rulings.is_right)
    told = SeenEarlier(
        is_unlike(found, now, stages, rulings.is_right),
        not rulings.is_right(now[0][0]) and any(len(has_gone(found, now[0], one)) for one in were_right),
    )
    return now, list(pictures), told if any(told) or now[0][0].stances != best.stances else None


def _cases(
    looks: Sequence[ZoneLook],
    found: Sequence[Searched],
    hypotheses: Sequence[Hypothesis],
    rulings: Rulings,
    told: SeenEarlier | None,
    of_all: Ruling | None,
) -> dict[ZoneLook, Case]:
    """The case for the ruling by what these looks show together, with each one's own visibility; ``of_all``: the ruling
    by all looks, the unclear too, where one build explains them, None where none does."""
    compared = rulings.compare([views[0] for views in hypotheses])
    fitted = {id(views[0]): views for views in hypotheses}
    best = fitted[id(compared.best.reading)]
    rival: Sequence[Reading | None] = fitted[id(compared.rival.reading)] if compared.rival else [None] * len(looks)
    agree = 0.0 if of_all not in (None, compared.ruling) else together(found, best)
    fit = dataclasses.replace(joint_fit([one.canvas for one in found], best), together=agree)
    proof = proof_of([look.shown(rulings, a, b) for look, a, b in zip(looks, best, rival, strict=True)])
    size_factor = min((look.observer.size_factor for look in looks), key=lambda factor: abs(factor - 1))
    return {
        look: Case(rulings, compared, fit, proof, look.visibility(rulings.build(reading)), size_factor, best[1:], told)
        for look, reading in zip(looks, best, strict=True)
    }


def sheet_white(view: ZoneView, image: np.ndarray) -> np.ndarray:
    """The white (3,) of the paper in an image (h, w, 3) of that view."""
    paper, marker, _ = view.regions
    return paper_white(image, paper & ~marker & view.valid)


def mean_frame(frames: Sequence[np.ndarray] | np.ndarray) -> np.ndarray:
    """Several frames (h, w, 3) uint8 of the same scene as one of less noise."""
    if isinstance(frames, np.ndarray):
        return frames
    total = frames[0].astype(np.uint16)
    for frame in frames[1:]:
        total += frame
    return ((total + len(frames) // 2) // len(frames)).astype(np.uint8)
