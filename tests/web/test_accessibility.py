"""axe-core finds no serious fault on any page, light or dark, large or small; none scrolls sideways."""

from __future__ import annotations

import pytest
from browser import PHONE, PROJECTOR, serious
from fake_session import FakeSession
from scenes import SCENES

from referee.web.app import create_app
from referee.web.server import serve

LOOKS = (("light", "en-GB", PROJECTOR), ("dark", "de-DE", PHONE))


@pytest.fixture(scope="module")
def pages(browser):
    """A page for each look, used for all scenes."""
    contexts = [
        browser.new_context(color_scheme=scheme, locale=locale, viewport=size) for scheme, locale, size in LOOKS
    ]
    yield [context.new_page() for context in contexts]
    for context in contexts:
        context.close()


@pytest.mark.slow
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_page_has_no_serious_fault_and_does_not_scroll_sideways(scene, pages):
    session = FakeSession()
    scene.prepare(session)
    server = serve(create_app(session, pin="1" if scene.path == "/login" else None), "127.0.0.1", 0)
    try:
        for page, (scheme, _, size) in zip(pages, LOOKS, strict=True):
            page.goto(server.url.rstrip("/") + scene.path)
            if scene.click:
                page.locator(scene.click).first.click()
            page.wait_for_timeout(150)
            assert serious(page) == [], scheme
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size
    finally:
        for page in pages:
            page.goto("about:blank")
        server.close()
