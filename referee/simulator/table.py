"""The table simulator: a world of two mats, pieces, hands and a card becomes webcam pictures.

It ships as a twin of the real rig. Nothing here is consulted by vision or judging; they only ever get the
pixels, with SIMULATED burned into the top margin. ``TableSim.render`` is a pure function of what it is
given: the same seed, world and frame number give the same picture.
"""

import threading
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field

import cv2
import numpy as np

from cards.pieces import PieceSet
from referee.devices.camera import empty_picture
from referee.kernels import triangles
from referee.simulator import room
from referee.simulator.lens import Lens, typical_lens
from referee.simulator.meshes import Mesh, PosedPiece, ball, rod, solid
from referee.simulator.room import Light, MatPlace, linear_light

CELL_MM = 1.5
"""Cell of the shadow grid on the table."""

SHADOW_ORIGIN, SHADOW_CELLS = (-540.0, -480.0), (700, 720)
"""Lower corner in mm and (rows, columns) of the shadow grid."""

CONTACT_MM = 8.0
"""Things nearer the table than this darken it where they stand."""

CARD_WIDTH_MM, CARD_AT_MM = 86.0, 175.0
"""The card in its holder: how wide, and how far behind the middle of the table."""

SKINS = ((120, 150, 205), (92, 122, 178), (58, 84, 128), (150, 180, 228))
TONGS = (120, 172, 212)
NOISES = 6


@dataclass(frozen=True, eq=False)
class Hand:
    """A hand with tongs, mm in its mat's frame: ``tip`` between the tongs' ends, ``open_mm`` apart.

    A ``bare`` one has none, and its fingers are at the tip; a ``left`` one comes from the other shoulder, and one of
    somebody who does not sit at the mat from the ``shoulder`` given.
    """

    tip: tuple[float, float, float]
    open_mm: float = 34.0
    shoulder: tuple[float, float, float] | None = None
    bare: bool = False
    left: bool = False


@dataclass(frozen=True, eq=False)
class World:
    """All that can move: ``pieces`` and ``hands`` by zone, in its mat's frame; ``card`` is a face, BGR.

    ``more_hands``: (zone, hand) beside those, a second hand say.
    """

    pieces: Mapping[str, Sequence[PosedPiece]] = field(default_factory=dict)
    hands: Mapping[str, Hand | None] = field(default_factory=dict)
    card: np.ndarray | None = None
    more_hands: Sequence[tuple[str, Hand]] = ()


SEATINGS = {
    "beside": {"A": MatPlace(-172, -5, 0), "B": MatPlace(172, 0, 0)},
    "across": {"A": MatPlace(-170, 10, 180), "B": MatPlace(172, 5, 180)},
    "facing": {"A": MatPlace(-172, -20, 0), "B": MatPlace(172, 30, 180)},
}
"""Both players on the camera's side, both opposite, or facing each other; a seed shifts them a little."""


@dataclass(frozen=True)
class RigLayout:
    """Where the camera is, how it is lit, and where the mats lie, by zone."""

    lens: Lens
    light: Light
    seats: dict[str, MatPlace]


class TableSim:
    """One rig: camera place, light, table and seats from a seed.

    ``seating`` is beside, across, facing or None (the seed chooses); ``where`` gives the place instead.
    Not safe to use from two threads at once.
    """

    def __init__(
        self,
        piece_set: PieceSet,
        seed: int = 0,
        *,
        height: int = 720,
        seating: str | None = None,
        where: RigLayout | None = None,
    ):
        rng = np.random.default_rng(seed)
        self.piece_set, self.seed = piece_set, seed
        where = where or RigLayout(typical_lens(rng, height), room.typical_light(rng), _seats(rng, seating))
        self.lens, self.light, self.seats = where.lens, where.light, where.seats
        self.table = str(rng.choice(["walnut", "cloth", "linen", "oak"]))
        self.skins = [SKINS[i] for i in rng.permutation(len(SKINS))[: len(self.seats)]]
        self.tone = room.tone_curve()
        self.sleeves = room.sleeve_colors(np.random.default_rng(seed + 2), len(self.seats))
        self._paint = {name: _paint(piece_set.rgb(name), rng) for name in piece_set.colors}
        self._rng, self._ready, self._getting_ready = rng, False, threading.Lock()

    def seen_from(self, lens: Lens) -> "TableSim":
        """The same rig as another camera sees it; for another thread."""
        other = copy(self)
        other.lens, other._rng = lens, np.random.default_rng(self.seed + 3)
        other._ready, other._getting_ready = False, threading.Lock()
        return other

    def get_ready(self) -> None:
        """Draw what does not move, which takes a second or two. Done before the first picture if it was not."""
        with self._getting_ready:
            if not self._ready:
                rng = np.random.default_rng(self.seed + 1)
                self._still = self._developed(room.still_picture(self.lens, self.seats, self.light, self.table, rng))
                self._prepare(self._rng)
                self._ready = True

    def _prepare(self, rng: np.random.Generator) -> None:
        tall, wide = self.lens.height, self.lens.width
        self._near = np.zeros((tall * 2, wide * 2), np.float32)
        self._color = np.zeros((tall * 2, wide * 2, 3), np.uint8)
        points = np.nan_to_num(room.seen_points(self.lens), nan=1e6).astype(np.float32)
        cells = (points - np.array(SHADOW_ORIGIN, np.float32)) / CELL_MM
        self._cells = cv2.convertMaps(cells[..., 0], cells[..., 1], cv2.CV_16SC2)
        self._horizon = int(np.argmax((points[..., 1] < 1e5).any(1)))
        self._vignette = room.vignette(self.lens)
        self._noise = [_grain(rng, tall, wide) for _ in range(NOISES)]
        share = self.light.key * self.light.towards[2]
        share /= share + self.light.ambient
        fade = (1 - share * np.linspace(0, 1, 256)) ** (1 / 2.3)
        self._fade = np.clip(fade * 255, 0, 255).astype(np.uint8)
        self._slack_mm = 3.0
        self._card: tuple | None = None

    def _developed(self, light: np.ndarray) -> np.ndarray:
        return self.tone[np.clip(light * 1023, 0, 1023).astype(np.int32)]

    def render(self, world: World, number: int = 0) -> np.ndarray:
        """The webcam's picture of the world, (h, w, 3) uint8 BGR; ``number`` picks the noise."""
        return self.develop(self.clean(world), number)

    def clean(self, world: World) -> np.ndarray:
        """The picture before the sensor's blur and noise, (h, w, 3) uint8 BGR."""
        self.get_ready()
        picture = self._still.copy()
        parts = self._parts(world)
        depth = np.full(SHADOW_CELLS, -1e6, np.float32)
        if parts:
            corners = np.concatenate([mesh.corners for mesh, *_ in parts])
            # Where the lamp throws each corner on the table, in cells, and its height: (n, 3, 3) float32.
            ground = corners[..., :2] - corners[..., 2:] * (self.light.towards[:2] / self.light.towards[2])
            cells = (ground - SHADOW_ORIGIN) / CELL_MM
            cast = np.concatenate([cells, corners[..., 2:]], -1).astype(np.float32)
            triangles.light_depth(cast, depth)
            self._shadow(picture, depth, parts)
        if world.card is not None:
            self._stand_card(picture, world.card)
        if parts:
            self._draw(picture, parts, corners, cast, depth)
        return picture

    def develop(self, picture: np.ndarray, number: int) -> np.ndarray:
        """Sensor: slight blur, noise of frame ``number``, and the mark that this is no photograph."""
        self.get_ready()
        blurred = cv2.GaussianBlur(picture, (3, 3), 0.55 * self.lens.height / 720)
        noisy = empty_picture(*picture.shape[:2])
        cv2.addWeighted(blurred, 1.0, self._noise[number % NOISES], 1.0, -128, noisy)
        return burn_mark(noisy, number)

    def _parts(self, world: World) -> list[tuple[Mesh, np.ndarray, float]]:
        """(mesh in the table frame, linear BGR albedo (3,), gloss) of everything that is drawn."""
        parts = []
        for zone, seat in self.seats.items():
            turn, centre = seat.turn(), np.array([seat.x, seat.y, 0.0])
            for piece in world.pieces.get(zone, ()):
                mesh = solid(self.piece_set.shapes[piece.shape]).moved(turn @ piece.turn, turn @ piece.centre + centre)
                parts.append((mesh, self._paint[piece.color], 0.05))
            hand = world.hands.get(zone)
            hands = [hand] if hand is not None else []
            for shown in (*hands, *(more for z, more in world.more_hands if z == zone)):
                parts += [(m.moved(turn, centre), a, 0.015) for m, a in self._arm(zone, shown)]
        return parts

    def _arm(self, zone: str, hand: Hand) -> list[tuple[Mesh, np.ndarray]]:
        n = list(self.seats).index(zone)
        tip = np.array(hand.tip)
        side_sign = -1.0 if hand.left else 1.0
        fist = tip + (np.array((0.0, -22.0, 12.0)) if hand.bare else np.array((18.0 * side_sign, -95.0, 62.0)))
        shoulder = np.array(hand.shoulder or (60.0 if not hand.left else -130.0, -560.0, 190.0))
        side, grip = np.array((hand.open_mm / 2, 0, 0)), np.array((6.0, 0, 0))
        skin, wood = linear_light(np.array(self.skins[n])), linear_light(np.array(TONGS))
        cuff = fist + 0.12 * (shoulder - fist)
        tongs = [
            (rod(tip - side, fist - grip, 3.0, 5.0, 8), wood),
            (rod(tip + side, fist + grip, 3.0, 5.0, 8), wood),
        ]
        return [
            *([] if hand.bare else tongs),
            (ball(fist, (27, 36, 24)), skin),
            (ball(fist + np.array((-20, 14, 4)), (10, 24, 10)), skin),
            (ball(fist + np.array((16, 20, -6)), (9, 22, 9)), skin),
            (rod(fist, cuff, 20, 26, 20), skin),
            (rod(cuff, shoulder, 34, 48, 20), linear_light(np.array(self.sleeves[n]))),
        ]

    def _shadow(self, picture: np.ndarray, depth: np.ndarray, parts: Sequence) -> None:
        shade = cv2.GaussianBlur((depth > 0).astype(np.uint8) * 255, (0, 0), 2.2)
        stand = np.zeros(SHADOW_CELLS, np.uint8)
        for mesh, *_ in parts:
            low = mesh.corners[mesh.corners[..., 2] < CONTACT_MM]
            if len(low) > 2:
                cells = ((low[:, :2] - SHADOW_ORIGIN) / CELL_MM).astype(np.int32)
                cv2.fillConvexPoly(stand, cv2.convexHull(cells), 110)
        shade = cv2.max(shade, cv2.add(shade, cv2.GaussianBlur(stand, (0, 0), 5.0)))
        below = slice(self._horizon, None)
        seen = cv2.remap(shade, self._cells[0][below], self._cells[1][below], cv2.INTER_LINEAR)
        factor = cv2.merge([cv2.LUT(seen, self._fade)] * 3)
        cv2.multiply(picture[below], factor, dst=picture[below], scale=1 / 255)

    def _draw(
        self, picture: np.ndarray, parts: Sequence, corners: np.ndarray, cast: np.ndarray, depth: np.ndarray
    ) -> None:
        normals = np.concatenate([mesh.normals for mesh, *_ in parts])
        albedo = np.concatenate([np.tile(a * self.light.tint, (len(m.corners), 1)) for m, a, _ in parts])
        gloss = np.concatenate([np.full(len(m.corners), g) for m, _, g in parts])
        pixels, far = self.lens.project(corners.reshape(-1, 3))
        screen = np.concatenate([pixels * 2 + 0.5, 1 / far[:, None]], 1).reshape(-1, 3, 3).astype(np.float32)
        values = np.concatenate([cast, self._lights(corners, normals, gloss, pixels)], -1).astype(np.float32)
        triangles.shade(
            screen,
            values,
            albedo.astype(np.float32),
            depth,
            self._slack_mm,
            self.tone,
            self._near,
            self._color,
        )
        tall, wide = picture.shape[:2]
        left, top = np.clip(np.floor(pixels.min(0)).astype(int) - 1, 0, (wide, tall))
        right, bottom = np.clip(np.ceil(pixels.max(0)).astype(int) + 2, 0, (wide, tall))
        triangles.compose(picture, self._near, self._color, top, bottom, left, right)

    def _lights(self, corners: np.ndarray, normals: np.ndarray, gloss: np.ndarray, pixels: np.ndarray) -> np.ndarray:
        """Ambient, direct and glossy light at each corner, (n, 3, 3)."""
        light = self.light
        view = self.lens.position - corners
        view /= np.linalg.norm(view, axis=-1, keepdims=True)
        half = view + light.towards
        half /= np.linalg.norm(half, axis=-1, keepdims=True)
        direct = light.key * np.clip(normals @ light.towards, 0, None)
        shine = gloss[:, None] * np.clip((normals * half).sum(-1), 0, 1) ** 40
        up = 0.5 + 0.5 * normals[..., 2]
        near_table = np.clip(corners[..., 2] / 60, 0, 1)
        ambient = light.ambient * (0.62 + 0.38 * up) * (0.82 + 0.18 * near_table) + 0.10 * light.key * (1 - up)
        u = np.clip(pixels.reshape(-1, 3, 2).astype(int), 0, (self.lens.width - 1, self.lens.height - 1))
        dim = self._vignette[u[..., 1], u[..., 0]]
        return np.stack([ambient * dim, direct * dim, shine * dim], -1)

    def _stand_card(self, picture: np.ndarray, face: np.ndarray) -> None:
        """The card upright in its holder at the back, facing the camera. It is drawn once and kept."""
        if self._card is None or self._card[0] is not face:
            self._card = (face, *self._drawn_card(face))
        _, (left, top, right, bottom), drawn, share = self._card
        there = picture[top:bottom, left:right]
        there[:] = drawn + there * (1 - share)

    def _drawn_card(self, face: np.ndarray) -> tuple[tuple[int, int, int, int], np.ndarray, np.ndarray]:
        """(left, top, right, bottom) px, the card's light there times its share of each pixel, the share."""
        tall, wide = face.shape[:2]
        w, h, y = CARD_WIDTH_MM, CARD_WIDTH_MM * tall / wide, CARD_AT_MM
        quad = np.array([(-w / 2, y + 14, h + 4), (w / 2, y + 14, h + 4), (w / 2, y, 4), (-w / 2, y, 4)])
        pixels, _ = self.lens.project(quad)
        size = (self.lens.width, self.lens.height)
        left, top = np.clip(np.floor(pixels.min(0)).astype(int), 0, size)
        right, bottom = np.clip(np.ceil(pixels.max(0)).astype(int) + 1, 0, size)
        corners = np.array([(0, 0), (wide, 0), (wide, tall), (0, tall)], np.float32)
        fine = ((pixels - (left, top) + 0.5) * 4 - 0.5).astype(np.float32)
        fit, size = cv2.getPerspectiveTransform(corners, fine), (4 * (right - left), 4 * (bottom - top))
        light = linear_light(face) * (0.8 * float(self.light.on_table(np.array([0.0, y])))) * self.light.tint
        drawn, share = (
            cv2.resize(cv2.warpPerspective(image, fit, size), None, fx=0.25, fy=0.25, interpolation=cv2.INTER_AREA)
            for image in (self._developed(light).astype(np.float32), np.ones((tall, wide), np.float32))
        )
        return (left, top, right, bottom), drawn, share[..., None]


def _seats(rng: np.random.Generator, seating: str | None) -> dict[str, MatPlace]:
    chosen = SEATINGS[seating or str(rng.choice(sorted(SEATINGS)))]
    return {
        zone: MatPlace(seat.x + rng.uniform(-6, 6), seat.y + rng.uniform(-10, 10), seat.angle + rng.uniform(-3, 3))
        for zone, seat in chosen.items()
    }


def _paint(rgb: tuple[int, int, int], rng: np.random.Generator) -> np.ndarray:
    """Linear BGR albedo of a painted colour; no two boxes are painted quite alike."""
    return linear_light(np.array(rgb[::-1])) * rng.uniform(0.92, 1.08) * rng.uniform(0.97, 1.03, 3)


def _grain(rng: np.random.Generator, tall: int, wide: int) -> np.ndarray:
    """Sensor noise about 128, (h, w, 3) uint8: luminance and a coarser chroma part."""
    fine = rng.normal(0, 2.0, (tall, wide, 1)).astype(np.float32)
    chroma = cv2.resize(rng.normal(0, 1.6, (tall // 2, wide // 2, 3)).astype(np.float32), (wide, tall))
    return np.clip(np.rint(fine + chroma) + 128, 0, 255).astype(np.uint8)


def burn_mark(picture: np.ndarray, number: int) -> np.ndarray:
    """Write SIMULATED into the picture's top margin, in place, and give it back."""
    tall, wide = picture.shape[:2]
    band = max(16, tall // 26)
    picture[:band] //= 3
    text, scale = "SIMULATED  TABLE  -  NOT  A  PHOTOGRAPH", band / 34
    (length, _), _ = cv2.getTextSize(text, cv2.FONT_HERSHEY_SIMPLEX, scale, 1)
    at = ((wide - length) // 2, int(band * 0.72))
    cv2.putText(picture, text, at, cv2.FONT_HERSHEY_SIMPLEX, scale, (255, 255, 255), max(1, tall // 600), cv2.LINE_AA)
    return picture
