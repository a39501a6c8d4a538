"""The console's live pictures: what vision sees is drawn into them, and the last frame of a build that was read."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_gate import Film, with_hand
from test_overlay import judged

from cards.law import Reason
from referee.match.verdict import Verdict
from referee.session.field_previews import SHOWN_PX, FieldPreviews, crop_around_zones
from referee.vision.observer import Observer
from referee.vision.overlay import AMBER, GREEN, RED, WHITE


class Seen:
    """A session's eyes on a rig, as the picture thread knows them."""

    def __init__(self, rig) -> None:
        self.film = Film(rig)
        self.gate = self.film.gate
        self.observer = Observer(rig.piece_set, rig.camera)
        self.state = SimpleNamespace(phase="building", duel=SimpleNamespace(number=1))
        self.fields = FieldPreviews(self)

    def look(self, image: np.ndarray, frames: int = 8) -> None:
        """The gate sees these frames; what it says of the last one stands."""
        zones = self.film.show(image, frames)[-1].zones
        self.seen = {
            zone: {"mat_seen": g.mat_seen, "hand": g.hand, "moving": g.moving, "settled_s": g.settled_s}
            for zone, g in zones.items()
        }

    def gates(self) -> dict:
        """What the gate saw last."""
        return self.seen

    def pixels(self, zone: str, image: np.ndarray, colour: tuple[int, int, int]) -> int:
        """So many pixels of exactly that colour are drawn in the zone's picture."""
        return int((self.fields.picture(zone, image) == colour).all(axis=2).sum())


@pytest.fixture
def seen(rig):
    return Seen(rig)


def test_pieces_and_the_field_are_outlined(rig, tower, seen):
    built = rig.photograph({"A": tower})
    seen.look(built)
    assert seen.fields.picture("A", built).shape[1] <= SHOWN_PX
    assert seen.pixels("A", built, GREEN) > 100 and seen.pixels("A", built, RED) == 0
    assert seen.pixels("A", built, WHITE) > 4 * seen.pixels("B", built, WHITE) + 100


def test_a_moving_field_is_amber_and_a_hand_red(rig, tower, seen):
    built = rig.photograph({"A": tower})
    seen.look(built)
    seen.look(with_hand(rig, built, "A", 0, 0), 1)
    assert seen.gates()["A"]["hand"] and seen.pixels("A", built, RED) > 100
    seen.look(built, 1)
    assert seen.pixels("A", built, RED) == 0 and seen.pixels("A", built, AMBER) > 100


def test_the_camera_s_picture_itself_stays_as_it_is(rig, tower, seen):
    built = rig.photograph({"A": tower})
    before = built.copy()
    seen.look(built)
    seen.fields.picture("A", built)
    assert np.array_equal(built, before)


def test_a_build_that_was_read_is_outlined_until_somebody_touches_it(rig, tower, seen):
    built = rig.photograph({"A": tower})
    seen.look(built)
    wrong = Verdict("mismatch", 0.97, (Reason("wrong_place", "it stands beside its place", (1,)),))
    seen.fields.judged(judged(rig, built, tower, wrong), 1)
    seen.state.phase = "decided"
    assert seen.pixels("A", built, RED) > 30  # the piece to blame
    seen.look(with_hand(rig, built, "A", 0, 0), 1)
    seen.fields.picture("A", built)
    seen.look(built)
    assert seen.pixels("A", built, RED) == 0 and seen.pixels("A", built, WHITE) > 100


def test_the_next_duel_begins_without_outlines_of_the_last(rig, tower, seen):
    built = rig.photograph({"A": tower})
    seen.look(built)
    wrong = Verdict("mismatch", 0.97, (Reason("wrong_place", "it stands beside its place", (1,)),))
    seen.fields.judged(judged(rig, built, tower, wrong), 1)
    seen.state = SimpleNamespace(phase="idle", duel=SimpleNamespace(number=2))
    assert seen.pixels("A", built, RED) == 0


def test_without_mats_each_zone_is_its_half_of_the_picture(seen):
    grey = np.full((360, 640, 3), 128, np.uint8)
    seen.seen = {}
    assert seen.fields.picture("A", grey).shape == seen.fields.picture("B", grey).shape == (360, 320, 3)


def test_the_verdict_s_picture_is_wide_and_around_the_judged_build(rig, tower):
    built = rig.photograph({"A": tower})
    left, top, right, bottom = crop_around_zones(judged(rig, built, tower, Verdict("match", 0.99)), built.shape[:2])
    assert (right - left) / (bottom - top) == pytest.approx(16 / 9, rel=0.01)
    assert right - left < built.shape[1]
    foot = rig.pixel("A", 0, 0, 0)
    assert left < foot[0] < right and top < foot[1] < bottom
    none = SimpleNamespace(views={}, mats=None)
    assert crop_around_zones(none, (360, 640)) == (0, 0, 640, 360)
