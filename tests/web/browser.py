"""Debian's Chromium under playwright, as these tests start it: headless, with no network of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, expect, sync_playwright

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"

ARGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PROJECTOR = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 60_000.0
"""What a page should come to show may take this long: other tests keep the machine busy."""

expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser, closed afterwards."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=ARGS)
        try:
            yield browser
        finally:
            browser.close()


def serious(page: Page) -> list[str]:
    """Rules of axe-core broken with a serious or critical impact, with the first place each."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({resultTypes: ['violations']})")["violations"]
    return [
        f"{v['id']}: {v['nodes'][0]['target']} {v['nodes'][0]['failureSummary'][:200]}"
        for v in found
        if v["impact"] in ("serious", "critical")
    ]
