"""A phone as camera without a network: what is posted, what becomes of it, and what its page's address refuses."""

from __future__ import annotations

import ipaddress
import math
import stat
from datetime import timedelta
from fractions import Fraction

import av
import cv2
import numpy as np
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from referee.devices import phone
from referee.devices.page_clock import TRIP, BadRecords
from referee.devices.phone import (
    CAPTURED,
    H264,
    HEAD,
    JPEG,
    KEY,
    MOST_BYTES,
    MOST_RECORDS,
    PhoneCamera,
    PictureDecoder,
    read_records,
)
from referee.devices.ports import SystemClock
from referee.errors import DeviceLost
from referee.web.certificate import own_certificate
from referee.web.phone import COOKIE, phone_app

PAGE_AHEAD_S = 1000.0
"""The page's clock began so long before the host's."""


def record(seq: int, payload: bytes = b"x", **other: float) -> bytes:
    told = {"kind": JPEG, "flags": KEY | CAPTURED, "run": 2, "size": len(payload), "number": seq, "captured_ms": 5.0}
    told |= {"sent_ms": 6.0} | other
    head = (told[k] for k in ("kind", "flags", "run"))
    return HEAD.pack(*head, seq, *(told[k] for k in ("size", "number", "captured_ms", "sent_ms"))) + payload


def test_records_are_read_as_they_were_written():
    one, two = read_records(record(7, b"abc", number=9, captured_ms=1.5) + record(8, b"d"))
    assert (one.seq, one.number, one.captured_ms, one.payload, one.run) == (7, 9, 1.5, b"abc", 2)
    assert (two.seq, two.payload) == (8, b"d")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"short",
        record(1)[:-1],
        record(1) + b"more",
        record(1, size=0, payload=b""),
        record(1, size=1 << 31),
        record(1, kind=7),
        record(2) + record(1),
        record(1) + record(3),
        record(1) + record(2, run=3),
        record(1, captured_ms=math.nan),
        record(1, captured_ms=-1.0),
        record(1, captured_ms=7.0),
        record(1, sent_ms=math.inf),
        record(1, b"x" * MOST_BYTES),
        b"".join(record(n) for n in range(9)),
    ],
)
def test_what_is_no_row_of_records_is_refused_in_one_sentence(body):
    with pytest.raises(BadRecords, match="no row of picture records"):
        read_records(body)


class Phone:
    """A page that posts, with a clock of its own."""

    def __init__(self, camera: PhoneCamera) -> None:
        self.camera = camera
        self.key, self.run = camera.begin("")
        self.frames: list = []
        camera.listen(self.frames.append)
        host_s = self.tie(math.nan)
        for _ in range(3):
            host_s = self.tie(host_s)

    def tie(self, host_s: float) -> float:
        return self.camera.page_clock.trip(TRIP.pack(self.now_ms(), host_s))

    def now_ms(self) -> float:
        return 1000 * (self.camera.clock.now_s() + PAGE_AHEAD_S)

    def send(self, seq: int, grey: int = 90, ago_s: float = 0.0, payload: bytes | None = None) -> None:
        picture = cv2.imencode(".jpg", np.full((40, 60, 3), grey, np.uint8))[1].tobytes()
        sent_ms = self.now_ms()
        body = {"captured_ms": sent_ms - 1000 * ago_s, "sent_ms": sent_ms, "run": self.run}
        self.camera.take(record(seq, picture if payload is None else payload, **body))

    def frame(self, count: int):
        """The newest that the session got, once so many have come."""
        end_s = self.camera.clock.now_s() + 5
        while len(self.frames) < count and self.camera.clock.now_s() < end_s:
            self.camera._closing.wait(0.005)
        assert len(self.frames) == count
        return self.frames[-1]


@pytest.fixture
def camera(monkeypatch):
    monkeypatch.setattr(phone, "SILENT_S", 0.2)
    opened = PhoneCamera(SystemClock())
    yield opened
    opened.close()


def test_a_frame_has_the_time_at_which_it_was_captured(camera):
    page = Phone(camera)
    before_s = camera.clock.now_s()
    page.send(0, 90)
    frame = page.frame(1)
    assert frame is camera.latest() and frame.image.shape == (40, 60, 3) and abs(int(frame.image[20, 30, 1]) - 90) < 3
    assert abs(frame.at_s - before_s) <= camera.frame_error_s < 0.05


def test_the_past_is_ignored_and_what_is_late_never_passes_for_the_latest(camera):
    page = Phone(camera)
    page.send(5, 50)
    assert page.frame(1).number == 0
    page.send(4, 60)
    page.send(6, 70, ago_s=3.0)
    page.send(8, 80)
    page.frame(3)
    assert camera.latest().image[0, 0, 0] > 75 and [f.number for f in page.frames] == [0, 1, 3]
    assert camera.dropped == 1 and page.frames[0].at_s - page.frames[1].at_s > 2.5


def test_garbage_and_a_picture_that_is_too_large_are_left_out(camera, monkeypatch):
    page = Phone(camera)
    page.send(0, payload=b"no picture")
    monkeypatch.setattr(phone, "MOST_PIXELS", 100)
    page.send(1)
    page.send(2)
    with pytest.raises(DeviceLost):
        camera.latest(timeout_s=0.3)
    assert page.frames == []


def encoded(count: int, key_every: int) -> list[bytes]:
    """So many grey pictures, each brighter than the last, as a phone's encoder makes them."""
    codec = av.CodecContext.create("libx264", "w")
    codec.width, codec.height, codec.pix_fmt, codec.time_base = 64, 48, "yuv420p", Fraction(1, 30)
    codec.options = {"tune": "zerolatency", "x264-params": f"keyint={key_every}:scenecut=0"}
    pictures = (np.full((48, 64, 3), 40 + 20 * n, np.uint8) for n in range(count))
    return [bytes(p) for q in pictures for p in codec.encode(av.VideoFrame.from_ndarray(q, format="bgr24"))]


def test_after_a_lost_record_nothing_is_shown_until_a_key_frame():
    decoder, greys = PictureDecoder(), {}
    for seq, payload in enumerate(encoded(9, key_every=3)):
        flags = KEY if seq % 3 == 0 else 0
        if seq != 4:
            (one,) = read_records(record(seq, payload, kind=H264, flags=flags))
            greys |= {its.seq: int(picture[20, 30, 1]) for its, picture in decoder.pictures(one)}
    assert sorted(greys) == [0, 1, 2, 3, 6, 7, 8]
    assert all(abs(grey - (40 + 20 * seq)) <= 3 for seq, grey in greys.items())


def test_a_stream_without_pictures_piles_nothing_up():
    decoder, nothing = PictureDecoder(), b"\0\0\0\1\t\x10"
    for seq in range(50):
        (one,) = read_records(record(seq, nothing, kind=H264))
        assert list(decoder.pictures(one)) == [] and len(decoder._waiting) <= MOST_RECORDS


def test_a_silent_phone_is_lost_and_a_free_place_waits_for_another(camera):
    with pytest.raises(DeviceLost, match="waits for a phone"):
        camera.latest()
    page = Phone(camera)
    page.send(0)
    assert page.frame(1) is camera.latest()
    camera._closing.wait(0.3)
    with pytest.raises(DeviceLost, match="sends no pictures"):
        camera.latest(0)
    link = camera.link
    camera.free()
    page.send(1)
    with pytest.raises(DeviceLost, match="waits for a phone"):
        camera.latest(0)
    assert camera.link != link and camera.begin("")[0] != page.key


def test_who_sends_faster_than_is_decoded_is_refused_and_nothing_piles_up(camera, monkeypatch):
    monkeypatch.setattr(camera, "_decode", lambda record: camera._closing.wait(5))
    with pytest.raises(BadRecords, match="faster"):
        for n in range(6):
            camera.take(record(n, run=camera.begin("")[1] if n == 0 else 2))


def test_a_clock_that_answers_with_another_time_than_it_was_given_ties_nothing(camera):
    camera.begin("")
    host_s = camera.page_clock.trip(TRIP.pack(5.0, math.nan))
    camera.page_clock.trip(TRIP.pack(6.0, host_s - 5.0))
    assert math.isinf(camera.page_clock.to_host(6.0, (0.0, 0.0))[1])
    with pytest.raises(BadRecords):
        camera.page_clock.trip(b"")


def test_only_the_secret_opens_the_page_and_only_its_phone_may_send(camera, tmp_path):
    app = phone_app(camera, tmp_path)
    phone_there, other = (app.test_client() for _ in range(2))
    how = {"base_url": "https://192.0.2.7:8443"}
    here = f"/{camera.secret}/"
    for path in ("/", "/wrong/", "/ümlaut/", here + "begin/", "/referee/", "/login/", "/api/session"):
        assert other.get(path, **how).status_code == 404
    for path in ("begin", "clock", "records"):
        assert other.post(f"/wrong/{path}", **how).status_code == 404
    page = phone_there.get(here, **how)
    assert (
        "camera=(self)" in page.headers["Permissions-Policy"]
        and "default-src 'none'" in page.headers["Content-Security-Policy"]
    )
    assert "camera=()" in other.get("/wrong/", **how).headers["Permissions-Policy"]
    assert phone_there.post(here + "records", data=record(0), **how).status_code == 403
    assert phone_there.post(here + "begin", headers={"Sec-Fetch-Site": "cross-site"}, **how).status_code == 403
    assert phone_there.post(here + "begin", **how).json == {"run": 2}
    cookie = phone_there.get_cookie(COOKIE, domain="192.0.2.7", path=here)
    assert cookie.secure and cookie.http_only and cookie.same_site == "Strict"
    assert phone_there.post(here + "records", data=record(0), **how).status_code == 204
    assert phone_there.post(here + "records", data=b"x", **how).status_code == 409
    assert phone_there.post(here + "clock", data=TRIP.pack(5.0, math.nan), **how).json["bound_s"] == 0
    assert 'id="start"' in page.text and 'id="start"' not in other.get(here, **how).text
    assert other.post(here + "begin", **how).status_code == 409
    assert other.post(here + "clock", data=TRIP.pack(5.0, 0.0), **how).status_code == 403
    camera.free()
    assert phone_there.get(here, **how).status_code == 404


def test_the_own_certificate_is_private_short_lived_and_kept_while_it_will_do(tmp_path):
    path, kept = own_certificate(tmp_path, "192.0.2.7")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    made = x509.load_pem_x509_certificate(path.read_bytes())
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert ipaddress.ip_address("192.0.2.7") in names.get_values_for_type(x509.IPAddress)
    assert made.not_valid_after_utc - made.not_valid_before_utc <= timedelta(days=397)
    assert kept.replace(":", "") == made.fingerprint(hashes.SHA256()).hex().upper() and len(kept) == 95
    assert own_certificate(tmp_path, "192.0.2.7") == (path, kept)
    assert own_certificate(tmp_path, "192.0.2.8")[1] != kept
    path.write_bytes(b"torn")
    assert len(own_certificate(tmp_path, "table.example")[1]) == 95
