"""The printed sheets as PDF bytes: mats, colour sheet, ChArUco board, cards. True to size, with scenes as vectors.

Every sheet has a ruler that proves the scale. Geometry: CONTRACT.md, "The mat" (``calibration.mat``), ``cards.drawing``
and ``calibration.lens``.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, product
from typing import TypeVar

import numpy as np

from calibration import lens, markers, mat
from cards.deck import Deck
from cards.drawing import CARD_MM, card_scene, marker_patches
from cards.pieces import PieceSet, Pose, Shape
from cards.scene import BLACK, Patch, Rgb, box, patch
from cards.sentences import say, sentence, word

POINT_PER_MM = 72 / 25.4
PAPERS: dict[str, tuple[float, float]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Portrait width and height in mm."""

RULER_MM = 100
GREY: Rgb = (150, 150, 150)
DARK_GREY: Rgb = (70, 70, 70)


Item = TypeVar("Item")


class Sheets:
    """A PDF under way. All lengths are mm, the origin is the page's lower left corner."""

    def __init__(self, title: str, paper: str, *, landscape: bool = False, lang: str = "en") -> None:
        from reportlab.pdfgen.canvas import Canvas  # what only looks at a game's cards prints nothing

        short, long = PAPERS[paper]
        self.width, self.height = (long, short) if landscape else (short, long)
        self.lang, self._buffer = lang, io.BytesIO()
        size = (self.width * POINT_PER_MM, self.height * POINT_PER_MM)
        self.canvas = Canvas(self._buffer, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(title)
        self._start()

    def _start(self) -> None:
        self.canvas.scale(POINT_PER_MM, POINT_PER_MM)

    def each(self, items: Iterable[Item]) -> Iterator[Item]:
        """The items, each on a page of its own."""
        for n, item in enumerate(items):
            if n:
                self.canvas.showPage()
                self._start()
            yield item

    def slot(self, n: int, grid: tuple[int, int], size: tuple[float, float]) -> tuple[float, float]:
        """Lower left corner of slot ``n`` (row by row from the upper left) of a centred ``grid`` of columns and rows of
        cards of that ``size``."""
        row, column = divmod(n, grid[0])
        left, top = (self.width - grid[0] * size[0]) / 2, (self.height + grid[1] * size[1]) / 2
        return left + column * size[0], top - (row + 1) * size[1]

    def pdf(self) -> bytes:
        """The finished document."""
        self.canvas.showPage()
        self.canvas.save()
        return self._buffer.getvalue()

    def paint(self, patches: Iterable[Patch], dx: float = 0.0, dy: float = 0.0) -> None:
        """A scene's polygons, moved."""
        for p in patches:
            path = self.canvas.beginPath()
            for contour in p.contours:
                path.moveTo(contour[0][0] + dx, contour[0][1] + dy)
                for x, y in contour[1:]:
                    path.lineTo(x + dx, y + dy)
                path.close()
            if p.fill:
                self.canvas.setFillColorRGB(*(v / 255 for v in p.fill))
            if p.line and p.line_mm:
                self.canvas.setStrokeColorRGB(*(v / 255 for v in p.line))
                self.canvas.setLineWidth(p.line_mm)
                self.canvas.setLineJoin(1)
            self.canvas.drawPath(path, stroke=bool(p.line and p.line_mm), fill=bool(p.fill), fillMode=0)

    def line(self, x0: float, y0: float, x1: float, y1: float, width: float = 0.3, color: Rgb = GREY) -> None:
        """A straight line."""
        self.canvas.setStrokeColorRGB(*(v / 255 for v in color))
        self.canvas.setLineWidth(width)
        self.canvas.line(x0, y0, x1, y1)

    def frame(self, x: float, y: float, width: float, height: float, line: float = 0.3, color: Rgb = GREY) -> None:
        """An empty rectangle, its line centred on the given edge."""
        self.canvas.setStrokeColorRGB(*(v / 255 for v in color))
        self.canvas.setLineWidth(line)
        self.canvas.rect(x, y, width, height)

    def text(
        self, x: float, y: float, words: str, size_mm: float = 3.0, color: Rgb = DARK_GREY, *, centred: bool = False
    ) -> None:
        """Words with their baseline at y."""
        self.canvas.setFillColorRGB(*(v / 255 for v in color))
        self.canvas.setFont("Helvetica", size_mm)
        (self.canvas.drawCentredString if centred else self.canvas.drawString)(x, y, words)

    def ruler(self, x: float, y: float, note: str = "print_ruler") -> None:
        """A ruler of RULER_MM from (x, y) to the right, a tick each mm, numbers each cm, and what the note tells."""
        self.line(x, y, x + RULER_MM, y, 0.2)
        for mm in range(RULER_MM + 1):
            tall = 3.0 if mm % 10 == 0 else 2.0 if mm % 5 == 0 else 1.2
            self.line(x + mm, y, x + mm, y + tall, 0.15)
            if mm % 10 == 0:
                self.text(x + mm, y + 3.4, str(mm), 2.0, GREY, centred=True)
        self.text(x, y - 2.6, say(self.lang, sentence(note)), 2.2)


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


TONGS_X_MM, TONGS_Y_MM = 60.0, -64.0
"""The mark behind which the tongs rest until the go: half its length, and where it lies in the mat's frame."""

WORDS_Y_MM, WORDS_MM = (-70.0, -84.0, 95.0, 70.0, 65.0, 60.0), (3.4, 4.0, 4.0, 3.4, 3.4, 3.4)
"""Where a mat's words stand between its markers, in its frame, and their size: mark, edge, title, three rules."""


def draw_markers(sheets: Sheets, zone: str, x0: float, y0: float) -> None:
    """The four markers of a mat with its origin at (x0, y0) on the page."""
    for k, (x, y) in enumerate(markers.MARKER_CENTRES):
        sheets.paint(marker_patches(markers.marker_id(zone, k), x0 + x, y0 + y, markers.MARKER_MM, markers.DICTIONARY))


def mats_pdf(zones: Sequence[str], paper: str = "a4", words: Sequence[str] = (), lang: str = "en") -> bytes:
    """One mat per zone. On A4 a mat is one sheet; on Letter, which is too short, two to be joined.

    ``words`` are for the players: what the tongs' mark is for, whose edge it is, then a title and the rules in short.
    """
    sheets = Sheets("mats " + "".join(zones), paper, landscape=paper == "a4", lang=lang)
    if paper == "a4":
        for zone in sheets.each(zones):
            _draw_mat(sheets, zone, sheets.width / 2, sheets.height / 2, words)
        return sheets.pdf()
    half = mat.SHEET[0] / 2
    for zone, (x0, hidden) in sheets.each(product(zones, ((half + 10, half + 10), (sheets.width - half - 10, 0.0)))):
        _half(sheets, zone, x0, hidden, words)
    return sheets.pdf()


def _half(sheets: Sheets, zone: str, x0: float, hidden: float, words: Sequence[str]) -> None:
    """One half of a mat whose middle lies at ``x0``, to be cut there and taped to the other, edge to edge.

    Paper right of ``hidden`` (0: left of ``x0``) stays blank.
    """
    canvas, foot = sheets.canvas, (sheets.height - mat.SHEET[1]) / 2
    canvas.saveState()
    area = canvas.beginPath()
    area.rect(0 if hidden else x0, 0, x0 if hidden else sheets.width - x0, sheets.height)
    canvas.clipPath(area, stroke=0, fill=0)
    _draw_mat(sheets, zone, x0, sheets.height / 2, words, ruler=False)
    canvas.restoreState()
    for y in (UNPRINTED_MM, sheets.height - foot):
        sheets.line(x0, y, x0, y + foot - UNPRINTED_MM - 2, 0.15)
    left, what = 12.0 if hidden else x0 + 6, sentence("print_left_half" if hidden else "print_right_half", zone=zone)
    sheets.text(left, 12, say(sheets.lang, what), 3.0)
    sheets.ruler(left, 20)


def _draw_mat(
    sheets: Sheets, zone: str, x0: float, y0: float, words: Sequence[str] = (), *, ruler: bool = True
) -> None:
    """The mat with its origin at (x0, y0) on the page."""
    draw_markers(sheets, zone, x0, y0)
    half_x, half_y = mat.FIELD
    sheets.frame(x0 - half_x, y0 - half_y, 2 * half_x, 2 * half_y, FIELD_LINE_MM)
    sheets.line(x0 - half_x, y0, x0 + half_x, y0, FIELD_LINE_MM)
    # The band that organ pipes stand in, where it reaches beyond the field: dashed (CONTRACT.md, "The mat").
    sheets.canvas.setDash(*BAND_DASH_MM)
    for side in (-1, 1):
        for y in (-half_y, half_y):
            sheets.line(x0 + side * half_x, y0 + y, x0 + side * BAND_HALF_MM, y0 + y, FIELD_LINE_MM)
        sheets.line(x0 + side * BAND_HALF_MM, y0 - half_y, x0 + side * BAND_HALF_MM, y0 + half_y, FIELD_LINE_MM)
    sheets.canvas.setDash()
    sheets.text(x0, y0 + half_y + 30, f"{zone}", 12, (215, 215, 215), centred=True)
    sheets.line(x0 - TONGS_X_MM, y0 + TONGS_Y_MM, x0 + TONGS_X_MM, y0 + TONGS_Y_MM, 1.0)
    for y, size, text in zip(WORDS_Y_MM, WORDS_MM, words, strict=False):
        sheets.text(x0, y0 + y, text, size, centred=True)
    if ruler:
        sheets.ruler(x0 - 50, y0 + RULER_Y_MM)


Standing = tuple[Shape, str, Pose]
"""A piece's shape, colour and pose."""


def colors_pdf(pieces: PieceSet, paper: str = "a4", lang: str = "en") -> bytes:
    """Where to stand every piece for the colour picture, at true size, and the set's colours."""
    sheets = Sheets(f"colours of {pieces.name}", paper, landscape=True, lang=lang)
    x0, y0 = sheets.width / 2, sheets.height / 2 + 8
    half_x, half_y = mat.FIELD
    sheets.text(x0, y0 + half_y + 14, say(lang, sentence("print_colours")), 4, centred=True)
    sheets.frame(x0 - half_x, y0 - half_y, 2 * half_x, 2 * half_y)
    sheets.line(x0 - half_x, y0, x0 + half_x, y0)
    for shape, color, pose, x, y in set_apart(pieces):
        _footprint(sheets, shape, pose, pieces.rgb(color), x0 + x, y0 + y)
        sheets.text(x0 + x, y0 + y - 1, word(lang, "shape", shape.name), 2.6, (255, 255, 255), centred=True)
    wide = min(40.0, (sheets.width - 30) / len(pieces.colors))
    for n, name in enumerate(pieces.colors):
        left = x0 + (n - len(pieces.colors) / 2) * wide
        sheets.paint([box(left, 28, wide - 3, 18, pieces.rgb(name))])
        sheets.text(left, 24, word(lang, "color", name), 2.8)
    sheets.ruler(sheets.width / 2 - 50, 10)
    return sheets.pdf()


def set_apart(pieces: PieceSet) -> list[tuple[Shape, str, Pose, float, float]]:
    """(shape, colour, pose, x, y): every piece once, standing in two rows of the field, with gaps.

    The widest are dealt first, each to the row with more room left.
    """
    rows: list[list[Standing]] = [[], []]
    each = [(pieces.shapes[s], c) for (s, c), n in sorted(pieces.inventory.items()) for _ in range(n)]
    stood = [(shape, color, _slim(shape)) for shape, color in each]
    for row in sorted(stood, key=lambda r: -r[0].size(r[2])[0]):
        min(rows, key=lambda placed: sum(shape.size(pose)[0] for shape, _, pose in placed)).append(row)
    return [place for row, side in zip(rows, (-1, 1), strict=True) for place in _spread(row, side * mat.FIELD[1] / 2)]


def _slim(shape: Shape) -> Pose:
    """The narrowest safe pose for the player that leaves the other row its room."""
    safe = [Pose(0)] if shape.kind in ("cylinder", "half_disc") else [Pose(0), Pose(0, "side")]
    if shape.kind in ("box", "bridge") and shape.width > shape.height:
        safe.append(Pose(90))
    return min(safe, key=lambda pose: (shape.size(pose)[1] > mat.FIELD[1], shape.size(pose)[:2]))


def _spread(row: list[Standing], y: float) -> list[tuple[Shape, str, Pose, float, float]]:
    widths = [shape.size(pose)[0] for shape, _, pose in row]
    gap = (2 * mat.FIELD[0] - sum(widths)) / (len(row) + 1)
    lefts = accumulate((gap + width for width in widths), initial=gap - mat.FIELD[0])
    return [(*piece, left + width / 2, y) for piece, left, width in zip(row, lefts, widths, strict=False)]


def _footprint(sheets: Sheets, shape: Shape, pose: Pose, color: Rgb, x: float, y: float) -> None:
    sx, sy, _ = shape.size(pose)
    if shape.kind == "cylinder" and shape.axis(pose) == "z":
        t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        sheets.paint([patch(np.stack([np.cos(t), np.sin(t)], 1) * sx / 2 + (x, y), color)])
    else:
        sheets.paint([box(x - sx / 2, y - sy / 2, sx, sy, color)])


def charuco_pdf(paper: str = "a4", lang: str = "en") -> bytes:
    """The ChArUco board on one landscape sheet."""
    sheets = Sheets("ChArUco board", paper, landscape=True, lang=lang)
    wide, high = lens.COLUMNS * lens.SQUARE_MM, lens.ROWS * lens.SQUARE_MM
    x0, top = (sheets.width - wide) / 2, (sheets.height + high) / 2
    s = lens.SQUARE_MM
    black = ((c, r) for r in range(lens.ROWS) for c in range(lens.COLUMNS) if (c + r) % 2 == 0)  # where no marker lies
    sheets.paint([box(x0 + c * s, top - (r + 1) * s, s, s, BLACK) for c, r in black])
    for marker, x, down in lens.board_markers():
        sheets.paint(marker_patches(marker, x0 + x, top - down, lens.MARKER_MM, lens.DICTIONARY))
    sheets.ruler(sheets.width / 2 - 50, FOOT_MM, "print_ruler_board")
    return sheets.pdf()


CARDS_PER_PAGE = (2, 2)
"""Columns and rows of cards on a page."""


def cards_pdf(deck: Deck, pieces: PieceSet, paper: str = "a4", lang: str = "en") -> bytes:
    """Fronts and backs on facing pages for double-sided print (flip on the long edge), with cut marks.

    Both faces of a card are alike, so a page of backs is its fronts with the columns exchanged.
    """
    sheets = Sheets(f"cards of {deck.name}", paper, lang=lang)
    per_page = CARDS_PER_PAGE[0] * CARDS_PER_PAGE[1]
    for first, back in sheets.each(product(range(0, len(deck.cards), per_page), (False, True))):
        for n, card in enumerate(deck.cards[first : first + per_page]):
            slot = n - 2 * (n % CARDS_PER_PAGE[0]) + CARDS_PER_PAGE[0] - 1 if back else n
            sheets.paint(card_scene(card, deck, pieces).patches, *sheets.slot(slot, CARDS_PER_PAGE, CARD_MM))
        _cut_marks(sheets)
        sheets.ruler(sheets.width / 2 - 50, FOOT_MM, "print_ruler_cards")
    return sheets.pdf()


def _cut_marks(sheets: Sheets) -> None:
    """Short lines outside the block of cards, at each cut."""
    x0, y0 = sheets.slot(CARDS_PER_PAGE[0] * (CARDS_PER_PAGE[1] - 1), CARDS_PER_PAGE, CARD_MM)
    x1, y1 = x0 + CARDS_PER_PAGE[0] * CARD_MM[0], y0 + CARDS_PER_PAGE[1] * CARD_MM[1]
    for x in (x0 + k * CARD_MM[0] for k in range(CARDS_PER_PAGE[0] + 1)):
        sheets.line(x, y0 - 2, x, y0 - 5, 0.2)
        sheets.line(x, y1 + 2, x, y1 + 5, 0.2)
    for y in (y0 + k * CARD_MM[1] for k in range(CARDS_PER_PAGE[1] + 1)):
        sheets.line(x0 - 2, y, x0 - 7, y, 0.2)
        sheets.line(x1 + 2, y, x1 + 7, y, 0.2)
