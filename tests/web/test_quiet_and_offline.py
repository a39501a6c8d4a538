"""Every page speaks to its own server only, moves nothing for who asked for less motion, and can be walked by keys."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser import PROJECTOR
from fake_session import FakeSession
from scenes import SCENES, Scene

from referee.web import create_app, serve

MOVING = (
    "document.getAnimations().filter((a) => a.playState === 'running' && a.effect.getTiming().duration > 1)"
    ".map((a) => a.animationName || a.transitionProperty)"
)

REACHABLE = """() => {
  const top = document.querySelector("dialog[open]") || document;
  const all = [...top.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
  const other = (el) => el.type === "radio" && !el.checked
    && document.querySelector(`input[name="${el.name}"]:checked`); // the arrows lead to it
  const there = (el) => el.checkVisibility({ visibilityProperty: true }) && !el.closest("[inert]");
  window.walked = all.filter((el) => there(el) && !el.disabled && el.type !== "hidden" && !other(el));
  return window.walked.length;
}"""
"""How many things on the page are for pressing or filling in; kept for ``FOCUSED``."""

FOCUSED = """() => {
  const el = document.activeElement, style = getComputedStyle(el);
  const shown = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  return [window.walked.indexOf(el), shown ? "" : (el.id || el.className || el.tagName)];
}"""
"""Which of them the key has come to, and its name where nothing shows that."""

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
        count = page.evaluate(REACHABLE)
        reached, unseen = set(), set()
        for _ in range(2 * count + 4):
            page.keyboard.press("Tab")
            which, unmarked = page.evaluate(FOCUSED)
            reached.add(which)
            if which >= 0 and unmarked:
                unseen.add(unmarked)
            if len(reached - {-1}) == count:
                break
        missed = page.evaluate(
            "(reached) => window.walked.filter((el, i) => !reached.includes(i)).map((el) => el.outerHTML.slice(0, 90))",
            sorted(reached),
        )
        assert count and missed == [] and unseen == set()


def test_every_scene_that_is_walked_through_is_there():
    assert set(ONE_OF_A_KIND) <= {scene.name for scene in SCENES}
