"""Which poses of a shape are one and the same, to the eye and to gravity."""

import pytest

from cards.pieces import Pose, Shape

CUBE = Shape("cube", "box", 30, 30, 30)
PLANK = Shape("plank", "box", 84, 14, 28)
CYLINDER = Shape("cylinder", "cylinder", 30, 45, 30)
TRIANGLE = Shape("triangle", "triangle", 40, 35, 30)


@pytest.mark.parametrize(
    ("shape", "count"), [(CUBE, 1), (PLANK, 6), (CYLINDER, 3), (TRIANGLE, 11), (Shape("pillar", "box", 28, 56, 28), 3)]
)
def test_a_shape_has_so_many_poses_that_differ(shape, count):
    """A cube one, a box of three lengths six, of two three (as a cylinder); a triangle one for each edge it stands on
    and the point, seen from in front or from the side, and lying three."""
    assert len(shape.poses()) == count


def test_a_cube_seen_from_above_is_the_cube():
    assert CUBE.same_pose(Pose(0, "top"), Pose(90, "side"))


def test_what_lies_is_not_what_stands():
    assert not PLANK.same_pose(Pose(0, "top"), Pose(0, "front"))
    assert TRIANGLE.same_pose(Pose(0, "top"), Pose(180, "top"))
