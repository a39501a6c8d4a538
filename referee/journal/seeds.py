"""Commit and reveal: of a secret seed its hash stands in the first event and on the pages from the beginning, and once
all is over the seed itself. Who has written down the one can hold the other against it: no card was chosen."""

from collections.abc import Sequence

from referee.core import seed_hash, shuffled
from referee.errors import JournalDamaged
from referee.events import Event
from referee.games import match as game
from referee.games.core import UNKNOWN
from referee.journal.chain import canonical
from referee.match.evolve import evolve
from referee.match.state import MatchState


def check_seed(events: Sequence[Event]) -> str:
    """The hash that was published, when the seed has it and all cards lie as that seed shuffles them.

    Empty for what has no seed, and where an older version has published no hash. Raises JournalDamaged.
    """
    first = events[0].data
    published = str(first.get("seed_hash", ""))
    if published and seed_hash(first.get("options", first)["seed"]) != published:
        raise JournalDamaged("its seed is not the one whose hash was published")
    if published and events[0].kind == "match_created":
        _check_match(events)
    elif published and events[0].kind == "game_begun":
        _check_game(events)
    return published


def _check_match(events: Sequence[Event]) -> None:
    state, seed = MatchState(), events[0].data["seed"]
    for event in events:
        data, again = event.data, ""
        piles = data.get("piles", {})
        if event.kind == "reshuffled":
            piles, again = {data["pile"]: data["order"]}, f"/{state.reshuffles + 1}"
        for name, cards in piles.items():
            _same(shuffled(cards, seed, f"{name}{again}"), cards, state.seq + 1)
        state = evolve(state, event)


def _check_game(events: Sequence[Event]) -> None:
    match = game.fold(events[:1])
    _same(match.game.begin(match.setup), events[0].data["deal"], 1)
    for event in events[1:]:
        if event.kind == "reshuffled":
            for cards in event.data.values():
                if UNKNOWN not in cards:
                    _same(shuffled(cards, match.setup.seed, match.state.shuffles), cards, match.seq + 1)
        match = game.evolve(match, event)


def _same(by_seed: object, recorded: object, number: int) -> None:
    if canonical(by_seed) != canonical(recorded):
        raise JournalDamaged(f"event {number}: the cards do not lie as its seed shuffles them")
