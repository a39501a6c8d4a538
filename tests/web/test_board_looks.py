"""The board at every phase, in both languages, light and dark, on a projector, a laptop and a phone.

What a machine can hold a page to is held here, 12 looks a scene; ``contact_sheets.py`` shows the same looks to people.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from browser import AXE
from fake_session import FakeSession
from looks import LANGUAGES, Look, looks
from scenes import SCENES, Scene

from referee.match.duel import PHASES
from referee.web.app import create_app
from referee.web.i18n.texts import catalogue
from referee.web.server import Server

BOARD = [scene for scene in SCENES if scene.name.startswith("board-")]
FAULTS = (Path(__file__).parent / "look_faults.js").read_text(encoding="utf-8")

LEAST_PX = {1920: 16, 1366: 13, 390: 12}
"""No letter of the board is smaller than this in a window of that width."""

PROJECTED_PX = 18
"""In the room, on a projector, the board without menus has no smaller letter than this."""

CONTRAST = "axe.run({runOnly: ['color-contrast'], resultTypes: ['violations']})"
BY_ID = pytest.mark.parametrize("scene", BOARD, ids=lambda scene: scene.name)


@pytest.fixture(scope="module")
def page(browser):
    """One page for all scenes."""
    context = browser.new_context(reduced_motion="reduce")
    yield context.new_page()
    context.close()


def foreign(language: str) -> list[str]:
    """Whole texts of the other language that are none of this one's."""
    (other,) = (known for known in LANGUAGES if known != language)
    own = set(catalogue(language).values())
    return sorted({text for text in catalogue(other).values() if "{" not in text and len(text) > 3} - own)


def faults_of(page, look: Look) -> list[str]:
    """What is wrong with the page in this look, in words."""
    kiosk = page.evaluate("document.body.classList.contains('kiosk')")
    least = PROJECTED_PX if kiosk and look.width == 1920 else LEAST_PX[look.width]
    found = page.evaluate(FAULTS, {"least": least, "foreign": foreign(look.language)})
    if look.language == LANGUAGES[0] and look.width == 1366:  # neither words nor width change a colour
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found += [f"contrast: {n['target']}" for v in page.evaluate(CONTRAST)["violations"] for n in v["nodes"]]
    return found


@pytest.mark.slow
@BY_ID
def test_the_board_is_whole_legible_and_of_one_language_in_every_look(scene: Scene, page):
    session = FakeSession()
    scene.prepare(session)
    server = Server(create_app(session), "127.0.0.1", 0)
    try:
        found, seen = {}, []
        for look in looks(page, server.url.rstrip("/") + scene.path):
            seen.append(look)
            if faults := faults_of(page, look):
                found[str(look)] = faults
            assert page.evaluate("document.documentElement.lang") == look.language
        assert found == {} and len(seen) == 12
    finally:
        page.goto("about:blank")
        server.close()


def test_every_phase_of_a_duel_and_both_ends_of_a_match_are_among_the_scenes():
    there = set()
    for scene in BOARD:
        session = FakeSession()
        scene.prepare(session)
        there.add(session.state.phase)
    assert there >= {*PHASES, "new", "finished"}


BROKEN = """<body style="margin:0"><p style="width:40px;white-space:nowrap">a line that is longer than its box</p>
<p style="height:6px;overflow:hidden">cut off below</p><p style="font-size:9px">tiny</p><p>wrong_place of match-12</p>
<p>Nächstes Duell</p><p>12.5 s</p><p style="position:relative;top:-30px">over it</p>"""


@pytest.mark.slow
def test_a_page_with_faults_is_seen_to_have_them(page):
    page.set_content(f"<html lang='de'>{BROKEN}")
    found = " ".join(page.evaluate(FAULTS, {"least": 12, "foreign": ["tiny"]}))
    for fault in ("wider than its box", "cut off", "letters of 9 px", "another language", "wrong_place", "match-12"):
        assert fault in found, fault
    assert "a decimal point in German: 12.5 s" in found and "written over another" in found
    page.set_content("<html lang='en'><p>all is well, 12.5 s</p>")
    assert page.evaluate(FAULTS, {"least": 12, "foreign": []}) == []
