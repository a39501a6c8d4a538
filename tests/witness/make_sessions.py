"""The witness: path-traced sessions in the dev set's format, of rooms, lamps and piece sets vision was not made with.

Vision is judged by pictures drawn by code that shares nothing with it: pieces are meshes made from CONTRACT.md's
words (``witness_solids``), light is traced by Mitsuba 3, the webcam is ``witness_webcam``. How builds stand
and what cards ask comes from ``cards``; appearance never does.

    pip install -e .[witness]
    python tests/witness/make_sessions.py OUT                 every session, about five minutes each on one core
    python tests/witness/make_sessions.py OUT bars_day …      only those
    python tests/witness/make_sessions.py OUT --chance 0 20   twenty of chance, seeds 0 to 19
    python tests/witness/make_sessions.py OUT --worn 0 20     the same with worn paint, clutter, a drifting camera
    python tests/witness/make_sessions.py OUT --chance 0 60 --spp 4 --denoise --duels 5     a table in about 80 s
    python tests/witness/make_sessions.py OUT --chance 0 60 --spp 2 --denoise --duels 5 --wide 960   in 80 s of one core
    python tests/witness/make_sessions.py OUT --two-views 0 30 --spp 4 --denoise --duels 4  two cameras, hidden pieces
    referee bench OUT

With an LLVM library newer than 15 (Debian: libllvm19) name it in DRJIT_LIBLLVM_PATH and pass
``--variant llvm_ad_rgb``: three times as quick. A folder appears when it is complete, not before.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import shutil
import sys
import zlib
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import mitsuba as mi
import numpy as np
import yaml
from witness_builds import Pieces, Stand, make_stand, reach, spread, truth_row
from witness_chance import chance_session, worn_session
from witness_hidden import hidden_stand
from witness_prints import CARD_MM, card_picture, grain_picture, mat_picture, worn_picture
from witness_render import Thing, View, quad, render, render_denoised
from witness_rooms import srgb
from witness_sessions import SESSIONS, Session
from witness_solids import about_x, about_z, extruded, outline, piece_mesh, placed
from witness_webcam import Webcam, encoded, take

from cards.card import Card
from cards.deck import load_deck
from cards.errors import BadCard
from cards.generate import all_pieces
from cards.kinds.height import HeightCard
from cards.kinds.layout import make_layouts
from cards.kinds.organ_pipes import OrganCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import PieceSet, builtin_piece_set, parse_piece_set

DECK = Path(__file__).parents[2] / "cards" / "decks" / "challenge80.json"
ZONES = "AB"
SECOND_TURN_DEG, SECOND_PITCH_DEG = (50.0, 140.0), (26.0, 42.0)
"""A second camera stands so far around the table from the first, and looks down so steeply."""
PERSON_MM = 260.0
"""A second camera looks past a person by so much."""
WIDE_PX = 960
"""Pictures of sessions with two cameras are so wide: path tracing takes its time by the pixel."""


@dataclass(frozen=True)
class Mat:
    """Where a mat lies: its middle in world mm and its turn in degrees (180: its player sits beyond it)."""

    x: float
    y: float
    turn: float


@dataclass(frozen=True)
class Rig:
    """A session with what chance decided once: seats, camera, and each piece's paint and true size."""

    session: Session
    pieces: PieceSet
    mats: tuple[Mat, Mat]
    view: View
    paints: dict
    tolerances: dict


def make_rig(session: Session) -> Rig:
    """The session's rig; depends on its seed alone."""
    rng = np.random.default_rng(session.seed)
    pieces = parse_piece_set(session.pieces) if session.pieces else builtin_piece_set()
    p = math.radians(session.pitch)
    for _ in range(400):
        mats = _seats(session, rng)
        target = np.array([rng.uniform(-25, 25), rng.uniform(-20, 40), 45.0])
        away = np.array([rng.uniform(-0.15, 0.15), -math.cos(p), math.sin(p)])
        view = View(tuple(target + session.distance * away), tuple(target), float(rng.uniform(-2.5, 2.5)))
        if _in_view(session, mats, view):
            return Rig(session, pieces, mats, view, _paints(pieces, rng), _tolerances(session, pieces, rng))
    raise BadCard(f"{session.name}: no camera that sees both mats; widen its distance")


def second_rig(rig: Rig) -> Rig:
    """The same rig as another camera sees it, from another side."""
    session = rig.session
    rng = np.random.default_rng((session.seed, 2))
    webcam = _small(chance_session(session.seed + 5000).webcam)
    eye, target = np.array(rig.view.eye), np.array(rig.view.target)
    first = math.atan2(eye[1] - target[1], eye[0] - target[0])
    for _ in range(400):
        a = first + rng.choice([-1, 1]) * math.radians(rng.uniform(*SECOND_TURN_DEG))
        p = math.radians(rng.uniform(*SECOND_PITCH_DEG))
        away = np.array([math.cos(a) * math.cos(p), math.sin(a) * math.cos(p), math.sin(p)])
        view = View(tuple(target + rng.uniform(620, 900) * away), tuple(target), float(rng.uniform(-3, 3)))
        seen = replace(rig, session=replace(session, webcam=webcam), view=view)
        if _in_view(seen.session, rig.mats, view) and not _behind_people(rig, view):
            return seen
    raise BadCard(f"{session.name}: no second camera sees both mats")


def _behind_people(rig: Rig, view: View) -> bool:
    """Whether a person sits near the way from the camera to a mat, by the plan."""
    eye = np.array(view.eye[:2])
    ways = [eye + share * (np.array([mat.x, mat.y]) - eye) for mat in rig.mats for share in np.linspace(0, 1, 20)]
    people = [(person.x_mm, person.y_mm) for person in rig.session.room.people]
    return any(math.dist(at, person) < PERSON_MM for at in ways for person in people)


def _small(cam: Webcam, wide_px: int = WIDE_PX) -> Webcam:
    """The same webcam with fewer pixels."""
    by = wide_px / cam.width
    x, y = cam.centre
    size = {"width": wide_px, "height": round(cam.height * by), "focal_px": cam.focal_px * by}
    return replace(cam, **size, centre=(x * by, y * by), blur_px=max(0.4, cam.blur_px * by))


def _seats(session: Session, rng: np.random.Generator) -> tuple[Mat, Mat]:
    away = 180.0 if session.camera_side == "opposite" else 0.0
    turns = (away, 180.0 - away if session.seating == "facing" else away)
    sides = (1, -1) if rng.random() < 0.5 else (-1, 1)
    found = [
        Mat(side * rng.uniform(163, 176), rng.uniform(-35, 35), turn + rng.uniform(-7, 7))
        for side, turn in zip(sides, turns, strict=True)
    ]
    return found[0], found[1]


def _in_view(session: Session, mats: tuple[Mat, Mat], view: View) -> bool:
    corners = [(x, y, 0) for x in (-150, 150) for y in (-106, 106)] + [(x, 0, 190) for x in (-80, 80)]
    points = np.concatenate([in_world(np.array(corners, float), mat) for mat in mats])
    pixels = session.webcam.project(points, *view.pose())
    size = np.array([session.webcam.width, session.webcam.height])
    margin = 0.004 * size[0]
    return bool(((pixels > margin) & (pixels < size - margin)).all())


def in_world(points: np.ndarray, mat: Mat) -> np.ndarray:
    """Points (n, 3) of a mat's frame in the world's."""
    return points @ about_z(mat.turn).T + (mat.x, mat.y, 0)


def _paints(pieces: PieceSet, rng: np.random.Generator) -> dict:
    """Per colour the paint's sRGB BGR as the box really came: not quite the nominal one."""
    return {
        name: np.clip(srgb(code) * rng.normal(1, 0.035) + rng.normal(0, 3, 3), 4, 250)
        for name, code in pieces.colors.items()
    }


def _tolerances(session: Session, pieces: PieceSet, rng: np.random.Generator) -> dict:
    reach = 0.2 + 30 * session.wear.size
    return {(zone, k): tuple(rng.uniform(-reach, reach, 3)) for zone in ZONES for k in range(pieces.count)}


# -- the picture -------------------------------------------------------------------------------------


def shoot(rig: Rig, fields: dict, seed: int) -> np.ndarray:
    """Linear light of the rig with pieces (per zone, mat frame) on it, as ``witness_webcam.take`` wants it."""
    things = [*_printed(rig), *_props(rig)]
    for zone, mat in zip(ZONES, rig.mats, strict=True):
        things += _painted(rig, zone, mat, fields.get(zone, ()))
    session = rig.session
    how = render_denoised if session.denoised else render
    return how(session.room, things, session.webcam, rig.view, session.spp, seed)


def _printed(rig: Rig) -> list[Thing]:
    return [
        Thing(quad(297, 210, np.array([mat.x, mat.y, 0.0]), about_z(mat.turn)), mat_picture(k))
        for k, mat in enumerate(rig.mats)
    ]


def _painted(rig: Rig, zone: str, mat: Mat, pieces: Pieces) -> list[Thing]:
    out, shapes = [], rig.pieces.to_json()["shapes"]
    order = sorted(pieces, key=lambda p: (p.shape, p.color, p.x))
    for k, piece in enumerate(order):
        mesh = piece_mesh(shapes[piece.shape], rig.tolerances[zone, k], rig.session.wear.edge_mm)
        mesh = placed(mesh, piece.pose.rotation, piece.pose.facing, (piece.x, piece.y, piece.z), piece.yaw)
        mesh = mesh.moved(about_z(mat.turn), np.array([mat.x, mat.y, 0.0]))
        bare = piece.color == "natural"
        picture = grain(rig, piece.color) if bare else worn(rig, piece.color, f"{zone}{k}")
        out.append(Thing(mesh, picture, 0.0 if bare else (0.14, 0.2, 0.28)[k % 3]))
    return out


_GRAINS: dict = {}


def grain(rig: Rig, color: str) -> np.ndarray:
    """The colour's picture; bare wood shows more grain than paint."""
    key = (rig.session.name, color)
    if key not in _GRAINS:
        rng = np.random.default_rng(len(_GRAINS))
        _GRAINS[key] = grain_picture(rig.paints[color], 0.09 if color == "natural" else 0.025, rng)
    return _GRAINS[key]


def worn(rig: Rig, color: str, name: str) -> np.ndarray:
    """The colour's picture as it is worn on one piece."""
    paint, share = grain(rig, color), rig.session.wear.bare
    if not share:
        return paint
    key = (rig.session.name, color, name)
    if key not in _GRAINS:
        rng = np.random.default_rng((rig.session.seed, zlib.crc32(name.encode())))
        _GRAINS[key] = worn_picture(paint, share * rng.uniform(0.2, 1.8), rng)
    return _GRAINS[key]


def _clutter(rig: Rig) -> list[Thing]:
    """Toys that are no pieces, in the pieces' colours, on the table about the mats; some cover a marker's corner."""
    rng = np.random.default_rng(rig.session.seed + 11)
    out = []
    for k in range(rig.session.wear.clutter):
        spec = {"kind": ("box", "cylinder", "triangle")[k % 3]}
        spec |= {side: float(rng.uniform(22, 52)) for side in ("width", "height", "depth")}
        mat, far = rig.mats[int(rng.integers(2))], 105 if k % 4 == 3 else 135
        at = (rng.uniform(-130, 130), rng.choice([-1, 1]) * rng.uniform(far, far + 55), 0)
        where = in_world(np.array([at], float), mat)[0] + (0, 0, spec["height"] / 2)
        color = str(rng.choice(list(rig.paints)))
        out.append(
            Thing(placed(piece_mesh(spec), 0, "front", tuple(where), rng.uniform(0, 90)), grain(rig, color), 0.25)
        )
    return out


def drifted(session: Session, k: int) -> Webcam:
    """The webcam as it has set itself for the session's k-th picture."""
    rng = np.random.default_rng((session.seed, 31, k))
    stops, warm = rng.uniform(-1, 1, 2) * (session.wear.stops, session.wear.balance)
    return replace(session.webcam, exposure=session.webcam.exposure * 2**stops, tint=(1 + warm, 1.0, 1 - warm))


def _props(rig: Rig) -> list[Thing]:
    """The card in its holder between the two, tongs, and what else lies on a table."""
    rng = np.random.default_rng(rig.session.seed + 7)
    back = 185 if rig.session.camera_side == "opposite" else 200
    lean, at = about_z(rng.uniform(-12, 12)) @ about_x(78), np.array([rng.uniform(-15, 15), back, CARD_MM[1] / 2 + 3])
    face = card_picture(50 + int(rng.integers(0, 40)), list(rig.paints.values()), rng)
    wood = grain_picture(np.array((150, 190, 215.0)), 0.06, rng)
    foot = extruded(outline("box", 70, 8, 0), 30).moved(np.eye(3), at * (1, 1, 0) + (0, 0, 4))
    out = [Thing(quad(*CARD_MM, at, lean), face), Thing(foot, wood, 0.3), *_clutter(rig)]
    for mat in rig.mats:
        base = in_world(np.array([(rng.uniform(-60, 60), -150 - rng.uniform(0, 40), 0)]), mat)[0]
        for k in (-1, 1):
            stick = extruded(outline("box", 160, 7, 0), 9)
            turn = about_z(mat.turn + 8 * k + rng.uniform(-14, 14))
            out.append(Thing(stick.moved(turn, base + (0, 5 * k, 3.5 + 3.6 * (k + 1))), wood, 0.3))
    return out


# -- the session -------------------------------------------------------------------------------------


def session_cards(session: Session, pieces: PieceSet, rng: random.Random) -> list[Card]:
    """The frames' cards in order, each with the id of its frame: half of them layouts."""
    kinds = ["layout"] * 5 + ["height", "shapes", rng.choice(["organ_pipes", "height", "shapes"])]
    rng.shuffle(kinds)
    if session.pieces is None:
        deck = load_deck(DECK).cards
        chosen = [rng.choice([c for c in deck if c.kind == kind]) for kind in kinds[: session.frames]]
    else:
        layouts = [c for value in (1, 2, 3) for c in make_layouts(pieces, value, 3, rng.randrange(10**6))]
        rng.shuffle(layouts)
        chosen = [
            layouts.pop() if kind == "layout" else _free_card(kind, pieces, rng) for kind in kinds[: session.frames]
        ]
    return [replace(card, id=f"{_letter(card)}{k:02d}") for k, card in enumerate(chosen)]


def _letter(card: Card) -> str:
    return {"layout": "L", "height": "H", "shapes": "S", "organ_pipes": "P"}[card.kind]


def _free_card(kind: str, pieces: PieceSet, rng: random.Random) -> Card:
    if kind == "shapes" and len(pieces.shapes) > 1:
        some = [shape for shape, _ in rng.sample(all_pieces(pieces), rng.randint(3, 4))]
        return ShapesCard("S", 2, tuple(sorted((s, some.count(s)) for s in set(some))))
    if kind == "organ_pipes" and len(pieces.shapes) > 4:
        return OrganCard("P", 3, 5)
    return HeightCard("H", 2, rng.choice((3, 4, 5)))


def make_frames(rig: Rig, rng: random.Random) -> list[tuple[Card, dict[str, Stand]]]:
    """Cards with what stands in each zone; a card nobody can build is replaced by the next."""
    found: list = []
    for k, card in enumerate(session_cards(rig.session, rig.pieces, rng)):
        for attempt in range(6):
            try:
                stands = {zone: _stand(rig, zone, k, card, rng) for zone in ZONES}
            except BadCard as fault:
                print(f"{rig.session.name} {k} attempt {attempt}: {fault}", file=sys.stderr)
                drawn = session_cards(rig.session, rig.pieces, rng)
                others = [c for c in drawn if c.kind != card.kind] or drawn
                card = replace(others[0], id=f"{_letter(others[0])}{k:02d}")
                continue
            found.append((card, _kept_apart(rig, stands)))
            break
    return found


def _stand(rig: Rig, zone: str, k: int, card: Card, rng: random.Random) -> Stand:
    """What stands in a zone of the k-th frame: where two cameras look, by turns with a piece that the first misses."""
    number = ZONES.index(zone)
    if rig.session.two_views and (k + number) % 2 == 0:
        mat = rig.mats[number]
        first, second = (
            (np.array(one.view.eye) - (mat.x, mat.y, 0)) @ about_z(mat.turn) for one in (rig, second_rig(rig))
        )
        return hidden_stand(card, rig.pieces, (first, second), rig.session.seed + k // 2 + number, rng)
    return make_stand(card, rig.pieces, rng, rng.random() < 0.55)


def _kept_apart(rig: Rig, stands: dict[str, Stand]) -> dict[str, Stand]:
    """The stands without those loose pieces of B that would lie in one of A's: nobody put them there."""
    taken, kept = _plans(rig, stands["A"].loose, rig.mats[0]), []
    for piece, (at, near) in zip(stands["B"].loose, _plans(rig, stands["B"].loose, rig.mats[1]), strict=True):
        if all(math.dist(at, other) > near + far for other, far in taken):
            kept.append(piece)
    return {"A": stands["A"], "B": replace(stands["B"], loose=tuple(kept))}


def _plans(rig: Rig, loose: Pieces, mat: Mat) -> list[tuple[np.ndarray, float]]:
    """Where each piece lies in the world's plan, (2,) mm, and how far it reaches from there."""
    return [(in_world(np.array([(p.x, p.y, 0.0)]), mat)[0, :2], reach(rig.pieces, p.shape, p.pose)) for p in loose]


def truth(rig: Rig, frames: list) -> dict:
    """``truth.json``."""
    session = rig.session
    rows = [
        {
            "image": f"duel_{k:02d}.jpg",
            "card": card.id,
            "zones": {zone: truth_row(rig.pieces, stand) for zone, stand in stands.items()},
        }
        for k, (card, stands) in enumerate(frames)
    ]
    return {
        "seed": session.seed,
        "piece_set": rig.pieces.name,
        "world": session.name,
        "table": session.room.table[0],
        "camera_side": session.camera_side,
        "seating": session.seating,
        "frames": rows,
    }


def write_session(session: Session, out: Path) -> None:
    """Renders the session's folder into ``out``; it is moved there when it is complete."""
    rig, rng = make_rig(session), random.Random(session.seed)
    rigs = {"": rig} | ({"_2": second_rig(rig)} if session.two_views else {})
    frames = make_frames(rig, rng)
    work = out / ".tmp" / session.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    _write_papers(rig, frames, work)
    rows = {
        zone: spread(rig.pieces, rng, -1 if abs(mat.turn) > 90 else 1)
        for zone, mat in zip(ZONES, rig.mats, strict=True)
    }
    pictures = {"empty": {}, "colours": rows}
    pictures |= {
        f"duel_{k:02d}": {z: (*s.build, *s.loose) for z, s in stands.items()} for k, (_, stands) in enumerate(frames)
    }
    for camera, seen in rigs.items():
        _write_lens(seen.session.webcam, work / f"camera{camera}.yaml")
        empty = shoot(seen, {}, session.seed)
        paper = _paper(seen, empty)
        for k, (name, fields) in enumerate(pictures.items()):
            light = empty if name == "empty" else shoot(seen, fields, session.seed + k)
            chance = np.random.default_rng((session.seed, k, *camera.encode()))
            picture = take(light, drifted(seen.session, k), paper, chance)
            (work / f"{name}{camera}.jpg").write_bytes(encoded(picture, seen.session.webcam.quality))
            print(f"{session.name}: {name}{camera}", flush=True)
    shutil.rmtree(out / session.name, ignore_errors=True)
    work.rename(out / session.name)


def _write_papers(rig: Rig, frames: list, folder: Path) -> None:
    deck = {"name": f"session {rig.session.seed}", "cards": [card.to_json() for card, _ in frames]}
    for name, data in (("pieces", rig.pieces.to_json()), ("deck", deck), ("truth", truth(rig, frames))):
        (folder / f"{name}.json").write_text(json.dumps(data, indent=1))


def _write_lens(cam: Webcam, path: Path) -> None:
    camera = {
        "image_width": cam.width,
        "image_height": cam.height,
        "camera_name": "webcam",
        "camera_matrix": {"rows": 3, "cols": 3, "data": [round(float(v), 4) for v in cam.matrix.ravel()]},
        "distortion_model": "plumb_bob",
        "distortion_coefficients": {"rows": 1, "cols": 5, "data": [round(float(v), 6) for v in cam.distortion]},
    }
    path.write_text(yaml.safe_dump(camera, sort_keys=False))


def _two_views(seed: int) -> Session:
    """The session of chance of that seed as two cameras see it, named ``two_<seed>``."""
    session = chance_session(seed)
    return replace(session, name=f"two_{seed:03d}", webcam=_small(session.webcam), two_views=True)


def _paper(rig: Rig, empty: np.ndarray) -> np.ndarray:
    """Linear RGB (3,) of the light that the mats' bare paper sends, averaged over both."""
    cam, (high, wide) = rig.session.webcam, empty.shape[:2]
    spots = np.array([(x, y, 0) for x in (-60, 0, 60) for y in (-25, 25)], float)
    points = np.concatenate([in_world(spots, mat) for mat in rig.mats])
    turn, shift = rig.view.pose()
    rays = points @ turn.T + shift
    pixels = rays[:, :2] / rays[:, 2:] * cam.focal_px + ((wide - 1) / 2, (high - 1) / 2)
    patches = [empty[round(y) - 3 : round(y) + 4, round(x) - 3 : round(x) + 4].mean((0, 1)) for x, y in pixels]
    return np.mean(patches, 0)


def main() -> None:
    """The command line."""
    names = [session.name for session in SESSIONS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*", help=f"of {', '.join(names)}; all when left out")
    parser.add_argument("--variant", default="scalar_rgb", help="Mitsuba's variant: scalar_rgb or llvm_ad_rgb")
    parser.add_argument("--threads", type=int, default=0, help="0: as many as there are cores")
    parser.add_argument("--chance", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="sessions of chance instead")
    parser.add_argument("--worn", nargs=2, type=int, metavar=("FIRST", "COUNT"), help="hard sessions of chance instead")
    parser.add_argument(
        "--two-views",
        nargs=2,
        type=int,
        metavar=("FIRST", "COUNT"),
        help="sessions of chance that two cameras look at, with pieces that the first does not see",
    )
    parser.add_argument("--denoise", action="store_true", help="denoise the pictures: --spp 4 is enough then")
    parser.add_argument("--duels", type=int, help="pictures of two builds each, fewer than a session asks for")
    parser.add_argument("--spp", type=int, help="samples a pixel, fewer than a session asks for: quicker and noisier")
    parser.add_argument("--wide", type=int, help="pixels that a picture is wide, fewer than its camera has: quicker")
    options = parser.parse_args()
    mi.set_variant(options.variant)
    if options.threads and options.variant.startswith("llvm"):
        import drjit

        drjit.set_thread_count(options.threads)
    chosen = [s for s in SESSIONS if not options.names or s.name in options.names]
    if options.chance:
        chosen = [chance_session(options.chance[0] + k) for k in range(options.chance[1])]
    if options.worn:
        chosen = [worn_session(options.worn[0] + k) for k in range(options.worn[1])]
    if options.two_views:
        chosen = [_two_views(options.two_views[0] + k) for k in range(options.two_views[1])]
    if options.wide:
        chosen = [replace(s, webcam=_small(s.webcam, options.wide)) for s in chosen]
    for session in chosen:
        samples, frames = options.spp or session.spp, options.duels or session.frames
        write_session(replace(session, spp=samples, denoised=options.denoise, frames=frames), options.out)


if __name__ == "__main__":
    main()
