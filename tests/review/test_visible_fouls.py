"""Which staged fouls a human could see, by the renderer: a bench that asks for the others would ask for guesses."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from staged_fouls import SEEN_PX, Staged, Table, visible

from referee.match.foul import KINDS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def behind():
    """A rig whose players sit on the camera's side."""
    return Table(124, "beside", 360)


def test_a_bare_hand_behind_its_own_sleeve_is_seen_by_nobody(behind):
    seen, pixels = visible(behind, Staged("L43", "A", "bare_hand", seed=0))
    assert not seen
    assert pixels < SEEN_PX


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "bare_hand"])
def test_every_other_foul_shows_from_behind_too(behind, kind):
    assert visible(behind, Staged("L43", "A", kind, seed=1))[0]


def test_a_bare_hand_from_in_front_is_seen():
    assert visible(Table(126, "across", 360), Staged("L09", "A", "bare_hand", seed=0))[0]
