"""A four-player game by taps alone: real phones in Chromium, each with a finger. Used by the test, and by hand:

python tests/games/tapping.py GAME [--taps N] [--seed 1] [--pictures FOLDER]

Whoever can do something taps lit targets at random until "Do it" is offered, and taps that. A target that is not lit
must say why.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "web"))

from browser import PHONE, PROJECTOR, chromium

from referee.devices.ports import SystemClock
from referee.games.catalogue import GAMES
from referee.journal.journal import Journal
from referee.session.game_table import GameTable
from referee.web.games.app import create_game_app, seat_link
from referee.web.server import Server

PLAYERS = ("Ann", "Ben", "Cem", "Dia")
LIT = "#game .tap.lit, #game .tap[data-many]:not([data-full])"
DARK = "#game .tap[aria-disabled=true]:not([data-less])"
GROUPS = (
    "all => all.map(one => !!document.querySelector(`[aria-pressed=true][data-group=${one.dataset.group || 'x'}]`))"
)


@contextmanager
def served(game: str, folder: Path, players=PLAYERS, seed: int = 5, mode: str = "full"):
    """The game's table, its address and its seats' addresses."""
    journal = Journal(folder / "journal.db")
    table = GameTable.begun(journal, SystemClock(), game, GAMES[game].setup(players, {}, seed, mode))
    app = create_game_app(table, folder, SystemClock())
    server = Server(app, "127.0.0.1", 0)
    url = server.url.rstrip("/")
    links = [f"{url}/seat/{seat_link(app.secret_key, table.match.match_id, n)}" for n in table.match.state.seats]
    try:
        yield table, url, links
    finally:
        server.close()
        journal.close()


def phones(browser, links, locale="en-GB", init=""):
    """A phone with a finger for each seat."""
    pages = []
    for link in links:
        page = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True, locale=locale).new_page()
        page.add_init_script(init)
        page.goto(link)
        pages.append(page)
    return pages


def tap_a_move(page, rng: random.Random) -> str:
    """Tap lit targets until the move is offered, then tap it. What a dark target said, if one was tried."""
    told = ""
    page.locator("form.taps").wait_for()
    do = page.locator("form.taps button.primary")
    for _ in range(40):
        if rng.random() < 0.1 and (dark := page.locator(DARK)).count():
            page.evaluate("document.getElementById('tapped').textContent = ''")
            dark.nth(rng.randrange(dark.count())).dispatch_event(
                "click"
            )  # Playwright does not tap what is aria-disabled
            page.locator("#tapped:not(:empty)").wait_for()
            told = page.inner_text("#tapped")
        lit = page.locator(LIT)
        if do.is_enabled() and (not lit.count() or rng.random() < 0.5):
            break
        if not lit.count():
            page.locator("[data-afresh]").tap()
            continue
        groups = lit.evaluate_all(GROUPS)  # what is tapped is seldom changed for another of its group
        fresh = [n for n, of_tapped in enumerate(groups) if not of_tapped] or range(len(groups))
        lit.nth(rng.choice(fresh)).tap()
    with page.expect_navigation():
        do.tap()
    assert not page.query_selector(".fault"), page.inner_text(".fault")
    return told


def able(table: GameTable) -> int | None:
    """The next seat that can do something."""
    match = table.match
    if match.over:
        return None
    return next((s for s in match.state.in_order(match.state.turn) if match.game.legal(match.state, s)), None)


def main() -> None:
    """Play by taps; say how it went, and leave pictures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game", choices=list(GAMES))
    parser.add_argument("--taps", type=int, default=10**6, help="Moves to play.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--players", type=int, default=4)
    parser.add_argument("--scorer", action="store_true")
    parser.add_argument("--locale", default="en-GB")
    parser.add_argument("--every", type=int, default=40)
    parser.add_argument("--pictures", type=Path)
    asked = parser.parse_args()
    rng, began, moves, told = random.Random(asked.seed), time.monotonic(), 0, set()
    with ExitStack() as stack:
        folder, browser = stack.enter_context(tempfile.TemporaryDirectory()), stack.enter_context(chromium())
        mode = "scorer" if asked.scorer else "full"
        with served(asked.game, Path(folder), PLAYERS[: asked.players], asked.seed, mode) as (table, url, links):
            pages = phones(browser, links, asked.locale)
            big = browser.new_context(viewport=PROJECTOR, locale=asked.locale)
            board, console = big.new_page(), big.new_page()
            board.goto(url)
            console.goto(f"{url}/referee")
            errors = []
            for page in (*pages, board, console):
                page.on("pageerror", lambda error: errors.append(str(error)))
            while moves < asked.taps and (seat := able(table)) is not None:
                if asked.pictures and moves % asked.every == 0:
                    picture(asked.pictures, f"{asked.game}_{moves}", pages[seat], board, console)
                pages[seat].locator(f'#game[data-version="{table.version}"]').wait_for()
                told.add(tap_a_move(pages[seat], rng))
                assert len(table.match.played) == moves + 1
                moves += 1
            if asked.pictures:
                time.sleep(1)
                picture(asked.pictures, f"{asked.game}_end", pages[0], board, console)
            kinds = Counter(played.command["command"] for played in table.match.played)
            over, scores = table.match.over, table.match.game.scores(table.match.state)
    print(f"{asked.game}: {moves} moves by taps, over {over}, scores {scores}, {time.monotonic() - began:.0f} s")
    print("commands:", dict(kinds))
    print("errors:", errors, "reasons:", sorted(told - {""}))


def picture(folder: Path, name: str, phone, board, console) -> None:
    """Pictures of a phone, the board and the console."""
    folder.mkdir(parents=True, exist_ok=True)
    time.sleep(0.8)
    phone.screenshot(path=folder / f"{name}_phone.png", full_page=True)
    board.screenshot(path=folder / f"{name}_board.png")
    console.screenshot(path=folder / f"{name}_console.png")


if __name__ == "__main__":
    main()
