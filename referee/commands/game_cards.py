"""What the decks of the tower games look like: for each card of a game's box its face."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cards.face import Face
from referee.games.catalogue import game_named
from referee.web.i18n.texts import translate


def faces(game: str, lang: str = "en") -> list[Face]:
    """The faces of all cards, alike ones together; the kind's place in the box is its marker."""
    words, chosen = partial(translate, lang), game_named(game)
    return [
        replace(chosen.face(name, words), marker=marker)
        for marker, (name, count) in enumerate(chosen.printed())
        for _ in range(count)
    ]


def kinds_of(game: str) -> tuple[str, ...]:
    """The name of every printed kind; its place is its marker."""
    return tuple(name for name, _ in game_named(game).printed())


def columns_of(game: str) -> tuple[dict[int, str], dict[int, str]]:
    """Marker -> style: of the base cards, and of those laid on them; empty where a game has no columns."""
    kinds, printed = kinds_of(game), {face.marker: face for face in faces(game)}
    bases = {marker: face.title for marker, face in printed.items() if face.base}
    return bases, {marker: kinds[marker] for marker in printed if kinds[marker] in bases.values()}
