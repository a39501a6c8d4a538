"""Writes a picture of every page in every state: ``python tests/web/screenshots.py [FOLDER [SCENE...]]``.

On a projector, light, and on a phone, dark, in both languages.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from browser import PHONE, PROJECTOR, chromium
from fake_session import FakeSession
from scenes import SCENES, Scene

from referee.web.app import create_app
from referee.web.server import Server

SIZES = {"projector": PROJECTOR, "phone": PHONE}
SCHEMES = {"projector": "light", "phone": "dark"}
LOCALES = {"en": "en-GB", "de": "de-DE"}


def take(browser, scene: Scene, folder: Path) -> None:
    """The scene at both sizes and in both languages."""
    session = FakeSession()
    scene.prepare(session)
    pin = "1" if scene.path == "/login" else None
    server = Server(create_app(session, pin, choices=session.choices), "127.0.0.1", 0)
    try:
        for (size, viewport), (language, locale) in itertools.product(SIZES.items(), LOCALES.items()):
            looks = {"viewport": viewport, "color_scheme": SCHEMES[size], "locale": locale}
            shoot(browser, scene, server.url, looks, folder / f"{scene.name}-{size}-{language}.png")
    finally:
        server.close()


def shoot(browser, scene: Scene, url: str, looks: dict, path: Path) -> None:
    """One picture; on a phone of the whole page."""
    context = browser.new_context(**looks)
    page = context.new_page()
    page.goto(url.rstrip("/") + scene.path)
    if scene.click:
        page.locator(scene.click).first.click()
    page.wait_for_timeout(600)
    whole = looks["viewport"] == PHONE and not page.locator("dialog[open]").count()
    page.screenshot(path=path, full_page=whole)
    context.close()


def main(folder: str = "build/screenshots", *names: str) -> None:
    """The scenes of those names, or all."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        for scene in SCENES:
            if not names or scene.name in names:
                take(browser, scene, target)
    print(f"pictures in {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
