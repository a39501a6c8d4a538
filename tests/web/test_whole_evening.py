"""A whole evening through the browser, by keys wherever there is one: four players, eighteen duels, a rename, an
overruling, a void that is replayed, a pause, a leaver, and a program that is killed in the middle."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import PROJECTOR
from console_driver import filled
from playwright.sync_api import Page, expect

from referee.journal.journal import Journal
from referee.match.evolve import fold

PROGRAM = Path(__file__).parent / "evening_program.py"
LIMIT_MS = 90_000
"""Of one wait: a busy machine is slow, a broken program never gets there."""
MOST_EXTRA = 12
"""Duels of extra rounds and of sudden death: by then one is ahead, since the same seat always wins."""

EARLIEST_S = 1.1
"""A Stop sooner than a second after the go is void."""

pytestmark = pytest.mark.slow


class Program:
    """The program on one port and one record, as often as it is started."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.folder, self.url = folder, f"http://127.0.0.1:{self.port}/"
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        command = [sys.executable, str(PROGRAM), str(self.folder), str(self.port)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None and "board:" in self.process.stdout.readline()

    def kill(self) -> None:
        """As a power cut does: no word before it."""
        if self.process and self.process.stdout:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def record(self):
        """The match as a reader of the record finds it."""
        journal = Journal(self.folder / "journal.db")
        try:
            return fold(journal.events(journal.matches()[-1]))
        finally:
            journal.close()


class Referee:
    """Who sits at the console: keys only, but for what no key stands for."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        page.add_init_script("try { localStorage.setItem('who', 'Eva'); } catch {}")
        page.set_default_timeout(LIMIT_MS)
        page.goto(f"{url}referee")

    def phase(self, *names: str) -> None:
        self.page.locator(", ".join(f".act .phase-{name}" for name in names)).first.wait_for()

    def key(self, key: str, shown: str) -> None:
        """A key, once what it stands for is on the page and not still busy with the one before."""
        self.page.locator(f"{shown}:not(:disabled)").first.wait_for()
        self.page.keyboard.press(key)

    def step(self, *leads_to: str) -> None:
        self.key("Space", "[data-key=primary]")
        self.phase(*leads_to)

    def dialog(self, name: str, /, **fields: str) -> None:
        """Fill the open dialog and send it with Enter; it closes once it is done."""
        box = filled(self.page, name, fields)
        box.locator("[type=submit]").focus()
        self.page.keyboard.press("Enter")
        box.wait_for(state="hidden")

    def begin(self, names: list[str]) -> None:
        self.key("Space", "[data-key=primary]")
        box = self.page.locator("#dialog-match")
        for n, name in enumerate(names):
            box.locator("[name=players]").nth(n).fill(name)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")
        self.phase("idle")

    def build(self, zone: str = "A") -> None:
        """Draw, ready, go, Stop."""
        self.step("card_drawn")
        self.step("ready")
        self.step("building")
        self.page.wait_for_timeout(1000 * EARLIEST_S)
        self.key({"A": "1", "B": "2"}[zone], f"[data-key=stop{zone}]")

    def duel(self, zone: str = "A") -> None:
        self.build(zone)
        self.phase("decided", "undecided", "void")
        assert self.page.locator(".act .phase-decided").count(), self.page.inner_text("body")

    def next(self) -> None:
        self.step("idle", "finished")


@pytest.fixture
def program(tmp_path):
    made = Program(tmp_path / "data")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "evening.json").write_text('{"countdown": 0}', encoding="utf-8")
    yield made
    made.kill()


@pytest.fixture
def pages(browser):
    """Board and console; a fault in any page's script fails the test."""
    faults: list[str] = []
    context = browser.new_context(viewport=PROJECTOR, locale="en-GB", reduced_motion="reduce")
    context.on("weberror", lambda e: faults.append(str(e.error)))
    yield context.new_page(), context.new_page()
    context.close()
    assert faults == []


def test_a_whole_evening_by_the_browser_alone(program, pages):
    program.start()
    board, page = pages
    board.set_default_timeout(LIMIT_MS)
    board.goto(f"{program.url}?kiosk")
    referee = Referee(page, program.url)
    referee.begin(["Ann", "Ben", "Cem", "Dia"])
    for number in range(1, 19):
        special = SPECIAL.get(number)
        if special is None:
            referee.duel("AB"[number % 2])
        else:
            special(referee, board, program)
        referee.next()
        if number == 15:
            leaves(referee, program)
    for _ in range(MOST_EXTRA):  # cards are drawn at random: who is level at the top plays on
        if program.record().phase == "finished":
            break
        referee.duel("A")
        referee.next()
    referee.phase("finished")
    finished(board, program)


def renamed(referee: Referee, board: Page, program: Program) -> None:
    """Dia was entered wrong; nothing of the match changes by it."""
    referee.page.locator("[data-key=rename]").focus()
    referee.page.keyboard.press("Enter")
    referee.dialog("rename", player="Dia", name="Diana")
    expect(board.locator(".standings")).to_contain_text("Diana", timeout=LIMIT_MS)
    referee.duel()


def overruled(referee: Referee, board: Page, program: Program) -> None:
    """The card goes to the other: what, then why, two keys."""
    referee.duel("A")
    other = program.record().duel.seats["B"]
    referee.key("b", "[data-quick]")
    referee.key("1", "[data-why]")
    expect(board.locator(".headline .ruling-human")).to_be_visible(timeout=LIMIT_MS)
    expect(board.locator(".seat.won .name")).to_have_text(other, timeout=LIMIT_MS)


def voided(referee: Referee, board: Page, program: Program) -> None:
    """The table was bumped: a fresh card, and the same duel again."""
    referee.step("card_drawn")
    referee.step("ready")
    referee.step("building")
    before = program.record()
    referee.key("v", "[data-key=void]")
    referee.dialog("void", reason="bumped", why="somebody fell over the cable")
    referee.phase("void")
    referee.duel()
    after = program.record()
    assert (after.round_index, after.duel_index) == (before.round_index, before.duel_index)
    assert after.duel.attempt == 2 and after.card_id != before.card_id


def paused(referee: Referee, board: Page, program: Program) -> None:
    """Pizza between two duels."""
    referee.page.locator("[data-key=pause]").focus()
    referee.page.keyboard.press("Enter")
    referee.dialog("pause", pause="Pizza", back="20:15")
    expect(board.locator(".pause")).to_contain_text("Pizza", timeout=LIMIT_MS)
    expect(board.locator(".pause")).to_contain_text("20:15", timeout=LIMIT_MS)
    referee.page.locator("[data-unpause]").focus()
    referee.page.keyboard.press("Enter")
    expect(board.locator(".pause")).to_have_count(0, timeout=LIMIT_MS)
    referee.duel()


def killed(referee: Referee, board: Page, program: Program) -> None:
    """The program dies while they build, and goes on in the same duel: pages find it again by themselves."""
    referee.step("card_drawn")
    referee.step("ready")
    referee.step("building")
    before = program.record()
    program.kill()
    expect(board.locator("#stale")).to_be_visible(timeout=LIMIT_MS)
    program.start()
    after = program.record()
    assert (after.phase, after.card_id, after.scores) == ("building", before.card_id, before.scores)
    expect(board.locator("#stale")).to_be_hidden(timeout=LIMIT_MS)
    time.sleep(EARLIEST_S)
    referee.key("1", "[data-key=stopA]")
    referee.phase("decided")


def leaves(referee: Referee, program: Program) -> None:
    """Before the last round somebody who has played all of his catches the last bus."""
    state = program.record()
    last = state.rounds[-1]
    leaver = next(name for name in state.active if name not in (last.a, last.b))
    referee.page.locator("[data-key=people]").focus()
    referee.page.keyboard.press("Enter")
    box = referee.page.locator("#dialog-people")
    box.locator("select[data-switch-command]").select_option("PlayerLeaves")
    referee.dialog("people", player=leaver, why="the last bus")
    assert leaver not in program.record().active


SPECIAL = {2: renamed, 4: overruled, 6: voided, 8: paused, 10: killed}


def finished(board: Page, program: Program) -> None:
    """The podium, and a record that says all of it."""
    state = program.record()
    awarded = [duel for duel in state.history if duel.award is not None]
    assert state.phase == "finished" and len(awarded) >= 18 and "Diana" in state.players
    assert sum(duel.decided_by == "human" for duel in awarded) == 1
    assert sum(duel.phase == "void" for duel in state.history) == 1
    expect(board.locator(".podium")).to_be_visible(timeout=LIMIT_MS)
    best = [row.player for row in state.standings if row.rank == 1]
    for name in best:
        expect(board.locator(".podium")).to_contain_text(name, timeout=LIMIT_MS)
