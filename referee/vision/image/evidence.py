"""From pixels to evidence: how much better each colour explains a pixel than the background does.

The background is what the pixel would show with no piece there: the empty frame's own pixel when
there is one (or darker: a shadow), else the mat's paper where the sheet is, the marker's black and
white where a marker is, and elsewhere anything, with the frame's own frequent colours likelier.
Loose pieces lie about on the table in the same colours, so a piece's colour outside the field says
less than inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from skimage.measure import label, regionprops
from skimage.morphology import remove_small_objects

from calibration.palette import LINEAR, Palette, Wear, like_paper, lit_as, reflected
from calibration.quality import clipped_pixels
from referee.vision.image.background import (
    FEW_PX,
    LEAST_RELIT,
    LOG_ANYTHING,
    PAPER_SHADED,
    SAMPLE_PX,
    UNKNOWN_DENSITY,
    log_empty,
    log_marker,
    log_paper,
    log_sum,
    normal,
    paper_light,
    shadow_tints,
    white_shift,
)
from referee.vision.image.unknown import unknown_mask
from referee.vision.image.view import ZoneView
from referee.vision.measured import measured

WHITE_PLAIN = measured(60, "per cent of the bright ones", "by hand: the least coloured of them are the paper's own")
OUTSIDE_COLOURS = measured(6, "colours", "by hand: a shirt, a table, a wall and their shadows")
STRANGE_NATS = measured(2.0, "nats", "by hand: less likely than anything by this, a pixel is surely no paper")
COLOUR_TOLD_NATS = measured(2.5, "nats", "by hand: a colour less likely than anything by this is not told")
CLUTTER_IN = measured(0.03, "of the field's pixels", "by hand: of a piece's colour where no piece of the build is")
CLUTTER_OUT = measured(0.3, "of the pixels outside", "by hand: the same there, where loose pieces lie")
OUTSIDE_STRANGE = measured(0.3, "of the pixels off the mats", "by hand: so often they are anything at all")
OUTSIDE_SHARE = measured(0.03, "of what is off the mats", "by hand: a colour is frequent from here on")
PAPER_STRANGE = measured(0.05, "of the paper's pixels", "by hand: so often they are anything at all")
WHITE_USUAL = measured(0.8, "linear light", "by hand: of paper where it is not told; beside darker one clipped shines")
WHITE_BRIGHT = measured(50, "per cent of the pixels", "clipped paper is all of one light; the others are below it")
WHITE_NEAR = measured(0.15, "of their light", "by hand: the white is told by pixels this near to it")
OUTSIDE_STEPS = measured((12, 0.01), "steps of k-means, and the move at which it ends", "by hand, for time")
OUTSIDE_LEAST_SD = measured(0.08, "spread of a feature", "by hand: no colour is purer than a camera's noise")
PAPER_OTHER_LIGHT = measured(
    0.1, "of the paper's pixels", "by hand: a second lamp's edge, a crease: not the smooth light fitted"
)
EMPTY_STRANGE = measured(0.02, "of the pixels", "by hand: so often they are anything at all")

CLIP = measured(5.0, "nats", "by hand: no single pixel says more, for or against")


@dataclass(frozen=True, eq=False)
class Empty:
    """The empty frame in one zone's view: ``features`` (h, w, 3), the paper's white (3,) there, where (h, w) it is
    ``clipped`` in every channel, where (h, w) ``things`` stand on the sheet that stand there yet, and where (h, w)
    pieces are ``lying`` that lay there at the go."""

    features: np.ndarray
    white: np.ndarray
    clipped: np.ndarray
    things: np.ndarray
    lying: np.ndarray


@dataclass(frozen=True)
class Evidence:
    """``gains`` (k, h, w) float32 nats: log p(pixel | colour k) - log p(pixel | background).

    ``labels`` (h, w) int8: the likeliest colour, -1 for background; ``white`` (3,) linear RGB. ``features`` (h, w, 3)
    as ``calibration.palette`` makes them; ``bare`` (h, w) nats, at most 0: how far a pixel is from what the bare table
    would show there, 0 where that is not known. ``unknown`` (h, w) bool: what in the field is neither table nor
    piece; ``known`` (h, w) bool: pixels that fit a piece's colour or what is behind, away from glare; ``coloured``: the
    spread of red against green over the view, about 0 in a gray picture; ``untold``: colours that look like lit paper;
    ``openings`` (k, h, w) nats by which the light that each colour reflects explains the paper better than ``gains``
    take it to be.
    """

    names: tuple[str, ...]
    gains: np.ndarray
    labels: np.ndarray
    white: np.ndarray
    features: np.ndarray
    bare: np.ndarray
    unknown: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    coloured: float = 1.0
    known: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool))
    untold: tuple[int, ...] = ()
    openings: np.ndarray | None = None

    def lean(self) -> Evidence:
        """The same without gains and features, which take six sevenths of its memory."""
        return replace(self, gains=self.gains[:, :0].copy(), features=self.features[:0].copy(), openings=None)


PAPER_SAMPLE = measured(15000, "px", "so many of the paper's pixels tell its white as well as all of them")


def paper_white(image: np.ndarray, paper: np.ndarray) -> np.ndarray:
    """(3,) linear R, G, B of the lit paper: the bright, least coloured part of the sheet's pixels."""
    there = np.flatnonzero(paper)
    if len(there) < FEW_PX:
        return np.full(3, WHITE_USUAL)
    pixels = LINEAR[image.reshape(-1, 3)[there[:: max(1, len(there) // PAPER_SAMPLE)]]]
    one, two, three = np.ascontiguousarray(pixels.T)  # numpy is slow along an axis of three
    light = (one + two + three) / 3
    most, least = np.maximum(np.maximum(one, two), three), np.minimum(np.minimum(one, two), three)
    colour = (most - least) / np.maximum(light, 1e-3)
    bright = light >= np.percentile(light, WHITE_BRIGHT)  # clipped paper is all of one light
    plain = bright & (colour <= np.percentile(colour[bright], WHITE_PLAIN))
    usual = np.percentile(light[plain], WHITE_PLAIN)
    near = np.abs(light - usual) < WHITE_NEAR * usual
    return np.array([np.median(channel[plain & near]) for channel in (three, two, one)], float)


ALIKE_NATS = measured(1.5, "nats", "1.7 spreads: nearer to its best a piece's colour is the background's own; by hand")
LARGE_SHARE = measured(0.10, "of what is off the mats", "by hand: a shirt or a table covers more, loose pieces do not")


def frequent(f: np.ndarray, outside: np.ndarray, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Colours (mean (3,), spread (3,), share) that what is ``outside`` (h, w) the mats often has, of features
    (h, w, 3); none where too little of it is seen."""
    pixels = f[outside]
    if len(pixels) < FEW_PX:
        return []
    sample = np.ascontiguousarray(pixels[:: max(1, len(pixels) // SAMPLE_PX)], np.float32)
    cv2.setRNGSeed(seed)
    none_yet = np.empty((len(sample), 1), np.int32)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, *OUTSIDE_STEPS)
    _, which, centres = cv2.kmeans(sample, OUTSIDE_COLOURS, none_yet, criteria, 1, cv2.KMEANS_PP_CENTERS)
    members = [sample[which.ravel() == k] for k in range(len(centres))]
    return [
        (centre, np.maximum(mine.std(0), OUTSIDE_LEAST_SD), len(mine) / len(sample))
        for centre, mine in zip(centres, members, strict=True)
        if len(mine)
    ]


def log_elsewhere(f: np.ndarray, outside: np.ndarray, palette: Palette) -> tuple[np.ndarray, np.ndarray]:
    """What is off the mats: log density (h, w) of the frame's own frequent colours, or anything; and which of the
    palette's colours (k,) it has itself, as a wooden table has that of natural wood."""
    out = np.full(f.shape[:-1], LOG_ANYTHING + math.log(OUTSIDE_STRANGE), np.float32)
    shared = np.zeros(len(palette.names), bool)
    peaks = -np.linalg.slogdet(palette.covariances)[1] / 2 - 1.5 * math.log(2 * math.pi)  # (k,) at each one's mean
    for mean, sd, share in frequent(f, outside):
        told = palette.log_density(mean[None].astype(np.float32))[:, 0]
        alike = told > LOG_ANYTHING + 1.0
        if share > (LARGE_SHARE if alike.any() else OUTSIDE_SHARE):
            out = log_sum(out, normal(f, mean, sd) + math.log((1 - OUTSIDE_STRANGE) * share))
            shared |= alike & (told > peaks - ALIKE_NATS)
    return out, shared


def likeliest(gains: np.ndarray, best: np.ndarray, least: float) -> np.ndarray:
    """(h, w) int8: the first of the colours whose gains (k, h, w) are the ``best`` (h, w) there, -1 for background: no
    more than ``least`` nats."""
    labels, told = np.full(best.shape, -1, np.int8), best > least
    for k in range(len(gains) - 1, -1, -1):
        np.copyto(labels, k, where=told & (gains[k] == best))  # numpy's own argmax across colours is slow
    return labels


def spread_out(gains: np.ndarray, outside: np.ndarray) -> np.ndarray:
    """(k,) which colours, by their gains (k, h, w), a large thing ``outside`` (h, w) the mats has that goes on beyond
    the view: a player's shirt, the table. A build ends before the view does, and loose pieces are small."""
    best = np.where(outside, likeliest(gains, gains.max(0), LABELLED), -1)
    least, edge = LARGE_SHARE * outside.sum(), np.ones(outside.shape, bool)
    edge[1:-1, 1:-1] = False
    found = np.zeros(len(gains), bool)
    for k in np.flatnonzero(np.bincount(best[best >= 0], minlength=len(gains)) > least):
        large = remove_small_objects(best == k, max_size=least, connectivity=2)
        found[k] = (large & edge).any()
    return found


LABELLED = measured(0.5, "nats", "by hand: a pixel has the colour that beats the background by so much")


def bare_table(view: ZoneView, f: np.ndarray, empty: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Features (h, w, 3) of the bare table, of a picture's features (h, w, 3), and where (h, w) they are known:
    everywhere by an ``empty`` frame's features, else on the sheet but its markers, by the light on the rest of it."""
    if empty is not None:
        return empty, np.ones(f.shape[:2], bool)
    paper, marker, _ = view.regions
    return paper_light(f, view.ground, paper & ~marker & view.valid), paper & ~marker


def background(
    view: ZoneView, f: np.ndarray, palette: Palette, bare: np.ndarray, known: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log density (h, w) of each pixel with no piece of the build there, before clutter; and which colours (k,) of
    the palette cannot be told from what is off the mats. ``bare`` (h, w) is the log density of the bare table where it
    is ``known``; see ``bare_table``."""
    if known.all():
        return log_sum(bare, LOG_ANYTHING + math.log(EMPTY_STRANGE)), np.zeros(len(palette.names), bool)
    paper, marker, _ = view.regions
    out, shared = log_elsewhere(f, ~paper & view.valid, palette)
    told = log_sum(bare[paper], log_paper(f[paper]) + math.log(PAPER_OTHER_LIGHT))
    out[paper] = log_sum(told, LOG_ANYTHING + math.log(PAPER_STRANGE))
    out[marker] = log_sum(log_marker(f[marker]), out[marker])
    return out, shared


def gather_evidence(
    view: ZoneView,
    palette: Palette,
    white: np.ndarray,
    empty: Empty | None = None,
    paints: np.ndarray | None = None,
    hidden: np.ndarray | None = None,
) -> Evidence:
    """The evidence of one view, of whose sheet the ``white`` is (3,). ``paints`` (k, 3): features of the colours in
    white light, without them the palette's. Where (h, w) a view is ``hidden``, or a thing stands that stands in the
    ``empty`` frame, it tells nothing of what is behind; where pieces lie as before the go, of none that they are of the
    build."""
    f = view.features(white)
    # Heavy tails: a pixel far from every colour is not thereby evidence against one of them.
    painted = np.exp(palette.log_density(f))
    table, known = bare_table(view, f, empty.features if empty else None)
    relit = white_shift(empty.white, white) if empty else None
    tints = shadow_tints(view, f - table, palette.means if paints is None else paints)
    bare = log_empty(f, table, relit, tints)
    plain, shared = background(view, f, palette, bare, known)
    of_piece = worn(painted, f, palette.wear, plain)
    most = of_piece.max(0)
    things = np.zeros(most.shape, bool) if hidden is None else hidden
    if empty:
        things = things | empty.things
    unknown = unknown_mask(view, f, table, most, palette, tints) & ~things
    lit_anew = relit is not None and np.abs(relit).max() >= LEAST_RELIT  # then more light is no sheen, but the room's
    shining = of_piece if lit_anew else sheened(of_piece, f, palette, plain)
    likely = shining + math.exp(LOG_ANYTHING - COLOUR_TOLD_NATS)
    gains = _gains(view, likely, plain)
    blank, foot = bleached(view, f, bare, white, relit)
    blank, foot = blank | things, foot | things
    if blank.any():
        gains[:, blank] = 0.0
    if empty:
        unknown &= ~empty.lying
        gains[:, empty.lying] = np.minimum(gains[:, empty.lying], 0.0)
    paper, _, _ = view.regions
    if empty is None:
        shared = shared | spread_out(gains, ~paper & view.valid)
    for k in np.flatnonzero(shared):  # a piece of the table's colour is not seen before the table
        gains[k][~paper] = np.minimum(gains[k][~paper], 0.0)
    labels = likeliest(gains, gains.max(0), LABELLED)
    return Evidence(
        palette.names,
        np.ascontiguousarray(gains),
        labels,
        white,
        np.ascontiguousarray(f, np.float32),
        np.where(known, bare - bare[known].max(initial=-np.inf), 0.0).astype(np.float32),
        unknown,
        float(np.std(f[::4, ::4, 1])),
        (np.maximum(np.log(most + 1e-12), plain) > UNKNOWN_DENSITY) & ~foot,
        tuple(np.flatnonzero(like_paper(palette, PAPER_SHADED.mean[0] - PAPER_SHADED.sd[0])).tolist()),
        under_arches(view, f, palette, plain),
    )


def under_arches(view: ZoneView, f: np.ndarray, palette: Palette, plain: np.ndarray) -> np.ndarray:
    """Nats (k, h, w) by which paper that the light of a colour's arch falls on explains features (h, w, 3) better than
    the background does, whose log density is ``plain`` (h, w): it has the paint's tint, paler. Only there may it be
    asked: skin looks like it."""
    paper, marker, _ = view.regions
    tinted = np.square(f[..., 1]) + np.square(f[..., 2]) > REFLECTED_TINT**2
    at = np.flatnonzero(paper & ~marker & view.valid & tinted & (plain < LOG_ANYTHING))
    told = reflected(palette, REFLECTED, REFLECTED_SD).log_density(f.reshape(-1, 3)[at])
    of_colour = told.reshape(len(REFLECTED), len(palette.names), -1).max(0)
    out = np.zeros((len(palette.names), *plain.shape), np.float32)
    out.reshape(len(out), -1)[:, at] = np.clip(np.logaddexp(of_colour - plain.flat[at], 0.0) - LN_2, 0.0, CLIP)
    return out


LN_2 = math.log(2.0)
REFLECTED = measured(
    ((0.06, 0.15), (0.06, 0.4), (0.15, 0.15), (0.15, 0.35), (0.35, 0.15), (0.35, 0.3)),
    "of the paper's light, in a shadow, and of what a piece sends",
    "by hand, as under arches of rendered tables: 0.06 and 0.4 at the darkest, 0.2 and 0.25 further out",
)
REFLECTED_SD = measured((0.25, 0.12, 0.12), "spread of a feature", "by hand: half the way from one of them to the next")
REFLECTED_TINT = measured(0.15, "log light of one channel against others", "by hand, for time: paler is paper")


def sheened(painted: np.ndarray, f: np.ndarray, palette: Palette, plain: np.ndarray) -> np.ndarray:
    """Density (k, h, w) of features (h, w, 3) under each colour where its paint may mirror light too.

    ``painted`` (k, h, w) is that without, ``plain`` (h, w) the background's log density. What varnish and worn paint
    mirror adds to the paint's own light: a red pales, and has the tint of an orange, but not its blue.
    """
    tinted = np.flatnonzero(plain < 0)
    seen = f.reshape(-1, 3)[tinted]
    bright = np.square(seen[:, 1]) + np.square(seen[:, 2]) > SHEEN_TINT**2
    tinted, seen = tinted[bright], seen[bright]
    if not len(tinted):
        return painted
    mirroring = 0.5 * np.exp(lit_as(palette, 1.0, SHEEN).log_density(seen))
    out = painted.copy()
    for one, more in zip(out.reshape(len(out), -1), mirroring, strict=True):
        one[tinted] = np.maximum(one[tinted], more)
    return out


SHEEN = measured(
    0.04,
    "of the paper's light",
    "of photographed worn and varnished red blocks it takes whole faces to 0.04, spots to 0.08; with 0.06 one of the "
    "right builds of the dev sets is no longer proven",
)
SHEEN_TINT = measured(0.35, "log light of one channel against others", "by hand: less may be paper in the shade")


def bleached(
    view: ZoneView, f: np.ndarray, bare: np.ndarray, white: np.ndarray, relit: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """(h, w) bool, twice: where a lamp's mirror image outshines what it lies on, and where its foot may tint it.

    ``f`` (h, w, 3) are features, ``bare`` (h, w) their log density where nothing is. A core is brighter than paper, or
    clipped where paper is not; about it colours are washed out as far as it is wide again. What is there nobody can
    tell: it speaks for nothing, and against nothing. A room that is ``relit`` (see ``log_empty``), for the sheet alone
    lies in shadow, is as bright as it was.
    """
    ahead, not_bare = 0.0, MIRROR_LOG_DENSITY
    if relit is not None:
        ahead = max(float(relit[0]), 0.0)
        not_bare = min(not_bare, float(log_empty(relit + np.array([MIRROR_LOG_LIGHT, 0.0, 0.0]), np.zeros(3), relit)))
    blown = clipped_pixels(view.image) & bool((white < WHITE_USUAL).all())
    core = ((f[..., 0] > MIRROR_LOG_LIGHT + ahead) | blown) & (bare < not_bare) & view.valid
    blank, foot = np.zeros(core.shape, bool), np.zeros(core.shape, bool)
    if np.count_nonzero(core) < BLEACHED_MM2 * view.px_per_mm**2:
        return blank, foot
    things = label(core)
    for part in regionprops(things):
        if part.area >= BLEACHED_MM2 * view.px_per_mm**2:
            away = cv2.distanceTransform((things != part.label).astype(np.uint8), cv2.DIST_L2, 3)
            radius = part.equivalent_diameter_area / 2
            blank |= away <= radius
            foot |= away <= FOOT_RADII * radius
    return blank, foot


MIRROR_LOG_LIGHT = measured(0.25, "log light, relative to paper", "by hand: only a mirror image sends as much")
BLEACHED_MM2 = measured(12.0, "mm2", "by hand: a core that large is no highlight of an edge")
FOOT_RADII = measured(3.0, "radii of the core", "by hand: so far its foot reaches")

MIRROR_LOG_DENSITY = float(log_empty(np.array([MIRROR_LOG_LIGHT, 0.0, 0.0]), np.zeros(3)))
"""Log density of the bare table that outshines itself by as much as a mirror image does paper."""
REACH_PX = measured(10, "px of the view (mm)", "by hand: half the side of a neighbourhood that tells light and wear")


def worn(painted: np.ndarray, f: np.ndarray, wear: Wear | None, plain: np.ndarray) -> np.ndarray:
    """Density (k, h, w) of features (h, w, 3) under each colour where its paint may have worn off.

    ``painted`` (k, h, w) is that of the paint, ``plain`` (h, w) the background's log density. Bare wood says nothing
    of which piece it belongs to: it takes the colour of the paint around it, and where there is none it is no piece.
    """
    if wear is None:
        return painted
    of_paint = painted / (painted.sum(0) + np.exp(plain) + math.exp(LOG_ANYTHING))
    side = (2 * REACH_PX + 1,) * 2
    near = np.stack([cv2.boxFilter(one, -1, side) for one in of_paint])
    near /= near.sum(0) + LARGE_SHARE
    return (1 - wear.share) * painted + wear.share * near * np.exp(wear.log_density(f))


def _gains(view: ZoneView, likely: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """(k, h, w) nats for each colour, from its density (k, h, w) and the background's log density (h, w)."""
    _, _, inside = view.regions
    share = np.where(inside, CLUTTER_IN, CLUTTER_OUT).astype(np.float32)
    gains = np.log(likely)
    gains -= np.log(np.exp(plain) * (1 - share) + likely.mean(0) * share)
    np.clip(gains, -CLIP, CLIP, out=gains)
    gains[:, ~view.valid] = 0.0
    return gains.astype(np.float32, copy=False)


def foreground(
    view: ZoneView, f: np.ndarray, empty: np.ndarray | None, tints: Iterable[np.ndarray], shadows: bool = True
) -> np.ndarray:
    """Mask (h, w) of pixels over the sheet that are surely not paper, marker or background; without ``shadows``
    none of the paper in a shadow deeper than the ``empty`` frame's features tell of."""
    paper, marker, _ = view.regions
    least = LOG_ANYTHING - STRANGE_NATS
    at = np.flatnonzero(view.valid & paper if empty is not None else view.valid & paper & ~marker)
    seen = f.reshape(-1, 3)[at]
    if empty is not None:
        strange = log_empty(seen, empty.reshape(-1, 3)[at], None, tints) < least
        at, seen = at[strange], seen[strange]
    if empty is None or not shadows:
        at = at[log_paper(seen) < least]
    out = np.zeros(paper.shape, np.uint8)
    out.flat[at] = 1
    return cv2.erode(out, np.ones((3, 3), np.uint8)) > 0
