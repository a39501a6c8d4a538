"""PDF pages in millimetres: paper sizes, scenes as vectors, the ruler that proves the scale."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Literal

from reportlab.pdfgen.canvas import Canvas

from cards.scene import Patch, Rgb

POINT_PER_MM = 72 / 25.4
Paper = Literal["a4", "letter"]
PAPERS: dict[str, tuple[float, float]] = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
"""Portrait width and height in mm."""

RULER_MM = 100
GREY: Rgb = (150, 150, 150)
DARK: Rgb = (70, 70, 70)


class Sheets:
    """A PDF under way. All lengths are mm, the origin is the page's lower left corner."""

    def __init__(self, title: str, paper: str, *, landscape: bool = False) -> None:
        short, long = PAPERS[paper]
        self.width, self.height = (long, short) if landscape else (short, long)
        self._buffer = io.BytesIO()
        size = (self.width * POINT_PER_MM, self.height * POINT_PER_MM)
        self.canvas = Canvas(self._buffer, pagesize=size, invariant=1, pageCompression=1)
        self.canvas.setTitle(title)
        self._start()

    def _start(self) -> None:
        self.canvas.scale(POINT_PER_MM, POINT_PER_MM)

    def next_page(self) -> None:
        """Finish the page and begin another of the same size."""
        self.canvas.showPage()
        self._start()

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
            self._ink(p)
            self.canvas.drawPath(path, stroke=bool(p.line and p.line_mm), fill=bool(p.fill), fillMode=0)

    def _ink(self, p: Patch) -> None:
        if p.fill:
            self.canvas.setFillColorRGB(*(v / 255 for v in p.fill))
        if p.line and p.line_mm:
            self.canvas.setStrokeColorRGB(*(v / 255 for v in p.line))
            self.canvas.setLineWidth(p.line_mm)
            self.canvas.setLineJoin(1)

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
        self, x: float, y: float, words: str, size_mm: float = 3.0, color: Rgb = DARK, *, centred: bool = False
    ) -> None:
        """Words with their baseline at y."""
        self.canvas.setFillColorRGB(*(v / 255 for v in color))
        self.canvas.setFont("Helvetica", size_mm)
        (self.canvas.drawCentredString if centred else self.canvas.drawString)(x, y, words)

    def ruler(self, x: float, y: float, note: str = "measure: 100 mm. If not, print at 100 %, unscaled") -> None:
        """A ruler of RULER_MM from (x, y) to the right, a tick each mm, numbers each cm."""
        self.line(x, y, x + RULER_MM, y, 0.2)
        for mm in range(RULER_MM + 1):
            tall = 3.0 if mm % 10 == 0 else 2.0 if mm % 5 == 0 else 1.2
            self.line(x + mm, y, x + mm, y + tall, 0.15)
            if mm % 10 == 0:
                self.text(x + mm, y + 3.4, str(mm), 2.0, GREY, centred=True)
        self.text(x, y - 2.6, note, 2.2, GREY)
