"""Calibration aids are checked against the frame, never believed: what does not fit is left out, and said so.

An empty frame of another session, of before a bump, or with pieces on it would have every piece of the build look like
something else; so it serves only the mats that lie where they lay in it, and only where they are bare in it.
"""

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from calibration.camera import CameraModel
from calibration.markers import MARKER_CENTRES, Corners, confirmed_marker, find_markers, zone_markers
from calibration.mat import FAR_PX, MatPose, Mats, detect_mats, markers_by_hand
from calibration.palette import LINEAR
from calibration.quality import clipped_pixels
from calibration.still import sheet_patches, still_markers
from cards.pieces import PieceSet
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured

LENS_WORSE = measured(2.0, "times an estimated lens's error", "by hand: a bent mat is off through any lens")
EMPTY_MOVED_SHARE = measured(
    0.003, "of the picture's width", "4 px of 1280; a mat's pose wanders by up to 1.5 px when markers are covered"
)
OCCUPIED_SHARE = measured(0.01, "of the sheet", "by hand: with more coloured pixels a frame is not of a bare mat")
LIGHT_CHANGED = measured(1.2, "times the empty frame's", "0.26 stops; a build's own shadow takes up to 10 %")
WARMER_RATIO = measured(
    1.12, "red over blue, times the empty frame's", "white balance drifts by up to 7 % from frame to frame"
)
LENS_OFF_SHARE = measured(
    0.0012,
    "of the picture's width",
    "1.5 px of 1280 (RMS): a focal length 8 % off gives 2.2, a lens of its own up to 0.9",
)
SHADOWED_LIGHT = measured(0.75, "of the other mat's", "by hand: a quarter of the light is gone from one mat only")
STILL_THERE = measured(0.5, "of a thing's pixels", "by hand: a build may hide the rest of what stood there before")
LAY_THERE = measured(0.4, "of a feature", "by hand: what differs so much from the empty table is no shadow on it")
LIES_THERE = measured(0.25, "of a feature", "by hand: noise and drift of the light are half of it")
SEEN_PX = measured(5, "px of the view (mm)", "by hand: side of a pixel's neighbourhood, of which half must agree")
EMPTY_TINT = measured(0.5, "log R - log G, or log B - theirs", "tinted shadows have up to 0.4, painted wood 0.6 to 3")

DARK_LIGHT = measured(0.01, "of full light", "by hand: below it noise is most of a pixel")
SAMPLED = 7
"""Every so many pixels tell by how much the light has changed."""
DIFFERENT = measured(0.3, "log light of a channel", "by hand: by less a camera's noise and a soft shadow differ")
GROWN_PX = measured(9, "px", "by hand: so far about what differs are its rims, its shadow and the glow of its paint")


def empty_today(now: np.ndarray, then: np.ndarray) -> np.ndarray:
    """The empty table in today's light, (h, w, 3) uint8 BGR: the frame ``now``, in which both fields are empty, and in
    place of what lies about them ``then``, an earlier frame of the empty table from the same place, in the light of
    now."""
    light, before = (np.log(cv2.blur(LINEAR[frame], (5, 5)) + DARK_LIGHT) for frame in (now, then))
    change = light - before
    usual = np.median(change.reshape(-1, 3)[::SAMPLED], 0)
    differs = (np.abs(change - usual).max(-1) > DIFFERENT).astype(np.uint8)
    levels = np.searchsorted(LINEAR, LINEAR[:, None] * np.exp(usual)).clip(0, 255).astype(np.uint8)
    grown = cv2.dilate(differs, np.ones((2 * GROWN_PX + 1,) * 2, np.uint8)) > 0
    return np.where(grown[..., None], cv2.LUT(then, levels[None]), now)


def believed_mats(
    picture: np.ndarray,
    camera: CameraModel | None,
    earlier: Corners,
    then: np.ndarray | None = None,
    placed: Mapping[str, np.ndarray] | None = None,
) -> Mats:
    """The mats in an 8-bit picture, grey (h, w) or BGR (h, w, 3), through the lens file's ``camera`` unless markers are
    off through it, or had to be left out, and an estimated lens puts them right: then the file is of another lens.

    ``earlier`` are the markers of a frame ``then`` of the same session, grey or BGR. A mat of which hardly a marker
    is seen is seen by its markers as far as blur has left them, and not believed where the picture shows that it has
    moved; or it is where its corners were ``placed`` by hand.

    Raises BadCamera for a lens file of another format, but not for that of a camera which was turned on its side.
    """
    gray = gray_of(picture)
    markers = find_markers(gray, earlier, None if picture.ndim == 2 else picture)
    if then is not None and then.shape[:2] == gray.shape:
        markers, earlier = _held_against(gray, then, markers, earlier)
    if placed:
        markers = markers_by_hand(placed, gray.shape[::-1], markers, earlier) | markers
    lenses = _lenses(camera, gray)
    mats = min((detect_mats(gray, lens, earlier, markers) for lens in lenses), key=lambda m: (not m.poses, m.error_px))
    seen = 4 * len(mats.poses)
    if camera is None or (_kept(mats) == seen and mats.error_px < LENS_OFF_SHARE * gray.shape[1]):
        return mats
    free = detect_mats(gray, None, earlier, markers)
    more, less = _kept(free) - _kept(mats), _kept(free) < _kept(mats)
    better = mats.error_px > LENS_WORSE * free.error_px
    return free if not less and (more > 1 or better) and _kept(free) > len(MARKER_CENTRES) else mats


def gray_of(picture: np.ndarray) -> np.ndarray:
    """An 8-bit picture, grey (h, w) or BGR (h, w, 3), in grey."""
    return picture if picture.ndim == 2 else cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY)


def _lenses(camera: CameraModel | None, gray: np.ndarray) -> Sequence[CameraModel | None]:
    """The lens as it is, or turned both ways where the picture stands upright and the lens file's lies, or the
    reverse."""
    height, width = gray.shape
    if camera is None or (camera.width > camera.height) == (width > height) or width == height:
        return (camera,)
    once = camera.turned()
    return once, once.turned().turned()


def _held_against(gray: np.ndarray, then: np.ndarray, markers: Corners, earlier: Corners) -> tuple[Corners, Corners]:
    """``markers`` with those of mats of which fewer than two are seen where they were, and that the picture shows as
    ``then`` did: a piece that covers a part of a marker moves what is read of it. And ``earlier`` without the mats that
    have moved, by what is left of them."""
    as_then = [m for m in markers.keys() & earlier.keys() if np.abs(markers[m] - earlier[m]).max() <= FAR_PX]
    seen, kept = zone_markers(markers), dict(earlier)
    lacking = {zone: ids for zone, ids in zone_markers(earlier).items() if len(set(ids).intersection(as_then)) < 2}
    then = gray_of(then) if lacking else then
    for zone, ids in lacking.items():
        known = {
            m: earlier[m] for m in ids if confirmed_marker(then, earlier[m], m) is not None
        }  # of a frame before it?
        if not known:
            continue
        patches = sheet_patches(gray, then, known)
        if patches.lies_still:
            markers = {**markers, **{m: quad for m, quad in known.items() if m not in as_then}}
        elif len(seen.get(zone, ())) < 2:
            found = still_markers(gray, then, {m: quad for m, quad in known.items() if m not in markers})
            markers = {**markers, **found}
            if not found and zone not in seen and patches.has_moved:
                kept = {m: quad for m, quad in kept.items() if m not in ids}
    return markers, kept


def _kept(mats: Mats) -> int:
    """How many markers the poses rest on."""
    return sum(len(pose.markers) for pose in mats.poses.values())


def corners_px(mats: Mats, pose: MatPose) -> np.ndarray:
    """(4, 2) px: the centres of a mat's markers in the picture."""
    return mats.camera.project(pose.to_camera(np.c_[MARKER_CENTRES, np.zeros(4)]))


def moved(then: Mats, now: Mats, zone: str) -> bool:
    """Whether a mat lies elsewhere in the picture now than ``then``, or was not seen then."""
    if zone not in then.poses or (then.camera.width, then.camera.height) != (now.camera.width, now.camera.height):
        return True
    off = np.linalg.norm(corners_px(then, then.poses[zone]) - corners_px(now, now.poses[zone]), axis=1)
    return float(np.median(off)) > EMPTY_MOVED_SHARE * now.camera.width


def unmoved(then: np.ndarray, now: np.ndarray, empty: np.ndarray) -> np.ndarray:
    """(h, w) bool: where something lies that lay there ``then``, by features (h, w, 3) of one view then, now, and of
    the ``empty`` table."""
    lay = np.abs(then - empty).max(-1) > LAY_THERE
    same = cv2.blur((lay & (np.abs(now - then).max(-1) < LIES_THERE)).astype(np.float32), (SEEN_PX, SEEN_PX))
    return np.asarray(lay & (same > 0.5))


def things_on_sheet(view: ZoneView, f: np.ndarray) -> np.ndarray:
    """(h, w) bool: where a frame that should show a bare mat has coloured things before or on it, by its features
    (h, w, 3); nowhere where they are too little to matter."""
    paper, marker, _ = view.regions
    sheet, things = paper & ~marker & view.valid, np.zeros(paper.shape, bool)
    red, blue = (np.abs(one - np.median(one)) for one in (f[..., 1][sheet], f[..., 2][sheet]))
    things[sheet] = np.maximum(red, blue) > EMPTY_TINT
    return things if sheet.any() and things[sheet].mean() > OCCUPIED_SHARE else np.zeros_like(things)


def shown_apart(foreground: np.ndarray, view: ZoneView, piece_set: PieceSet) -> float:
    """How much of the view's sheet pieces cover, by the features (n, 3) of what stands there, of the least that all of
    a player's pieces cover where they stand apart: each with its smallest face to the camera."""
    least = sum(count * piece_set.shapes[shape].least_face for shape, _, count in piece_set.pieces)
    return float(len(foreground) / view.px_per_mm**2 / least)


def light_alarms(zones: Sequence[tuple[ZoneView, np.ndarray, np.ndarray | None]]) -> tuple[str, ...]:
    """What is wrong with the light, in words: overexposed, other than in the empty frame, one field in shadow, warm.

    Of each zone its view, its paper's white (3,) linear R, G, B, and that in the empty frame where it is known.
    """
    shares = {view.zone: clipped_share(view) for view, _, _ in zones}
    found = [
        f"mat {zone} is overexposed: {100 * share:.0f} % of its paper is clipped; less light or a shorter exposure"
        for zone, share in sorted(shares.items())
        if share > 0.5  # then the paper's white, its median, is a guess
    ]
    change = {view.zone: white / np.maximum(usual, 1e-3) for view, white, usual in zones if usual is not None}
    if change:
        found += _changes({zone: float(c.mean()) for zone, c in change.items()})
        warm = float(np.median([c[0] / max(c[2], 1e-3) for c in change.values()]))
        if not 1 / WARMER_RATIO < warm < WARMER_RATIO:
            tint = "warmer" if warm > 1 else "cooler"
            found.append(f"the light is {tint} than in the empty frame: learn colours again")
    return tuple(found)


def _changes(brightness: Mapping[str, float]) -> list[str]:
    """Of how bright each zone's paper is, relative to the empty frame."""
    most = max(brightness.values())
    dim = [zone for zone, b in brightness.items() if b < SHADOWED_LIGHT * most]
    if dim and len(dim) < len(brightness):
        return [f"mat {' and '.join(dim)} lies in shadow that was not in the empty frame"]
    usual = float(np.median(list(brightness.values())))
    if not 1 / LIGHT_CHANGED < usual < LIGHT_CHANGED:
        word = "brighter" if usual > 1 else "darker"
        return [f"the light is {word} than in the empty frame ({100 * usual:.0f} %)"]
    return []


def clipped_share(view: ZoneView) -> float:
    """Share of the sheet's pixels, markers left out, that are clipped in every channel."""
    paper, marker, _ = view.regions
    pixels = clipped_pixels(view.image)[paper & ~marker & view.valid]
    return float(pixels.mean()) if len(pixels) else 0.0
