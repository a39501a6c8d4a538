"""When it fell, on drawn pictures: by itself, pushed by a hand, or only covered by one."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from referee.recording.video import VideoWriter
from referee.review.fall import findings, first_move
from referee.review.tracks import OTHER_LABEL, UNCHANGED_LABEL, ZoneTrack

WIDTH, HEIGHT, RATE = 240, 200, 10
PIECE, HAND = (40, 130, 240), (120, 150, 200)


def picture(piece_x, hand_y):
    """A table with a 60 x 40 px piece at piece_x and a hand that reaches down to hand_y, (200, 240, 3)."""
    image = np.full((HEIGHT, WIDTH, 3), 200, np.uint8)
    cv2.rectangle(image, (round(piece_x), 120), (round(piece_x) + 60, 160), PIECE, -1)
    if hand_y:
        cv2.rectangle(image, (110, 0), (140, hand_y), HAND, -1)
    return image


def recording(folder, places):
    """(attempt, strips, standing) of a video with a (piece_x, hand_y) per frame; Stop is at 1.0 s."""
    writer = VideoWriter(folder / "video.mp4", WIDTH, HEIGHT)
    rng = np.random.default_rng(0)
    for n, place in enumerate(places):
        noisy = picture(*place).astype(np.int16) + rng.normal(0, 2, (HEIGHT, WIDTH, 3)).astype(np.int16)
        writer.write(np.clip(noisy, 0, 255).astype(np.uint8), n / RATE)
    writer.close()
    view = SimpleNamespace(zone="A", px_per_mm=1.0, image=picture(90, 0), crop=lambda image: image)
    labels = np.full((len(places), HEIGHT // 2, WIDTH // 2), UNCHANGED_LABEL, np.int8)
    for n, (_, hand_y) in enumerate(places):
        labels[n, : hand_y // 2, 55:70] = OTHER_LABEL
    standing = np.zeros((HEIGHT // 2, WIDTH // 2), bool)
    standing[60:80, 45:75] = True
    strip = ZoneTrack(
        view, ("orange",), np.arange(len(places)) / RATE, labels, standing, 4.0, labels == UNCHANGED_LABEL, labels > 99
    )
    return SimpleNamespace(folder=folder, film=folder / "video.mp4", stop_s=1.0), {"A": strip}, {"A": standing}


STILL = [(90, 0)] * 20
FALLS = [(90, 0)] * 15 + [(92, 0), (98, 0), (110, 0)] + [(130, 0)] * 8
BESIDE_A_RESTING_HAND = [(x, 117) for x, _ in FALLS]
PUSHED = [(90, 0)] * 12 + [(90, 40), (90, 80), (90, 117), (93, 119), (99, 119)] + [(105, 119)] * 8
COVERED = [(90, 0)] * 12 + [(90, 60), (90, 150)] + [(90, 180)] * 8
BEFORE_THE_STOP = [(90, 0)] * 5 + [(95, 0)] + [(100, 0)] * 15


@pytest.mark.parametrize(
    ("places", "frame", "hand", "touching"),
    [
        (STILL, None, None, None),
        (FALLS, 15, "none", False),
        (BESIDE_A_RESTING_HAND, 15, "at rest", False),
        (PUSHED, 15, "moving", True),
        (COVERED, None, None, None),  # a hand comes over the build and stays: nothing fell
        (BEFORE_THE_STOP, None, None, None),  # what moved while building is no fall
    ],
)
def test_the_first_motion_after_the_press_and_who_was_near(tmp_path, places, frame, hand, touching):
    falls = first_move(*recording(tmp_path, places))
    if frame is None:
        assert falls == []
        return
    assert abs(falls[0].frame - frame) <= 1
    assert (falls[0].hand, falls[0].touching) == (hand, touching)
    assert falls[0].moved_mm == pytest.approx(places[falls[0].frame][0] - 90, abs=0.7)
    assert falls[0].after_press_s == pytest.approx(falls[0].frame / RATE - 1.0, abs=0.01)


def test_only_a_fall_by_itself_is_a_finding(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    assert findings(first_move(*recording(tmp_path / "a", FALLS))) == {"A": ["fell_after_stop"]}
    assert findings(first_move(*recording(tmp_path / "b", PUSHED))) == {}
