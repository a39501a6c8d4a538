"""The console on a laptop: what a referee needs next is on the screen without scrolling, and nothing lies over it."""

from __future__ import annotations

import pytest
from board_picture import LAPTOP
from fake_session import FakeSession
from scenes import SCENES

from referee.web.app import create_app
from referee.web.server import Server

KEYS = {"q", "w", "e", "a", "b"}
"""Right, wrong, void, the card to one, to the other."""

FREE = """(all) => all.filter((el) => {
  const box = el.getBoundingClientRect(), at = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  return box.top >= 0 && box.bottom <= innerHeight && el.contains(at);
}).map((el) => el.dataset.hotkey || el.dataset.key || "")"""
"""Which of the elements are wholly in the window, with nothing over their middle; by their key."""


@pytest.mark.slow
@pytest.mark.parametrize("name", ["console-idle", "console-building", "console-wrong", "console-undecided"])
@pytest.mark.parametrize("language", ["en", "de"])
def test_undo_foul_pause_and_the_keys_beside_the_picture_are_on_the_screen(browser, name, language):
    session = FakeSession()
    next(scene for scene in SCENES if scene.name == name).prepare(session)
    server = Server(create_app(session), "127.0.0.1", 0)
    context = browser.new_context(viewport=LAPTOP, reduced_motion="reduce")
    try:
        page = context.new_page()
        page.goto(f"{server.url}referee?lang={language}")
        page.wait_for_load_state("load")
        assert page.eval_on_selector_all(".bar button", FREE) == page.eval_on_selector_all(
            ".bar button", '(all) => all.map((el) => el.dataset.hotkey || el.dataset.key || "")'
        )
        assert {"f", "pause"} <= set(page.eval_on_selector_all(".bar button", FREE))
        assert page.eval_on_selector_all("[data-key=primary], .stop", FREE)
        if name in ("console-wrong", "console-undecided"):
            assert set(page.eval_on_selector_all(".quickkey", FREE)) == KEYS
    finally:
        context.close()
        server.close()
