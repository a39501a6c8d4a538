"""Whole games at random: legal commands to the end, and illegal ones by the thousand. Used by tests and the bench."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import pytest

from cards.face import Face
from referee.errors import IllegalCommand
from referee.events import Event, event_from_json
from referee.games.catalogue import GAMES
from referee.games.core import GameCommand
from referee.games.match import Match, begin, decide, evolve, fold
from referee.web.i18n.texts import translate

NAMES = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus")
WORDS = ("", "?", "nothing", "1", "5", "9", "A", "C", "a3", "c9", "dog", "joker", "hammer", "4:9", "thief")
MOST_COMMANDS = 5000
"""A game that takes more is taken for endless."""


def new(name: str, players: int = 2, seed: int = 0, mode: str = "full", **rules: object) -> tuple[Match, list[Event]]:
    """A new game and its events."""
    setup = GAMES[name].setup(NAMES[:players], rules, seed, mode)
    events = list(begin(f"g{seed}", GAMES[name], setup, "2026-01-01T00:00:00+00:00", simulated=True))
    return fold(events), events


def ask(match: Match, command: object, who: str = "") -> Match:
    """The match after the command."""
    for event in decide(match, command, "2026-01-01T00:00:00+00:00", who):
        match = evolve(match, event)
    return match


def refused(match: Match, command: object, why: str) -> None:
    """The command is refused for that reason."""
    with pytest.raises(IllegalCommand, match=why):
        decide(match, command, "")


def faces(game: str) -> list[Face]:
    """The faces of the game's printed cards, in English."""
    return GAMES[game].faces(partial(translate, "en"))


def kinds_of(game: str) -> list[str]:
    """The names of the game's printed cards by their markers."""
    return [name for name, _ in GAMES[game].printed()]


def options(match: Match) -> list[GameCommand]:
    """Every seat's legal commands."""
    return [c for seat in match.state.seats for c in match.game.legal(match.state, seat)]


def play(name: str, seed: int, look: object = None, **rules: object) -> tuple[Match, list[Event]]:
    """A random game to its end; ``look`` is called with every state on the way."""
    rng = random.Random(seed)
    match, events = new(name, rng.choice(GAMES[name].seats), seed, **rules)
    for _ in range(MOST_COMMANDS):
        if look:
            look(match, rng)
        if match.over:
            return match, events
        choices = options(match)
        assert choices, f"{name}, seed {seed}: nobody can do anything in phase {match.state.phase}"
        made = decide(match, rng.choice(choices), "2026-01-01T00:00:00+00:00")
        for event in made:
            match = evolve(match, event)
        events += made
    raise AssertionError(f"{name}, seed {seed} does not end")


def reread(events: Sequence[Event]) -> list[Event]:
    """The events once through text, as the journal keeps them."""
    return [event_from_json(json.loads(json.dumps(event.to_json()))) for event in events]


def refuse_some(match: Match, rng: random.Random, count: int = 3) -> int:
    """Ask for random commands; how many were refused. Each must say why, and leave the state alone."""
    before, said = repr(match.state), 0
    for _ in range(count):
        command = some_command(match, rng)
        try:
            decide(match, command, "")
        except IllegalCommand as error:
            said += 1
            assert str(error).strip(), command
    assert repr(match.state) == before
    return said


def some_command(match: Match, rng: random.Random) -> GameCommand:
    """A command of the game with arguments drawn at random; mostly of the seat in turn."""
    if rng.random() < 0.3 and (legal := options(match)):
        return bent(rng.choice(legal), match, rng)
    kind = rng.choice(match.game.commands)
    seat = match.state.turn if rng.random() < 0.8 else rng.randint(-1, len(NAMES))
    fields = {f.name: some_value(f.type, match, rng) for f in dataclasses.fields(kind) if f.name != "seat"}
    return kind(seat, **fields)


def bent(command: GameCommand, match: Match, rng: random.Random) -> GameCommand:
    """A legal command with one argument changed."""
    field = rng.choice(dataclasses.fields(command))
    return dataclasses.replace(command, **{field.name: some_value(field.type, match, rng)})


def some_value(kind: Any, match: Match, rng: random.Random) -> object:
    """A value of the annotated type."""
    if kind is bool:
        return rng.random() < 0.5
    if kind is int:
        return rng.randint(-1, 10)
    if kind is str:
        return rng.choice((*WORDS, *match.game.deck(match.state)))
    return tuple(some_value(get_args(kind)[0], match, rng) for _ in range(rng.randint(0, 6)))
