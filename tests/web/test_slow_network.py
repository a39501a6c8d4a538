"""A board and a console over a slow line, 400 ms each way and 1 Mbit/s, are there soon and follow the match."""

from __future__ import annotations

import time
from contextlib import contextmanager

import pytest
from browser import PROJECTOR, expect
from fake_session import FakeSession
from scenes import building, started

from referee.web.app import create_app
from referee.web.server import Server

SLOW = {"offline": False, "latency": 400, "downloadThroughput": 125_000, "uploadThroughput": 125_000}
"""Milliseconds, and bytes a second."""

SHOWN_S, FOLLOWS_S = 12.0, 6.0
"""When a page must stand, and when a change must be on it; a machine busy with other tests has room."""


@contextmanager
def served(session, page):
    """The address of that session's pages; the page leaves them before they go."""
    server = Server(create_app(session), "127.0.0.1", 0)
    try:
        yield server.url
    finally:
        page.goto("about:blank")
        server.close()


@pytest.fixture
def slow_page(browser):
    """A page whose every line is slow; nothing is cached."""
    context = browser.new_context(viewport=PROJECTOR, locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    line = context.new_cdp_session(page)
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", SLOW)
    yield page
    context.close()


def took_s(act) -> float:
    """How long it took, in seconds."""
    begun = time.monotonic()
    act()
    return time.monotonic() - begun


@pytest.mark.slow
def test_over_a_slow_line_the_board_stands_soon_and_shows_a_stop(slow_page):
    session = FakeSession()
    building(session)
    with served(session, slow_page) as url:
        slow_page.goto(url, wait_until="commit")
        assert took_s(lambda: expect(slow_page.locator(".seat .name").first).to_have_text("Ben")) < SHOWN_S
        expect(slow_page.locator("body[data-ahead]")).to_be_attached()
        session.press("A")
        assert took_s(lambda: expect(slow_page.locator(".phase")).to_have_text("Stop!")) < FOLLOWS_S


@pytest.mark.slow
def test_over_a_slow_line_one_press_on_the_console_is_one_command(slow_page):
    session = FakeSession()
    started(session)
    with served(session, slow_page) as url:
        slow_page.goto(f"{url}referee", wait_until="commit")
        expect(slow_page.locator("body[data-ahead]")).to_be_attached()
        for phase in ("card_drawn", "ready", "building"):
            slow_page.keyboard.press("Space")
            assert took_s(lambda phase=phase: expect(slow_page.locator(f".phase-{phase}")).to_be_visible()) < FOLLOWS_S
        assert [e.kind for e in session.events].count("card_drawn") == 1 and session.state.phase == "building"
