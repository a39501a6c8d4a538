"""Writes a picture of every page in every state: ``python tests/web/screenshots.py [FOLDER]``.

On a projector and on a phone, light and dark, in both languages by turns.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from browser import PHONE, PROJECTOR, chromium
from fake_session import FakeSession
from scenes import SCENES, Scene

from referee.web.app import create_app
from referee.web.server import Server

SIZES = {"projector": PROJECTOR, "phone": PHONE}


def take(browser, scene: Scene, folder: Path) -> None:
    """The scene at both sizes; the phone's picture is dark and German."""
    session = FakeSession()
    scene.prepare(session)
    pin = "1" if scene.path == "/login" else None
    server = Server(create_app(session, pin, choices=session.choices), "127.0.0.1", 0)
    try:
        for name, size in SIZES.items():
            shoot(browser, scene, server.url, size, name == "phone", folder / f"{scene.name}-{name}.png")
    finally:
        server.close()


def shoot(browser, scene: Scene, url: str, size: dict, phone: bool, path: Path) -> None:
    """One picture; on a phone of the whole page."""
    scheme, locale = ("dark", "de-DE") if phone else ("light", "en-GB")
    context = browser.new_context(viewport=size, color_scheme=scheme, locale=locale)
    page = context.new_page()
    page.goto(url.rstrip("/") + scene.path)
    if scene.click:
        page.locator(scene.click).first.click()
    page.wait_for_timeout(600)
    page.screenshot(path=path, full_page=phone and not page.locator("dialog[open]").count())
    context.close()


def main(folder: str = "build/screenshots") -> None:
    """All scenes."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for scene in SCENES:
            take(browser, scene, target)
    print(f"{2 * len(SCENES)} pictures in {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
