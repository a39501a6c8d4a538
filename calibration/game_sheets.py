"""Sheets of the tower games as PDF bytes, true to size: cards with markers, nine to a page, and city plans.

A card's marker says what kind it is, in a dictionary of its own, so that no card is taken for a mat or a card of the
duel. A city plan bears the markers of a mat in a mat's places: what finds a mat finds a city.
"""

from collections.abc import Sequence
from itertools import product

import cv2

from calibration import ZONES
from calibration.print_sheets import FOOT_MM, GREY, RULER_Y_MM, Sheets, draw_markers
from cards.drawing import marker_patches
from cards.errors import BadCard
from cards.face import SYMBOL_MM, Face, symbols
from cards.scene import BLACK, WHITE, Patch, box
from cards.sentences import say, sentence

CARD_MM = (58.0, 82.0)
COLUMNS, ROWS = 3, 3
DICTIONARY = cv2.aruco.DICT_5X5_250
MARKER_MM = 16.0
MARKER_FOOT_MM = 6.0
"""From the card's lower edge to its marker's."""
SYMBOL_Y_MM = 28.0
INK = (20, 33, 61)
STEP_MM, BASE_MARK_MM = 10.0, 30.0
"""A mark is so far above the one before; a base card's lie above its marker, which stays in view."""

SITE_MM = 32.0
CITIES = 6


def faces_pdf(title: str, faces: Sequence[Face], paper: str = "a4", lang: str = "en") -> bytes:
    """The cards of the game ``title``, nine to a page with cut lines, and a ruler on every page; the page behind each
    has their backs, which are all alike."""
    sheets = Sheets(title, paper, lang=lang)
    per_page = COLUMNS * ROWS
    for first, back in sheets.each(product(range(0, len(faces), per_page), (False, True))):
        sheets.ruler(sheets.width / 2 - 50, FOOT_MM)
        for n, face in enumerate(faces[first : first + per_page]):
            slot = n - 2 * (n % COLUMNS) + COLUMNS - 1 if back else n
            draw = _draw_back if back else _draw_face
            draw(sheets, face, title, *sheets.slot(slot, (COLUMNS, ROWS), CARD_MM))
    return sheets.pdf()


def _draw_back(sheets: Sheets, face: Face, game: str, x: float, y: float) -> None:
    """The back of any card of the game, without what a printer's slip would show."""
    sheets.paint([box(x - 1, y - 1, CARD_MM[0] + 2, CARD_MM[1] + 2, INK)])
    sheets.paint([Patch(symbols()["back"], WHITE)], x + (CARD_MM[0] - SYMBOL_MM) / 2, y + CARD_MM[1] / 2)
    sheets.text(x + CARD_MM[0] / 2, y + CARD_MM[1] / 3, game, 4.2, WHITE, centred=True)


def _draw_face(sheets: Sheets, face: Face, game: str, x: float, y: float) -> None:
    """The card with its lower left corner at (x, y)."""
    width, height = CARD_MM
    middle = x + width / 2
    sheets.frame(x, y, width, height, 0.2)
    sheets.paint([box(x + 3, y + height - 9, width - 6, 6, face.color)])
    sheets.text(middle, y + height - 7.2, game, 3.4, WHITE, centred=True)
    sheets.text(middle, y + height - 25, face.title, 12 if len(face.title) < 4 else 6, BLACK, centred=True)
    sheets.text(middle, y + height - 33, face.caption, 3.6, BLACK, centred=True)
    sheets.paint([Patch(symbols()[face.symbol], face.color)], middle - SYMBOL_MM / 2, y + SYMBOL_Y_MM)
    for step in range(1, face.steps + 1):
        level = y + BASE_MARK_MM * face.base + step * STEP_MM
        sheets.line(x, level, x + 6, level, 0.5, BLACK)
        sheets.text(x + 2, level + 1, str(step), 3, BLACK)
    sheets.paint(marker_patches(face.marker, middle, y + MARKER_FOOT_MM + MARKER_MM / 2, MARKER_MM, DICTIONARY))


def plans_pdf(paper: str = "a4", lang: str = "en") -> bytes:
    """Six city plans, one to a sheet. Raises BadCard for a paper that is shorter than a mat."""
    if paper != "a4":
        raise BadCard("a city plan is as long as A4: print it on A4")
    sheets = Sheets("city plans", paper, landscape=True, lang=lang)
    x0, y0 = sheets.width / 2, sheets.height / 2
    for city in sheets.each(range(CITIES)):
        draw_markers(sheets, ZONES[city], x0, y0)
        for site in range(1, 10):
            x, y = site_centre(site)
            sheets.frame(x0 + x - SITE_MM / 2, y0 + y - SITE_MM / 2, SITE_MM, SITE_MM, 0.4)
            sheets.text(x0 + x - SITE_MM / 2 + 1, y0 + y + SITE_MM / 2 - 4, str(site), 3, GREY)
        title = say(lang, sentence("print_city", n=city + 1))
        sheets.text(x0 - 75, y0 - 4, title, 9, (190, 190, 190), centred=True)
        sheets.ruler(x0 - 50, y0 + RULER_Y_MM)
    return sheets.pdf()


def site_centre(site: int) -> tuple[float, float]:
    """Where a site (1 to 9) lies in the plan's frame, which is a mat's, mm."""
    row, column = divmod(site - 1, 3)
    return (column - 1) * SITE_MM, (1 - row) * SITE_MM
