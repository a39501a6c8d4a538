"""Real cameras as far as a machine without one can try: an address that goes and comes, a file, none."""

from __future__ import annotations

import http.server
import threading
import time

import cv2
import numpy as np
import pytest

from referee.devices.camera import FrameClock, open_camera
from referee.devices.ports import SystemClock
from referee.errors import DeviceLost

CLOCK = SystemClock()


class Phone:
    """A phone's MJPEG address: grey pictures that count up, 25 a second; ``hang_up`` ends every stream."""

    def __init__(self, port: int = 0) -> None:
        phone = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=f")
                self.end_headers()
                n = 0
                while not phone.closing.is_set():
                    n += 1
                    jpeg = cv2.imencode(".jpg", np.full((120, 160, 3), n % 200, np.uint8))[1].tobytes()
                    try:
                        self.wfile.write(b"--f\r\nContent-Type: image/jpeg\r\n")
                        self.wfile.write(b"Content-Length: %d\r\n\r\n%s\r\n" % (len(jpeg), jpeg))
                    except OSError:
                        return
                    phone.closing.wait(0.04)

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


def test_the_frame_clock_counts_gaps_and_forgets_delays():
    clock, rng = FrameClock(), np.random.default_rng(1)
    stamps = []
    for n in range(100):
        if n in (50, 51):
            continue
        arrived = n / 30 + rng.exponential(0.002) + (0.012 if n % 9 == 0 else 0)
        stamps.append((n, *clock.stamp(arrived)))
    assert clock.dropped == 2
    late = [at - n / 30 for n, _, at in stamps[20:]]
    assert np.ptp(late) < 1 / 60
    assert [number for _, number, _ in stamps][-1] == 99
