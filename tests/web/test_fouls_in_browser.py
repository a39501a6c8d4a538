"""What the camera proposes as a foul, ruled on by a person at the console in a real browser."""

from __future__ import annotations

import pytest
from browser import PROJECTOR
from console_driver import Console
from playwright.sync_api import expect
from scenes import proposed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sanction", "phase", "award"),
    [("none", "building", ""), ("warning", "building", ""), ("void", "void", ""), ("duel", "decided", "other")],
)
def test_a_proposed_foul_is_ruled_on_with_a_click_and_nothing_happens_before(
    browser, session, server, sanction, phase, award
):
    proposed(session)
    fouls, seats, points = session.state.fouls, session.state.seats, dict(session.state.scores)
    assert [foul.open for foul in fouls] == [True, True] and session.state.phase == "building"
    context = browser.new_context(viewport=PROJECTOR, locale="en-GB")
    try:
        console = Console(context.new_page(), session, server.url, keys=False)
        line = console.page.locator(".foul").first
        expect(line).to_contain_text("a second hand in field A")
        expect(line).to_contain_text("3.2")
        expect(console.page.locator(".foul").nth(1)).to_contain_text(f"At {seats['B']}'s mat")  # and nobody is blamed
        console.page.locator("[data-key=foul1]").click()
        about = console.page.locator("#dialog-foulruling [data-about-text]")
        expect(about).to_contain_text("mat B was moved")
        expect(about).to_contain_text(f"{seats['A']} gets the card")
        console.page.locator("#dialog-foulruling [data-close]").click()
        line.locator("[data-key=foul0]").click()
        expect(about).to_contain_text("a second hand in field A")
        expect(about).to_contain_text(f"{seats['B']} gets the card")
        console.dialog("foulruling", sanction=sanction, who="Eva", why="seen in the clip")
        console.phase(phase)
        expect(console.page.locator(".foul")).to_have_count(1)
    finally:
        context.close()
    first, second = session.state.fouls
    assert (first.sanction, first.ruled_by, first.why) == (sanction, "Eva", "seen in the clip") and second.open
    won = {name for name, now in session.state.scores.items() if now > points[name]}
    assert won == ({seats["B"]} if award else set())
