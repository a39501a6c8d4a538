"""Words written into pictures, in any language: OpenCV's own letters have no umlauts."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files

import numpy as np
from PIL import Image, ImageDraw, ImageFont

Colour = tuple[int, int, int]
"""Blue, green, red, 0..255 each."""

PLAIN_FONT, BOLD_FONT = "Vera.ttf", "VeraBd.ttf"
"""Bitstream Vera, as reportlab brings it along."""

LEAST_PX, RIM_SHARE = 8, 6
"""The least size of letters, and what part of it a rim is wide."""


@dataclass(frozen=True)
class Letters:
    """How a text is written: its size, its colour, and the colour of a ``rim`` round the letters, if there is one."""

    size_px: int
    colour: Colour = (0, 0, 0)
    bold: bool = False
    rim: Colour | None = None

    @property
    def font(self) -> ImageFont.FreeTypeFont:
        """The letters themselves."""
        return _font(max(LEAST_PX, self.size_px), BOLD_FONT if self.bold else PLAIN_FONT)

    @property
    def rim_px(self) -> int:
        """How wide the rim is."""
        return max(1, self.size_px // RIM_SHARE) if self.rim else 0


@cache
def _font(size_px: int, name: str) -> ImageFont.FreeTypeFont:
    with as_file(files("reportlab") / "fonts" / name) as path:
        return ImageFont.truetype(str(path), size_px)


def width_px(text: str, letters: Letters) -> int:
    """How wide a text comes out."""
    return round(letters.font.getlength(text))


def wrapped(text: str, letters: Letters, most_px: float) -> list[str]:
    """The text in lines no wider than that; a single word that is wider stands alone."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_px(longer, letters) <= most_px:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def write(picture: np.ndarray, text: str, foot: tuple[int, int], letters: Letters) -> None:
    """Write into ``picture`` (h, w, 3) uint8 BGR with the line's foot at (x, y); what stands beyond is cut off."""
    font, rim_px = letters.font, letters.rim_px
    left, top, right, bottom = font.getbbox(text, anchor="ls", stroke_width=rim_px)
    box = np.array([foot[0] + left, foot[1] + top, foot[0] + right, foot[1] + bottom]).round().astype(int)
    x0, y0, x1, y1 = np.clip(box, 0, np.array([picture.shape[1], picture.shape[0]] * 2)).tolist()
    if x1 <= x0 or y1 <= y0:
        return
    patch = Image.fromarray(np.ascontiguousarray(picture[y0:y1, x0:x1]))
    at = (foot[0] - x0, foot[1] - y0)
    ImageDraw.Draw(patch).text(
        at, text, letters.colour, font, "ls", stroke_width=rim_px, stroke_fill=letters.rim or letters.colour
    )
    picture[y0:y1, x0:x1] = np.asarray(patch)
