"""A page whose server goes away says that it is stale, and catches up by itself when the server is back."""

from __future__ import annotations

import errno
import os
import stat
import time
from urllib.parse import urlsplit

import pytest
from browser import PROJECTOR
from playwright.sync_api import expect

from referee.errors import FolderUnusable
from referee.match.commands import DrawCard
from referee.web.app import create_app
from referee.web.server import Server
from referee.web.streaming.streams import PLACES, Places


@pytest.mark.slow
@pytest.mark.parametrize("path, place", [("", ".phase"), ("referee", ".act .phase")])
def test_a_page_says_when_it_is_stale_and_catches_up(session, browser, path, place):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    first = Server(create_app(session), "127.0.0.1", 0)
    context = browser.new_context(viewport=PROJECTOR)
    page = context.new_page()
    page.goto(first.url + path)
    expect(page.locator(place).first).to_have_text("Next duel")
    expect(page.locator("#stale")).to_be_hidden()
    first.close()
    expect(page.locator("#stale")).to_be_visible()
    session.command(DrawCard())
    app = create_app(session)
    second = Server(app, "127.0.0.1", first.port)
    try:
        expect(page.locator(place).first).to_have_text("Card drawn", timeout=15_000)
        expect(page.locator("#stale")).to_be_hidden()
        if path:  # the console's films run again, and its token still holds
            end = time.monotonic() + 120
            while app.extensions["referee.streams"]._open["pictures"].total() < 2:
                assert time.monotonic() < end, "the films have not begun again"
                page.wait_for_timeout(50)
            page.keyboard.press("Space")
            expect(page.locator(place).first).to_have_text("Ready …")
    finally:
        context.close()
        second.close()


@pytest.mark.slow
def test_a_viewer_who_finds_no_place_polls_and_sees_the_same_match(session, browser, monkeypatch):
    monkeypatch.setitem(PLACES, "events", Places(0, 0, 0))
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    server, answers = Server(create_app(session), "127.0.0.1", 0), []
    context = browser.new_context(viewport=PROJECTOR)
    try:
        page = context.new_page()
        page.on("response", lambda answer: answers.append((urlsplit(answer.url).path, answer.status)))
        page.goto(server.url)
        expect(page.locator(".phase").first).to_have_text("Next duel")
        until(page, lambda: ("/events", 503) in answers and ("/snapshot", 304) in answers)
        session.command(DrawCard())
        expect(page.locator(".phase").first).to_have_text("Card drawn", timeout=15_000)
        expect(page.locator("#stale")).to_be_hidden()
        asked = answers.count(("/events", 503))
        page.wait_for_timeout(3000)
        assert answers.count(("/events", 503)) == asked, "it does not knock again each second"
    finally:
        context.close()
        server.close()


def until(page, holds) -> None:
    end_s = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end_s
        page.wait_for_timeout(100)


def test_the_key_that_signs_cookies_is_kept_and_for_its_owner_only(session):
    keys = {create_app(session).secret_key for _ in range(2)}
    assert len(keys) == 1
    assert stat.S_IMODE((session.data_dir / "web-secret").stat().st_mode) == 0o600


@pytest.mark.parametrize("torn", [b"", b"half a key", bytes(32)])
def test_a_torn_key_is_made_anew_and_the_pages_are_served(session, torn):
    (session.data_dir / "web-secret").write_bytes(torn)
    app = create_app(session)
    assert app.test_client().get("/").status_code == 200
    assert len(app.secret_key) == 32 and any(app.secret_key) and create_app(session).secret_key == app.secret_key


def test_a_key_that_a_full_disk_refuses_leaves_no_part_of_one_and_says_so(session, monkeypatch):
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(FolderUnusable, match=r"web-secret: cannot be read or written \(No space left on device\)"):
        create_app(session)
    assert not list(session.data_dir.glob("web-secret*"))
