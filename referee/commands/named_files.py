"""Files that a command is told to write; decks and piece sets by file or, those that ship with the program, by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from cards.deck import BUILTIN_DECKS, Deck, builtin_deck_names, load_deck
from cards.errors import RefereeError
from cards.pieces import BUILTIN_SETS, PieceSet, load_piece_set

PIECES = click.option(
    "--pieces",
    default="challenge",
    show_default=True,
    help="A piece set: a pieces.json, or the name of one that ships with the program.",
)

DECK_HELP = f"The deck: a deck.json, or one that ships with the program: {', '.join(builtin_deck_names())}."


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While a file is written: raises RefereeError, in one line that names it, for what the system refuses."""
    try:
        yield
    except OSError as error:
        raise RefereeError(f"{path}: {error.strerror or 'not all of it was copied'}") from None


def named_piece_set(text: str) -> PieceSet:
    """A piece set from a file, or by the name of a built-in one. Raises BadPieceSet."""
    return load_piece_set(_file(text, BUILTIN_SETS))


def named_deck(text: str, pieces: PieceSet | None = None) -> Deck:
    """A deck from a file, or by the name of a built-in one. Raises BadCard."""
    return load_deck(_file(text, BUILTIN_DECKS), pieces)


class DeckFile(click.Path):
    """A deck's file, or the name of a built-in one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return super().convert(_file(value, BUILTIN_DECKS), param, ctx)


def _file(text: str, shipped: Path) -> Path:
    named = shipped / f"{text}.json"
    return named if named.exists() and not Path(text).is_file() else Path(text)
