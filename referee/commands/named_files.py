"""Decks and piece sets that a command is given by file or, those that ship with the program, by name."""

from pathlib import Path

from cards.deck import BUILTIN_DECKS, Deck, load_deck
from cards.pieces import PieceSet, builtin_piece_set, load_piece_set


def named_piece_set(text: str) -> PieceSet:
    """A piece set from a file, or by the name of a built-in one. Raises BadPieceSet."""
    return builtin_piece_set(text) if _is_name(text) else load_piece_set(text)


def named_deck(text: str, pieces: PieceSet | None = None) -> Deck:
    """A deck from a file, or by the name of a built-in one. Raises BadCard."""
    return load_deck(BUILTIN_DECKS / f"{text}.json" if _is_name(text) else text, pieces)


def _is_name(text: str) -> bool:
    return not Path(text).suffix and not Path(text).exists()
