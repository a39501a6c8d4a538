"""Any key as a player's Stop: chosen on the set-up page, dated by the page's clock, marked by key."""

from __future__ import annotations

import math

import pytest
from fake_session import FakeSession
from playwright.sync_api import expect
from scenes import building

from referee.devices.page_clock import TRIP
from referee.web.pages import keys


class PageByHand:
    """A page whose clock stands 1000 s behind the host's; ``wait_s`` is how long each way of the network takes."""

    def __init__(self, app, session: FakeSession, wait_s: float = 0.004) -> None:
        self.web, self.session, self.wait_s, self.echo = app.test_client(), session, wait_s, math.nan
        session.clock.sleep(2000)

    def now_ms(self) -> float:
        return (self.session.clock.now_s() - 1000) * 1000

    def trip(self) -> None:
        page_ms = self.now_ms()
        self.session.clock.sleep(self.wait_s)
        self.echo = self.web.post("/keys/clock/one", data=TRIP.pack(page_ms, self.echo)).json["host_s"]
        self.session.clock.sleep(self.wait_s)

    def press(self, **body):
        return self.web.post("/keys/press/one", json={"sent_ms": max(self.now_ms(), 0.0)} | body)


@pytest.fixture
def context(browser):
    made = browser.new_context(locale="en-GB")
    yield made
    made.close()


def test_a_press_by_key_is_dated_by_its_page_however_late_it_comes(app, session):
    building(session)
    page = PageByHand(app, session)
    for _ in range(4):
        page.trip()
    pressed_s, pressed_ms = session.clock.now_s(), page.now_ms()
    session.clock.sleep(1.5)
    bound_s = page.press(zone="B", at_ms=pressed_ms).json["bound_s"]
    (press,) = session.state.duel.presses
    assert (press.zone, press.by, press.error_s) == ("B", "key", bound_s)
    assert bound_s < 0.045 and press.at_s <= pressed_s and pressed_s - press.at_s - 0.06 < bound_s
    assert abs(press.at_s + 0.03 - pressed_s) < bound_s


def test_a_press_of_a_page_whose_clock_is_not_known_yet_counts_as_one_of_the_dashboard(app, session):
    building(session)
    assert PageByHand(app, session).press(zone="A", at_ms=5.0).json == {"bound_s": None}
    assert session.state.duel.presses[0].by == "page"


@pytest.mark.parametrize("jump_s", [6.0, -1.0])
def test_a_press_whose_clock_has_jumped_since_counts_as_one_of_the_dashboard(app, session, jump_s):
    building(session)
    page = PageByHand(app, session)
    for _ in range(4):
        page.trip()
    sent_ms = page.now_ms()
    session.clock.sleep(jump_s)
    assert page.press(zone="B", at_ms=sent_ms, sent_ms=sent_ms).json == {"bound_s": None}


def test_a_press_whose_bound_is_wider_than_its_post_can_take_counts_as_one_of_the_dashboard(app, session):
    """Seen in a run of the tests: a press 12 s after the go was dated before it, and came to nothing."""
    building(session)
    page = PageByHand(app, session, wait_s=7.0)
    for _ in range(2):
        page.trip()
    assert page.press(zone="B", at_ms=page.now_ms()).json == {"bound_s": None}
    assert session.state.duel.callers == ("B",)


def test_what_is_no_press_is_refused_and_so_is_who_is_not_the_referee(app, locked_app, session):
    building(session)
    page = PageByHand(app, session)
    for body in ({"zone": "C", "at_ms": 1.0}, {"zone": "A", "at_ms": -1}, {"zone": "A"}):
        assert page.press(**body).status_code == 422
    assert page.web.post("/keys/press/one", data='{"zone": "A", "at_ms": NaN}').status_code == 422
    assert page.web.post("/keys/clock/one", data=b"short").status_code == 409
    stranger = locked_app.test_client()
    assert stranger.post("/keys/press/one", json={"zone": "A", "at_ms": 1.0, "sent_ms": 2.0}).status_code == 401
    assert not session.state.duel.presses and "keys.js" not in stranger.get("/").text


def test_clocks_of_pages_that_are_gone_are_forgotten(app, session):
    building(session)
    page = PageByHand(app, session)
    page.trip(), page.trip()
    for n in range(keys.MOST_PAGES):
        page.web.post(f"/keys/clock/{n}", data=TRIP.pack(1.0, math.nan))
    assert page.press(zone="A", at_ms=page.now_ms()).json == {"bound_s": None}


@pytest.mark.slow
def test_keys_are_chosen_by_pressing_them_and_stop_on_the_board_and_the_console(context, server, session):
    building(session)
    page = context.new_page()
    page.goto(f"{server.url}setup")
    for zone, key in (("A", "PageDown"), ("B", "Shift")):
        page.locator(f"[data-choose={zone}]").click()
        expect(page.locator("#keys .told")).to_contain_text(f"{zone}'s Stop")
        page.keyboard.press(key)
    expect(page.locator("[data-key-of=B]")).to_have_text("ShiftLeft")
    page.locator("[data-choose=B]").click()
    page.keyboard.press("PageDown")
    expect(page.locator("#keys .told")).to_contain_text("other player's")
    page.locator("[data-choose=B]").click()  # once more: leave it as it is
    page.locator("h1").click()
    page.keyboard.press("PageDown")
    expect(page.locator("[data-row=A]")).to_have_class("heard")
    board = context.new_page()
    with board.expect_response("**/keys/clock/*"), board.expect_response("**/keys/clock/*"):
        board.goto(server.url)
    board.wait_for_timeout(300)
    with board.expect_response("**/keys/press/*"):
        board.keyboard.press("PageDown")
    press = session.state.duel.presses[-1]
    assert (press.zone, press.by) == ("A", "key") and press.error_s > keys.FINGER_S[1] / 2
    expect(board.locator(".duel .clock")).to_contain_text("by key")
    page.goto(f"{server.url}referee")
    page.locator("[data-key=undo]").wait_for()
    session.see("A", "match")
    expect(page.locator(".log")).to_contain_text("by key")
    page.goto(f"{server.url}results")
    expect(page.locator("small", has_text="by key")).to_have_count(1)


@pytest.mark.slow
def test_the_next_key_may_be_chosen_before_the_one_before_is_kept(context, server, session):
    building(session)
    page = context.new_page()
    page.goto(f"{server.url}setup")
    held = []
    page.route("**/evening", lambda route: held.append(route))
    page.locator("[data-choose=A]").click()
    with page.expect_request("**/evening"):
        page.keyboard.press("PageDown")
    page.locator("[data-choose=B]").click()
    with page.expect_response("**/evening"):
        held[0].continue_()
    page.wait_for_timeout(100)
    expect(page.locator("#keys .told")).to_contain_text("B's Stop")
    page.unroute("**/evening")
    with page.expect_response("**/evening"):
        page.keyboard.press("Shift")
    expect(page.locator("[data-key-of=B]")).to_have_text("ShiftLeft")
    page.reload()
    expect(page.locator("[data-key-of=A]")).to_have_text("PageDown")
    expect(page.locator("[data-key-of=B]")).to_have_text("ShiftLeft")


@pytest.mark.slow
def test_the_consoles_own_keys_are_stops_by_key_and_its_buttons_are_not(context, server, session):
    building(session)
    page = context.new_page()
    with page.expect_response("**/keys/clock/*"), page.expect_response("**/keys/clock/*"):
        page.goto(f"{server.url}referee")
    page.wait_for_timeout(300)
    page.keyboard.press("2")
    expect(page.locator(".act .phase-stopped")).to_be_visible()
    page.locator("[data-key=stopA]").wait_for(state="detached")
    assert [(p.zone, p.by) for p in session.state.duel.presses] == [("B", "key")]
