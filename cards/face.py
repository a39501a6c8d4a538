"""What a printed card of a game shows. Pure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from cards.scene import Contour

Rgb = tuple[int, int, int]
RED: Rgb = (179, 32, 43)
GREY: Rgb = (90, 96, 106)
COLORS: tuple[Rgb, ...] = ((11, 92, 171), (168, 67, 0), (0, 102, 74), (122, 47, 208), (168, 18, 79), (111, 82, 0))
"""Of the seats in their order, and of a game's kinds of cards."""

SYMBOL_MM = 18.0


@dataclass(frozen=True)
class Face:
    """What a card shows: a big ``title``, a ``caption`` below it, its ``symbol`` (``symbols``) and a band in ``color``,
    and its kind's ``marker``.

    ``steps`` draws so many marks on the left edge, at one of which the next card's lower edge is laid; a ``base``
    card's marks begin above its marker.
    """

    title: str
    caption: str
    color: Rgb
    symbol: str
    marker: int = 0
    steps: int = 0
    base: bool = False


@cache
def symbols() -> Mapping[str, tuple[Contour, ...]]:
    """Drawings by name: contours on a square of ``SYMBOL_MM``, filled even-odd; ``back`` is for the backs of cards."""
    rows = json.loads(Path(__file__).with_name("fonts").joinpath("symbols.json").read_text(encoding="utf-8"))
    return {name: tuple(tuple((x, y) for x, y in contour) for contour in contours) for name, contours in rows.items()}
