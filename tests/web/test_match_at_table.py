"""Duels of a four-player match at the simulated table with the real eyes, run from a real browser.

Everything is as in ``referee demo`` but the operator, who is the browser: cameras, box, recording of the match,
gate and observer. Only the doubt of one duel is put into the observer's mouth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import pytest
from browser import PHONE, PROJECTOR
from console_driver import Console
from playwright.sync_api import Page, expect
from real_table import CLUMSY, STEADY, RealTable, real_table

from referee.web.app import create_app
from referee.web.server import Server

PLAYERS = ["Ann", "Ben", "Cem", "Dia"]
SEEN_MS = 60_000
WINNERS = ("Ann", "Dia", "Dia", "Ben")
"""Who has won each of the first duels in the end."""


class Play:
    """One match from one console, watched by one board."""

    def __init__(self, at: RealTable, console: Console, board) -> None:
        self.at, self.console, self.board = at, console, board
        self.session = at.session
        self.cards = iter([c.id for c in self.session.deck.cards if c.value == 1])

    def set_up(self) -> None:
        """Mats, empty table and colours are measured, and both players sign: before that no card is drawn."""
        page = self.console.page
        page.locator("[data-key=primary]").click()
        for step, stage in (("mats", None), ("empty", self.at.stage_empty), ("colors", self.at.stage_colors)):
            if stage:
                stage()
            page.locator(f"#{step} form button").click()
            expect(page.locator(f"#{step} .state").first).not_to_contain_text("not measured")
        self.at.stage_play()
        page.locator("[name=name_A]").fill("Ann")
        page.locator("[name=name_B]").fill("Dia")
        for anyway in page.locator("[name=anyway]").all():
            anyway.check()
        page.locator("#sign button").click()
        expect(page.locator("#sign .state").first).to_contain_text("frozen")
        expect(page.locator("#mats form button")).to_be_disabled()
        page.goto(page.url.partition("/setup")[0] + "/referee")
        self.console.page.locator(".act .phase-idle").wait_for()

    def build(self, undo: bool = False) -> None:
        """Draw, ready, go; the players build and one of them presses; the eyes judge."""
        self.console.draw(next(self.cards))
        self.console.step("ready")
        if undo:
            self.console.press("u", "button[data-dialog=undo]")
            self.console.dialog("undo", who="Eva")
            self.console.phase("card_drawn")
            self.console.step("ready")
        self.console.go()
        self.console.until(lambda: self.session.state.phase in ("decided", "undecided", "void"), SEEN_MS / 1000)
        self.console.page.locator(f".act .phase-{self.session.state.phase}").wait_for()

    def rule(self, ruling: str, why: str) -> None:
        """Where the eyes cannot tell, the human rules."""
        self.console.press("r", "[data-key=primary]")
        self.console.dialog("rule", ruling=ruling, who="Eva", why=why)
        self.console.phase("decided")

    def duel(self, winner: str, **how) -> None:
        """A duel to its end in the schedule: void ones are played again, another winner is overruled."""
        self.build(**how)
        while self.session.state.phase == "void":
            self.build()
        if self.session.state.phase == "undecided":
            self.rule("match", "I see it well")
        if self.session.state.duel.award != winner:
            self.overrule(winner)

    def overrule(self, winner: str) -> None:
        """The card to that player, with a reason."""
        zone = self.session.state.duel.zone_of(winner)
        self.console.press("o", "[data-key=overrule]")
        self.console.dialog("overrule", ruling=f"award_{zone}", who="Eva", why="for the test's score")
        self.console.until(lambda: self.session.state.duel.award == winner)

    def false_stop(self, winner: str) -> None:
        """Both build wrong: the eyes say so of the caller's build, with reasons and marks on the picture."""
        self.at.manners(CLUMSY)
        self.build()
        self.at.manners(STEADY)
        if self.session.state.phase == "undecided":
            self.rule("mismatch", "it is wrong")
        duel = self.session.state.duel
        assert duel.award is not None and duel.award != duel.at_zone(duel.callers[0])
        expect(self.board.locator(".ruling-mismatch, .ruling-human").first).to_be_visible(timeout=SEEN_MS)
        expect(self.board.locator(".seen img")).to_be_visible(timeout=SEEN_MS)
        expect(self.board.locator(".samescale svg, .target.beside img")).to_be_visible()
        if duel.award != winner:
            self.overrule(winner)

    def doubted(self, winner: str) -> None:
        """The eyes cannot tell; the human rules from the nearest reading offered."""
        self.at.eyes.doubts = True
        self.build()
        self.at.eyes.doubts = False
        assert self.session.state.phase == "undecided"
        expect(self.board.locator(".phase-undecided")).to_be_visible()
        zone = self.session.state.duel.callers[0]
        self.console.page.locator(f"[data-key=rule{zone}match]").click()
        self.console.dialog("rule", who="Eva", why="measured 9 mm")
        self.console.phase("decided")
        assert self.session.state.duel.human[-1]["why"] == "measured 9 mm"
        if self.session.state.duel.award != winner:
            self.overrule(winner)

    def reviewed(self, winner: str) -> None:
        """Under review the public score is frozen, and says so; the overruling ends it."""
        self.build()
        if self.session.state.phase == "undecided":
            self.rule("match", "I see it well")
        self.console.press("p", "[data-key=review]")
        self.console.dialog("review", who="Eva", why=f"{winner} protests")
        expect(self.board.locator(".middle .review")).to_be_visible()
        self.overrule(winner) if self.session.state.duel.award != winner else self._uphold()
        expect(self.board.locator(".middle .review")).to_have_count(0)

    def _uphold(self) -> None:
        self.console.page.locator("[data-key=closereview]").click()
        self.console.dialog("closereview", who="Eva")
        self.console.until(lambda: not self.session.state.under_review)

    def undone(self, winner: str) -> None:
        """Ready is taken back once."""
        self.duel(winner, undo=True)

    def unusual(self) -> list[Callable[[str], None]]:
        """A duel each of what goes another way than to the first verdict."""
        return [self.false_stop, self.doubted, self.reviewed, self.undone]

    def duels(self, first: int, last: int) -> None:
        """Some of the first duels, each an unusual one."""
        for play, winner in zip(self.unusual()[first:last], WINNERS[first:last], strict=True):
            play(winner)
            self.console.next()


@contextmanager
def windows(at: RealTable, browser, url: str, size, keys: bool) -> Iterator[tuple[Console, Page]]:
    """A console and a board in windows of that size."""
    context = browser.new_context(viewport=size, has_touch=not keys)
    context.set_default_timeout(2 * SEEN_MS)  # colours and sizes are learnt while a form is sent
    try:
        board = context.new_page()
        board.goto(url)
        yield Console(context.new_page(), at.session, url, keys), board
    finally:
        context.close()


@pytest.mark.slow
def test_every_way_of_a_duel_is_gone_with_the_real_eyes(tmp_path, browser):
    """From set-up and signatures on: two duels on a projector by keys, two on a phone by taps. Every way is gone on
    both in ``test_match_in_browser``; whole matches are played there, in ``test_whole_evening`` and, with the real
    eyes, in ``tests/session/test_demo.py``."""
    with real_table(tmp_path) as at, closing(Server(create_app(at.session), "127.0.0.1", 0)) as server:
        with windows(at, browser, server.url, PROJECTOR, True) as (console, board):
            play = Play(at, console, board)
            console.new_match(PLAYERS)
            play.set_up()
            with at.rig.played(at.session, None, True):
                play.duels(0, 2)
        phone = windows(at, browser, server.url, PHONE, False)
        with phone as (play.console, play.board), at.rig.played(at.session, None, True):
            play.duels(2, 4)
        assert len([d for d in at.session.state.history if d.award]) == len(play.unusual())
        check_record(at, len(play.unusual()))


def check_record(at: RealTable, duels: int) -> None:
    """What happened stands in the journal: signatures, the undo, the doubt, and verdicts with their margins."""
    events = at.session.journal.events(at.session.state.match_id)
    kinds = [event.kind for event in events]
    assert {"setup_signed", "undone", "duel_undecided", "review_opened", "duel_overruled"} <= set(kinds)
    verdicts = [event.data["verdict"] for event in events if event.kind == "verdict"]
    assert len(verdicts) >= duels and all("margin" in verdict for verdict in verdicts)
