"""A film that is broken inside: what is broken in it counts for nothing, and who cannot judge it says so."""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path

import av
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from video_kinds import FAST, Coding, encode

from referee.errors import BadAttempt
from referee.recording import Attempt
from referee.recording.video import read_video
from referee.review.film import recorded_frames
from referee.review.import_video import ImportOptions, copy_video, import_video

EVERY = 10
"""Frames from one key frame to the next."""

HEVC = Coding("libx265", {"preset": "ultrafast", "x265-params": f"log-level=error:keyint={EVERY}:scenecut=0:bframes=0"})
BROKEN_S = ((EVERY + 3) / 25, 2 * EVERY / 25)
CODINGS = {"H.264": Coding(options={**FAST, "g": str(EVERY), "bf": "0", "sc_threshold": "0"}), "HEVC": HEVC}


def made(kit, path, coding):
    """Four groups of EVERY pictures, 25 a second, the third picture of the second group broken."""
    encode(path, [(n / 25, kit.picture(n)) for n in range(4 * EVERY)], coding)
    with av.open(str(path)) as whole:
        begins = [p.pos for p in whole.demux(video=0) if p.pos is not None and p.size]
    data = bytearray(path.read_bytes())
    begin, end = list(pairwise(begins))[EVERY + 2]
    for place in range(begin + 12, end):
        data[place] ^= 0xFF
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", CODINGS)
def test_from_a_broken_picture_to_the_next_key_frame_all_is_broken(kit, tmp_path, kind):
    frames = list(read_video(made(kit, tmp_path / "film.mp4", CODINGS[kind])))
    broken = {round(f.seconds * 25) for f in frames if f.broken}
    assert broken == ({*range(EVERY + 3, 2 * EVERY)} if kind == "H.264" else set())  # HEVC's decoder shows none of them
    for shown in frames:
        if not shown.broken:
            assert kit.number_in(shown.image) == round(shown.seconds * 25)


@pytest.mark.parametrize("kind", CODINGS)
def test_what_is_broken_is_told_and_left_out(kit, tmp_path, kind):
    source, out = made(kit, tmp_path / "film.mp4", CODINGS[kind]), tmp_path / "out"
    out.mkdir()
    copied = copy_video(source, out)
    assert copied.broken == ([BROKEN_S] if kind == "H.264" else [])
    attempt = Attempt(out, {"film": copied.name})
    assert [kit.number_in(f.image) for f in recorded_frames(attempt)] == [
        *range(EVERY + 2),
        *range(2 * EVERY, 4 * EVERY),
    ]


def test_a_stop_where_the_film_is_broken_is_refused_with_the_cause(kit, tmp_path):
    source = made(kit, tmp_path / "film.mp4", CODINGS["H.264"])
    with pytest.raises(BadAttempt, match=r"broken from 0\.52 s to 0\.80 s, and the Stop at 0\.60 s") as refused:
        import_video(source, ImportOptions("L01", stop_s=0.6, zone="A"), tmp_path / "out")
    assert "\n" not in str(refused.value)


def test_what_cannot_be_found_in_a_broken_film_is_said_with_the_cause(kit, tmp_path):
    source = made(kit, tmp_path / "film.mp4", CODINGS["H.264"])
    with pytest.raises(BadAttempt, match=r"shows no mat.*broken from 0\.52 s to 0\.80 s"):
        import_video(source, ImportOptions("L01", stop_s=1.2, zone="A"), tmp_path / "out")
