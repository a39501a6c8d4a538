"""Patches of a colour that came to stay: pixels that turned together, side by side.

A pixel *turns* to a colour at the first frame from which on it shows that colour for most of a second;
what a hand covers meanwhile keeps its colour, and the time it is covered does not count. Pixels that turn
together are one patch, with those beside them that were hidden then; a fragment that came a moment before or
after goes with it, and one that is more than a piece can cover is parted by time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy
from skimage.measure import label, regionprops

from cards.pieces import PieceSet
from referee.review.tracks import OTHER_LABEL, UNCHANGED_LABEL, ZoneTrack, sights_mm2
from referee.vision.image.parts import around

STAY_S, STAY_SHARE, LEAST_SIGHTS = 0.8, 0.8, 3
"""A colour that comes to stay: its share of the sights in the next STAY_S of uncovered time, and how many
sights there must be when the video or the player's patience ends sooner."""

TOGETHER_S, AT_ONCE_S = 0.5, 0.2
"""Pixels of one piece turn within this of one another: the last of a placing is slow. Within the shorter time
where there are more of them than one piece can have."""

LEAST_SHARE = 0.4
"""Of the smallest front of a piece of that colour; the rest may be behind tongs or other pieces."""

FRAGMENT_SHARE = 0.25
"""Of that: smaller patches are not looked at again."""

SMALL_SHARE, FRAGMENT_S = 0.7, 1.0
"""What covers less than this of a front, beside a larger patch that came within this time, is part of it."""

RELEASE_PERCENTILE = 80.0
"""Percentile of a piece's pixels: most have turned when the tongs let go, the rest when they are gone."""

OUTLIER_PERCENTILE = 10.0
"""Percentile of a piece's pixels that may be misread without harm."""


@dataclass(frozen=True, eq=False)
class ColorPatch:
    """Pixels of one colour that turned together. ``mask`` (h, w) bool; ``hidden``, ``seen`` (h, w) seconds of
    the last sight without the colour and the first with it, valid where ``mask`` is."""

    color: str
    mask: np.ndarray
    hidden: np.ndarray
    seen: np.ndarray

    @property
    def seconds(self) -> float:
        """When it was there, hidden pixels and all."""
        return float(np.percentile(self.seen[self.mask], RELEASE_PERCENTILE))

    @property
    def empty_s(self) -> float:
        """The last sight of the place without it."""
        return float(np.percentile(self.hidden[self.mask], 100 - OUTLIER_PERCENTILE))

    @property
    def there_s(self) -> float:
        """The first sight of it."""
        return float(np.percentile(self.seen[self.mask], OUTLIER_PERCENTILE))


def color_turns(labels: np.ndarray, stay: int) -> tuple[np.ndarray, np.ndarray]:
    """(t, h, w) int8: the colour each pixel turns to at that frame, AS_BEFORE where it turns to none; and
    (t, h, w) int16: the frame of its last sight without that colour, -1 for none.

    ``labels`` (t, h, w). What is neither a colour nor the background covers a pixel and is no sight of it.
    """
    lasting = _lasting(labels, stay)
    colors = range(int(labels.max(initial=0)) + 1)
    state = np.full(labels.shape[1:], UNCHANGED_LABEL, np.int8)  # the colour that a pixel mostly shows, at first
    for k in colors:
        state[(labels[:stay] == k).mean(0) > 0.5] = k
    out, before = np.full(labels.shape, UNCHANGED_LABEL, np.int8), np.full(labels.shape, -1, np.int16)
    without = {k: np.full(state.shape, -1, np.int16) for k in colors}
    for t, now in enumerate(labels):
        for k, last in without.items():
            new = (lasting[t] == k) & (state != k)
            out[t][new], before[t][new] = k, last[new]
            last[(now != k) & (now != OTHER_LABEL)] = t
        changed = lasting[t] != OTHER_LABEL
        state[changed] = lasting[t][changed]
    return out, before


def _lasting(labels: np.ndarray, stay: int) -> np.ndarray:
    """(t, h, w) int8: the label a pixel shows when it comes to stay, for most of its next ``stay`` sights;
    OTHER where it does not, or is covered. A colour that is covered again at once was carried past, and the piece
    that is there when the hand has gone came later."""
    so_far = np.zeros((len(labels) + 1, *labels.shape[1:]), np.int16)
    np.cumsum(labels != OTHER_LABEL, axis=0, out=so_far[1:])
    ends = np.minimum(np.arange(len(labels)) + stay, len(labels))
    soon = so_far[ends] - so_far[:-1]  # how often the pixel is seen in the ``stay`` frames from that one on
    coming = np.full((stay, *labels.shape[1:]), OTHER_LABEL, np.int8)  # the next sights of each pixel
    out = np.full(labels.shape, OTHER_LABEL, np.int8)
    for t in range(len(labels) - 1, -1, -1):
        now, sight = labels[t], labels[t] != OTHER_LABEL
        coming[1:, sight] = coming[:-1, sight]
        coming[0, sight] = now[sight]
        sights = (coming != OTHER_LABEL).sum(0)
        stays = (coming == now).sum(0) >= np.maximum(STAY_SHARE * sights, LEAST_SIGHTS)
        if t + stay <= len(labels):
            stays &= (now < 0) | (soon[t] >= min(LEAST_SIGHTS, stay // 2))
        out[t][sight & stays] = now[sight & stays]
    return out


def candidate_patches(
    strip: ZoneTrack, turned: np.ndarray, before: np.ndarray, k: int, piece_set: PieceSet
) -> list[ColorPatch]:
    """What may be pieces of the k-th colour, by their size; ``turned`` and ``before`` as ``color_turns`` gives them."""
    color = strip.colors[k]
    front = smallest_front(piece_set, color) / strip.mm2
    patches = list(_patches(strip, turned == k, before, k, FRAGMENT_SHARE * LEAST_SHARE * front))
    most = max(sights_mm2(piece_set, color)) / strip.mm2
    patches = [part for patch in patches for part in _split(patch, LEAST_SHARE * front, most)]
    patches = _without_fragments(patches, SMALL_SHARE * front)
    found = []
    while patches:
        patches.sort(key=lambda p: p.seconds)
        piece, patches = _completed(patches[0], patches[1:], most)
        found.append(piece)
    return [p for p in found if p.mask.sum() >= LEAST_SHARE * front]


def _patches(strip: ZoneTrack, turned: np.ndarray, before: np.ndarray, k: int, least_px: float) -> Iterator[ColorPatch]:
    near = (max(3, round(TOGETHER_S * strip.rate_hz) | 1), 3, 3)
    groups = label(scipy.ndimage.maximum_filter(turned, near, mode="constant"))
    for part in regionprops(groups * turned):
        if part.image.any(0).sum() >= least_px:
            yield _patch(strip, k, part.image, before[part.slice], part.slice)


def _split(patch: ColorPatch, least_px: float, most_px: float) -> list[ColorPatch]:
    """One patch, or two where a good part of it was seen without the colour when the first part had it."""
    first = float(np.percentile(patch.seen[patch.mask], OUTLIER_PERCENTILE))
    slow = TOGETHER_S if patch.mask.sum() <= most_px else AT_ONCE_S
    later = patch.mask & (patch.hidden > first + slow)
    if min(later.sum(), patch.mask.sum() - later.sum()) < least_px:
        return [patch]
    return [replace(patch, mask=patch.mask & ~later), *_split(replace(patch, mask=later), least_px, most_px)]


def _without_fragments(patches: Sequence[ColorPatch], small_px: float) -> list[ColorPatch]:
    """The patches with the small ones made part of a larger one beside them that came within a second."""
    large = [p for p in patches if p.mask.sum() >= small_px]
    for piece in (p for p in patches if p.mask.sum() < small_px):
        n = next(
            (
                n
                for n, p in enumerate(large)
                if abs(p.seconds - piece.seconds) < FRAGMENT_S
                and around(piece.mask, p.mask | piece.mask).sum() > piece.mask.sum()
            ),
            None,
        )
        if n is None:
            large.append(piece)
        else:
            large[n] = _joined(large[n], piece, piece.mask, large[n].seconds)
    return large


def _joined(piece: ColorPatch, other: ColorPatch, theirs: np.ndarray, seen_s: float) -> ColorPatch:
    """The piece with ``theirs``, pixels (h, w) of the other patch, as seen from ``seen_s`` on."""
    theirs = theirs & ~piece.mask
    return replace(
        piece,
        mask=piece.mask | theirs,
        hidden=np.where(theirs, other.hidden, piece.hidden),
        seen=np.where(theirs, seen_s, piece.seen),
    )


def _patch(strip: ZoneTrack, k: int, mine: np.ndarray, before: np.ndarray, box: tuple) -> ColorPatch:
    mask = np.zeros(strip.field.shape, bool)
    hidden, seen = np.zeros(mask.shape), np.zeros(mask.shape)
    first = mine.argmax(0)
    last = np.take_along_axis(before, first[None], 0)[0]
    mask[box[1:]] = mine.any(0)
    seen[box[1:]] = strip.seconds[first + box[0].start]
    hidden[box[1:]] = np.where(last >= 0, strip.seconds[last], 0.0)
    return ColorPatch(strip.colors[k], mask, hidden, seen)


def _completed(piece: ColorPatch, later: Sequence[ColorPatch], most_px: float) -> tuple[ColorPatch, list[ColorPatch]]:
    """The piece with those pixels of later patches beside it that were hidden when it was first seen, unless
    that is more than a piece covers; and what is left of the later ones."""
    left = []
    for patch in later:
        hers = patch.mask & (patch.hidden < piece.seconds) & ~piece.mask
        both = around(piece.mask, piece.mask | hers)
        if (both & hers).any() and both.sum() <= most_px:
            piece = _joined(piece, patch, both & hers, piece.seconds)
            patch = replace(patch, mask=patch.mask & ~both)
        if patch.mask.any():
            left.append(patch)
    return piece, left


def smallest_front(piece_set: PieceSet, color: str) -> float:
    """Area in mm² of the smallest face that a piece of that colour may turn to the camera."""
    solids = [piece_set.shapes[shape] for shape, its_color, _ in piece_set.pieces if its_color == color]
    filled = {solid: 0.5 if solid.kind in ("triangle", "crescent") else 1.0 for solid in solids}
    return min(x * z * filled[solid] for solid in solids for x, _, z in map(solid.size, solid.poses()))
