"""What a printed card of a game shows. Pure."""

from dataclasses import dataclass

Rgb = tuple[int, int, int]
RED: Rgb = (179, 32, 43)
GREY: Rgb = (90, 96, 106)
COLORS: tuple[Rgb, ...] = ((11, 92, 171), (168, 67, 0), (0, 102, 74), (122, 47, 208), (168, 18, 79), (111, 82, 0))
"""Of the seats in their order, and of a game's kinds of cards."""


@dataclass(frozen=True)
class Face:
    """What a card shows: a big ``title``, a ``caption`` below it, a ``color`` band, and its kind's ``marker``.

    ``site`` (1 to 9) draws a city with that site in red; ``steps`` so many marks on the left edge, at one of which the
    next card's lower edge is laid; a ``base`` card's marks begin above its marker.
    """

    title: str
    caption: str
    color: Rgb
    marker: int = 0
    site: int = 0
    steps: int = 0
    base: bool = False
