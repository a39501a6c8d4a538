"""The replay on the board: a few seconds for everybody, never the recording, and a word where there is none."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import PIN

from referee.devices.ports import Frame, SystemClock
from referee.match.commands import DrawCard, Ready
from referee.recording import Recorder
from referee.recording.folder import TIMES, VIDEO, of_camera
from referee.recording.video import read_video
from referee.web.app import create_app

FPS, LASTS_S, STOP_S = 20, 8.0, 6.0


class AtTheEnd(SystemClock):
    """A clock that stands where the recording ends."""

    def now_s(self) -> float:
        return LASTS_S


@pytest.fixture
def played(session, tmp_path, monkeypatch):
    """A session whose data folder is a relative path, as the README's own, with one duel decided and recorded."""
    monkeypatch.chdir(tmp_path)
    session.data_dir = (tmp_path / "data").relative_to(tmp_path)
    session.create_match(["Ann", "Ben"])
    session.command(DrawCard())
    session.command(Ready())
    session.go()
    session.clock.ahead_s += 10
    session.press("A")
    session.see("A", "match")
    recorder, noise = Recorder(session.data_dir / "attempts", AtTheEnd()), np.random.default_rng(1)
    files = {"pieces.json": session.piece_set.to_json(), "deck.json": session.deck.to_json()}
    recorder.begin({"match_id": session.state.match_id, "card": "L01", "duel": 1, "go_at_s": 0.0, "files": files})
    image = noise.integers(0, 255, (120, 160, 3), np.uint8)
    for n in range(round(LASTS_S * FPS)):
        recorder.frame(Frame(image, n, n / FPS))
    recorder.mark("stop", STOP_S, zone="A")
    recorder.finish({"cut_short": None})
    recorder.close()
    return session


def only_video(session):
    return next(session.data_dir.resolve().glob("attempts/*/video.mp4"))


def test_anybody_gets_the_seconds_around_the_press_and_not_the_recording(played, tmp_path):
    app = create_app(played, pin=PIN, host="0.0.0.0")
    answer = app.test_client().get("/media/replay/1.mp4")
    assert answer.status_code == 200
    (tmp_path / "seen.mp4").write_bytes(answer.data)
    assert list(read_video(tmp_path / "seen.mp4"))[-1].seconds < 4.5
    assert 'src="/media/replay/1.mp4"' in app.test_client().get("/").text


def test_the_referee_gets_the_recording_though_the_data_folder_is_a_relative_path(played):
    name = only_video(played).parent.name
    answer = create_app(played).test_client().get(f"/attempts/{name}/video.mp4")
    assert answer.status_code == 200 and answer.data == only_video(played).read_bytes()
    answer.close()


def test_a_video_that_cannot_be_read_is_said_on_the_board(played):
    only_video(played).write_bytes(b"no video")
    client = create_app(played).test_client()
    assert "The replay cannot be shown" in client.get("/").text
    assert client.get("/media/replay/1.mp4").status_code == 404


def test_a_video_that_is_missing_is_said_on_the_attempts_page(played):
    name = only_video(played).parent.name
    only_video(played).unlink()
    assert "The video is missing" in create_app(played).test_client().get(f"/attempts/{name}").text


def test_a_recording_is_found_by_what_its_record_says_wherever_it_lies(played):
    folder = only_video(played).parent
    evening = folder.parent / "the first evening"
    evening.mkdir()
    folder.rename(evening / "duel one")
    assert create_app(played).test_client().get("/media/replay/1.mp4").status_code == 200


def test_where_the_first_camera_was_lost_the_second_ones_film_is_shown(played, tmp_path):
    film = only_video(played)
    for name in (VIDEO, TIMES):
        film.with_name(name).rename(film.with_name(of_camera(name, 2)))
    record = film.with_name("attempt.json")
    second = {"camera": "from the side", "begins": 1.0, "cut_short": None}
    said = json.loads(record.read_text()) | {"cut_short": "the camera gave no frame", "second": second}
    record.write_text(json.dumps(said))
    answer = create_app(played).test_client().get("/media/replay/1.mp4")
    assert answer.status_code == 200
    (tmp_path / "seen.mp4").write_bytes(answer.data)
    assert list(read_video(tmp_path / "seen.mp4"))[-1].seconds < 4.5
    record.write_text(json.dumps(said | {"second": second | {"cut_short": "unplugged"}}))
    assert create_app(played).test_client().get("/media/replay/1.mp4").status_code == 404


@pytest.mark.parametrize("number", [2**31, 2**63, 10**30])
def test_a_number_that_no_duel_has_is_no_replay(played, number):
    assert create_app(played).test_client().get(f"/media/replay/{number}.mp4").status_code == 404
