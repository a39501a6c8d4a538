"""What is given up when the encoder cannot keep up: order, the Stop, evenness."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.devices.ports import Frame
from referee.recording.recorder import Backlog, GivenUp

FPS, PIXELS = 30, np.zeros((2, 2, 3), np.uint8)


def shot(number: int, at_s: float | None = None) -> Frame:
    return Frame(PIXELS, number, number / FPS if at_s is None else at_s)


def drained(backlog: Backlog) -> list:
    return [backlog.take() for _ in iter(lambda: bool(backlog), False)]


def slow(encoder_fps: float, stop_s: float, end_s: float = 20.0, room: int = 90) -> tuple[list[float], list[float]]:
    """Times of the frames that an encoder of that pace got, and of those given up, of a film of ``end_s`` with a Stop.

    As it is live: the Stop is told 0.2 s after the press."""
    backlog, kept, lost = Backlog(room * PIXELS.nbytes), [], []
    free_s, told = 0.0, False
    for n in range(round(end_s * FPS)):
        now_s = n / FPS
        if not told and now_s >= stop_s + 0.2:
            backlog.stop(stop_s)
            told = True
        backlog.put_frame(shot(n))
        while backlog and free_s <= now_s:
            item = backlog.take()
            (kept if isinstance(item, Frame) else lost).append(item.at_s)
            free_s = max(free_s, now_s) + (1 / encoder_fps if isinstance(item, Frame) else 0.0)
    for item in drained(backlog):
        (kept if isinstance(item, Frame) else lost).append(item.at_s)
    return kept, lost


@pytest.mark.parametrize("encoder_fps", [3.0, 6.0, 12.0])
@pytest.mark.parametrize("stop_s", [5.0, 12.3, 18.9])
def test_all_frames_within_a_second_of_the_stop_are_kept(encoder_fps, stop_s):
    kept, lost = slow(encoder_fps, stop_s)
    assert lost and all(abs(s - stop_s) > 1.0 for s in lost)
    assert len(kept) + len(lost) == 20 * FPS


@pytest.mark.parametrize("encoder_fps", [3.0, 6.0, 12.0])
def test_what_is_given_up_is_given_up_evenly(encoder_fps):
    kept, lost = slow(encoder_fps, stop_s=60.0, end_s=40.0)
    steady = np.array([s for s in kept if 5.0 <= s <= 35.0])
    gaps = np.diff(steady)
    print(gaps.mean(), gaps.max(), len(steady))
    assert len(lost) > len(kept) and gaps.max() <= 2.5 * gaps.mean()
    first, second = np.histogram(steady, [5.0, 20.0, 35.0])[0]
    assert 0.8 < first / second < 1.25


def test_nothing_is_given_up_while_there_is_room():
    kept, lost = slow(encoder_fps=31.0, stop_s=10.0)
    assert not lost and kept == sorted(kept)


@pytest.mark.parametrize(
    ("times", "stops", "room", "lost"),
    [
        ([0, 1, 2, 3, 4], [], 4, [1]),  # nothing marks one out: the first that leaves the smallest gap
        ([0, 2, 4, 4.1, 6, 8], [], 5, [4.1]),  # hardly anything is lost with it
        ([0, 1, 2, 3, 4, 5], [2.0], 4, [4, 0]),  # 1, 2 and 3 are near the Stop; 5 is the newest
        ([5, 5.5, 6], [5.5], 2, [5.5]),  # all are near: the one between
        ([5, 5.1, 5.2, 5.3], [], 3, [5.1]),  # the Stop may come now, and still one must go
        ([0], [], 0, []),  # one frame is never given up
    ],
)
def test_which_frame_goes(times, stops, room, lost):
    backlog = Backlog(room * PIXELS.nbytes)
    for stop in stops:
        backlog.stop(stop)
    for n, at_s in enumerate(times):
        backlog.put_frame(shot(n, at_s))
    assert {item.at_s for item in drained(backlog) if isinstance(item, GivenUp)} == set(lost)
    assert backlog.dropped == len(lost)


def test_of_two_cameras_both_films_stay_even():
    backlog = Backlog(30 * PIXELS.nbytes)
    for n in range(120):
        for camera, late_s in ((1, 0.0), (2, 0.004)):
            backlog.put_frame(Frame(PIXELS, n, n / FPS + late_s, camera))
    kept = [item for item in drained(backlog) if isinstance(item, Frame)]
    for camera in (1, 2):
        times = [frame.at_s for frame in kept if frame.camera == camera]
        assert 12 <= len(times) <= 18 and max(np.diff(times)) < 1.0


def test_a_stop_of_the_duel_before_still_holds_its_frames():
    backlog = Backlog(8 * PIXELS.nbytes)
    for n in range(5):
        backlog.put_frame(shot(n, 0.2 * n))
    backlog.stop(0.4)
    backlog.stop(30.0)
    for n in range(5, 15):
        backlog.put_frame(shot(n, 10.0 + n))
    kept = [item.number for item in drained(backlog) if isinstance(item, Frame)]
    assert kept[:5] == [0, 1, 2, 3, 4]


@given(st.lists(st.one_of(st.just("frame"), st.just("job"), st.just("take"), st.just("stop")), max_size=80))
def test_order_is_kept_and_every_frame_comes_out_once(steps):
    backlog, number, out = Backlog(5 * PIXELS.nbytes), 0, []
    given_in: list = []
    for step in steps:
        if step == "frame":
            backlog.put_frame(shot(number))
            given_in.append(number)
            number += 1
        elif step == "job":
            backlog.put(job := object.__new__)
            given_in.append(job)
        elif step == "stop":
            backlog.stop(number / FPS)
        elif backlog:
            out.append(backlog.take())
        assert sum(f.image.nbytes for f in backlog.frames) <= 5 * PIXELS.nbytes
    out += drained(backlog)
    assert [item.number if isinstance(item, Frame | GivenUp) else item for item in out] == given_in
