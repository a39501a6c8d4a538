"""What containers and codecs do to frame numbers and times: those of the decoder hold, in the film and in its copy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from video_kinds import FAST, Coding, encode, trimmed, woven

from referee.errors import BadAttempt
from referee.recording.folder import VIDEO, read_times
from referee.recording.video import cut_clip, read_frame, read_video, video_start_s
from referee.review.import_video import copy_video

GROUPS = {**FAST, "g": "8", "bf": "2"}
REGULAR = np.arange(30) / 25
UNEVEN = np.cumsum(np.random.default_rng(5).uniform(0.02, 0.2, 30))


def shown(kit, seconds):
    return [(float(at), kit.picture(n)) for n, at in enumerate(seconds)]


def made(kit, at, kind):
    """A film of numbered pictures of that kind, which pictures a player shows, and their seconds from the first."""
    if kind == "edit list":
        whole = encode(at / "whole.mp4", shown(kit, REGULAR), Coding(options=GROUPS))
        return trimmed(whole, at / "film.mp4", 0.5), np.arange(13, 30), REGULAR[13:] - REGULAR[13]
    if kind == "truncated tail":
        path = encode(at / "film.mp4", shown(kit, REGULAR), Coding(container={"movflags": "frag_keyframe+empty_moov"}))
        path.write_bytes(path.read_bytes()[: int(0.8 * path.stat().st_size)])
        return path, None, None
    seconds = UNEVEN if kind == "VFR" else REGULAR
    coding = {
        "B-frames": Coding(options={**GROUPS, "bf": "3"}),
        "audio first": Coding(audio=True, late_s=0.7),
        "interlaced": Coding(options={**FAST, "flags": "+ilme+ildct", "x264-params": "tff=1"}),
        "HEVC": Coding("libx265", {"preset": "ultrafast", "x265-params": "log-level=error"}),
        "MPEG-TS": Coding(options=GROUPS),
    }.get(kind, Coding())
    pictures = woven(shown(kit, seconds)) if kind == "interlaced" else shown(kit, seconds)
    suffix = "ts" if kind == "MPEG-TS" else "mp4"
    return encode(at / f"film.{suffix}", pictures, coding), np.arange(30), seconds - seconds[0]


KINDS = ["plain", "edit list", "VFR", "B-frames", "audio first", "interlaced", "HEVC", "MPEG-TS", "truncated tail"]


@pytest.mark.parametrize("kind", KINDS)
def test_frame_numbers_and_times_are_the_decoders(kit, tmp_path, kind):
    source, numbers, seconds = made(kit, tmp_path, kind)
    out = tmp_path / "made"
    out.mkdir()
    film = list(read_video(out / copy_video(source, out).name))
    copy = list(read_video(out / VIDEO))
    times = read_times(out / "frames.csv")
    assert len(film) == len(copy) == len(times) > 10
    assert np.allclose(times, [f.seconds for f in film], atol=1e-3)
    assert np.allclose(times, [f.seconds for f in copy], atol=1e-3)
    if kind != "interlaced":  # two pictures in one have no number
        shown = [kit.number_in(f.image) for f in film]
        assert shown == [kit.number_in(f.image) for f in copy]
        assert numbers is None or shown == list(numbers)
        assert [kit.number_in(read_frame(out / VIDEO, n).image) for n in (0, 7, len(film) - 1)] == [
            shown[n] for n in (0, 7, len(film) - 1)
        ]
    assert seconds is None or np.allclose(times, seconds, atol=2e-3)


@pytest.mark.parametrize(("kind", "kept"), [("plain", True), ("HEVC", False), ("edit list", False)])
def test_the_original_is_kept_where_the_browser_gets_a_copy(kit, tmp_path, kind, kept):
    source, _, _ = made(kit, tmp_path, kind)
    out = tmp_path / "made"
    out.mkdir()
    film = out / copy_video(source, out).name
    assert film.read_bytes() == source.read_bytes()
    assert (film.name == VIDEO) is kept


@pytest.mark.parametrize("kind", ["plain", "edit list", "B-frames", "HEVC", "MPEG-TS"])
def test_a_part_of_a_film_shows_what_the_film_shows_then(kit, tmp_path, kind):
    source, _, _ = made(kit, tmp_path, kind)
    clip = cut_clip(source, 0.4, 0.6)
    (tmp_path / "part.mp4").write_bytes(clip.data)
    whole = {round(f.seconds, 2): kit.number_in(f.image) for f in read_video(source)}
    part = {round(f.seconds + clip.offset_s, 2): kit.number_in(f.image) for f in read_video(tmp_path / "part.mp4")}
    assert part.items() <= whole.items() and min(part) <= 0.4 and max(part) >= 0.56


def test_a_picture_that_comes_late_into_the_file_is_told(kit, tmp_path):
    assert video_start_s(made(kit, tmp_path, "audio first")[0]) == pytest.approx(0.7, abs=0.05)
    assert video_start_s(made(kit, tmp_path, "plain")[0]) == 0.0


@pytest.mark.parametrize("name", ["photo.png", "photo.jpg"])
def test_a_photo_is_refused_with_what_to_do(kit, tmp_path, name):
    import cv2

    cv2.imwrite(str(tmp_path / name), kit.picture(3))
    with pytest.raises(BadAttempt, match="a photo, not a film"):
        copy_video(tmp_path / name, tmp_path)
