"""What thirty people read from five metres is large enough on a projector: ``python tests/web/test_board_sizes.py``
prints the sizes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from browser import PROJECTOR, chromium
from fake_session import FakeSession
from playwright.sync_api import Page
from scenes import SCENES

from referee.web.app import create_app
from referee.web.server import Server

FAR_PX, QR_PX = 48, 320
"""The least size of letters at 1920 x 1080, on a screen of 55 inches 30 mm; the least side of the code that phones read
from there."""

FAR = {
    "building": (
        ".seat .name",
        ".seat .score",
        ".clock",
        ".target .value",
        ".standings tbody th",
        ".standings .points",
    ),
    "right": (".headline", ".reason", ".upnext", ".stamp"),
    "fell": (".headline", ".finding", ".reason", ".upnext", ".stamp"),
    "undecided": (".headline", ".finding", ".reason"),
    "overruled": (".headline", ".reason", ".upnext", ".stamp"),
    "long-names": (
        ".seat .name",
        ".standings tbody tr:not([hidden]) :is(th, .points)",
        ".rounds .round:not([hidden]) .pair",
        ".phones img",
    ),
    "idle": (".call", ".rounds .round:not([hidden]) .pair", ".phones img"),
    "pause": (".pause .big", ".pause .upnext", ".standings tbody th", ".phones img"),
    "winner": (".duel .big", ".steps-of-honour li", ".best", ".phones img"),
}
"""Scene of the board -> what is read or scanned from afar there."""

SIZE = """(all) => all.map((el) => el.tagName === "IMG" ? el.getBoundingClientRect().height
    : el.checkVisibility() ? parseFloat(getComputedStyle(el).fontSize) : 0)"""

SHOWN = """(all) => all.filter((row) => !row.hidden).map((row) => [row.textContent,
    row.getBoundingClientRect().bottom <= row.closest("section").getBoundingClientRect().bottom])"""

SCENE = {scene.name.removeprefix("board-"): scene for scene in SCENES if scene.name.startswith("board-")}


@contextmanager
def projected(browser, name: str) -> Iterator[Page]:
    """A scene on a projector, with a clock that the test turns on."""
    session = FakeSession()
    SCENE[name].prepare(session)
    app = create_app(session)
    app.extensions["referee.address"] = "http://192.168.178.20:8000/"
    server = Server(app, "127.0.0.1", 0)
    context = browser.new_context(viewport=PROJECTOR, locale="en-GB", reduced_motion="reduce")
    try:
        page = context.new_page()
        page.clock.install()
        page.goto(server.url.rstrip("/") + SCENE[name].path)
        page.locator("body[data-phase][data-serial]").wait_for(state="attached")  # no part is drawn again after that
        yield page
    finally:
        context.close()
        server.close()


def sizes(browser, name: str) -> dict[str, float]:
    """The least size of each of a scene's texts in px; of a picture its height."""
    with projected(browser, name) as page:
        found = {asked: page.eval_on_selector_all(asked, SIZE) for asked in FAR[name]}
        return {asked: min(rows, default=0.0) for asked, rows in found.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", FAR)
def test_what_is_read_from_afar_is_large(browser, name):
    small = {
        asked: px for asked, px in sizes(browser, name).items() if px < (QR_PX if asked.endswith("img") else FAR_PX)
    }
    assert small == {}


@pytest.mark.slow
def test_lists_that_do_not_fit_turn_pages_until_all_was_shown_whole(browser):
    with projected(browser, "long-names") as page:
        for rows, count in ((".standings tbody tr", 9), (".schedule .round", 36)):
            everything = page.locator(rows).count()
            pages = []
            for _ in range(2 * count):
                pages.append(page.eval_on_selector_all(rows, SHOWN))
                page.clock.run_for(8000)
            texts = {text for shown in pages for text, _ in shown}
            assert len(texts) == everything == count > max(map(len, pages))
            assert all(whole for shown in pages for _, whole in shown)
        rows = ".standings tbody tr"
        page.hover(".standings")
        page.clock.run_for(1000)
        assert len(page.eval_on_selector_all(rows, SHOWN)) == 9
        page.clock.run_for(30_000)  # the pointer was left there
        assert len(page.eval_on_selector_all(rows, SHOWN)) < 9


if __name__ == "__main__":
    with chromium() as one:
        for scene in FAR:
            print(scene, *(f"{asked} {px:.0f}" for asked, px in sizes(one, scene).items()), sep="   ")
