"""A phone that sends its pictures as MJPEG over http, on this machine."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable

import cv2
import numpy as np

from referee.devices.ports import SystemClock

CLOCK = SystemClock()

SENT_S, PROMPT_S = 0.1, 0.03
"""A phone's pictures leave it so long after they were taken; a machine with time to spare adds no more than that."""

BITS, BAR_PX = 8, 20
"""A phone's picture shows its number in black and white bars."""


def numbered(n: int) -> np.ndarray:
    """A picture (120, 160, 3) that shows a number."""
    levels = [200 if n >> bit & 1 else 40 for bit in range(BITS)]
    return np.repeat(np.tile(np.repeat(np.uint8(levels), BAR_PX), (120, 1))[..., None], 3, 2)


def jpeg_of(image: np.ndarray) -> bytes:
    """A picture as it is sent."""
    return cv2.imencode(".jpg", image)[1].tobytes()


def number_of(image: np.ndarray) -> int:
    """The number that a picture shows."""
    height, width = image.shape[:2]
    bars = image[height // 3 : 2 * height // 3].reshape(-1, BITS, width // BITS, 3)[:, :, 5:-5].mean((0, 2, 3))
    return sum(1 << bit for bit in range(BITS) if bars[bit] > 120)


class Phone:
    """A phone's MJPEG address whose pictures show their numbers; ``hang_up`` ends every stream. ``taken``: number that
    a picture shows -> when it was taken, host seconds. ``held_up_s``: how long the line holds up the picture of a
    number; ``pause``: from picture ``pause[0]`` on all are taken ``pause[1]`` seconds later. ``late_s``: by how much
    this machine let each picture wait that should have left; it is taken so much later, then. ``picture``: what is
    sent, by number from 1 on, in place of those; ``begun_s``: when picture 0 would have been taken."""

    def __init__(
        self,
        port: int = 0,
        fps: float = 25.0,
        pause: tuple[int, float] = (0, 0.0),
        held_up_s: Callable[[int], float] = lambda n: 0.0,
        picture: Callable[[int], bytes] | None = None,
    ) -> None:
        phone, self.begun_s = self, 0.0
        self.taken: dict[int, float] = {}
        self.late_s: list[float] = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send_response(200)
                self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=f")
                self.end_headers()
                phone.begun_s = begin_s = CLOCK.now_s()
                due_s, n = 0.0, 0
                while not phone.closing.is_set():
                    n += 1
                    taken_s = begin_s + n / fps + (pause[1] if n >= pause[0] else 0.0)
                    jpeg = picture(n) if picture else jpeg_of(numbered(n % 256))
                    due_s = max(due_s, taken_s + SENT_S + held_up_s(n))  # none overtakes the one before it
                    phone.closing.wait(due_s - CLOCK.now_s())
                    phone.late_s.append(max(0.0, CLOCK.now_s() - due_s))
                    phone.taken[n % 256] = taken_s + phone.late_s[-1]
                    try:
                        self.wfile.write(b"--f\r\nContent-Type: image/jpeg\r\n")
                        self.wfile.write(b"Content-Length: %d\r\n\r\n%s\r\n" % (len(jpeg), jpeg))
                    except OSError:
                        return

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
