"""A page whose server goes away says that it is stale, and catches up by itself when the server is back."""

from __future__ import annotations

import stat
import time

import pytest
from browser import PROJECTOR
from playwright.sync_api import expect

from referee.match.decide import DrawCard
from referee.web import create_app, serve


@pytest.mark.slow
@pytest.mark.parametrize("path, place", [("", ".phase"), ("referee", ".act .phase")])
def test_a_page_says_when_it_is_stale_and_catches_up(session, browser, path, place):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    first = serve(create_app(session), "127.0.0.1", 0)
    context = browser.new_context(viewport=PROJECTOR)
    page = context.new_page()
    page.goto(first.url + path)
    expect(page.locator(place).first).to_have_text("Next duel")
    expect(page.locator("#stale")).to_be_hidden()
    first.close()
    expect(page.locator("#stale")).to_be_visible()
    session.command(DrawCard())
    app = create_app(session)
    second = serve(app, "127.0.0.1", first.port)
    try:
        expect(page.locator(place).first).to_have_text("Card drawn", timeout=15_000)
        expect(page.locator("#stale")).to_be_hidden()
        if path:  # the console's films run again, and its token still holds
            end = time.monotonic() + 120
            while app.extensions["referee.streams"].open_now()["pictures"] < 2:
                assert time.monotonic() < end, "the films have not begun again"
                page.wait_for_timeout(50)
            page.keyboard.press("Space")
            expect(page.locator(place).first).to_have_text("Ready …")
    finally:
        context.close()
        second.close()


def test_the_key_that_signs_cookies_is_kept_and_for_its_owner_only(session):
    keys = {create_app(session).secret_key for _ in range(2)}
    assert len(keys) == 1
    assert stat.S_IMODE((session.data_dir / "web-secret").stat().st_mode) == 0o600
