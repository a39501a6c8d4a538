"""Debian's Chromium under playwright, as these tests start it: headless, with no network of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

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
    "--disable-site-isolation-trials",  # with the next: a server on another port costs no new process
    "--renderer-process-limit=1",
]
PROJECTOR = {"width": 1920, "height": 1080}
PHONE = {"width": 390, "height": 844}
PATIENCE_MS = 60_000.0
"""What a page should come to show may take this long: other tests keep the machine busy."""

expect.set_options(timeout=PATIENCE_MS)

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


_DRIVERS: list[Playwright] = []
"""The driver that runs in this process: playwright allows one."""


@contextmanager
def _driver() -> Iterator[Playwright]:
    """The one that runs, or one for so long."""
    if _DRIVERS:
        yield _DRIVERS[0]
        return
    with sync_playwright() as driver:
        _DRIVERS.append(driver)
        try:
            yield driver
        finally:
            _DRIVERS.clear()


@contextmanager
def chromium(*more: str) -> Iterator[Browser]:
    """A browser with that much more on its command line, closed afterwards."""
    with _driver() as driver:
        browser = driver.chromium.launch(executable_path="/usr/bin/chromium-headless-shell", args=[*ARGS, *more])
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


def not_reached_by_tab(page: Page) -> tuple[list[str], set[str]]:
    """What can be pressed or filled in and the tab key does not come to, and what it comes to without showing it."""
    count = page.evaluate(REACHABLE)
    assert count, "nothing to press on this page"
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
    return missed, unseen
