"""Seeds of matches, practice, games and tournaments: 128 random bits, whatever the clock says; recorded ones stay.

Their hash is told from the beginning, they themselves when all is over; ``referee journal verify`` holds one against
the other."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from cards.deck import builtin_deck
from referee.cli import cli
from referee.core import seed_hash
from referee.games.catalogue import game_named
from referee.games.match import begin
from referee.journal.journal import Journal
from referee.match.card_facts import cards_of
from referee.match.commands import ChangeMode, CreateMatch, DrawCard, VoidDuel
from referee.match.decide import decide
from referee.match.evolve import fold
from referee.match.house_rules import DEFAULT_RULES
from referee.match.state import MatchState
from referee.session.called_games import TableService
from referee.session.match_runner import MatchRequest, MatchRunner
from referee.session.notifier import Notifier
from referee.session.practising import PracticeRunner
from referee.tournament.commands import CreateTournament
from referee.tournament.commands import decide as decide_tournament
from referee.tournament.state import Tournament, TournamentOptions

DECK = builtin_deck()
BIG_SEED = 2**127 + 2**100 + 1
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


# --- commit and reveal


def match_events():
    """A match with a change of mode, whose pile has run out twice."""
    cards = dict(list(cards_of(DECK).items())[:6])
    rules = DEFAULT_RULES.model_copy(update={"sign_off": "free"})
    state, events = MatchState(), []
    begun = CreateMatch(("Ann", "Ben"), "all", BIG_SEED, "six", rules, cards, "m")
    for command in (begun, ChangeMode("young-1-3", "Ref"), *[DrawCard(), VoidDuel("Ref", "no")] * 14):
        events += (made := decide(state, command, "2026-01-01T00:00:00+00:00"))
        state = fold(events)
        assert made
    assert state.reshuffles >= 2 and state.mode == "young-1-3"
    return events


def game_events():
    setup = game_named("city_towers").setup(("Ann", "Ben"), {}, BIG_SEED)
    return list(begin("m", game_named("city_towers"), setup, ""))


def tournament_events():
    options = TournamentOptions(seed=BIG_SEED)
    return list(decide_tournament(Tournament(), CreateTournament("m", "Cup", options), ""))


def verified(path, events):
    """What ``referee journal verify`` says of a record of these events, and whether it takes them for sound."""
    with closing(Journal(path)) as record:
        record.append("m", events)
    said = CliRunner().invoke(cli, ["journal", "verify", "-j", str(path)])
    return said.exit_code == 0, said.output + str(said.exception or "")


RECORDS = [match_events, game_events, tournament_events]


@pytest.mark.parametrize("events", RECORDS)
def test_the_record_holds_the_hash_from_the_beginning_and_verify_checks_it(events, tmp_path):
    made = events()
    assert made[0].data["seed_hash"] == seed_hash(BIG_SEED)
    sound, said = verified(tmp_path / "journal.db", made)
    assert sound and "shuffled by the seed that was promised" in said


@pytest.mark.parametrize("events", RECORDS)
def test_verify_finds_another_seed_than_the_one_that_was_promised(events, tmp_path):
    first, *rest = events()
    other = replace(first, data={**first.data, "seed_hash": seed_hash(BIG_SEED + 1)})
    sound, said = verified(tmp_path / "journal.db", [other, *rest])
    assert not sound and "match m: its seed is not the one whose hash was published" in said


@pytest.mark.parametrize("kind", ["match_created", "reshuffled", "mode_changed"])
def test_verify_finds_two_cards_that_have_changed_places(kind, tmp_path):
    events = match_events()
    at = next(n for n, event in enumerate(events) if event.kind == kind)
    data = dict(events[at].data)
    cards = list(data["order"] if kind == "reshuffled" else data["piles"]["cards"])
    cards[0], cards[1] = cards[1], cards[0]
    data |= {"order": cards} if kind == "reshuffled" else {"piles": {"cards": cards}}
    sound, said = verified(tmp_path / "journal.db", [*events[:at], replace(events[at], data=data), *events[at + 1 :]])
    assert not sound and f"event {at + 1}: the cards do not lie as its seed shuffles them" in said


def test_a_record_of_an_older_version_without_a_hash_is_sound(tmp_path):
    first, *rest = match_events()
    data = {key: value for key, value in first.data.items() if key != "seed_hash"}
    sound, said = verified(tmp_path / "journal.db", [replace(first, data=data | {"seed": 5}), *rest])
    assert sound and "promised" not in said
