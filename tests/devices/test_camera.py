"""Real cameras as far as a machine without one can try: an address that goes and comes, a file, none."""

from __future__ import annotations

import http.server
import threading
import time

import cv2
import numpy as np
import pytest

from referee.devices.camera import FrameClock, FrameCounter, VideoCamera, open_camera
from referee.devices.ports import SystemClock
from referee.errors import DeviceLost

CLOCK = SystemClock()


LEVELS = 40
"""So many grey levels a phone's pictures count through, five apart: each is told from the next after JPEG."""

SENT_S = 0.1
"""A phone's pictures leave it so long after they were taken."""


class Phone:
    """A phone's MJPEG address: grey pictures that count up; ``hang_up`` ends every stream. ``taken``: grey level of a
    picture -> when it was taken, host seconds. The picture of number ``pause[0]`` is late by ``pause[1]`` seconds, and
    so are all after it."""

    def __init__(self, port: int = 0, fps: float = 25.0, pause: tuple[int, float] = (0, 0.0)) -> None:
        phone = self
        self.taken: dict[int, float] = {}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=f")
                self.end_headers()
                n = 0
                while not phone.closing.is_set():
                    n += 1
                    level = 10 + 5 * (n % LEVELS)
                    jpeg = cv2.imencode(".jpg", np.full((120, 160, 3), level, np.uint8))[1].tobytes()
                    phone.closing.wait(pause[1] if n == pause[0] else 0.0)
                    phone.taken[level] = CLOCK.now_s() - SENT_S
                    try:
                        self.wfile.write(b"--f\r\nContent-Type: image/jpeg\r\n")
                        self.wfile.write(b"Content-Length: %d\r\n\r\n%s\r\n" % (len(jpeg), jpeg))
                    except OSError:
                        return
                    phone.closing.wait(1 / fps)

            def log_message(self, *args) -> None:
                pass

        self.closing = threading.Event()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = False
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()

    def hang_up(self) -> None:
        self.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def wait_for(what, timeout_s: float = 15.0) -> None:
    end = time.monotonic() + timeout_s
    while not what():
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.02)


def frame_or_lost(camera):
    try:
        return camera.latest(-1, 0.1)
    except DeviceLost:
        return "lost"


@pytest.mark.slow
def test_a_phone_that_hangs_up_is_lost_and_comes_back_by_itself():
    phone = Phone()
    camera = open_camera(f"http://127.0.0.1:{phone.port}/video", CLOCK)
    try:
        wait_for(lambda: camera.status()["frames"] > 10)
        frame = camera.latest()
        assert frame.image.shape == (120, 160, 3) and abs(frame.at_s - CLOCK.now_s()) < 0.5
        assert camera.latest(frame.number).number > frame.number
        phone.hang_up()
        wait_for(lambda: frame_or_lost(camera) == "lost")
        phone = Phone(phone.port)
        wait_for(lambda: frame_or_lost(camera) not in (None, "lost"))
        assert camera.latest().number > frame.number
    finally:
        camera.close()
        phone.hang_up()


@pytest.mark.slow
@pytest.mark.parametrize("fps", [8, 15])
def test_a_streams_frames_are_placed_within_the_told_bound_however_many_come_and_after_a_pause(fps):
    phone = Phone(fps=fps, pause=(3 * fps, 1.0))
    camera, off_s = open_camera(f"http://127.0.0.1:{phone.port}/video", CLOCK), []

    def compare(frame):
        taken_s = phone.taken[10 + 5 * round((frame.image.mean() - 10) / 5)]
        off_s.append(abs(frame.at_s - taken_s) - camera.frame_error_s)

    camera.listen(compare)
    try:
        wait_for(lambda: len(off_s) > 6 * fps)
    finally:
        camera.close()
        phone.hang_up()
    late = sorted(off_s[fps:])  # the first are read ahead as the stream is opened
    assert late[len(late) * 9 // 10] <= 0 and camera.dropped == 0  # a busy host may hold up some


@pytest.fixture
def film(tmp_path):
    path = tmp_path / "film.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 20, (160, 120))
    for n in range(20):
        writer.write(np.full((120, 160, 3), 10 * n, np.uint8))
    writer.release()
    return path


def test_a_file_plays_at_its_own_pace_and_its_last_picture_stays(film):
    seen = []
    camera = open_camera(str(film), CLOCK)
    camera.listen(seen.append)
    try:
        wait_for(lambda: camera.status()["frames"] >= 22)
    finally:
        camera.close()
    numbers = [f.number for f in seen]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    pace = np.diff([f.at_s for f in seen if 2 <= f.number < 19])
    assert np.allclose(pace, 0.05, atol=1e-6)
    assert abs(int(seen[-1].image.mean()) - 190) <= 3


def test_a_closed_camera_says_so(film):
    camera = open_camera(str(film), CLOCK)
    camera.close()
    with pytest.raises(DeviceLost, match=r"film\.avi: closed"):
        camera.latest(10**6, 0.1)


def test_a_missing_file_and_a_missing_webcam_are_named():
    with pytest.raises(DeviceLost, match=r"nowhere\.mp4: no such file"):
        open_camera("nowhere.mp4", CLOCK)
    camera = open_camera("63", CLOCK)
    try:
        wait_for(lambda: frame_or_lost(camera) == "lost")
    finally:
        camera.close()


def test_what_is_no_video_is_lost_not_a_crash(tmp_path):
    path = tmp_path / "notes.mp4"
    path.write_text("not a film")
    camera = open_camera(str(path), CLOCK)
    try:
        wait_for(lambda: frame_or_lost(camera) == "lost")
        assert "not a video" in camera.status()["lost"]
    finally:
        camera.close()


def test_the_frame_clock_forgets_delays():
    clock, rng = FrameClock(), np.random.default_rng(1)
    late = []
    for n in range(100):
        if n not in (50, 51):
            held_up_s = rng.exponential(0.002) + (0.012 if n % 9 == 0 else 0)
            late.append(clock.earliest_s(n / 30 + held_up_s) - n / 30)
    assert np.ptp(late[20:]) < 1 / 60


def test_frames_that_never_came_are_counted_by_their_stamps():
    counter = FrameCounter()
    numbers = [counter.count(n * 33_333) for n in range(1, 100) if n not in (50, 51)]
    assert counter.dropped == 2 and numbers == [n - 1 for n in range(1, 100) if n not in (50, 51)]
    assert [counter.count(0), counter.count(0), counter.count(9_000_000)] == [99, 100, 101] and counter.dropped == 2


def test_a_source_that_was_opened_again_has_lost_nothing():
    counter = FrameCounter()
    for n in range(1, 30):
        counter.count(n * 33_333)
    counter.restart()
    assert [counter.count(90_000_000 + n * 100_000) for n in range(3)] == [29, 30, 31] and counter.dropped == 0


SOURCES = {"RTSP": "rtsp://phone/video", "MJPEG": "http://phone/video"}
STAMPS = {
    "true stamps": lambda n, fps: round((5 + n / fps) * 1e6),
    "25 a second": lambda n, fps: n * 40_000,
    "no stamps": lambda n, fps: 0,
}


def arrivals(kind, fps, frames=400, seed=4):
    """(exposed, arrived) host seconds of frames none of which is lost, through a line that keeps their order."""
    rng, before_s = np.random.default_rng(seed), 0.0
    for n in range(frames):
        exposed_s = 100 + n / fps
        last_of_two = exposed_s if n % 2 else exposed_s + 1 / fps
        held_up_s = {"evenly": 0.0, "jittered": min(rng.exponential(0.06), 0.3)}.get(kind, last_of_two - exposed_s)
        before_s = max(before_s + 0.001, exposed_s + 0.1 + held_up_s)
        yield exposed_s, before_s


@pytest.mark.parametrize("fps", [5, 8, 12, 15, 20, 30])
@pytest.mark.parametrize("kind", ["evenly", "jittered", "in pairs"])
@pytest.mark.parametrize("stamps", STAMPS)
@pytest.mark.parametrize("source", ["RTSP", "MJPEG"])
def test_a_stream_is_placed_within_its_bound_and_loses_nothing_that_was_not_lost(
    monkeypatch, source, stamps, kind, fps
):
    monkeypatch.setattr(VideoCamera, "_start", lambda self: None)
    camera = VideoCamera(SOURCES[source], CLOCK)
    for n, (exposed_s, arrived_s) in enumerate(arrivals(kind, fps)):
        number, at_s = camera._placed(STAMPS[stamps](n, fps), arrived_s)
        assert number == n and abs(at_s - exposed_s) <= camera.frame_error_s + 1e-6
    assert camera.dropped == 0


@pytest.mark.parametrize("stamps", ["true stamps", "no stamps"])
@pytest.mark.parametrize("kind", ["evenly", "jittered", "in pairs"])
def test_a_webcam_whose_frames_arrive_unevenly_loses_none(monkeypatch, kind, stamps):
    monkeypatch.setattr(VideoCamera, "_start", lambda self: None)
    camera = VideoCamera(0, CLOCK)
    numbers = [camera._placed(STAMPS[stamps](n, 30), at_s)[0] for n, (_, at_s) in enumerate(arrivals(kind, 30))]
    assert numbers == list(range(len(numbers))) and camera.dropped == 0


@pytest.mark.parametrize("fps", [8, 15])
def test_a_stream_of_true_stamps_that_stalls_and_catches_up_is_placed_by_its_stamps(monkeypatch, fps):
    monkeypatch.setattr(VideoCamera, "_start", lambda self: None)
    camera = VideoCamera(SOURCES["RTSP"], CLOCK)
    for n in range(300):
        exposed_s = 100 + n / fps
        arrived_s = max(exposed_s + 0.1, 121.0 + n * 0.001 if exposed_s > 119 else 0.0)
        _, at_s = camera._placed(STAMPS["true stamps"](n, fps), arrived_s)
        assert n < 12 or abs(at_s - exposed_s) <= camera.frame_error_s + 1e-6
