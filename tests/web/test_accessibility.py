"""Every page as its readers meet it: sound for axe-core, whole, in one language, still, and usable with keys alone.

A scene is opened twice, for all that is looked at: light, English, on a projector, for somebody who wants less motion;
and dark, German, on a phone (pages but the board are looked at on a laptop too then).
"""

from __future__ import annotations

import pytest
from browser import MOVING, PHONE, PROJECTOR, not_reached_by_tab, serious
from fake_session import FakeSession
from looks import DRAWN
from scenes import SCENES, Scene
from test_board_looks import BOARD, FAULTS, LEAST_PX, foreign

from referee.web.app import create_app
from referee.web.server import Server

ONE_OF_A_KIND = {
    "board-idle",
    "board-kiosk",
    "console-new-match",
    "console-contested",
    "console-rename",
    "setup",
    "attempts",
    "attempt",
    "cards",
    "piece-set",
    "results",
    "practice-welcome",
    "practice-building",
    "prove-asked",
    "prove-done",
    "login",
    "error",
}
"""Scenes whose keys are walked through: every page, and dialogs."""


@pytest.fixture(scope="module")
def pages(browser):
    """A page for each look, used for all scenes."""
    large = browser.new_context(viewport=PROJECTOR, reduced_motion="reduce", color_scheme="light", locale="en-GB")
    small = browser.new_context(viewport=PHONE, color_scheme="dark", locale="de-DE")
    yield large.new_page(), small.new_page()
    large.close()
    small.close()


@pytest.fixture
def served(request):
    """A scene and its address."""
    session = FakeSession()
    request.param.prepare(session)
    pin = "1" if request.param.path == "/login" else None
    server = Server(create_app(session, pin, choices=session.choices), "127.0.0.1", 0)
    yield request.param, server.url.rstrip("/")
    server.close()


def show(page, scene: Scene, url: str) -> None:
    """Bring the page to the scene, and wait until it stands."""
    page.goto(url + scene.path)
    if scene.click:
        pressed = page.locator(scene.click).first
        if pressed.evaluate("(el) => el.tagName === 'A'"):
            with page.expect_navigation():
                pressed.click()
        else:
            pressed.click()
    page.wait_for_load_state("load")
    if page.evaluate("document.body.dataset.feed"):  # its first event may draw parts of it again
        page.locator("body[data-serial]").wait_for(state="attached")
    page.evaluate(DRAWN)


def wider_than_its_window(page) -> int:
    """By how many px the page scrolls sideways."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("served", SCENES, ids=lambda scene: scene.name, indirect=True)
def test_a_page_is_sound_for_every_reader_asks_nobody_else_and_keeps_still(served, pages):
    scene, url = served
    large, small = pages
    asked: list[str] = []

    def note(request):
        asked.append(request.url)

    large.on("request", note)
    try:
        show(large, scene, url)
        show(small, scene, url)
        told = {
            "requests to others": [address for address in asked if not address.startswith((url, "data:", "blob:"))],
            "moves though less motion is wanted": large.evaluate(MOVING),
            "axe-core, light, large": serious(large),
            "axe-core, dark, small": serious(small),
        }
        told["keys"] = list(filter(None, not_reached_by_tab(large))) if scene.name in ONE_OF_A_KIND else []
        assert wider_than_its_window(large) <= 0 and wider_than_its_window(small) <= 0
        if scene not in BOARD:  # which is looked at in every look elsewhere
            small.set_viewport_size({"width": 1366, "height": 768})
            small.evaluate("scrollTo(0, 0)")  # what stays at the top is not over other things there
            small.evaluate(DRAWN)
            told["in German"] = small.evaluate(FAULTS, {"least": LEAST_PX[390], "foreign": foreign("de")})
        assert asked and {what: faults for what, faults in told.items() if faults} == {}
    finally:
        large.remove_listener("request", note)
        small.set_viewport_size(PHONE)
        for page in pages:
            page.goto("about:blank")


def test_every_scene_that_is_walked_through_is_there():
    assert {scene.name for scene in SCENES} >= ONE_OF_A_KIND
