"""The witness's tables of ``city_towers``: city plans with towers of stones, path-traced, from several sides.

Each folder is one table: two plans, stones of a set that chance chose, a room, lamps and a webcam by chance, and the
same towers seen from some places around the table. What stands where is in ``truth.json``: by city and site the colour
of every storey from below. Nothing here is taken from vision; the rooms are the witness's own.

    python tests/witness/make_cities.py OUT --first 0 --count 17        about 200 towers
    python tests/games/bench_cities.py OUT

With ``--kinds`` two tables in turn are of each kind of ``KINDS``: as usual, noisy, with very unequal neighbours, and
both; each has one plan, which fits in pictures of half as many pixels. Folders that are there already are left as they
are. A table of kinds takes about 5 processor seconds.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import cv2
import mitsuba as mi
import numpy as np
import yaml
from make_sessions import Mat, in_world
from witness_chance import PAINTS, chance_session
from witness_prints import CENTRES_MM, GREY, INK, MARKER_MM, PAPER, PX_PER_MM, SHEET_MM, grain_picture
from witness_render import Thing, View, quad, render_scene, scene_of
from witness_rooms import srgb
from witness_sessions import Session
from witness_solids import about_z, piece_mesh
from witness_webcam import Webcam, encoded, take

SITE_MM = 32.0
TALLEST = 12
WIDE_PX = {2: 960, 1: 640}
"""Pictures of so many plans are so wide."""
OFF_MM, STEP_MM, YAW_DEG = 3.0, 1.2, 8.0
"""How far a tower stands off its site's middle, a stone off the one below, and how far each is turned."""
SIDE_UP_DEG, ABOVE_UP_DEG = (50.0, 62.0), (78.0, 87.0)
"""From where people take pictures: standing beside the table, and with the arm stretched over it."""

STONES = {
    "name": "city_stones",
    "shapes": {f"stone{h}": {"kind": "box", "width": 24, "height": 10 * h, "depth": 24} for h in (1, 2, 3, 4)},
    "colors": {"blue": "#1f5fb4", "red": "#c4252b", "green": "#2f8f4e", "yellow": "#f0c02c"},
}
MIX = (11, 6, 4, 3)

KINDS = ("usual", "noisy", "unequal", "noisy unequal")
SPP, NOISY_SPP = 10, 4
NOISE_TIMES, NOISY_QUALITY = 2.0, 60
"""A noisy table's pictures have so few paths a pixel, a sensor with so many times the noise, and a JPEG's quality of so
much at most."""
LOW, HIGH = (1, 2), (8, 12)
"""Storeys of towers of a table with very unequal neighbours, from and to: by chance the one or the other."""

Tower = tuple[tuple[str, int], ...]
"""Stones from below: colour and storeys."""


@dataclass(frozen=True)
class Table:
    """A rig: its session, stones, plans, towers by city letter and site, and where the camera stands in turn."""

    session: Session
    stones: dict
    plans: dict[str, Mat]
    towers: dict[str, dict[int, Tower]]
    views: tuple[View, ...]
    kind: str = "usual"


def kind_of(seed: int) -> str:
    """The kind of the table of that seed where all kinds are made."""
    return KINDS[seed // 2 % len(KINDS)]


def make_table(seed: int, sides: int = 4, above: int = 1, kind: str = "usual", plans: int = 2) -> Table:
    """The table of that seed with one plan or two, from so many sides and so often from above; every other one plays
    with the usual stones."""
    rng = np.random.default_rng((79, seed))
    session = chance_session(700 + seed)
    people = tuple(replace(p, y_mm=p.y_mm + 260, arms=False) for p in session.room.people)
    session = replace(session, name=f"city_{seed:03d}", room=replace(session.room, people=people))
    webcam = _small(session.webcam, WIDE_PX[plans])
    if "noisy" in kind:
        webcam = replace(webcam, noise=NOISE_TIMES * webcam.noise, quality=min(NOISY_QUALITY, webcam.quality))
    session = replace(session, webcam=webcam)
    stones = STONES if seed % 2 == 0 else _other_stones(rng)
    letters = rng.choice(list("ABCDEF"), plans, replace=False)
    mats = {
        str(z): Mat(rng.uniform(-12, 12), side * rng.uniform(112, 120), rng.uniform(-6, 6) + 180 * (rng.random() < 0.3))
        for z, side in zip(letters, (-1, 1) if plans == 2 else (0,), strict=True)
    }
    towers = {z: _towers(stones, rng, "unequal" in kind) for z in mats}
    start, turn = rng.uniform(0, 360), 360 / sides
    views = [_view(session, mats, start + turn * k + rng.uniform(-15, 15), SIDE_UP_DEG, rng) for k in range(sides)]
    views += [_view(session, mats, rng.uniform(0, 360), ABOVE_UP_DEG, rng) for _ in range(above)]
    return Table(session, stones, mats, towers, tuple(views), kind)


def _small(cam: Webcam, wide_px: int) -> Webcam:
    """The same webcam set to so many pixels across: path tracing takes its time by the pixel."""
    by = wide_px / cam.width
    x, y = cam.centre
    size = {"width": wide_px, "height": round(cam.height * by), "focal_px": cam.focal_px * by}
    return replace(cam, **size, centre=(x * by, y * by), blur_px=max(0.4, cam.blur_px * by))


def _other_stones(rng: np.random.Generator) -> dict:
    """Stones of another workshop: four other paints, another footprint and storey."""
    paints = [n for n in PAINTS if n not in ("white", "grey", "natural", "black")]
    apart = [["orange", "blue", "lime", "brown"], ["purple", "yellow", "turquoise", "red"], ["pink", "green", "blue"]]
    chosen = apart[int(rng.integers(len(apart)))]
    side, storey = float(rng.choice([22, 25])), float(rng.choice([9, 11]))
    assert set(chosen) <= set(paints)
    return {
        "name": "other stones",
        "shapes": {
            f"stone{h}": {"kind": "box", "width": side, "height": storey * h, "depth": side} for h in (1, 2, 3, 4)
        },
        "colors": {name: PAINTS[name] for name in chosen},
    }


def _towers(stones: dict, rng: np.random.Generator, unequal: bool) -> dict[int, Tower]:
    """Five to seven towers of one to twelve storeys on the nine sites; ``unequal``: of LOW or HIGH ones."""
    names = list(stones["colors"])
    out = {}
    for site in rng.choice(np.arange(1, 10), int(rng.integers(5, 8)), replace=False):
        least, most = ((LOW, HIGH)[int(rng.integers(2))]) if unequal else (1, TALLEST)
        left, tower = int(rng.integers(least, most + 1)), []
        while left:
            height = min(left, int(rng.choice((1, 2, 3, 4), p=np.array(MIX) / sum(MIX))))
            tower.append((str(rng.choice(names)), height))
            left -= height
        out[int(site)] = tuple(tower)
    return out


def _view(
    session: Session, plans: dict[str, Mat], azimuth: float, up: tuple[float, float], rng: np.random.Generator
) -> View:
    """A place from where all of the plans is in view, from that side, ``up`` to ``up`` degrees above the table."""
    a, p = math.radians(azimuth), math.radians(rng.uniform(*up))
    away = np.array([math.sin(a) * math.cos(p), -math.cos(a) * math.cos(p), math.sin(p)])
    target = np.array([rng.uniform(-12, 12), rng.uniform(-12, 12), 25.0])
    corners = [(x, y, 0) for x in (-150, 150) for y in (-106, 106)] + [
        (x, y, 125) for x in (-48, 48) for y in (-48, 48)
    ]
    points = np.concatenate([in_world(np.array(corners, float), mat) for mat in plans.values()])
    size, roll = np.array([session.webcam.width, session.webcam.height]), float(rng.uniform(-4, 4))
    for far in np.arange(560, 1400, 20.0):
        view = View(tuple(target + far * away), tuple(target), roll)
        pixels = session.webcam.project(points, *view.pose())
        if ((pixels > 6) & (pixels < size - 6)).all():
            return view
    raise ValueError("no place sees both plans")


def site_centre(site: int) -> tuple[float, float]:
    """A site's middle on its plan, mm."""
    row, column = divmod(site - 1, 3)
    return (column - 1) * SITE_MM, (1 - row) * SITE_MM


def plan_picture(city: int) -> np.ndarray:
    """The printed plan of a city (from 0), (1260, 1782, 3) uint8 BGR: a mat's markers, nine numbered sites."""
    wide, high = SHEET_MM[0] * PX_PER_MM, SHEET_MM[1] * PX_PER_MM
    sheet = np.full((high, wide), PAPER, np.uint8)

    def pixel(x: float, y: float) -> tuple[int, int]:
        return round((x + SHEET_MM[0] / 2) * PX_PER_MM), round((SHEET_MM[1] / 2 - y) * PX_PER_MM)

    for site in range(1, 10):
        x, y = site_centre(site)
        cv2.rectangle(sheet, pixel(x - 16, y + 16), pixel(x + 16, y - 16), GREY, 2)
        cv2.putText(sheet, str(site), pixel(x - 15, y + 12), cv2.FONT_HERSHEY_SIMPLEX, 0.6, GREY, 2)
    cv2.putText(sheet, f"city {city + 1}", pixel(-92, -4), cv2.FONT_HERSHEY_SIMPLEX, 2, 190, 4)
    side, dictionary = MARKER_MM * PX_PER_MM, cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    for k, (x, y) in enumerate(CENTRES_MM):
        left, top = pixel(x - MARKER_MM / 2, y + MARKER_MM / 2)
        marker = cv2.aruco.generateImageMarker(dictionary, 4 * city + k, side, borderBits=1)
        sheet[top : top + side, left : left + side] = np.where(marker > 0, PAPER, INK)
    return cv2.cvtColor(sheet, cv2.COLOR_GRAY2BGR)


def things_on(table: Table) -> list[Thing]:
    """Plans and stones as meshes; depends on the table's seed alone, so every look sees the same stones."""
    rng = np.random.default_rng((80, table.session.seed))
    paints = {
        name: grain_picture(np.clip(srgb(code) * rng.normal(1, 0.035), 4, 250), 0.03, rng)
        for name, code in table.stones["colors"].items()
    }
    out = []
    for z, mat in table.plans.items():
        at = np.array([mat.x, mat.y, 0.0])
        out.append(Thing(quad(*SHEET_MM, at, about_z(mat.turn)), plan_picture("ABCDEF".index(z))))
        for site, tower in table.towers[z].items():
            x, y = np.array(site_centre(site)) + rng.uniform(-OFF_MM, OFF_MM, 2)
            base = 0.0
            for color, storeys in tower:
                spec = table.stones["shapes"][f"stone{storeys}"]
                mesh = piece_mesh(spec, tuple(rng.uniform(-0.15, 0.15, 3)))
                spot = np.array([x, y, base + spec["height"] / 2])
                mesh = mesh.moved(about_z(rng.uniform(-YAW_DEG, YAW_DEG)), spot).moved(about_z(mat.turn), at)
                out.append(Thing(mesh, paints[color], float(rng.choice([0.16, 0.25]))))
                base += spec["height"]
                x, y = np.array([x, y]) + rng.uniform(-STEP_MM, STEP_MM, 2)
    return out


def truth(table: Table) -> dict:
    """``truth.json``: by city number, by site, the colour of every storey from below."""
    cities = {
        str("ABCDEF".index(z) + 1): {
            str(site): [color for color, storeys in towers.get(site, ()) for _ in range(storeys)]
            for site in range(1, 10)
        }
        for z, towers in table.towers.items()
    }
    return {"world": table.session.name, "kind": table.kind, "cities": cities}


def write_table(table: Table, out: Path, spp: int) -> None:
    """Render the table's folder into ``out``; it is moved there when it is complete."""
    session = table.session
    work = out / ".tmp" / session.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    cam = session.webcam
    camera = {
        "image_width": cam.width,
        "image_height": cam.height,
        "camera_matrix": {"rows": 3, "cols": 3, "data": [round(float(v), 4) for v in cam.matrix.ravel()]},
        "distortion_model": "plumb_bob",
        "distortion_coefficients": {"rows": 1, "cols": 5, "data": [round(float(v), 6) for v in cam.distortion]},
    }
    (work / "camera.yaml").write_text(yaml.safe_dump(camera, sort_keys=False))
    pieces = [[f"stone{h}", c, n] for c in table.stones["colors"] for h, n in zip((1, 2, 3, 4), MIX, strict=True)]
    (work / "pieces.json").write_text(json.dumps(table.stones | {"pieces": pieces}, indent=1))
    (work / "truth.json").write_text(json.dumps(truth(table)))
    scene = scene_of(session.room, things_on(table))
    for k, view in enumerate(table.views):
        light = render_scene(scene, cam, view, spp, session.seed + k)
        paper = np.quantile(light.reshape(-1, 3), 0.9, 0)
        picture = take(light, cam, paper, np.random.default_rng((session.seed, k)))
        (work / f"look_{k}.jpg").write_bytes(encoded(picture, cam.quality))
    shutil.rmtree(out / session.name, ignore_errors=True)
    work.rename(out / session.name)
    print(session.name, flush=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=17)
    parser.add_argument("--sides", type=int, default=4, help="pictures of each table from around it")
    parser.add_argument("--above", type=int, default=1, help="pictures of each table from above")
    parser.add_argument("--spp", type=int, help=f"paths a pixel: {SPP}, of noisy tables {NOISY_SPP}")
    parser.add_argument("--kinds", action="store_true", help="tables of all kinds, not the usual alone")
    parser.add_argument("--variant", default="llvm_ad_rgb", help="Mitsuba's variant: scalar_rgb or llvm_ad_rgb")
    options = parser.parse_args()
    mi.set_variant(options.variant)
    for seed in range(options.first, options.first + options.count):
        kind, plans = (kind_of(seed), 1) if options.kinds else ("usual", 2)
        table = make_table(seed, options.sides, options.above, kind, plans)
        if not (options.out / table.session.name).exists():
            write_table(table, options.out, options.spp or (NOISY_SPP if "noisy" in table.kind else SPP))


if __name__ == "__main__":
    main()
