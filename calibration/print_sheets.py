"""The printed sheets as PDF bytes: mats, colour sheet, ChArUco board, cards. True to size.

Every sheet has a ruler. Geometry: CONTRACT.md, "The mat" (``calibration.mat``), ``cards.drawing``
and ``calibration.lens``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from calibration import lens, markers, mat
from calibration.print_page import GREY, Sheets
from cards.deck import Deck
from cards.drawing import CARD_MM, card_scene, marker_bits
from cards.pieces import PieceSet, Pose, Shape
from cards.scene import BLACK, Patch, Rgb, box, patch

FIELD_LINE_MM = 0.4
BAND_HALF_MM = 140.0
"""CONTRACT.md: organ pipes stand anywhere in x -140 to 140 between the markers."""

BAND_DASH_MM = (4.0, 3.0)
"""Ink and gap of the dashed lines that continue the field to the band of organ pipes."""

UNPRINTED_MM = 6.0
"""Home printers leave up to so much of the edge blank; only the mat's markers, by contract, lie 5.5 mm from it."""

FOOT_MM = 9.2
"""Height of a ruler at the foot of a sheet, whose words below it keep clear of that edge."""

RULER_Y_MM = -95.8
"""Where a mat's ruler lies, in the mat's frame: the strip between the two near markers."""


def marker_patch(marker: int, x: float, y: float, side: float, dictionary: int = markers.DICTIONARY) -> Patch:
    """A marker's black ink with its white modules left out, ``side`` mm wide, centred on (x, y)."""
    bits = marker_bits(marker, dictionary)
    module = side / len(bits)
    contours = list(box(x - side / 2, y - side / 2, side, side, BLACK).contours)
    for row, column in zip(*np.nonzero(bits), strict=True):
        left, low = x - side / 2 + column * module, y + side / 2 - (row + 1) * module
        contours += box(left, low, module, module, BLACK).contours
    return Patch(tuple(contours), BLACK)


# -- mats ------------------------------------------------------------------------------------------


def mats_pdf(zones: Sequence[str], paper: str = "a4") -> bytes:
    """One mat per zone. On A4 a mat is one sheet; on Letter, which is too short, two to be joined."""
    if paper == "a4":
        sheets = Sheets("mats " + "".join(zones), paper, landscape=True)
        for n, zone in enumerate(zones):
            if n:
                sheets.next_page()
            _draw_mat(sheets, zone, sheets.width / 2, sheets.height / 2)
        return sheets.pdf()
    return _halved_mats(zones, paper)


def _halved_mats(zones: Sequence[str], paper: str) -> bytes:
    """Left and right half of each mat on a portrait page, to be cut at x = 0 and taped edge to edge."""
    sheets = Sheets("mats " + "".join(zones), paper)
    half, foot = mat.SHEET[0] / 2, (sheets.height - mat.SHEET[1]) / 2
    first = True
    for zone in zones:
        for x0, hidden in ((half + 10, half + 10), (sheets.width - half - 10, 0.0)):
            if not first:
                sheets.next_page()
            first = False
            _half(sheets, zone, x0, hidden, foot)
    return sheets.pdf()


def _half(sheets: Sheets, zone: str, x0: float, hidden: float, foot: float) -> None:
    """One half of a mat whose middle lies at ``x0``.

    Paper right of ``hidden`` (0: left of ``x0``) stays blank.
    """
    canvas = sheets.canvas
    canvas.saveState()
    area = canvas.beginPath()
    area.rect(0 if hidden else x0, 0, x0 if hidden else sheets.width - x0, sheets.height)
    canvas.clipPath(area, stroke=0, fill=0)
    _draw_mat(sheets, zone, x0, sheets.height / 2, ruler=False)
    canvas.restoreState()
    for y in (UNPRINTED_MM, sheets.height - foot):
        sheets.line(x0, y, x0, y + foot - UNPRINTED_MM - 2, 0.15)
    side, left = ("left", 12.0) if hidden else ("right", x0 + 6)
    sheets.text(left, 12, f"zone {zone}, {side} half: cut at the marks, tape both halves edge to edge", 3.0)
    sheets.ruler(left, 20)


def _draw_mat(sheets: Sheets, zone: str, x0: float, y0: float, *, ruler: bool = True) -> None:
    """The mat with its origin at (x0, y0) on the page."""
    for k, (x, y) in enumerate(markers.MARKER_CENTRES):
        sheets.paint([marker_patch(markers.marker_id(zone, k), x0 + x, y0 + y, markers.MARKER_MM)])
    half_x, half_y = mat.FIELD
    sheets.frame(x0 - half_x, y0 - half_y, 2 * half_x, 2 * half_y, FIELD_LINE_MM)
    sheets.line(x0 - half_x, y0, x0 + half_x, y0, FIELD_LINE_MM)
    _draw_band(sheets, x0, y0)
    sheets.text(x0, y0 + half_y + 30, f"{zone}", 12, (215, 215, 215), centred=True)
    sheets.text(x0, y0 - half_y - 10, "the player sits at this edge", 3, GREY, centred=True)
    if ruler:
        sheets.ruler(x0 - 50, y0 + RULER_Y_MM)


def _draw_band(sheets: Sheets, x0: float, y0: float) -> None:
    """The band that organ pipes stand in, where it reaches beyond the field: dashed (CONTRACT.md, "The mat")."""
    (half_x, half_y), band_x = mat.FIELD, BAND_HALF_MM
    sheets.canvas.setDash(*BAND_DASH_MM)
    for side in (-1, 1):
        for y in (-half_y, half_y):
            sheets.line(x0 + side * half_x, y0 + y, x0 + side * band_x, y0 + y, FIELD_LINE_MM)
        sheets.line(x0 + side * band_x, y0 - half_y, x0 + side * band_x, y0 + half_y, FIELD_LINE_MM)
    sheets.canvas.setDash()


# -- colours ---------------------------------------------------------------------------------------


def colors_pdf(pieces: PieceSet, paper: str = "a4") -> bytes:
    """Where to stand every piece for the colour picture, at true size, and the set's colours."""
    sheets = Sheets(f"colours of {pieces.name}", paper, landscape=True)
    x0, y0 = sheets.width / 2, sheets.height / 2 + 8
    half_x, half_y = mat.FIELD
    words = "Stand every piece like this in each mat's field, apart, and take the colour picture."
    sheets.text(x0, y0 + half_y + 14, words, 4, centred=True)
    sheets.frame(x0 - half_x, y0 - half_y, 2 * half_x, 2 * half_y)
    sheets.line(x0 - half_x, y0, x0 + half_x, y0)
    for shape, color, pose, x, y in apart(pieces):
        _footprint(sheets, shape, pose, pieces.rgb(color), x0 + x, y0 + y)
        sheets.text(x0 + x, y0 + y - 1, shape.name, 2.6, (255, 255, 255), centred=True)
    _swatches(sheets, pieces, 28.0)
    sheets.ruler(sheets.width / 2 - 50, 10)
    return sheets.pdf()


def apart(pieces: PieceSet) -> list[tuple[Shape, str, Pose, float, float]]:
    """(shape, colour, pose, x, y): every piece once, standing in two rows of the field, with gaps.

    The widest are dealt first, each to the row with more room left.
    """
    rows: list[list[tuple[Shape, str, Pose]]] = [[], []]
    each = [(pieces.shapes[s], c) for (s, c), n in sorted(pieces.inventory.items()) for _ in range(n)]
    stood = [(shape, color, _slim(shape)) for shape, color in each]
    for row in sorted(stood, key=lambda r: -r[0].size(r[2])[0]):
        min(rows, key=_width).append(row)
    return [
        place for row, y in zip(rows, (-mat.FIELD[1] / 2, mat.FIELD[1] / 2), strict=True) for place in _spread(row, y)
    ]


def _width(row: list[tuple[Shape, str, Pose]]) -> float:
    return sum(shape.size(pose)[0] for shape, _, pose in row)


def _slim(shape: Shape) -> Pose:
    """The narrowest safe pose for the player that leaves the other row its room."""
    safe = [Pose(0)] if shape.kind in ("cylinder", "half_disc") else [Pose(0), Pose(0, "side")]
    if shape.kind in ("box", "bridge") and shape.width > shape.height:
        safe.append(Pose(90))
    return min(safe, key=lambda pose: (shape.size(pose)[1] > mat.FIELD[1], shape.size(pose)[:2]))


def _spread(row: list[tuple[Shape, str, Pose]], y: float) -> list[tuple[Shape, str, Pose, float, float]]:
    widths = [shape.size(pose)[0] for shape, _, pose in row]
    gap = (2 * mat.FIELD[0] - sum(widths)) / (len(row) + 1)
    x, placed = -mat.FIELD[0], []
    for (shape, color, pose), width in zip(row, widths, strict=True):
        placed.append((shape, color, pose, x + gap + width / 2, y))
        x += gap + width
    return placed


def _footprint(sheets: Sheets, shape: Shape, pose: Pose, color: Rgb, x: float, y: float) -> None:
    sx, sy, _ = shape.size(pose)
    if shape.kind == "cylinder" and shape.axis(pose) == "z":
        t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        sheets.paint([patch(np.stack([np.cos(t), np.sin(t)], 1) * sx / 2 + (x, y), color)])
    else:
        sheets.paint([box(x - sx / 2, y - sy / 2, sx, sy, color)])


def _swatches(sheets: Sheets, pieces: PieceSet, y: float) -> None:
    wide = min(40.0, (sheets.width - 30) / len(pieces.colors))
    left = (sheets.width - wide * len(pieces.colors)) / 2
    for n, (name, value) in enumerate(pieces.colors.items()):
        sheets.paint([box(left + n * wide, y, wide - 3, 18, pieces.rgb(name))])
        sheets.text(left + n * wide, y - 4, f"{name} {value}", 2.8)


# -- lens ------------------------------------------------------------------------------------------


def charuco_pdf(paper: str = "a4") -> bytes:
    """The ChArUco board on one landscape sheet."""
    sheets = Sheets("ChArUco board", paper, landscape=True)
    wide, high = lens.COLUMNS * lens.SQUARE_MM, lens.ROWS * lens.SQUARE_MM
    x0, top = (sheets.width - wide) / 2, (sheets.height + high) / 2
    s = lens.SQUARE_MM
    sheets.paint([box(x0 + c * s, top - (r + 1) * s, s, s, BLACK) for c, r in lens.black_squares()])
    half = lens.MARKER_MM / 2
    for marker, left, down in lens.board_markers():
        sheets.paint([marker_patch(marker, x0 + left + half, top - down - half, lens.MARKER_MM, lens.DICTIONARY)])
    sheets.ruler(sheets.width / 2 - 50, FOOT_MM, "measure: 100 mm. Glue the sheet to something flat")
    return sheets.pdf()


# -- cards -----------------------------------------------------------------------------------------

COLUMNS, ROWS = 2, 2


def cards_pdf(deck: Deck, pieces: PieceSet, paper: str = "a4") -> bytes:
    """Fronts and backs on facing pages for double-sided print (flip on the long edge), with cut marks.

    Both faces of a card are alike, so a page of backs is its fronts with the columns exchanged.
    """
    sheets = Sheets(f"cards of {deck.name}", paper)
    per_page = COLUMNS * ROWS
    for first in range(0, len(deck.cards), per_page):
        for back in (False, True):
            if first or back:
                sheets.next_page()
            _card_page(sheets, deck, pieces, first, back=back)
    return sheets.pdf()


def card_corner(sheets: Sheets, slot: int, *, back: bool) -> tuple[float, float]:
    """Lower left corner in mm of the card in a slot (row by row from the upper left of the front)."""
    row, column = divmod(slot, COLUMNS)
    column = COLUMNS - 1 - column if back else column
    x0 = (sheets.width - COLUMNS * CARD_MM[0]) / 2
    top = (sheets.height + ROWS * CARD_MM[1]) / 2
    return x0 + column * CARD_MM[0], top - (row + 1) * CARD_MM[1]


def _card_page(sheets: Sheets, deck: Deck, pieces: PieceSet, first: int, *, back: bool) -> None:
    for slot, card in enumerate(deck.cards[first : first + COLUMNS * ROWS]):
        x, y = card_corner(sheets, slot, back=back)
        sheets.paint(card_scene(card, deck, pieces).patches, x, y)
    _cut_marks(sheets)
    sheets.ruler(sheets.width / 2 - 50, FOOT_MM, "measure: 100 mm. Print double-sided, flip on the long edge")


def _cut_marks(sheets: Sheets) -> None:
    """Short lines outside the block of cards, at each cut."""
    x0, y0 = card_corner(sheets, COLUMNS * (ROWS - 1), back=False)
    x1, y1 = x0 + COLUMNS * CARD_MM[0], y0 + ROWS * CARD_MM[1]
    for k in range(COLUMNS + 1):
        x = x0 + k * CARD_MM[0]
        sheets.line(x, y0 - 2, x, y0 - 5, 0.2)
        sheets.line(x, y1 + 2, x, y1 + 5, 0.2)
    for k in range(ROWS + 1):
        y = y0 + k * CARD_MM[1]
        sheets.line(x0 - 2, y, x0 - 7, y, 0.2)
        sheets.line(x1 + 2, y, x1 + 7, y, 0.2)
