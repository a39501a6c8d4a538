"""Every page speaks to its own server only, moves nothing for who asked for less motion, and can be walked by keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser import MOVING, PROJECTOR, not_reached_by_tab
from fake_session import FakeSession
from scenes import SCENES, Scene

from referee.web.app import create_app
from referee.web.server import serve

ONE_OF_A_KIND = [
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
    "login",
    "error",
]
"""Scenes whose keys are walked through: every page, and dialogs."""


@pytest.fixture(scope="module")
def page(browser):
    """One page for all scenes, for somebody who wants less motion."""
    context = browser.new_context(viewport=PROJECTOR, reduced_motion="reduce", locale="en-GB")
    yield context.new_page()
    context.close()


@pytest.fixture
def served(request):
    """A scene's address."""
    session = FakeSession()
    request.param.prepare(session)
    server = serve(create_app(session, pin="1" if request.param.path == "/login" else None), "127.0.0.1", 0)
    yield request.param, server.url.rstrip("/")
    server.close()


@contextmanager
def opened(page, scene: Scene, url: str) -> Iterator[list[str]]:
    """The scene in the page; gives every address that it asks for."""
    asked: list[str] = []

    def note(request):
        asked.append(request.url)

    page.on("request", note)
    try:
        show(page, scene, url)
        yield asked
    finally:
        page.remove_listener("request", note)
        page.goto("about:blank")


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
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")


@pytest.mark.slow
@pytest.mark.parametrize("served", SCENES, ids=lambda scene: scene.name, indirect=True)
def test_a_page_asks_nobody_else_and_keeps_still(served, page):
    scene, url = served
    with opened(page, scene, url) as asked:
        foreign = [address for address in asked if not address.startswith((url, "data:", "blob:"))]
        assert asked and foreign == []
        assert page.evaluate(MOVING) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "served", [s for s in SCENES if s.name in ONE_OF_A_KIND], ids=lambda scene: scene.name, indirect=True
)
def test_all_that_can_be_pressed_is_reached_by_the_tab_key_and_seen_to_be(served, page):
    with opened(page, *served):
        assert not_reached_by_tab(page) == ([], set())


def test_every_scene_that_is_walked_through_is_there():
    assert set(ONE_OF_A_KIND) <= {scene.name for scene in SCENES}
