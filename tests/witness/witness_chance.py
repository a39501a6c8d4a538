"""Sessions by chance: rooms, lamps, cameras and piece sets from a seed alone, as many as there is time for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from witness_rooms import Lamp, Person, Room, Window
from witness_sessions import Session, Wear
from witness_webcam import Webcam

PAINTS = {
    "red": "#c0242c",
    "orange": "#ea7a20",
    "yellow": "#f0c42c",
    "green": "#34934a",
    "lime": "#94c23c",
    "turquoise": "#2aa49c",
    "sky": "#6cb4e0",
    "blue": "#2258a8",
    "purple": "#6a3c90",
    "pink": "#e288a8",
    "brown": "#70462c",
    "natural": "#d8b88a",
    "black": "#28282c",
    "white": "#ebe8e0",
    "grey": "#8c8e90",
}

TABLES = (
    ("cloth", "#dcd8ce"),
    ("cloth", "#40506a"),
    ("cloth", "#5a2e2e"),
    ("cloth", "#2e2e30"),
    ("wood", "#b8844e"),
    ("wood", "#6a4028"),
    ("planks", "#c49a66"),
    ("planks", "#8a6040"),
    ("checked", "#3a6aa8", "#e8e4dc"),
    ("cloth", "#f0eeea"),
    ("checked", "#4a8a4a", "#efe9dd"),
)

SHIRTS = ("#b02028", "#20489a", "#2f8a44", "#e0a020", "#e06a20", "#f0eee8", "#202024", "#8a5a3a", "#d080a0", "#6a3a8a")


def chance_session(seed: int) -> Session:
    """The session of that seed, named ``chance_<seed>``; every third plays with the game's own set."""
    rng = np.random.default_rng((77, seed))
    hd = rng.random() < 0.25
    scale = 1.5 if hd else 1.0
    warm = float(rng.choice([2700, 3000, 3500, 4000, 5000, 6500, 7500]))
    webcam = Webcam(
        round(1280 * scale),
        round(720 * scale),
        float(rng.uniform(930, 1000) * scale),
        (float(rng.uniform(630, 650) * scale), float(rng.uniform(350, 370) * scale)),
        float(rng.uniform(-0.09, 0.03)),
        float(rng.uniform(-0.01, 0.05)),
        float(rng.choice([0.7, 0.9, 1.0, 1.2, 1.7])),
        float(rng.uniform(0.65, 0.95)),
        vignette=float(rng.uniform(0.1, 0.4)),
        noise=float(rng.uniform(1.2, 3.0)),
        blur_px=float(rng.uniform(0.4, 0.9)) * scale,
        saturation=float(rng.uniform(0.9, 1.25)),
    )
    return Session(
        f"chance_{seed:03d}",
        2000 + seed,
        _room(rng, warm),
        webcam,
        None if seed % 3 == 0 else chance_pieces(rng, f"set {seed}"),
        str(rng.choice(["side by side", "facing"], p=[0.65, 0.35])),
        str(rng.choice(["opposite", "player"], p=[0.7, 0.3])),
        float(rng.uniform(23, 37)),
        float(rng.uniform(670, 740)),
        spp=24 if hd else 32,
    )


def worn_session(seed: int) -> Session:
    """The session of chance of that seed after years of use and with a camera of its own mind: ``worn_<seed>``."""
    rng = np.random.default_rng((78, seed))
    plain = chance_session(seed)
    wear = Wear(
        bare=float(rng.uniform(0.03, 0.15)),
        edge_mm=float(rng.uniform(1.0, 2.6)),
        size=float(rng.uniform(0.0, 0.02)),
        clutter=int(rng.integers(4, 12)),
        stops=float(rng.uniform(0.1, 0.4)),
        balance=float(rng.uniform(0.02, 0.07)),
    )
    wide = float(rng.uniform(0.62, 1.0))
    cam = plain.webcam
    webcam = replace(cam, focal_px=cam.focal_px * wide, quality=int(rng.integers(45, 80)), k1=cam.k1 * 1.8)
    far = plain.distance * wide * float(rng.uniform(0.95, 1.1))
    pitch = float(rng.uniform(20, 43))
    return replace(
        plain, name=f"worn_{seed:03d}", seed=3000 + seed, webcam=webcam, pitch=pitch, distance=far, wear=wear
    )


def _room(rng: np.random.Generator, warm: float) -> Room:
    lamps = [
        Lamp(
            (float(rng.uniform(-900, 900)), float(rng.uniform(-600, 700)), float(rng.uniform(700, 1500))),
            float(rng.uniform(12, 110)),
            warm * float(rng.uniform(0.92, 1.08)),
            float(rng.uniform(5, 12)),
        )
        for _ in range(int(rng.integers(1, 3)))
    ]
    windows = [
        Window(
            float(rng.uniform(-150, 150)),
            float(rng.uniform(4, 14)),
            float(rng.uniform(18, 44)),
            float(rng.uniform(18, 36)),
            float(rng.uniform(5500, 7500)),
            float(rng.uniform(1, 5)),
        )
        for _ in range(int(rng.integers(0, 3)))
    ]
    people = [
        Person(
            x + float(rng.uniform(-20, 20)),
            float(rng.uniform(465, 500)),
            tuple(rng.choice(SHIRTS, 2)),
            str(rng.choice(["plain", "plain", "checked", "striped"])),
            bool(rng.random() < 0.25),
        )
        for x in (-205, 205)
        if rng.random() < 0.85
    ]
    table = TABLES[int(rng.integers(len(TABLES)))]
    return Room(
        _hex(rng.uniform(90, 225, 3)),
        _hex(rng.uniform(50, 140, 3)),
        float(rng.uniform(0.15, 0.55)),
        warm,
        table,
        float(rng.choice([0.0, 0.2, 0.3, 0.4])),
        tuple(lamps),
        tuple(windows),
        tuple(people),
        seed=int(rng.integers(10**6)),
    )


def _hex(rgb: np.ndarray) -> str:
    return "#" + "".join(f"{int(c):02x}" for c in (rgb.mean() * 0.7 + 0.3 * rgb))


def chance_pieces(rng: np.random.Generator, name: str) -> dict:
    """Ten pieces of four to six shapes in three to six colours, as ``pieces.json``."""
    deep = int(rng.integers(26, 33))
    shapes = _shapes(rng, deep)
    caps = [k for k in ("roof", "moon", "half_disc") if rng.random() < 0.6]
    names = ["cube", *rng.permutation(["beam", "drum", "arch", "brick"])[: int(rng.integers(2, 5))], *caps[:2]]
    colors = [str(c) for c in rng.permutation(list(PAINTS))[: int(rng.integers(3, 7))]]
    drawn = [(str(names[k % len(names)]), colors[int(rng.integers(len(colors)))]) for k in range(10)]
    used = sorted(set(drawn))
    return {
        "name": name,
        "shapes": {n: shapes[n] for n in names},
        "colors": {c: PAINTS[c] for c in colors if any(c == color for _, color in used)},
        "pieces": [[shape, color, drawn.count((shape, color))] for shape, color in used],
    }


def _shapes(rng: np.random.Generator, deep: int) -> dict:
    def between(low: int, high: int) -> int:
        return int(rng.integers(low, high + 1))

    wide = between(56, 72)
    return {
        "cube": {"kind": "box", "width": deep, "height": deep, "depth": deep},
        "beam": {"kind": "box", "width": between(66, 88), "height": between(14, 24), "depth": deep},
        "brick": {"kind": "box", "width": between(44, 60), "height": between(18, 24), "depth": deep},
        "drum": {"kind": "cylinder", "width": deep, "height": between(38, 58), "depth": deep},
        "arch": {"kind": "bridge", "width": wide, "height": between(28, 36), "depth": deep, "opening": between(26, 36)},
        "roof": {"kind": "triangle", "width": between(36, 60), "height": between(26, 40), "depth": deep},
        "moon": {"kind": "crescent", "width": wide, "height": wide // 2, "depth": deep, "opening": between(20, 28)},
        "half_disc": {"kind": "half_disc", "width": wide, "height": wide // 2, "depth": deep},
    }
