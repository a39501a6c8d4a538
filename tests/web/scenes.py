"""States of a match that pages are looked at in: name, address, and what to do before looking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fake_session import FakeSession

from referee.match import DrawCard, NextDuel, OpenReview, Ready

PLAYERS = ["Ann", "Ben", "Cem", "Dia"]


@dataclass(frozen=True)
class Scene:
    """``prepare`` brings a session without a match to the state; ``click`` is pressed on the page."""

    name: str
    path: str
    prepare: Callable[[FakeSession], object] = lambda session: None
    click: str = ""


def layout_card(session: FakeSession) -> str:
    """The id of a layout card with several colours."""
    layouts = [c for c in session.deck.cards if c.kind == "layout"]
    return max(layouts, key=lambda c: (len(c.pieces) < 7, len(c.pieces))).id


def started(session: FakeSession) -> None:
    """Four players, nothing drawn yet."""
    session.create_match(PLAYERS)


def building(session: FakeSession) -> None:
    """Some duels have been played; now they build."""
    started(session)
    for n, zone in enumerate("AABBA"):
        session.command(DrawCard())
        session.command(Ready())
        session.go()
        session.clock.sleep(9)
        session.press(zone)
        session.see(zone, "match" if n % 3 else "mismatch", 0.97)
        session.command(NextDuel())
    session.command(DrawCard(layout_card(session)))
    session.command(Ready())
    session.go()
    session.clock.sleep(12.3)


def right(session: FakeSession) -> None:
    """The caller was right."""
    building(session)
    session.press("B")
    session.see("B", "match", 0.981)


def wrong(session: FakeSession) -> None:
    """A false stop with two faults."""
    building(session)
    session.press("A")
    session.see("A", "mismatch", 0.953, [("missing_piece", "1 blue cube missing"),
                                         ("wrong_place", "the red triangle stands 23 mm beside its place")])


def undecided(session: FakeSession) -> None:
    """The camera cannot tell; an alarm stands."""
    building(session)
    session.alarms = [{"code": "light_changed", "text": "", "since": ""}]
    session.press("A")
    session.see("A", "undecided", 0.55, [("wrong_place", "the red triangle stands 14 mm beside its place")])


def review(session: FakeSession) -> None:
    """A verdict under review."""
    wrong(session)
    session.command(OpenReview("Eva", "Ann protests"))


def finished(session: FakeSession) -> None:
    """Two players have played it out."""
    session.create_match(["Ann", "Ben"])
    while session.state.phase != "finished":
        session.command(DrawCard())
        session.command(Ready())
        session.go()
        session.clock.sleep(9)
        session.press("A")
        session.see("A", "match")
        session.command(NextDuel())


SCENES = (
    Scene("board-welcome", "/"),
    Scene("board-idle", "/", started),
    Scene("board-building", "/", building),
    Scene("board-right", "/", right),
    Scene("board-wrong", "/", wrong),
    Scene("board-undecided", "/", undecided),
    Scene("board-review", "/", review),
    Scene("board-winner", "/", finished),
    Scene("console-welcome", "/referee"),
    Scene("console-new-match", "/referee", click="[data-dialog=match]"),
    Scene("console-idle", "/referee", started),
    Scene("console-building", "/referee", building),
    Scene("console-undecided", "/referee", undecided),
    Scene("console-wrong", "/referee", wrong),
    Scene("console-overrule", "/referee", wrong, "[data-key=overrule]"),
    Scene("setup", "/setup", started),
    Scene("setup-measured", "/setup", started, "#mats button"),
    Scene("attempts", "/attempts", started),
    Scene("cards", "/cards", started),
    Scene("piece-set", "/cards/pieces", started),
    Scene("login", "/login"),
    Scene("error", "/nothing-here"),
)
