"""The one-line notation of builds: writing and reading it are inverses, and what is no build is refused by name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cards.build import Piece, parse_build
from cards.errors import BadCard
from cards.pieces import Pose

NAMES = st.sampled_from(["red", "blue", "cube", "roof-2", "half_disc", "größer"])
TENTHS = st.integers(-4000, 4000).map(lambda n: n / 10)
PIECES = st.builds(
    Piece,
    shape=NAMES,
    color=NAMES,
    pose=st.builds(Pose, st.integers(-720, 720), st.sampled_from(["front", "side", "top"])),
    x=TENTHS,
    y=TENTHS,
    z=TENTHS,
    yaw=TENTHS,
)


def format_build(pieces: list[Piece]) -> str:
    """The build as one line of the notation that ``parse_build`` reads, to the tenth of a millimetre."""
    words = []
    for p in pieces:
        x, y, z, yaw = (round(value, 1) + 0.0 for value in (p.x, p.y, p.z, p.yaw))  # + 0.0: no "-0.0"
        turn = f" yaw {yaw:.1f}" if yaw else ""
        words.append(f"{p.color} {p.shape} {p.pose.rotation} {p.pose.facing} @ {x:.1f} {y:.1f} {z:.1f}{turn}")
    return "; ".join(words)


@given(st.lists(PIECES, max_size=12))
def test_what_is_written_is_read_back(pieces):
    assert parse_build(format_build(pieces)) == tuple(pieces)


@given(st.lists(PIECES, max_size=12))
def test_what_is_read_is_written_the_same(pieces):
    text = format_build(pieces)
    assert format_build(parse_build(text)) == text


@pytest.mark.parametrize(
    ("pieces", "text"),
    [
        ((), ""),
        ((Piece("cube", "blue", Pose(), 1, 2, 15),), "blue cube 0 front @ 1.0 2.0 15.0"),
        (
            (Piece("bridge", "orange", Pose(90, "side"), -1.25, 0, 45, -3.96), Piece("cube", "red", Pose(), 0, 0, 5)),
            "orange bridge 90 side @ -1.2 0.0 45.0 yaw -4.0; red cube 0 front @ 0.0 0.0 5.0",
        ),
        ((Piece("cube", "blue", Pose(0, "top"), -0.04, 0, 15, 0.04),), "blue cube 0 top @ 0.0 0.0 15.0"),  # no -0.0
    ],
)
def test_as_it_is_written(pieces, text):
    assert format_build(pieces) == text


def test_spaces_and_a_last_semicolon_do_not_matter():
    assert parse_build("  blue  cube 0 front @ 1 2 15 ;\n red cube 90 side @ 0 0 5;") == (
        Piece("cube", "blue", Pose(), 1, 2, 15),
        Piece("cube", "red", Pose(90, "side"), 0, 0, 5),
    )


@pytest.mark.parametrize(
    "text",
    [
        "blue cube",
        "blue cube 0 front 1 2 15",
        "blue cube 0 front @ 1 2",
        "blue cube 0 front @ 1 2 15 yaw",
        "blue cube 0 front @ 1 2 15 3",
        "blue cube 0 front @ 1 2 15 turn 3",
        "blue cube 0 front @ 1 2 15 yaw 3 4",
        "blue cube 0 back @ 1 2 15",
        "blue cube 1.5 front @ 1 2 15",
        "blue cube 0 front @ 1 x 15",
        "blue cube 0 front @ 1 nan 15",
        "blue cube 0 front @ 1 2 inf",
        "blue cube 0 front @ 1 2 15 yaw nan",
    ],
)
def test_what_is_no_piece_is_refused_and_named(text):
    with pytest.raises(BadCard, match="not a placed piece: ") as refused:
        parse_build(f"red cube 0 front @ 0 0 5; {text}")
    assert repr(text) in str(refused.value)
