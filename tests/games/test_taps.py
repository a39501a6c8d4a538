"""Taps on real phones: a turn that has come is felt and heard unless muted, and what was tapped outlasts news."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from browser import serious
from tapping import phones, served, tap_a_move

from referee.games.city_towers.rules import PickStones

SHAKES = "window.shakes = 0; navigator.vibrate = () => { window.shakes += 1; return true; };"

pytestmark = pytest.mark.slow


@pytest.fixture
def windows(browser):
    """The browser, every window of the test closed behind it."""
    yield browser
    for context in browser.contexts:
        context.close()


def test_a_phone_shakes_when_its_turn_comes_and_not_while_muted(windows, tmp_path):
    with served("nine_sum_towers", tmp_path, ("Ann", "Ben")) as (table, _, links):
        ann, ben = phones(windows, links, init=SHAKES)
        for muted in (False, True):
            if muted:
                ben.locator("#bell").tap()
            assert ben.locator("#bell").get_attribute("aria-pressed") == str(not muted).lower()
            while table.match.state.turn == 0:
                ann.locator(f'#game[data-version="{table.version}"]').wait_for()
                tap_a_move(ann, random.Random(table.version))
            ben.locator("#game[data-turn]").wait_for()
            assert ben.evaluate("window.shakes") == 1 and ben.title().startswith("●")
            while table.match.state.turn == 1:
                ben.locator(f'#game[data-version="{table.version}"]').wait_for()
                ben.evaluate("window.shakes = 1")
                tap_a_move(ben, random.Random(table.version))
            ben.evaluate("window.shakes = 1")


def test_stones_being_picked_stay_picked_when_another_is_quicker_and_too_many_are_refused(windows, tmp_path):
    with served("city_towers", tmp_path, ("Ann", "Ben")) as (table, _, links):
        ann, _ = phones(windows, links)
        more = ann.locator('[data-target="stones=1"]')
        for _ in range(3):
            more.tap()
        table.command(PickStones(1, (1, 1, 1, 2, 2, 3)), "Ben")
        ann.locator(f'#game[data-version="{table.version}"]').wait_for()
        assert ann.locator("output").first.inner_text() == "3"
        for _ in range(3):
            more.tap()
        assert "Ann picks stones 1 1 1 1 1 1" in ann.inner_text("#tapped")
        more.dispatch_event("click")
        ann.locator("#tapped", has_text="pick 6 stones, not 7").wait_for()
        ann.locator("[data-less]").first.tap()
        assert ann.locator("output").first.inner_text() == "5" and ann.locator("form.taps .primary").is_disabled()
        ann.locator('[data-target="stones=2"]').tap()
        with ann.expect_navigation():
            ann.locator("form.taps .primary").tap()
        assert table.match.played[-1].command["stones"] == [1, 1, 1, 1, 1, 2]


def test_moves_with_real_cards_are_tapped_on_the_console(windows, tmp_path):
    with served("city_towers", tmp_path, ("Ann", "Ben"), mode="scorer") as (table, url, _):
        (console,) = phones(windows, [f"{url}/referee"])
        for seat in (0, 1):
            table.command(PickStones(seat, (1, 1, 1, 2, 2, 3)))
        console.locator("form.taps").wait_for()
        assert serious(console) == [] and console.evaluate("document.documentElement.scrollWidth <= innerWidth")
        for moves in range(3, 6):
            console.locator(f'#game[data-version="{table.version}"]').wait_for()
            tap_a_move(console, random.Random(moves))
            assert len(table.match.played) == moves
