"""Seeds of matches, practice, games and tournaments: 128 random bits, whatever the clock says; recorded ones stay."""

from __future__ import annotations

import random
from contextlib import closing
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cards.deck import builtin_deck
from referee.cli import cli
from referee.journal.journal import Journal
from referee.match.evolve import fold
from referee.match.state import MatchState
from referee.session.called_games import TableService
from referee.session.match_runner import MatchRequest, MatchRunner
from referee.session.notifier import Notifier
from referee.session.practising import PracticeRunner

DECK = builtin_deck()
TRIES, FEW_BITS = 16, 100
"""That none of so many random seeds of 128 bits is longer than this has a chance of 2^-448."""


class StandingClock:
    """It is always the same moment."""

    def now_s(self) -> float:
        return 0.0

    def boot_id(self) -> str:
        return "one run"

    def utc(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)


CLOCK = StandingClock()


@pytest.fixture
def journal(tmp_path):
    with closing(Journal(tmp_path / "journal.db")) as opened:
        yield opened


@pytest.fixture
def runner(journal):
    return MatchRunner(journal, DECK, CLOCK, Notifier(CLOCK), "T1")


def long_and_different(seeds: list[int]) -> bool:
    """Whether these are 128 bits each as chance has them."""
    return len(set(seeds)) == TRIES and max(seeds).bit_length() > FEW_BITS and max(seeds).bit_length() <= 128


def test_a_matchs_seed_does_not_follow_from_the_time_at_which_it_began(runner, journal):
    seeds = []
    for _ in range(TRIES):
        runner.create(MatchRequest(("Ann", "Ben")), simulated=False)
        assert fold(journal.events(runner.state.match_id)) == runner.state
        seeds.append(runner.state.seed)
    assert long_and_different(seeds)


def test_who_knows_when_a_match_began_cannot_foretell_its_cards(runner):
    """The attack: seeds of the milliseconds before ``created_at``, which is public."""
    runner.create(MatchRequest(("Ann", "Ben")), simulated=False)
    at_ms = int(datetime.fromisoformat(runner.state.created_at).timestamp() * 1000)
    guesses = []
    for ms in range(at_ms - 400, at_ms + 2):
        order = sorted(card.id for card in DECK.cards)
        random.Random(f"{ms % (1 << 31)}/cards").shuffle(order)
        guesses.append(tuple(order))
    assert runner.state.piles["cards"] not in guesses


def test_a_match_that_is_called_to_a_table_gets_a_seed_of_its_own(runner, journal):
    seeds = []

    def create_match(players):
        seeds.append(fold(runner.create(MatchRequest(tuple(players)), simulated=False)).seed)

    seats = SimpleNamespace(state=MatchState(), create_match=create_match, alarm=lambda code, text: None)
    games = SimpleNamespace(called=lambda: ("Ann", "Ben"))
    service = TableService(seats, "T1", None, games)
    for _ in range(TRIES):
        service.begin_called()
    assert long_and_different(seeds)


def test_the_order_of_practice_does_not_follow_from_the_clock(journal):
    session = SimpleNamespace(state=MatchState(), deck=DECK, clock=CLOCK, simulated=False, touch=lambda: None)
    orders = set()
    for _ in range(2):
        room = PracticeRunner(session, journal)
        room.begin({"A": "Ann"})
        orders.add(room.now.cards)
    assert len(orders) == 2


def test_a_tournament_and_a_game_begun_by_a_command_have_long_seeds(tmp_path, monkeypatch):
    def no_pages(*_: object) -> None:
        raise InterruptedError("the game has begun")

    monkeypatch.setattr("referee.commands.games.pages_of", no_pages)
    games, tournaments = [], []
    for n in range(TRIES):
        cup, data = tmp_path / f"cup{n}.db", tmp_path / str(n)
        assert not CliRunner().invoke(cli, ["tournament", "begin", "Cup", "-j", str(cup)]).exit_code
        CliRunner().invoke(cli, ["game", "play", "city_towers", "--players", "Ann,Ben", "--data-dir", str(data)])
        for found, path in ((tournaments, cup), (games, data / "games" / "journal.db")):
            with closing(Journal(path, reading=True)) as record:
                first = record.events(record.matches()[0])[0].data
            found.append(first.get("seed") or first["options"]["seed"])
    assert long_and_different(games) and long_and_different(tournaments)
