"""Pictures of the hall's pages to look at: ``python tests/tournament/hall_pictures.py FOLDER [WHAT …]``.

WHAT: tables, players, format, and so many steps of play (4 12 swiss 0). Each page on a projector and on a phone, light
in English and dark in German; what is printed, as it is on paper.
"""

from __future__ import annotations

import sys
import tempfile
from contextlib import closing
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from browser import PHONE, PROJECTOR, chromium
from test_hall_pages import Shown

from referee.web.server import Server

PAGES = {
    "board": "/",
    "kiosk": "/?kiosk",
    "overlay": "/overlay",
    "tables": "/tables",
    "one": "/tables/T1",
    "standings": "/standings",
    "pairings": "/pairings",
    "organiser": "/referee",
    "people": "/people",
    "person": "/people/P1",
}


def main(folder: str, tables: str = "4", players: str = "12", form: str = "swiss", steps: str = "0") -> None:
    """All of them."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    made = Shown(Path(tempfile.mkdtemp(prefix="referee-hall-")), players=int(players), tables=int(tables), format=form)
    made.steps(int(steps))
    made.hall.director.step()
    made.app.extensions["referee.address"] = "http://192.168.1.20:8100/"
    with closing(Server(made.app, "127.0.0.1", 0)) as server, chromium() as browser:
        for size, (scheme, locale) in product((PROJECTOR, PHONE), (("light", "en-GB"), ("dark", "de-DE"))):
            of = f"{size['width']}-{locale[:2]}"
            context = browser.new_context(viewport=size, color_scheme=scheme, locale=locale)
            page = context.new_page()
            for name, path in PAGES.items():
                page.goto(server.url.rstrip("/") + path)
                page.wait_for_timeout(500)
                page.screenshot(path=target / f"{name}-{of}.png", full_page=size is PHONE)
                if name == "pairings":
                    page.emulate_media(media="print")
                    page.screenshot(path=target / f"{name}-{of}-print.png", full_page=True)
                    page.emulate_media(media="screen")
            context.close()
    made.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
