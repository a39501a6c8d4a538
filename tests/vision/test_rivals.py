"""Readings that must be met before a verdict may be sure: the card's nearest variants, and what stands apart."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from posed_table import PosedTable

from calibration.palette import nominal_palette
from cards.build import Piece
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import Pose, builtin_piece_set, parse_piece_set
from referee.commands.named_files import named_deck
from referee.vision.image.evidence import gather_evidence, paper_white
from referee.vision.image.view import zone_view
from referee.vision.observer import Observer
from referee.vision.search import loose_pieces
from referee.vision.search.beam_search import BeamSearch
from referee.vision.search.canvas import Reading, canvas_of, coarse_canvas, fit_readings, rescored
from referee.vision.search.readings import _missing
from referee.vision.search.stances import catalogue
from referee.vision.search.storeys import with_storeys
from referee.vision.verdict.rulings import Rulings

SIDE = Pose(0, "side")
PIECES = builtin_piece_set()
ONE_RED = parse_piece_set(
    {
        "name": "one red",
        "shapes": {
            "cube": {"kind": "box", "width": 30, "depth": 30, "height": 30},
            "arch": {"kind": "bridge", "width": 60, "depth": 30, "height": 30, "opening": 30},
            "bar": {"kind": "box", "width": 60, "depth": 60, "height": 20},
        },
        "colors": {"red": "#c02028", "blue": "#1f5fb4"},
        "pieces": [["cube", "red", 1], ["arch", "red", 1], ["bar", "blue", 1]],
    }
)


def stacked(*names: str) -> tuple[Piece, ...]:
    """A tower of pieces of ``ONE_RED``, the lowest first, arches seen from the side."""
    out, z = [], 0.0
    for name in names:
        height = ONE_RED.shapes[name].height
        pose = SIDE if name == "arch" else Pose()
        out.append(Piece(name, "blue" if name == "bar" else "red", pose, 0.0, 0.0, z + height / 2))
        z += height
    return tuple(out)


@pytest.mark.parametrize("built", [("bar", "arch", "cube"), ("bar", "cube", "arch")], ids=["as shown", "exchanged"])
def test_two_pieces_of_one_colour_exchanged_are_told_from_the_card(rig, built):
    """Seen from the side an arch is a cube that reaches further back."""
    rig = dataclasses.replace(rig, piece_set=ONE_RED)
    card = LayoutCard("L", 1, stacked("bar", "arch", "cube"))
    verdict = Observer(ONE_RED, rig.camera).judge([rig.photograph({"A": stacked(*built)})], card).zones["A"]
    likelier = verdict.leaning or verdict.ruling
    assert likelier == ("match" if built == ("bar", "arch", "cube") else "mismatch")
    assert verdict.margin > 500.0 and any((a.ruling == "match") != (likelier == "match") for a in verdict.alternatives)


CUBE, PLANK = Piece("cube", "blue", Pose(), -40.0, -10.0, 15.0), Piece("rectangle", "green", Pose(), -40.0, -10.0, 42.5)
TOWER = LayoutCard("L", 1, (CUBE, PLANK))


@pytest.mark.parametrize("x, y", [(60.0, 30.0), (50.0, -35.0)])
def test_a_piece_that_stands_apart_in_the_field_is_one_too_many(rig, x, y):
    """Though the card's reading fits all that stands together."""
    stray = Piece("cube", "blue", Pose(), x, y, 15.0, 30.0)
    verdict = Observer(PIECES, rig.camera).judge([rig.photograph({"A": (CUBE, PLANK, stray)})], TOWER).zones["A"]
    assert (verdict.leaning or verdict.ruling) == "mismatch"
    assert [r.code for r in verdict.reasons] == ["extra_piece"] or verdict.ruling == "undecided"
    assert len(verdict.build.pieces) == 3


def test_a_loose_piece_half_hidden_behind_the_build_is_not_taken_for_a_part_of_it(rig):
    behind = Piece("cylinder", "red", Pose(90, "front"), -25.0, 70.0, PIECES.shapes["cylinder"].width / 2)
    verdict = Observer(PIECES, rig.camera).judge([rig.photograph({"A": (CUBE, PLANK, behind)})], TOWER).zones["A"]
    assert verdict.ruling == "match", verdict.reasons
    assert [(p.shape, p.color) for p in verdict.build.loose] == [("cylinder", "red")]


def test_a_further_piece_right_behind_a_layout_is_weighed(rig):
    """Only its top is in view, over a plank of its own colour: the card's reading fits all that stands before it."""
    low, high = Piece("rectangle", "green", Pose(), 0.0, 0.0, 12.5), Piece("cube", "blue", Pose(), 0.0, 0.0, 40.0)
    card, behind = LayoutCard("L", 1, (low, high)), dataclasses.replace(low, y=31.0)
    observer = Observer(PIECES, rig.camera, empty=rig.photograph())
    honest, more = (
        observer.judge([rig.photograph({"A": built})], card, ["A"]).zones["A"]
        for built in ((low, high), (low, high, behind))
    )
    assert honest.ruling == "match", honest.reasons
    assert (more.ruling, more.leaning or more.ruling) != ("match", "match") and len(more.build.pieces) == 3


def test_a_support_well_before_the_middle_of_what_it_carries_is_found(rig):
    """A plank that points at the player, on a cube at its far end and one at its near end."""
    size = PIECES.shapes["rectangle"].size(SIDE)
    off = size[1] / 2 - 10.0
    feet = [Piece("cube", "blue", Pose(), 0.0, y, 15.0) for y in (off, -off)]
    plank = Piece("rectangle", "green", SIDE, 0.0, 0.0, 30.0 + size[2] / 2)
    verdict = (
        Observer(PIECES, rig.camera).judge([rig.photograph({"A": (*feet, plank)})], HeightCard("H", 1, 3)).zones["A"]
    )
    assert (verdict.leaning or verdict.ruling) == "match", verdict.reasons


def test_a_reading_that_is_right_but_far_off_is_no_rival_one_piece_exchanged_is(rig):
    """An arch from the side or a cube: the search met the cube's build only where nothing stands."""
    rig = dataclasses.replace(rig, piece_set=ONE_RED)
    view = zone_view(rig.photograph({"A": stacked("bar", "cube")}), rig.camera, rig.poses["A"])
    paper, marker, _ = view.regions
    palette = nominal_palette(ONE_RED)
    evidence = gather_evidence(view, palette, paper_white(view.image, paper & ~marker & view.valid))
    canvas = coarse_canvas(canvas_of(view, evidence, catalogue(ONE_RED, palette.names)))
    cat, card = canvas.cat, ShapesCard("S", 1, (("bar", 1), ("cube", 1)))

    def as_read(x: float, *names: str) -> Reading:
        return rescored(
            canvas,
            Reading(
                0.0, np.array([(cat.index[p.shape, p.color, p.pose], x, 0.0, p.z, 0.0) for p in stacked(*names)]), 0.0
            ),
        )

    taken, far_off = as_read(0.0, "bar", "arch"), as_read(55.0, "bar", "cube")
    is_right = Rulings(cat, card).is_right
    assert (is_right(taken), is_right(far_off)) == (False, True) and far_off.score < taken.score - 2000.0
    loose = loose_pieces.candidates(canvas)
    met = _missing(BeamSearch(canvas), [taken, far_off], [], loose, card, is_right)
    assert met and all(map(is_right, met)) and met[0].score > taken.score


def test_a_tower_is_found_with_a_storey_slid_in_or_taken_away(rig):
    """One storey lower and further away it fills nearly the same picture, and no single edit leads from one to the
    other."""
    whole = stacked("bar", "arch", "cube")
    rig = dataclasses.replace(rig, piece_set=ONE_RED)
    view = zone_view(rig.photograph({"A": whole}), rig.camera, rig.poses["A"])
    paper, marker, _ = view.regions
    palette = nominal_palette(ONE_RED)
    evidence = gather_evidence(view, palette, paper_white(view.image, paper & ~marker & view.valid))
    canvas = coarse_canvas(canvas_of(view, evidence, catalogue(ONE_RED, palette.names)))
    cat, foot = canvas.cat, whole[0]

    def as_read(*pieces: Piece) -> Reading:
        rows = [
            (cat.index[p.shape, p.color, ONE_RED.shapes[p.shape].canonical(p.pose)], p.x, p.y, p.z, 0) for p in pieces
        ]
        return fit_readings(canvas, [Reading(0.0, np.array(rows), 0.0)])[0]

    lower = as_read(*(dataclasses.replace(p, z=p.z - 20.0, y=p.y + 30.0) for p in whole[1:]))
    found = with_storeys(canvas, lower)
    assert max(r.score for r in found) > lower.score + 1000.0
    assert {cat.types[cat.kind[int(s)]][0] for s in found[0].pieces[:, 0]} == {"bar", "arch", "cube"}
    assert found[0].pieces[0, 3] == pytest.approx(foot.z, abs=0.5)


@pytest.fixture
def seen(rig):
    """Gives for a build its coarse canvas, and what makes rivals of it: pieces moved on their rays, and readings."""

    def of(pieces: list[Piece]) -> tuple:
        view = zone_view(rig.photograph({"A": tuple(pieces)}), rig.camera, rig.poses["A"])
        paper, marker, _ = view.regions
        palette = nominal_palette(PIECES)
        evidence = gather_evidence(view, palette, paper_white(view.image, paper & ~marker & view.valid))
        canvas = coarse_canvas(canvas_of(view, evidence, catalogue(PIECES, palette.names)))
        eye = -canvas.scene(0.0).camera[:, :3].T @ canvas.scene(0.0).camera[:, 3]

        def nearer(piece: Piece, at_mm: float) -> Piece:
            """The piece where the camera sees it in the same place, so high."""
            x, y, _ = eye + (np.array([piece.x, piece.y, piece.z]) - eye) * (at_mm - eye[2]) / (piece.z - eye[2])
            return dataclasses.replace(piece, x=x, y=y, z=at_mm)

        def as_read(*pieces: Piece) -> Reading:
            stances = [canvas.cat.index[p.shape, p.color, PIECES.shapes[p.shape].canonical(p.pose)] for p in pieces]
            rows = [(s, p.x, p.y, p.z, 0.0) for s, p in zip(stances, pieces, strict=True)]
            return rescored(canvas, Reading(0.0, np.array(rows), 0.0))

        return canvas, nearer, as_read

    return of


FLAT, BLOCK = Piece("rectangle", "green", SIDE, 0.0, 0.0, 12.5), Piece("cube", "blue", Pose(), 0.0, 0.0, 65.0)


def test_two_pieces_are_found_where_one_of_their_colour_was_taken_for_both(seen):
    """A rectangle on its end and a cube on it, nearer to the camera, fill the picture of two that lie and a cube."""
    canvas, nearer, as_read = seen([FLAT, dataclasses.replace(FLAT, z=37.5), BLOCK])
    taken = as_read(Piece("rectangle", "green", Pose(90, "side"), 0.0, 0.0, 37.5), nearer(BLOCK, 90.0))
    best = with_storeys(canvas, taken)[0]
    assert best.score > taken.score + 1000.0
    names = [canvas.cat.types[canvas.cat.kind[int(s)]][0] for s in best.pieces[:, 0]]
    assert names == ["rectangle", "rectangle", "cube"]
    assert best.pieces[:, 3] == pytest.approx([12.5, 37.5, 65.0], abs=0.5)


def test_a_piece_is_found_where_a_lower_one_of_its_colour_was_taken_for_it(seen):
    """A cylinder between two pieces looks like a triangle from its side, with what is on it lower and farther away."""
    upright = Piece("cylinder", "red", Pose(), 0.0, 0.0, 47.5)
    canvas, nearer, as_read = seen([FLAT, upright, cube := dataclasses.replace(BLOCK, z=85.0)])
    taken = as_read(FLAT, Piece("triangle", "red", SIDE, 0.0, 0.0, 42.5), nearer(cube, 75.0))
    best = with_storeys(canvas, taken)[0]
    assert best.score > taken.score + 300.0
    names = [canvas.cat.types[canvas.cat.kind[int(s)]][0] for s in best.pieces[:, 0]]
    assert names == ["rectangle", "cylinder", "cube"]
    assert best.pieces[:, 3] == pytest.approx([12.5, 47.5, 85.0], abs=0.5)


@pytest.mark.parametrize(("card_id", "seed"), [("BS14", 3), ("BS16", 3), ("BS16", 11), ("BH10", 22)])
def test_a_right_build_is_found_behind_which_pieces_lie_or_over_which_one_hangs(card_id, seed):
    """One loose piece, or two, behind the build would look as what stands on it does, and explains nearly as much; and
    what stands under an overhang cannot be let down past it. The true build is hundreds of nats ahead of the readings
    that a search without these steps ended with."""
    cards = named_deck("challenge80b", PIECES).cards
    number, card = next((n, c) for n, c in enumerate(cards) if c.id == card_id)
    table, observer = PosedTable(PIECES, seed, seating="across"), Observer(PIECES)
    observer.learn_empty(table.empty())
    first = number // 2 * 2
    pair = dict(zip("AB", cards[first : first + 2], strict=True))
    picture = table.picture({zone: shown.example(PIECES) for zone, shown in pair.items()}, number=first)
    zone = "AB"[number - first]
    assert observer.judge([picture], card, zones=[zone]).zones[zone].ruling == "match"


@pytest.mark.parametrize("asked", [None, ["A"]], ids=["both fields", "the farther alone"])
def test_what_stands_on_a_nearer_mat_is_no_part_of_a_build_behind_it(make_rig, tower, asked):
    """A tower on a mat before another reaches over that one's field in the picture."""
    rig = make_rig({"A": (0, 75, 0), "B": (0, -150, 0)})
    near = (*tower, Piece("cube", "blue", Pose(), 0, 0, 95), Piece("triangle", "red", Pose(), 0, 0, 130))
    far = [dataclasses.replace(p, x=-20.0, y=10.0) for p in tower]
    observer = Observer(rig.piece_set, rig.camera, empty=rig.photograph())
    judgement = observer.judge(rig.photograph({"A": far, "B": near}), HeightCard("H", 1, 2), asked)
    assert list(judgement.zones) == (asked or ["A", "B"])
    assert judgement.zones["A"].ruling == "match"
