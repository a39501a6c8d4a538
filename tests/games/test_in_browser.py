"""A four-player game of each in real browsers to its end: board, console and four phones, a kill -9, a correction."""

from __future__ import annotations

import contextlib
import random
import socket
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from browser import PHONE, PROJECTOR

sys.path.insert(0, str(Path(__file__).parent))

from tapping import tap_a_move

from referee.errors import IllegalCommand
from referee.games.catalogue import GAMES
from referee.games.match import Correct, Match, decide, fold
from referee.journal.journal import Journal
from referee.simulator.city_camera import TURN_ENDING_COMMANDS
from referee.web.games.app import form_of
from referee.web.i18n.texts import command_sentence

REFEREE = [sys.executable, "-c", "from referee.cli import main; main()"]
PLAYERS = ("Ann", "Ben", "Cem", "Dia")
KILLED_AFTER, CLICKED = 12, 2

pytestmark = pytest.mark.slow


class Program:
    """``referee game play`` on one port and one record, as often as it is started."""

    def __init__(self, game, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        rest = ["--players", ",".join(PLAYERS), "--seed", "5", "--port", str(port), "--data-dir", str(folder)]
        self.command, self.url, self.folder = (
            [*REFEREE, "game", "play", game, "--no-browser", *rest],
            f"http://127.0.0.1:{port}",
            folder,
        )
        self.process = None

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        first = [next(line for line in self.process.stdout if "board:" in line or "going on" in line)]
        if "going on" in first[0]:
            next(line for line in self.process.stdout if "board:" in line)
        return first[0]

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def record(self) -> Match:
        """What a reader of the record sees."""
        journal = Journal(self.folder / "games" / "journal.db")
        try:
            return fold(journal.events(journal.matches()[-1]))
        finally:
            journal.close()


@pytest.fixture
def program(request, tmp_path):
    made = Program(request.param, tmp_path)
    yield made
    if made.process and made.process.poll() is None:
        made.kill()


class Phone:
    """A seat's page, in a browser context of its own. It is open while something is done on it: six pages that draw
    every move of a game keep a processor busy, and the board is the one that is looked at in the end."""

    def __init__(self, browser, url):
        self.url, self.page = url, browser.new_context(viewport=PHONE, has_touch=True).new_page()

    @contextlib.contextmanager
    def open(self):
        self.page.goto(self.url)
        yield self.page
        self.page.goto("about:blank")


def phones_of(browser, url):
    """Board, console and the four phones, each in a browser context of its own."""
    board = browser.new_context(viewport=PROJECTOR).new_page()
    board.goto(url)
    console = browser.new_context(viewport=PROJECTOR).new_page()
    console.goto(f"{url}/referee")
    links = [a.get_attribute("href") for a in console.query_selector_all('a[href^="/seat/"]')]
    console.goto("about:blank")
    return board, console, [Phone(browser, url + link) for link in links]


def move(program, phones, rng, clicked) -> bool:
    """One move of whoever can make one; False when nobody can. It is tapped on the seat's phone or clicked in its list
    until every kind of command was so often clicked, later moves are sent from the same phone as its page would."""
    match = program.record()
    able = [(seat, legal) for seat in match.state.in_order(match.state.turn) if (legal := match.legal(seat))]
    if not able:
        return False
    seat, legal = able[0]
    liked = [n for n, command in enumerate(legal) if command.NAME not in TURN_ENDING_COMMANDS]
    fresh = [n for n in liked if not clicked[legal[n].NAME]]
    choice = rng.choice(fresh or liked or range(len(legal)))
    phone, kind = phones[seat], legal[choice].NAME
    if len(match.played) < KILLED_AFTER and len(match.played) % 2:
        with phone.open() as page:
            tap_a_move(page, rng)
        played = program.record().played
        assert len(played) == len(match.played) + 1
        clicked[played[-1].command["command"]] += 1
    elif len(match.played) < KILLED_AFTER or clicked[kind] < CLICKED:
        with phone.open() as page:
            click(page, choice, command_sentence("en", legal[choice].to_json(), match.state.players))
        clicked[kind] += 1
    else:
        form = {"version": str(match.seq), "choice": str(choice)}
        answer = phone.page.request.post(phone.url, form=form, max_redirects=0, fail_on_status_code=False)
        assert answer.status == 303, answer.text()
    return True


def click(page, choice: int, words: str) -> None:
    """Choose the command on the phone, and do it."""
    page.locator("form.taps summary").click()
    assert page.locator('select[name="choice"] option').nth(choice).text_content().startswith(words)
    page.select_option('select[name="choice"]', str(choice))
    with page.expect_navigation():  # on a busy machine the old page is still there when the click is done
        page.click("button.primary")
    assert not page.query_selector(".fault"), page.inner_text(".fault")


def another(match: Match) -> tuple[int, dict]:
    """The latest command that may have been another one, its number, and that other one."""
    for number in range(len(match.played), 0, -1):
        was = match.played[number - 1]
        for command in match.game.legal(was.before, was.command["seat"]):
            with contextlib.suppress(IllegalCommand):
                decide(match, Correct(number, command, "Ref", "misread"), "")
                return number, command.to_json()
    raise AssertionError("every command is the only one that could be")


def correct(console, url: str, match: Match) -> tuple[int, dict]:
    """On the console: a command was another one that was legal then. Its number, and what it was."""
    number, other = another(match)
    console.goto(url)
    form = console.locator(f'form:has(input[value="{other["command"]}"])')
    form.locator("xpath=..").evaluate("details => { details.open = true }")
    form.locator("details").evaluate("details => { details.open = true }")
    form.locator('select[name="seat"]').select_option(str(other["seat"]))
    kind = next(k for k in match.game.commands if other["command"] == k.NAME)
    for field in form_of(kind):
        value, box = other[field["name"]], form.locator(f'[name="{field["name"]}"]')
        if field["name"] == "victim":
            box.select_option(str(value))
        elif field["kind"] == "yes":
            box.set_checked(value)
        else:
            box.fill(" ".join(map(str, value)) if isinstance(value, list) else str(value))
    form.locator('[name="number"]').fill(str(number))
    form.locator('[name="who"]').fill("Ref")
    form.locator('[name="why"]').fill("misread")
    with console.expect_navigation():
        form.locator("button.primary").click()
    assert not console.query_selector(".fault"), console.inner_text(".fault")
    return number, other


@pytest.fixture
def windows(browser):
    """The browser, every window of the test closed behind it."""
    yield browser
    for context in browser.contexts:
        context.close()


@pytest.mark.parametrize("program", GAMES, indirect=True, ids=str)
def test_a_four_player_game_in_browsers_to_its_end_with_a_kill_and_a_correction(windows, program):
    rng = random.Random(5)
    program.start()
    board, console, phones = phones_of(windows, program.url)
    assert len(phones) == 4
    clicked = Counter()
    for _ in range(KILLED_AFTER):
        assert move(program, phones, rng, clicked)
    program.kill()
    before = program.record()
    assert len(before.played) == KILLED_AFTER
    assert f"behind command {KILLED_AFTER}" in program.start()
    number, other = correct(console, f"{program.url}/referee", before)
    console.goto("about:blank")
    assert program.record().played[number - 1].command == other
    while move(program, phones, rng, clicked):
        pass
    board.locator("#game", has_text="The game is over").wait_for(timeout=60_000)
    shown = board.inner_text("#game")
    match = program.record()
    assert {played.command["command"] for played in match.played} <= {*clicked, other["command"]}
    assert match.over and "The game is over" in shown
    assert all(row.player in shown for row in match.standings if row.wins)
    assert match.changes[0]["who"] == "Ref" and match.changes[0]["why"] == "misread"
