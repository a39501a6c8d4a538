"""The witness's sessions as data: piece sets nobody tuned for, rooms, cameras, seats."""

from __future__ import annotations

from dataclasses import dataclass

from witness_rooms import Lamp, Person, Room, Window
from witness_solids import EDGE_MM
from witness_webcam import Webcam

BARS = {
    "name": "bars",
    "shapes": {"bar": {"kind": "box", "width": 72, "height": 16, "depth": 24}},
    "colors": {
        "red": "#c4252b",
        "orange": "#ec7a1c",
        "yellow": "#f2c828",
        "green": "#3c9a44",
        "turquoise": "#2aa8a8",
        "blue": "#2258ac",
        "purple": "#6c3c92",
        "pink": "#e487ab",
        "brown": "#6e452c",
        "white": "#ece8e0",
    },
    "pieces": [
        ["bar", c, 1]
        for c in ("red", "orange", "yellow", "green", "turquoise", "blue", "purple", "pink", "brown", "white")
    ],
}

QUARTETS = {
    "name": "quartets",
    "shapes": {
        "cube": {"kind": "box", "width": 32, "height": 32, "depth": 32},
        "half_disc": {"kind": "half_disc", "width": 60, "height": 30, "depth": 32},
        "rectangle": {"kind": "box", "width": 64, "height": 20, "depth": 32},
    },
    "colors": {"red": "#bf2530", "yellow": "#eebb22", "green": "#2f8f4e", "blue": "#2a5ca8"},
    "pieces": [
        ["cube", "red", 1],
        ["cube", "yellow", 1],
        ["cube", "green", 1],
        ["cube", "blue", 1],
        ["half_disc", "red", 1],
        ["half_disc", "yellow", 1],
        ["half_disc", "blue", 1],
        ["rectangle", "red", 1],
        ["rectangle", "green", 1],
        ["rectangle", "blue", 1],
    ],
}

TIMBER = {
    "name": "timber",
    "shapes": {
        "plank": {"kind": "box", "width": 90, "height": 12, "depth": 30},
        "block": {"kind": "box", "width": 45, "height": 30, "depth": 30},
        "half_disc": {"kind": "half_disc", "width": 60, "height": 30, "depth": 30},
        "log": {"kind": "cylinder", "width": 30, "height": 60, "depth": 30},
        "roof": {"kind": "triangle", "width": 60, "height": 30, "depth": 30},
    },
    "colors": {"natural": "#d9b98a", "blue": "#2b62a6", "red": "#b3272d", "green": "#4c8f3c"},
    "pieces": [
        ["plank", "natural", 2],
        ["block", "natural", 1],
        ["block", "blue", 1],
        ["half_disc", "red", 1],
        ["half_disc", "green", 1],
        ["log", "natural", 1],
        ["log", "blue", 1],
        ["roof", "red", 1],
        ["roof", "green", 1],
    ],
}

EMBERS = {
    "name": "embers",
    "shapes": {
        "cube": {"kind": "box", "width": 30, "height": 30, "depth": 30},
        "brick": {"kind": "box", "width": 60, "height": 20, "depth": 30},
        "drum": {"kind": "cylinder", "width": 34, "height": 34, "depth": 34},
        "arch": {"kind": "bridge", "width": 66, "height": 33, "depth": 30, "opening": 36},
        "moon": {"kind": "crescent", "width": 60, "height": 30, "depth": 30, "opening": 26},
        "peak": {"kind": "triangle", "width": 34, "height": 42, "depth": 30},
    },
    "colors": {"red": "#c01f2a", "orange": "#ea7420", "pink": "#e58aa6", "brown": "#74482c"},
    "pieces": [
        ["cube", "red", 1],
        ["cube", "pink", 1],
        ["brick", "brown", 1],
        ["brick", "orange", 1],
        ["drum", "orange", 1],
        ["drum", "red", 1],
        ["arch", "brown", 1],
        ["arch", "pink", 1],
        ["moon", "red", 1],
        ["peak", "orange", 1],
    ],
}

ASHES = {
    "name": "ashes",
    "shapes": {
        "cube": {"kind": "box", "width": 28, "height": 28, "depth": 28},
        "beam": {"kind": "box", "width": 84, "height": 21, "depth": 28},
        "column": {"kind": "cylinder", "width": 28, "height": 49, "depth": 28},
        "gate": {"kind": "bridge", "width": 63, "height": 30, "depth": 28, "opening": 30},
        "gable": {"kind": "triangle", "width": 42, "height": 32, "depth": 28},
    },
    "colors": {"black": "#26262a", "white": "#efece4", "grey": "#8a8c8e", "natural": "#d4b384"},
    "pieces": [
        ["cube", "black", 1],
        ["cube", "white", 1],
        ["beam", "natural", 1],
        ["beam", "grey", 1],
        ["column", "black", 1],
        ["column", "natural", 1],
        ["gate", "grey", 1],
        ["gate", "white", 1],
        ["gable", "black", 1],
        ["gable", "natural", 1],
    ],
}


@dataclass(frozen=True)
class Wear:
    """What use and cheap cameras do. ``bare`` is the share of a painted face worn to the wood, ``edge_mm`` the radius
    of its edges, ``size`` how far (as a share) lengths are off; ``clutter`` things in the pieces' colours lie about;
    exposure (in stops) and white balance (as a share) drift by so much from picture to picture."""

    bare: float = 0.0
    edge_mm: float = EDGE_MM
    size: float = 0.0
    clutter: int = 0
    stops: float = 0.0
    balance: float = 0.0


@dataclass(frozen=True)
class Session:
    """One rig. ``pieces`` None is the game's own set with its deck. ``seating`` side by side or facing;
    ``camera_side`` opposite (players behind their mats) or player. Angles in degrees, lengths in mm."""

    name: str
    seed: int
    room: Room
    webcam: Webcam
    pieces: dict | None = None
    seating: str = "side by side"
    camera_side: str = "opposite"
    pitch: float = 30.0
    distance: float = 700.0
    frames: int = 8
    spp: int = 32
    denoised: bool = False
    wear: Wear = Wear()
    two_views: bool = False


SESSIONS = (
    Session(
        "challenge_warm",
        901,
        Room(
            walls="#a58a6a",
            floor="#5a4632",
            ambient=0.12,
            ambient_kelvin=2700,
            table=("wood", "#8a5a34"),
            gloss=0.3,
            lamps=(Lamp((-420, -150, 900), 70, 2700, 9), Lamp((900, 600, 1400), 120, 2700, 6)),
            people=(Person(-180, 480, ("#b01c24",), "plain"), Person(210, 470, ("#1e4ea8",), "plain")),
            seed=1,
        ),
        Webcam(focal_px=955, exposure=0.75, white_balance=0.72, noise=3.2, k1=-0.06, k2=0.03, saturation=1.05),
        pitch=29,
        distance=690,
    ),
    Session(
        "bars_day",
        902,
        Room(
            walls="#c9ccc4",
            floor="#7a7068",
            ambient=0.5,
            ambient_kelvin=5200,
            table=("cloth", "#dedbd2"),
            gloss=0.0,
            windows=(Window(-60, 12, 36, 34, 6800, 5), Window(150, 10, 30, 30, 6500, 3)),
            people=(Person(-200, 470, ("#26303c", "#d8d8d8"), "striped"), Person(190, 480, ("#d8c060",), "plain")),
            seed=2,
        ),
        Webcam(focal_px=985, exposure=1.05, white_balance=0.9, noise=1.6, k1=-0.03, k2=0.01),
        pieces=BARS,
        pitch=27,
        distance=720,
    ),
    Session(
        "challenge_glare",
        903,
        Room(
            walls="#d8dce0",
            floor="#9a9a98",
            ambient=0.25,
            ambient_kelvin=7500,
            table=("cloth", "#eceae6"),
            gloss=0.15,
            lamps=(Lamp((620, -380, 1100), 14, 7500, 9),),
            windows=(Window(40, 8, 24, 24, 7500, 1.5),),
            people=(Person(-190, 480, ("#3a8a44", "#e8e8e8"), "checked"), Person(200, 490, ("#e07a24",), "plain")),
            seed=3,
        ),
        Webcam(focal_px=930, exposure=1.9, white_balance=0.8, noise=1.4, k1=-0.08, k2=0.05, tint=(1.0, 1.0, 1.03)),
        pitch=34,
        distance=660,
    ),
    Session(
        "quartets_mixed",
        904,
        Room(
            walls="#8c94a0",
            floor="#4a3c30",
            ambient=0.22,
            ambient_kelvin=4000,
            table=("checked", "#b8433c", "#efe6da"),
            lamps=(Lamp((-700, 200, 800), 50, 2800, 8),),
            windows=(Window(75, 8, 40, 34, 6500, 6),),
            people=(Person(-190, 480, ("#6a7a30",), "plain"), Person(200, 470, ("#204a90", "#c03038"), "checked")),
            seed=4,
        ),
        Webcam(focal_px=960, exposure=0.95, white_balance=0.8, noise=2.2),
        pieces=QUARTETS,
        pitch=31,
        distance=700,
    ),
    Session(
        "timber_wood",
        905,
        Room(
            walls="#b0a694",
            floor="#6a5038",
            ambient=0.35,
            ambient_kelvin=3600,
            table=("planks", "#c79a62"),
            gloss=0.22,
            lamps=(Lamp((300, -500, 1300), 40, 3200, 12),),
            windows=(Window(-110, 10, 40, 30, 5600, 3),),
            people=(Person(-200, 480, ("#c8a070",), "plain"), Person(180, 480, ("#e6e2da",), "plain", True)),
            seed=5,
        ),
        Webcam(focal_px=945, exposure=1.0, white_balance=0.85, noise=2.0),
        pieces=TIMBER,
        camera_side="player",
        pitch=28,
        distance=700,
    ),
    Session(
        "embers_lamp",
        906,
        Room(
            walls="#9a8474",
            floor="#5a4030",
            ambient=0.3,
            ambient_kelvin=3000,
            table=("wood", "#b4875a"),
            gloss=0.35,
            lamps=(Lamp((100, 500, 1000), 90, 3000, 9), Lamp((-800, -300, 1300), 60, 4000, 6)),
            people=(Person(-190, 490, ("#d88098",), "plain", True), Person(200, 480, ("#7a4a30",), "plain")),
            seed=6,
        ),
        Webcam(focal_px=970, exposure=0.95, white_balance=0.78, noise=2.2, k1=0.02, k2=-0.01),
        pieces=EMBERS,
        pitch=30,
        distance=690,
    ),
    Session(
        "ashes_grey",
        907,
        Room(
            walls="#7c8288",
            floor="#4a4a4c",
            ambient=0.5,
            ambient_kelvin=4500,
            table=("cloth", "#6e6c6a"),
            gloss=0.4,
            lamps=(Lamp((-500, -400, 1000), 45, 4000, 8),),
            windows=(Window(20, 6, 20, 26, 6500, 2.5),),
            people=(Person(-200, 480, ("#1c1c20",), "plain"), Person(190, 480, ("#a0a4a8", "#f0f0f0"), "striped")),
            seed=7,
        ),
        Webcam(focal_px=950, exposure=0.95, white_balance=0.9, noise=1.9),
        pieces=ASHES,
        pitch=32,
        distance=680,
    ),
    Session(
        "facing_full_hd",
        908,
        Room(
            walls="#c0b8a4",
            floor="#6a6258",
            ambient=0.4,
            ambient_kelvin=4200,
            table=("cloth", "#3c5a48"),
            gloss=0.0,
            lamps=(Lamp((-300, 300, 1400), 60, 4000, 10),),
            windows=(Window(-80, 10, 40, 34, 6000, 3),),
            people=(Person(-160, 480, ("#b02838", "#ece8e0"), "checked"), Person(420, 620, ("#284c9c",), "plain")),
            seed=8,
        ),
        Webcam(1920, 1080, 1470, (968, 533), -0.02, 0.02, 1.0, 0.85, noise=1.7, blur_px=0.8),
        seating="facing",
        pitch=31,
        distance=720,
        spp=24,
    ),
    Session(
        "bars_facing",
        909,
        Room(
            walls="#6f7f6f",
            floor="#4a4038",
            ambient=0.28,
            ambient_kelvin=3400,
            table=("planks", "#7a5434"),
            gloss=0.3,
            lamps=(Lamp((500, 100, 900), 30, 3000, 9),),
            windows=(Window(-40, 9, 22, 28, 6800, 3),),
            people=(Person(170, 480, ("#f0c030",), "plain"), Person(-420, 640, ("#c03040",), "plain")),
            seed=9,
        ),
        Webcam(focal_px=960, exposure=0.85, white_balance=0.8, noise=2.6),
        pieces=BARS,
        seating="facing",
        pitch=33,
        distance=690,
    ),
)
