"""Files that a command is told to write; decks and piece sets by file or, those that ship with the program, by name."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from cards.deck import BUILTIN_DECKS, Deck, load_deck
from cards.errors import RefereeError
from cards.pieces import PieceSet, builtin_piece_set, load_piece_set

PIECES = click.option(
    "--pieces",
    default="challenge",
    show_default=True,
    help="A piece set: a pieces.json, or the name of one that ships with the program.",
)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """While a file is written: raises RefereeError, in one line that names it, for what the system refuses."""
    try:
        yield
    except OSError as error:
        raise RefereeError(f"{path}: {error.strerror or 'not all of it was copied'}") from None


def named_piece_set(text: str) -> PieceSet:
    """A piece set from a file, or by the name of a built-in one. Raises BadPieceSet."""
    return builtin_piece_set(text) if _is_name(text) else load_piece_set(text)


def named_deck(text: str, pieces: PieceSet | None = None) -> Deck:
    """A deck from a file, or by the name of a built-in one. Raises BadCard."""
    return load_deck(BUILTIN_DECKS / f"{text}.json" if _is_name(text) else text, pieces)


def _is_name(text: str) -> bool:
    return not Path(text).suffix and not Path(text).exists()
