"""One Stop has one time, the same characters wherever it is shown."""

from __future__ import annotations

import csv
import io
import re

from fake_session import FakeSession
from hypothesis import example, given, settings
from hypothesis import strategies as st

from referee.commands.play import ScoreLines
from referee.journal.export import csv_of
from referee.match.commands import BeginJudging, DrawCard, Go, NextDuel, PressStop, Ready
from referee.web.app import create_app

MOST_S = 600.0
"""Longer than anybody builds."""

TIMES = st.floats(1.0, MOST_S, allow_nan=False).map(lambda s: round(s, 6))


def one_stop(seconds: float) -> tuple[FakeSession, list[str]]:
    """Two players, one right Stop after so many seconds; the match, and what the terminal said."""
    session, terminal = FakeSession(), []
    session.create_match(["Ann", "Ben"])
    lines = ScoreLines(terminal.append)
    for command in (DrawCard(), Ready(), Go(0.0), PressStop("A", seconds), BeginJudging(seconds)):
        session.command(command)
    session.see("A", "match")
    lines(session.state, session.events)
    return session, terminal


def after(pattern: str, text: str) -> str:
    """The one group of the pattern's first match."""
    found = re.search(pattern, text)
    assert found, text
    return found[1]


@settings(max_examples=30, deadline=None)
@given(TIMES)
@example(1.295453)
@example(59.996)
@example(119.9951)
def test_the_same_time_stands_on_board_results_terminal_and_in_exports(seconds):
    session, terminal = one_stop(seconds)
    web = create_app(session, secret_key=b"test").test_client()
    clock = after(r'class="clock">\s*<time>([\d:.]+)</time>', web.get("/").text)
    session.command(NextDuel())
    results = web.get("/results").text
    table = after(r'<td class="num">([\d.]+) s</td>', results)
    (row,) = csv.DictReader(io.StringIO(csv_of(session.state.history)))
    shown = {
        "results": table,
        "fastest": after(r"Ann ([\d.]+) s \(", results),
        "csv": row["seconds"],
        "terminal": after(r"after ([\d.]+) s", terminal[0]),
    }
    assert set(shown.values()) == {table}
    minutes, rest = clock.split(":")
    assert f"{60 * int(minutes) + float(rest):.2f}" == table and re.fullmatch(r"[0-5]\d\.\d\d", rest)


def test_german_pages_write_the_same_digits_with_a_comma():
    session, _ = one_stop(1.295453)
    session.command(NextDuel())
    page = create_app(session, secret_key=b"test").test_client().get("/results?lang=de").text
    assert page.count("1,30 s") == 2 and "1,29" not in page


def test_the_podium_shows_the_same_time():
    session = FakeSession()
    session.create_match(["Ann", "Ben"])
    while session.state.phase != "finished":
        for command in (DrawCard(), Ready(), Go(0.0), PressStop("A", 1.295453), BeginJudging(2.0)):
            session.command(command)
        session.see("A", "match")
        session.command(NextDuel())
    page = create_app(session, secret_key=b"test").test_client().get("/").text
    assert page.count("1.30&nbsp;s") == 3 + len(session.state.history) and "1.29" not in page
