"""What the decks of the tower games look like: for each card of a game's box its face."""

from __future__ import annotations

from calibration.game_sheets import BASE_MARK_MM, RED, Face
from cards.scene import Rgb
from referee.games.catalogue import game_named
from referee.games.quarters_and_currencies.cards import kind_of, price_of
from referee.games.tower_bets import STYLES
from referee.web.i18n.games import card
from referee.web.i18n.texts import translate

COLORS: tuple[Rgb, ...] = ((11, 92, 171), (168, 67, 0), (0, 102, 74), (122, 47, 208), (168, 18, 79), (111, 82, 0))
GREY: Rgb = (90, 96, 106)
BASE = "base "
PLAYERS = 5
"""A deck is printed for so many: of a game of two nothing is missing."""


def box_of(game: str) -> list[tuple[str, int]]:
    """Every card kind of the game's box and how many of it; what is wood or stone is left out."""
    chosen = game_named(game)
    players = min(PLAYERS, chosen.seats[-1])
    setup = chosen.setup([f"P{n + 1}" for n in range(players)], {}, 0)
    held = chosen.deck(chosen.create(setup, chosen.begin(setup)))
    return sorted((name, count) for name, count in held.items() if not name.startswith("stone"))


def faces(game: str, lang: str = "en") -> list[Face]:
    """The faces of all cards, alike ones together; the kind's place in the box is its marker."""
    made = []
    for marker, (name, count) in enumerate(_printed(game)):
        made += [_face(game, name, marker, lang)] * count
    return made


def kinds_of(game: str) -> tuple[str, ...]:
    """The name of every printed kind; its place is its marker."""
    return tuple(name for name, _ in _printed(game))


def _printed(game: str) -> list[tuple[str, int]]:
    """Every kind that is printed, and how many of it."""
    if game != "tower_bets":
        return box_of(game)
    flags = [("flag 8/4", 1), ("flag 6/3", 1), ("flag 4/2", 1), ("flag 2/1", 1)]
    return [*box_of(game), *flags, *((BASE + style, 1) for style in STYLES)]


def columns_of(game: str) -> tuple[dict[int, str], dict[int, str]]:
    """Marker -> style: of the base cards, and of the cards that are built on them; of ``tower_bets`` alone."""
    kinds = list(enumerate(kinds_of(game)))
    bases = {marker: name.removeprefix(BASE) for marker, name in kinds if name.startswith(BASE)}
    return bases, {marker: name for marker, name in kinds if name in bases.values()}


def _face(game: str, name: str, marker: int, lang: str) -> Face:
    if name.startswith(("chip ", "flag ")):
        kind, _, rest = name.partition(" ")
        seat, _, value = rest.partition("/")
        if kind == "flag":
            return Face(rest, kind, GREY, marker)
        return Face(value, f"{kind} {int(seat) + 1}", COLORS[int(seat)], marker)
    if name.startswith(BASE):
        style, caption = name.removeprefix(BASE), translate(lang, "game.page.base")
        return Face(style, caption, COLORS[STYLES.index(style)], marker, steps=3, foot=BASE_MARK_MM)
    if game == "city_towers":
        return Face("", f"{translate(lang, 'game.field.site').split(' ')[0]} {name}", RED, marker, site=int(name))
    if game == "tower_bets":
        return Face(name, translate(lang, "game.page.tower"), COLORS[STYLES.index(name)], marker, steps=3)
    if game == "nine_sum_towers":
        number = name.isdigit()
        return Face(card(lang, name), "", COLORS[min(int(name), 9 - int(name)) - 1] if number else GREY, marker)
    if ":" in name:
        sort = kind_of(name)
        return Face(str(price_of(name)), translate(lang, f"game.page.kind.{sort}"), COLORS[sort - 1], marker)
    if len(name) == 2:
        return Face(
            name[1], f"{translate(lang, 'game.page.currency')} {name[0]}", COLORS["abcd".index(name[0])], marker
        )
    return Face(name, "", GREY, marker)
