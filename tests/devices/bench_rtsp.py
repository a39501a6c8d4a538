"""How far the frames of a real RTSP server, GStreamer's, are placed from when they were made; prints a line a stream.

python tests/devices/bench_rtsp.py

The server runs in Debian's own Python with GStreamer's bindings (``python3-gi gir1.2-gst-rtsp-server-1.0`` and the
plugins, good and ugly), as this file itself does with ``FPS CODEC``: it prints its port, and of each picture its number
and when it was given to the encoder.
"""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

PYTHON = "/usr/bin/python3"
ENCODERS = {
    "h264": "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 ! rtph264pay name=pay0 pt=96",
    "mjpeg": "jpegenc ! rtpjpegpay name=pay0 pt=26",
}
STREAMS = [(fps, codec) for codec in ENCODERS for fps in (5, 8, 10, 15, 20, 25, 30)]
SECONDS = 8.0
CLOCK_ID = time.CLOCK_MONOTONIC_RAW


@contextmanager
def serving(fps: int, codec: str) -> Iterator[tuple[str, dict[int, float]]]:
    """Its address, and number that a picture shows -> when it was made, host seconds."""
    server = subprocess.Popen([PYTHON, __file__, str(fps), codec], stdout=subprocess.PIPE, text=True)
    taken: dict[int, float] = {}

    def read() -> None:
        for line in server.stdout:
            number, made_s = line.split()
            taken[int(number)] = float(made_s)

    try:
        port = server.stdout.readline().strip()
        reader = threading.Thread(target=read)
        reader.start()
        yield f"rtsp://127.0.0.1:{port}/camera", taken
    finally:
        server.kill()
        server.wait()


def serve(fps: int, codec: str) -> None:
    """Serve until killed."""
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstRtspServer", "1.0")
    from gi.repository import GLib, Gst, GstRtspServer

    Gst.init(None)
    server, factory = GstRtspServer.RTSPServer(), GstRtspServer.RTSPMediaFactory()
    server.set_address("127.0.0.1")
    server.set_service("0")
    caps = f"video/x-raw,format=GRAY8,width=320,height=240,framerate={fps}/1"
    source = f"appsrc name=source is-live=true do-timestamp=true format=time caps={caps}"
    factory.set_launch(f"( {source} ! videoconvert ! video/x-raw,format=I420 ! {ENCODERS[codec]} )")

    def feed(source) -> None:
        number, begin_s, flows = 0, time.monotonic(), Gst.FlowReturn.OK
        while flows == Gst.FlowReturn.OK:
            row = bytes(200 if number >> (x // 40) & 1 else 40 for x in range(320))
            print(number, time.clock_gettime(CLOCK_ID), flush=True)
            flows = source.emit("push-buffer", Gst.Buffer.new_wrapped(row * 240))
            number = (number + 1) % 256
            time.sleep(max(0.0, begin_s + 1 / fps - time.monotonic()))
            begin_s += 1 / fps

    def begin(_, media) -> None:
        source = media.get_element().get_by_name("source")
        threading.Thread(target=feed, args=(source,), daemon=True).start()

    factory.connect("media-configure", begin)
    server.get_mount_points().add_factory("/camera", factory)
    server.attach(None)
    print(server.get_bound_port(), flush=True)
    GLib.MainLoop().run()


def measured(fps: int, codec: str) -> str:
    """One stream's line."""
    from test_camera import CLOCK, off_of, open_camera

    with serving(fps, codec) as (address, taken):
        camera, off_s = open_camera(address, CLOCK), []
        off_of(camera, taken, off_s)
        time.sleep(SECONDS + 3)
        camera.close()
    within = sum(abs(off) <= bound for off, bound in off_s)
    worst, bounds = max((abs(off) for off, _ in off_s), default=0.0), sorted(bound for _, bound in off_s)
    told = f"{bounds[len(bounds) // 2]:.3f} s, at most {bounds[-1]:.3f} s" if bounds else "none"
    return f"{codec:6}{fps:3} frames/s: {within} of {len(off_s)} within the told bound ({told}), worst {worst:.3f} s"


def main() -> None:
    """Serve one stream, or measure them all."""
    if len(sys.argv) > 1:
        serve(int(sys.argv[1]), sys.argv[2])
    for fps, codec in STREAMS:
        print(measured(fps, codec), flush=True)


if __name__ == "__main__":
    main()
