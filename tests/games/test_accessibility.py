"""axe-core finds no serious fault on a game's board, console and phones, light or dark; none scrolls sideways; all
goes by keys, and nothing moves for who asked for less motion."""

from __future__ import annotations

import pytest
from browser import MOVING, PHONE, PROJECTOR, not_reached_by_tab, serious

from referee.devices.ports import SystemClock
from referee.games.catalogue import GAMES
from referee.journal.journal import Journal
from referee.session.game_table import GameTable
from referee.simulator.city_camera import next_command
from referee.web.games.app import create_game_app, seat_link
from referee.web.server import Server

LOOKS = (("light", "en-GB", PROJECTOR), ("dark", "de-DE", PHONE), ("light", "de-DE", PHONE))
MOVES = 30
"""By then something of everything lies on the table."""

pytestmark = pytest.mark.slow


@pytest.fixture(params=GAMES)
def game(request, tmp_path):
    """Addresses of a four-player game in the middle: board, console, and the phone of whose turn it is and another."""
    journal = Journal(tmp_path / "journal.db")
    setup = GAMES[request.param].setup(["Ann", "Ben", "Cem", "Dia"], {}, 4)
    table = GameTable.begun(journal, SystemClock(), request.param, setup, simulated=True)
    for _ in range(MOVES):
        table.command(next_command(table.match))
    app = create_game_app(table, tmp_path, SystemClock())
    server = Server(app, "127.0.0.1", 0)
    seats = (table.match.state.turn, (table.match.state.turn + 1) % 4)
    phones = [f"seat/{seat_link(app.secret_key, table.match.match_id, seat)}" for seat in seats]
    yield [server.url.rstrip("/") + "/" + path for path in ("", "referee", *phones)]
    server.close()
    journal.close()


def test_a_games_page_has_no_serious_fault_and_does_not_scroll_sideways(game, browser):
    for scheme, locale, size in LOOKS:
        context = browser.new_context(color_scheme=scheme, locale=locale, viewport=size)
        page = context.new_page()
        for url in game:
            page.goto(url)
            assert serious(page) == [], (url, scheme)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (url, size)
        context.close()


def test_a_games_page_goes_by_keys_and_keeps_still(game, browser):
    context = browser.new_context(viewport=PHONE, locale="en-GB", reduced_motion="reduce")
    page = context.new_page()
    for url in game:
        page.goto(url, wait_until="load")
        assert page.evaluate(MOVING) == [], url
        assert not_reached_by_tab(page) == ([], set()), url
    context.close()
