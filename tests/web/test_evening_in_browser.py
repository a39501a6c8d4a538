"""The evening in a real browser: rulings in two presses, names, countdown, swapped sides, refused sound, kiosk."""

from __future__ import annotations

import re

import pytest
from browser import PROJECTOR
from console_driver import Console
from playwright.sync_api import expect
from scenes import PLAYERS, contested, right, started, wrong

from referee.match.commands import DrawCard, Ready, RenamePlayer

REFUSED = """
HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException("no", "NotAllowedError"));
Object.defineProperty(window, "speechSynthesis", { value: { cancel() {}, speak() { throw new Error("no voice"); } } });
Object.defineProperty(navigator, "wakeLock", { value: { request: () => Promise.reject(new Error("no")) } });
Element.prototype.requestFullscreen = () => Promise.reject(new Error("no"));
"""

HEARD = """window.heard = [];
HTMLMediaElement.prototype.play = function () { heard.push(this.src.split("/").pop()); return Promise.resolve(); };
Object.defineProperty(window, "speechSynthesis", { value: { cancel() {}, speak(words) { heard.push(words.text); } } });
"""


@pytest.fixture
def context(browser, pictures):
    """A projector's window; a fault in any page's script fails the test."""
    faults: list[str] = []
    opened = browser.new_context(viewport=PROJECTOR, locale="en-GB")
    opened.on("weberror", lambda e: faults.append(str(e.error)))
    yield opened
    opened.close()
    assert faults == []


def until(page, true: str) -> None:
    """Wait for what the page's script says. (Playwright's own waiting evaluates a string, which our policy forbids.)"""
    for _ in range(200):
        if page.evaluate(true):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{true}: {page.evaluate('window.heard')}")


def known(page) -> None:
    """The referee has said before who rules here."""
    page.add_init_script("try { localStorage.setItem('who', 'Eva'); } catch {}")


@pytest.mark.slow
def test_a_contested_build_is_settled_in_two_presses(context, server, session):
    contested(session)
    page = context.new_page()
    known(page)
    console = Console(page, session, server.url, True)
    page.keyboard.press("q")
    pressed = page.locator("[data-key=quickmatch]")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    pressed.evaluate("key => key.setAttribute('aria-pressed', 'false')")  # as a part drawn again comes
    page.evaluate("document.dispatchEvent(new CustomEvent('part', { detail: 'evidence' }))")
    expect(pressed).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("1")
    console.phase("decided")
    said = session.state.duel.human[-1]
    assert (said["ruling"], said["who"], said["why"]) == ("match", "Eva", "seen on the picture")


@pytest.mark.slow
def test_a_part_drawn_again_keeps_the_keyboards_place_and_what_was_unfolded(context, server, session):
    contested(session)
    page = context.new_page()
    known(page)
    Console(page, session, server.url, True)
    page.locator("details.numbers > summary").first.press("Enter")
    page.evaluate("document.activeElement.old = 'yes'")
    session.command(RenamePlayer("Ben", "Benno", "Eva"))
    expect(page.locator(".duelline")).to_contain_text("Benno")
    assert page.evaluate("[document.activeElement.tagName, document.activeElement.old || '']") == ["SUMMARY", ""]
    expect(page.locator("details.numbers").first).to_have_attribute("open", "")
    page.locator("[data-key=zoom]").first.focus()
    session.command(RenamePlayer("Benno", "Ben", "Eva"))
    expect(page.locator(".duelline")).not_to_contain_text("Benno")
    assert page.evaluate("document.activeElement.dataset.key") == "zoom"


@pytest.mark.slow
def test_a_nearest_reading_is_taken_by_its_key_and_the_evidence_is_large(context, server, session):
    contested(session)
    page = context.new_page()
    known(page)
    console = Console(page, session, server.url, True)
    evidence = page.locator(".evidence.settled img")
    expect(evidence).to_be_visible()
    assert evidence.bounding_box()["width"] >= 900
    assert page.locator(".readingkey img").nth(1).evaluate("i => i.decode().then(() => i.naturalWidth)") > 0
    page.keyboard.press("4")
    page.keyboard.press("3")
    console.phase("decided")
    assert session.state.duel.human[-1]["ruling"] == "mismatch"
    page.keyboard.press("z")
    expect(page.locator("#dialog-zoom")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#dialog-zoom")).to_be_hidden()


@pytest.mark.slow
def test_an_ended_duel_is_overruled_by_the_same_keys_and_the_board_says_so(context, server, session):
    wrong(session)
    board, page = context.new_page(), context.new_page()
    board.goto(server.url)
    known(page)
    console = Console(page, session, server.url, True)
    page.keyboard.press("a")
    page.keyboard.press("2")
    console.until(lambda: session.state.duel.decided_by == "human")
    expect(board.locator(".headline .ruling-human")).to_be_visible()
    expect(board.locator(".overturned")).to_contain_text("Wrong")


@pytest.mark.slow
def test_a_name_is_mended_and_the_leaver_is_chosen_from_a_list(context, server, session):
    started(session)
    page = context.new_page()
    known(page)
    console = Console(page, session, server.url, False)
    page.locator("[data-key=rename]").click()
    page.locator("#dialog-rename [name=player]").select_option("Dia")
    page.locator("#dialog-rename [name=name]").fill("Diana")
    page.locator("#dialog-rename [type=submit]").click()
    console.until(lambda: "Diana" in session.state.players)
    page.locator("[data-key=people]").click()
    choices = page.locator("#dialog-people [name=player]").first
    expect(choices.locator("option")).to_have_text(["Ann", "Ben", "Cem", "Diana"])
    console.dialog("people", player="Cem", why="the last bus")
    assert session.state.active == ("Ann", "Ben", "Diana")


@pytest.mark.slow
def test_an_open_dialog_follows_a_name_mended_elsewhere_and_keeps_the_choice(context, server, session):
    started(session)
    page = context.new_page()
    known(page)
    Console(page, session, server.url, False)
    page.locator("[data-key=people]").click()
    choices = page.locator("#dialog-people [name=player]").first
    choices.select_option("Cem")
    session.command(RenamePlayer("Dia", "Diana", "Eva"))
    expect(choices.locator("option")).to_have_text(["Ann", "Ben", "Cem", "Diana"])
    expect(choices).to_have_value("Cem")


@pytest.mark.slow
def test_a_new_match_begins_with_the_names_and_asks_while_one_is_open(context, server, session):
    started(session)
    console = Console(context.new_page(), session, server.url, False)
    page, before = console.page, session.state.match_id
    page.locator("[data-key=newmatch]").click()
    box = page.locator("#dialog-match")
    assert [box.locator("[name=players]").nth(n).input_value() for n in range(4)] == PLAYERS
    expect(box.locator("[data-open-match]")).to_contain_text("18 duels")
    box.locator("[type=submit]").click()
    expect(box.locator(".fault")).to_contain_text("still open")
    assert session.state.match_id == before
    with page.expect_navigation():
        box.locator("[type=submit]").click()
    console.until(lambda: session.state.match_id != before)


@pytest.mark.slow
def test_three_two_one_go_on_the_board_and_one_press_is_one_go(context, server, session, app):
    started(session)
    app.extensions["referee.evening"].change({"countdown": 3})
    session.command(DrawCard())
    session.command(Ready())
    board, page = context.new_page(), context.new_page()
    board.add_init_script(HEARD)
    board.goto(server.url)
    until(board, "document.body.dataset.ahead")
    console = Console(page, session, server.url, True)
    page.keyboard.press("Space")
    expect(board.locator("#countdown")).to_have_text(re.compile("[123]"))
    page.keyboard.press("Space")
    console.phase("building")
    expect(board.locator("#countdown")).to_be_hidden()
    until(board, "heard.includes('go.wav')")
    assert "count.wav" in board.evaluate("heard")


@pytest.mark.slow
def test_a_verdict_is_heard_once_and_after_overruling_only_what_changed(context, server, session):
    right(session)
    board = context.new_page()
    board.add_init_script(HEARD)
    board.goto(f"{server.url}?kiosk")
    until(board, "document.body.dataset.phase === 'decided'")
    assert board.evaluate("heard") == []
    page = context.new_page()
    known(page)
    Console(page, session, server.url, True)
    page.keyboard.press("a")
    page.keyboard.press("1")
    until(board, "heard.length >= 2")
    assert board.evaluate("heard") == ["ask.wav", "Referee's decision: Card to Ben, 3 points."]


@pytest.mark.slow
def test_a_browser_that_refuses_sound_voice_wake_lock_and_full_screen_goes_on(context, server, session):
    started(session)
    board = context.new_page()
    board.add_init_script(REFUSED)
    board.goto(f"{server.url}?kiosk")
    expect(board.locator(".top")).to_be_hidden()
    board.keyboard.press("f")
    until(board, "document.body.dataset.phase === 'idle'")
    session.command(DrawCard())
    session.command(Ready())
    session.go()
    expect(board.locator(".target.large")).to_be_visible()
    expect(board.locator("#unmute")).to_be_visible()
    session.clock.sleep(9)
    session.press("A")
    session.see("A", "match", 0.98)
    expect(board.locator(".headline .ruling-match")).to_be_visible()


@pytest.mark.slow
def test_left_and_right_are_swapped_on_board_console_and_keys(context, server, session):
    started(session)
    board = context.new_page()
    board.goto(server.url)
    console = Console(context.new_page(), session, server.url, True)
    console.page.locator("[data-evening-set=swapped]").check()
    expect(board.locator("body")).to_have_class(re.compile("swapped"))
    left = board.locator(".seat-b").bounding_box()["x"]
    assert left < board.locator(".seat-a").bounding_box()["x"]
    for command in (DrawCard(), Ready()):
        session.command(command)
    session.go()
    session.clock.sleep(9)
    console.phase("building")
    console.page.keyboard.press("ArrowLeft")
    console.until(lambda: session.state.duel.callers == ("B",))


@pytest.mark.slow
def test_a_held_key_or_button_lays_the_tongs_down(context, server, session, monkeypatch):
    """And whatever lets go of it lifts them, be the pointer elsewhere by then."""
    laid: list[tuple[int, bool]] = []
    snapshot = session.snapshot

    def with_keys() -> dict:
        shown = snapshot()
        return shown | {"live": shown["live"] | {"box": {"connected": True, "name": "keys"}}}

    monkeypatch.setattr(session, "snapshot", with_keys)
    monkeypatch.setattr(session.box, "rest", lambda player, resting: laid.append((player, resting)))
    started(session)
    session.command(DrawCard())
    session.command(Ready())
    page = context.new_page()
    console = Console(page, session, server.url, True)
    button = page.locator("[data-rest=B]")
    expect(button).to_be_visible()
    page.keyboard.down("1")
    console.until(lambda: laid == [(0, True)])
    page.keyboard.up("1")
    console.until(lambda: laid == [(0, True), (0, False)])
    button.hover()
    page.mouse.down()
    console.until(lambda: laid[2:] == [(1, True)])
    page.mouse.move(5, 5)
    page.mouse.up()
    console.until(lambda: laid[3:] == [(1, False)])
