"""Drives the console in a browser as a person does, by keys or by taps, and waits for the session."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from fake_session import MISSING, FakeSession
from playwright.sync_api import Locator, Page

WAIT_S = 60.0
FOCUS = "document.activeElement.outerHTML.slice(0, 120)"
COUNTDOWN_S = 8.0
"""More than the countdown and the answer of a busy machine."""


def filled(page: Page, name: str, fields: Mapping[str, str]) -> Locator:
    """The open dialog of that name with its fields filled in."""
    box = page.locator(f"#dialog-{name}")
    box.wait_for()
    for field, value in fields.items():
        place = box.locator(f"[name={field}]").first
        if place.evaluate("e => e.tagName") == "SELECT":
            place.select_option(value)
        else:
            place.fill(value)
    return box


class Console:
    """A console page. ``keys`` uses the keyboard, else buttons are clicked."""

    def __init__(self, page: Page, session: FakeSession, url: str, keys: bool) -> None:
        self.page, self.session, self.keys = page, session, keys
        page.goto(f"{url}referee")

    def until(self, true: Callable[[], bool], seconds: float = WAIT_S) -> None:
        """Wait for the session to get there."""
        end = time.monotonic() + seconds
        while not true():
            assert time.monotonic() < end, self._where()
            self.page.wait_for_timeout(15)

    def _where(self) -> str:
        """The phase, what was pressed and what the page says, for a test that waited in vain."""
        state, told = self.session.state, self.page.locator("#toast, dialog[open], #stale:visible").all_inner_texts()
        last = self.session.events[-4:]
        return f"phase is {state.phase}; last events {last}; focus {self.page.evaluate(FOCUS)}; the page says {told}"

    def phase(self, name: str) -> None:
        """Wait until the match is in that phase and the page shows it."""
        self.until(lambda: self.session.state.phase == name)
        self.page.locator(f".act .phase-{name}").wait_for()

    def step(self, name: str) -> None:
        """The primary action, and the phase it leads to."""
        self.press(" ", "[data-key=primary]")
        self.phase(name)

    def go(self) -> None:
        """The go, behind its countdown; again as long as it is refused: a field is not empty, or a hand is in it.

        A second press waits until the first can come to nothing any more: the button that it would find by then is
        another one.
        """
        end = time.monotonic() + 60
        while self.session.state.phase == "ready":
            assert time.monotonic() < end, f"no go: {self.session.alarms}"
            self.press(" ", "[data-key=primary]")
            counted = time.monotonic() + COUNTDOWN_S
            while self.session.state.phase == "ready" and time.monotonic() < counted:
                self.page.wait_for_timeout(50)

    def press(self, key: str, selector: str) -> None:
        """A key, or the button that it stands for."""
        button = self.page.locator(selector).first
        button.wait_for()
        if self.keys:
            self.page.keyboard.press("Space" if key == " " else key)
        else:
            button.click()

    def dialog(self, name: str, **fields: str) -> None:
        """Fill an open dialog and send it; it closes when the session has done it."""
        box = filled(self.page, name, fields)
        box.locator("[type=submit]").click()
        box.wait_for(state="hidden")

    def new_match(self, names: list[str]) -> None:
        """Enter players, youngest first."""
        self.press(" ", "[data-key=primary]")
        box = self.page.locator("#dialog-match")
        box.wait_for()
        for n, name in enumerate(names):
            box.locator("[name=players]").nth(n).fill(name)
        with self.page.expect_navigation():
            box.locator("[type=submit]").click()
        self.phase("idle")

    def draw(self, card: str) -> None:
        """Place the card of that number."""
        self.press("h", "[data-key=draw]")
        self.dialog("draw", card_id=card)
        self.phase("card_drawn")

    def build(self, card: str, zone: str, seconds: float = 12.0) -> None:
        """Draw, ready, go, and a Stop of the zone after so many seconds."""
        self.draw(card)
        self.step("ready")
        self.step("building")
        self.session.clock.sleep(seconds)
        self.press({"A": "1", "B": "2"}[zone], f"[data-key=stop{zone}]")
        self.phase("stopped")

    def duel(self, card: str, winner: str, right: bool = True) -> None:
        """A whole duel that the player wins: by an own right Stop, or by the other's false one."""
        seats = self.session.state.seats
        won = next(zone for zone, name in seats.items() if name == winner)
        caller = won if right else {"A": "B", "B": "A"}[won]
        self.build(card, caller)
        fault = () if right else (MISSING,)
        self.session.see(caller, "match" if right else "mismatch", 0.97, fault)
        self.phase("decided")

    def next(self) -> None:
        """On to what comes after a decided duel."""
        self.press(" ", "[data-key=primary]")
        self.until(lambda: self.session.state.phase in ("idle", "finished"))
        self.page.locator(f".act .phase-{self.session.state.phase}").wait_for()
