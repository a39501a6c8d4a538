"""The looks in which a page is seen: every width, language and scheme, of one browser page that is used again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from playwright.sync_api import Page

SIZES = {1920: 1080, 1366: 768, 390: 844}
SCHEMES = ("light", "dark")
LANGUAGES = ("en", "de")

LOADED = """() => [...document.images].every((i) => i.complete || i.loading === "lazy" || !i.getAttribute("src"))
    && document.body.dataset.ahead !== undefined"""
"""Every picture is there, and the live line has brought its first parts."""

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


@dataclass(frozen=True)
class Look:
    """A window's width, the page's language, light or dark."""

    width: int
    language: str
    scheme: str

    def __str__(self) -> str:
        return f"{self.width}-{self.language}-{self.scheme}"


def looks(page: Page, url: str) -> Iterator[Look]:
    """Bring the page into each look in turn. It is loaded once a language: width and scheme change under it."""
    for language in LANGUAGES:
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.goto(f"{url}{'&' if '?' in url else '?'}lang={language}")
        page.wait_for_function(LOADED)
        for (width, height), scheme in product(SIZES.items(), SCHEMES):
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.evaluate(DRAWN)
            yield Look(width, language, scheme)
