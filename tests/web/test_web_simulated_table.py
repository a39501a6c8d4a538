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
from console_driver import Console
from playwright.sync_api import expect

from referee.errors import IllegalCommand
from referee.match import DrawCard, VoidDuel
from referee.ports import Frame
from referee.web import create_app, serve

PLAYS = """() => {
  const video = document.querySelector("video[data-replay]");
  return video && !video.hidden && video.currentTime > 0.1;
}"""


@pytest.fixture(scope="module")
def table():
    """The play tests' table: real session, devices and recorder; eyes that know the truth."""
    path = Path(__file__).parents[1] / "play" / "conftest.py"
    spec = importlib.util.spec_from_file_location("play_table", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.table


@pytest.mark.slow
def test_a_duel_ends_on_the_board_with_picture_and_replay(table, tmp_path, browser):
    with table(tmp_path, record=True, draw=lambda frame, judgement, card: frame) as (session, rig):
        server = serve(create_app(session), "127.0.0.1", 0)
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

    name, simulated = "grey", True

    def latest(self, after=-1, timeout_s=1.0):
        if after >= 0:
            time.sleep(timeout_s)
            return None
        return Frame(np.full((360, 640, 3), 128, np.uint8), 0, time.monotonic())

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
        end = time.monotonic() + 10
        while cv2.imdecode(np.frombuffer(session.picture("live"), np.uint8), 1).std() > 3:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert session.snapshot()["live"]["camera"]["name"] == "grey"


def play_on(console: Console, observer) -> None:
    """The next duel by keys alone, to its decision; the second cannot be told, the third is overruled."""
    session, number = console.session, len(session_decided(console.session)) + 1
    says = {2: "undecided", 3: "mismatch"}.get(number)
    observer.says = dict.fromkeys("AB", says) if says else {}
    console.step("card_drawn")
    console.step("ready")
    if number == 4:
        console.press("u", "button[data-dialog=undo]")
        console.dialog("undo", who="Eva")
        console.phase("card_drawn")
        console.step("ready")
    console.press(" ", "[data-key=primary]")
    console.until(lambda: session.state.phase in ("decided", "undecided", "void", "idle"), 60)
    if session.state.phase == "undecided":
        console.phase("undecided")
        console.press("r", "[data-key=primary]")
        console.dialog("rule", ruling="match", who="Eva", why="I see it well")
    if number == 3:
        console.phase("decided")
        console.press("o", "[data-key=overrule]")
        console.dialog("overrule", ruling="match", who="Eva", why="the camera is wrong")


def session_decided(session) -> list:
    """The duels that somebody has won."""
    return [duel for duel in session.state.history if duel.phase == "decided"]


@pytest.mark.slow
def test_a_whole_match_of_four_runs_at_the_simulated_table_by_keys(table, tmp_path, browser):
    with table(tmp_path, draw=lambda frame, judgement, card: frame) as (session, rig):
        server = serve(create_app(session), "127.0.0.1", 0)
        context = browser.new_context(viewport=PROJECTOR)
        try:
            console = Console(context.new_page(), session, server.url, keys=True)
            board = context.new_page()
            board.goto(server.url)
            console.page.bring_to_front()
            console.new_match(["Ann", "Ben", "Cem", "Dia"])
            with rig.played(session, None, True):
                while session.state.phase != "finished":
                    play_on(console, session.observer)
                    if session.state.phase == "decided":
                        console.next()
            told = session_decided(session)
            assert len(told) >= 18 and told[1].human[-1]["why"] == "I see it well"
            assert told[2].human[-1]["why"] == "the camera is wrong"
            assert sum(session.state.scores.values()) == sum(duel.value for duel in told)
            winner = session.state.winner
            board.bring_to_front()
            expect(board.locator(".winner .big")).to_contain_text(winner or "Shared first place")
        finally:
            context.close()
            server.close()
