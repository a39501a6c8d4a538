"""The pages over the real session at the simulated table: a duel ends on the board, picture and replay."""

from __future__ import annotations

import importlib.util
import sys
import time
from pathlib import Path

import cv2
import numpy as np
import pytest
from browser import PROJECTOR
from playwright.sync_api import expect

from referee.devices.camera_settings import CameraSettings
from referee.devices.ports import Frame, SystemClock
from referee.errors import IllegalCommand
from referee.match.commands import DrawCard, VoidDuel
from referee.web.app import create_app
from referee.web.server import Server

PLAYS = """() => {
  const video = document.querySelector("video[data-replay]");
  return video && !video.hidden && video.currentTime > 0.1;
}"""


@pytest.fixture(scope="module")
def table():
    """The play tests' table: real session, devices and recorder; eyes that know the truth."""
    path = Path(__file__).parents[1] / "session" / "conftest.py"
    spec = importlib.util.spec_from_file_location("play_table", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.table


@pytest.mark.slow
def test_a_duel_ends_on_the_board_with_picture_and_replay(table, tmp_path, browser):
    with table(tmp_path, record=True, draw=lambda frame, judgement, card: frame) as (session, rig):
        server = Server(create_app(session), "127.0.0.1", 0)
        context = browser.new_context(viewport=PROJECTOR)
        try:
            board = context.new_page()
            board.goto(server.url)
            session.create_match(["Ann", "Ben", "Cem", "Dia"], seed=5)
            with rig.played(session, 1, False) as done:
                expect(board.locator(".simulated")).to_be_visible()
                expect(board.locator(".seen img")).to_be_visible(timeout=60_000)
                assert done.wait(30)
                duel = session.state.history[0]
                expect(board.locator(".seat.won .name")).to_have_text(duel.award)
                expect(board.locator(".seat.won .score")).to_have_text(f"Score: {duel.points}")
                assert board.locator(".seen img").evaluate("i => i.decode().then(() => i.naturalWidth)") > 300
                board.wait_for_function(PLAYS, timeout=30_000)
        finally:
            context.close()
            server.close()


class GreyCamera:
    """Gives one grey picture, number 0, for ever."""

    name = source = "grey"
    simulated, settings = True, CameraSettings()

    def adjust(self, how):
        pass  # it has no settings

    def latest(self, after=-1, timeout_s=1.0):
        if after >= 0:
            time.sleep(timeout_s)
            return None
        return Frame(np.full((360, 640, 3), 128, np.uint8), 0, SystemClock().now_s())

    def listen(self, callback):
        callback(self.latest())

    def status(self):
        return {"name": self.name, "simulated": True, "frames": 1, "dropped": 0, "fps": 0.0, "lost": None}

    def close(self):
        pass


@pytest.mark.slow
def test_the_session_goes_on_with_another_camera_between_duels_only(table, tmp_path):
    with table(tmp_path, draw=lambda frame, judgement, card: frame) as (session, _):
        session.create_match(["Ann", "Ben"])
        session.command(DrawCard())
        with pytest.raises(IllegalCommand, match="finish or void the duel first"):
            session.use_camera(GreyCamera())
        session.command(VoidDuel("Eva", "another camera"))
        old = session.use_camera(GreyCamera())
        assert old.name == "SIMULATED table"
        end = time.monotonic() + 120
        while cv2.imdecode(np.frombuffer(session.picture("live"), np.uint8), 1).std() > 3:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert session.snapshot()["live"]["camera"]["name"] == "grey"
