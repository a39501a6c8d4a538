"""The stability checker against a rigid-body engine (MuJoCo): what it calls stable stands, the rest falls."""

import itertools

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from cards.build import parse_build, shape_of
from cards.contact import mass_and_centre
from cards.deck import builtin_deck
from cards.kinds.layout import LayoutCard
from cards.pieces import builtin_piece_set
from cards.stability import FRICTION, check_stability, settle

PIECES = builtin_piece_set()
LAYOUTS = [card for card in builtin_deck().cards if isinstance(card, LayoutCard)]
SECONDS, MOVED_MM, TURNED_DEG = 3.0, 5.0, 8.0
DENSITY = 0.65e-3  # kg per cm3: beech


def slices(shape, n=8):
    """Convex parts (k, 2) of an arched outline: strips in u between its lower and upper edge."""
    arc = np.cos(np.linspace(0, np.pi, n + 1)) / 2
    cuts = np.unique(
        np.concatenate([shape.width * (arc if shape.kind != "bridge" else arc[[0, -1]]), shape.opening * arc]).round(4)
    )
    for a, b in itertools.pairwise(cuts):
        yield np.array([(u, w) for u in (a + 1e-4, b - 1e-4) for w in span(shape.outline, u)])


def span(outline, u):
    a, b = outline, np.roll(outline, -1, 0)
    rows = [
        (p[1] + (u - p[0]) / (q[0] - p[0]) * (q[1] - p[1]))
        for p, q in zip(a, b, strict=True)
        if (p[0] - u) * (q[0] - u) < 0
    ]
    return min(rows), max(rows)


def parts(shape, pose):
    """Convex corner clouds (k, 3) in mm about the centre of the posed piece's box, before turning."""
    d = shape.depth / 2
    outline = shape.outline
    return [
        np.array([(u, y, w) for u, w in part for y in (-d, d)])
        for part in ([outline] if shape.kind in ("box", "triangle") else slices(shape))
    ]


def turned(points, pose, shape):
    a = np.radians(pose.rotation)
    turn = np.array([[np.cos(a), 0, -np.sin(a)], [0, 1, 0], [np.sin(a), 0, np.cos(a)]])
    points = points @ turn.T
    if pose.facing == "side":
        points = points @ np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).T
    elif pose.facing == "top":
        points = points @ np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]).T
    return points


def centred(clouds):
    whole = np.concatenate(clouds)
    middle = (whole.min(0) + whole.max(0)) / 2
    return [cloud - middle for cloud in clouds]


def model_of(placed):
    """The build as an MJCF text, metres and kilograms."""
    meshes, bodies = [], []
    for n, piece in enumerate(placed):
        shape = shape_of(PIECES, piece)
        mass = mass_and_centre(shape, piece.pose)[0] * DENSITY
        if shape.kind == "cylinder":
            axis = {"x": "0 90 0", "y": "90 0 0", "z": "0 0 0"}[shape.axis(piece.pose)]
            geoms = (
                f'<geom type="cylinder" size="{shape.width / 2000} {shape.height / 2000}" '
                f'euler="{axis}" mass="{mass}"/>'
            )
        else:
            clouds = centred([turned(c, piece.pose, shape) for c in parts(shape, piece.pose)])
            volumes = [hull_volume(c) for c in clouds]
            geoms = ""
            for k, cloud in enumerate(clouds):
                corners = " ".join(f"{v / 1000:.7f}" for v in cloud.ravel())
                meshes.append(f'<mesh name="m{n}_{k}" vertex="{corners}"/>')
                geoms += f'<geom type="mesh" mesh="m{n}_{k}" mass="{mass * volumes[k] / sum(volumes)}"/>'
        at = f"{piece.x / 1000} {piece.y / 1000} {piece.z / 1000}"
        bodies.append(f'<body name="p{n}" pos="{at}"><freejoint/>{geoms}</body>')
    return f"""<mujoco><compiler angle="degree"/>
      <option timestep="0.002" integrator="implicitfast" cone="elliptic" noslip_iterations="4" impratio="10"/>
      <default><geom friction="{FRICTION} 0.0005 0.00002" solref="0.008 1"
      solimp="0.95 0.99 0.0005" condim="6"/>
      </default><asset>{"".join(meshes)}</asset>
      <worldbody><geom type="plane" size="1 1 .1"/>{"".join(bodies)}</worldbody></mujoco>"""


def hull_volume(points):
    return ConvexHull(points).volume


def farthest(placed, seconds=SECONDS):
    """How far (mm) and how much (degrees) any piece moved and turned within ``seconds``."""
    model = mujoco.MjModel.from_xml_string(model_of(placed))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start = data.xpos.copy(), data.xquat.copy()
    for _ in range(round(seconds / model.opt.timestep)):
        mujoco.mj_step(model, data)
    moved = 1000 * np.linalg.norm(data.xpos - start[0], axis=1).max()
    cosine = np.abs((data.xquat * start[1]).sum(1)).clip(0, 1)
    return moved, np.degrees(2 * np.arccos(cosine)).max()


@pytest.mark.slow
@pytest.mark.parametrize("card", LAYOUTS, ids=lambda c: c.id)
def test_every_layout_still_stands_after_three_seconds(card):
    moved, angle = farthest(card.pieces)
    assert moved < MOVED_MM and angle < TURNED_DEG, f"moved {moved:.1f} mm, turned {angle:.1f} degrees"


FALLING = [
    # a plank whose middle is off its cube
    "blue cube 0 front @ 0 0 15; green rectangle 0 front @ 20 0 42.5",
    # a crescent upside down: rolls off its round back under a cube
    "blue cube 0 front @ 0 0 15; blue crescent 180 front @ 3 0 42.5; blue cube 0 front @ 10 0 70",
    # a lying cylinder under a plank that is not quite balanced
    "red cylinder 90 side @ 0 0 15; green rectangle 0 front @ 4 0 42.5",
    # a tower whose upper half hangs over
    "blue cube 0 front @ 0 0 15; blue cube 0 front @ 12 0 45; green rectangle 90 front @ 22 0 97.5",
    # a beam on one post of two
    "red cylinder 0 front @ -40 0 22.5; green rectangle 0 front @ -10 0 57.5",
    # something on a triangle's point
    "red triangle 0 front @ 0 0 17.5; blue cube 0 front @ 3 0 50",
    # a bridge on end with all its load on the far side
    "orange bridge 90 front @ 0 0 30; green rectangle 0 front @ 20 0 72.5",
    # a load that tips a seesaw
    "red cylinder 0 front @ 0 0 22.5; green rectangle 0 front @ 8 0 57.5; blue cube 0 front @ 32 0 85",
]


@pytest.mark.parametrize("text", FALLING)
def test_what_the_checker_says_falls_at_once_does_fall(text):
    placed = parse_build(text)
    found = check_stability(PIECES, placed)
    assert not found.stable and any(f.startswith("it falls") for f in found.faults)
    moved, angle = farthest(placed, 1.5)
    assert moved > MOVED_MM or angle > TURNED_DEG


MISPLACED = [
    # pieces, which of them, how far it was put wrong
    ("blue cube 0 front @ 0 0 15; green rectangle 0 front @ 14 0 42.5", 1, 3.0),
    ("red cylinder 0 front @ 0 0 22.5; green rectangle 0 front @ 13.5 0 57.5", 1, 3.0),
    ("blue cube 0 front @ 0 0 15; blue cube 0 front @ 8 0 45; green rectangle 90 front @ 16 0 97.5", 2, 3.0),
]


@pytest.mark.parametrize(("text", "piece", "off"), MISPLACED)
def test_what_a_misplacement_topples_stands_before_and_falls_after(text, piece, off):
    placed = parse_build(text)
    assert any(f"{off - 1:g} mm off" in f or "leans" in f for f in check_stability(PIECES, placed).faults)
    assert farthest(placed, 1.0)[0] < MOVED_MM
    moved = settle(PIECES, [p.at(x=p.x + off) if n == piece else p for n, p in enumerate(placed)])
    assert farthest(moved, 2.0)[0] > MOVED_MM
