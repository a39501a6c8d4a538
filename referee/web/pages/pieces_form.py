"""The piece-set form: rows for the page, pictures of which length is which, and the way back to JSON."""

from collections.abc import Mapping
from typing import Any, get_args

from cards.elevation import piece_patches
from cards.pieces import Kind, PieceSet, Pose, Shape
from cards.scene import Patch, PatchDrawing, Rgb, patch, placed, to_svg
from referee.web.i18n.texts import translate

KINDS: tuple[str, ...] = get_args(Kind)
LENGTHS = ("width", "height", "depth", "opening")
SAMPLES: Mapping[Kind, tuple[int, int, int]] = {
    "box": (60, 30, 0),
    "cylinder": (34, 50, 0),
    "triangle": (60, 46, 0),
    "bridge": (70, 40, 34),
    "crescent": (70, 35, 30),
    "half_disc": (70, 35, 0),
}
"""Width, height, opening in mm of the shape shown for each kind."""

WOOD: Rgb = (214, 178, 120)
INK: Rgb = (40, 44, 52)
SPARE_ROWS = 2


def kind_svg(kind: str, lang: str) -> str | None:
    """A picture of the kind with its lengths named in ``lang``; None for a kind there is not."""
    known = next((k for k in SAMPLES if k == kind), None)
    if known is None:
        return None
    wide, high, opening = SAMPLES[known]
    shape = Shape(known, known, wide, high, 20, opening)
    x0, y0 = 34.0, 28.0
    patches = placed(piece_patches(shape, Pose(), WOOD), 1.0, x0 + wide / 2, y0 + high / 2)
    patches += _line(x0, y0 - 8, x0 + wide, y0 - 8) + _line(x0 - 8, y0, x0 - 8, y0 + high)
    labels = [("width", x0 + wide / 2, y0 - 17, "middle"), ("height", x0 - 11, y0 + high / 2, "end")]
    if opening:
        left = x0 + (wide - opening) / 2
        patches += _line(left, y0 + 2, left + opening, y0 + 2)
        labels.append(("opening", x0 + wide / 2, y0 + 4, "middle"))
    size = (x0 + wide + 16, y0 + high + 10)
    svg = to_svg(PatchDrawing(*size, patches), kind)
    words = [
        _label(translate(lang, f"cards.sets.{key}").lower(), x, size[1] - y, anchor) for key, x, y, anchor in labels
    ]
    return svg.replace("</svg>", "\n".join([*words, "</svg>"]))


def _line(x0: float, y0: float, x1: float, y1: float) -> tuple[Patch, ...]:
    """A measure with a tick at either end."""
    tick = (0.0, 3.0) if y0 == y1 else (3.0, 0.0)
    ends = [
        patch([(x - tick[0], y - tick[1]), (x + tick[0], y + tick[1])], None, INK, 0.6) for x, y in ((x0, y0), (x1, y1))
    ]
    return (patch([(x0, y0), (x1, y1)], None, INK, 0.6), *ends)


def _label(text: str, x: float, y: float, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="system-ui, sans-serif" '
        f'font-size="7" fill="#14181f">{text}</text>'
    )


def form_rows(pieces: PieceSet) -> dict[str, Any]:
    """What the form shows: the set's rows and some empty ones."""
    blank = {"name": "", "kind": "box", "width": "", "height": "", "depth": "", "opening": ""}
    shapes = [
        {"name": n, "kind": s.kind, **{k: f"{getattr(s, k):g}" for k in LENGTHS}} for n, s in pieces.shapes.items()
    ]
    return {
        "kinds": KINDS,
        "shapes": [*shapes, *[blank] * SPARE_ROWS],
        "colors": [*pieces.colors.items(), *[("", "#808080")] * SPARE_ROWS],
        "pieces": [*pieces.pieces, *[("", "", "")] * SPARE_ROWS],
    }


def set_of_form(form: Mapping[str, str]) -> dict[str, Any]:
    """The contract's ``pieces.json`` from the form's fields; rows without a name are left out."""
    shapes, colors, pieces = {}, {}, []
    for k in _numbers(form, "shape"):
        row = {key: _number(form.get(f"{key}-{k}", "")) for key in LENGTHS}
        shapes[form[f"shape-{k}"].strip()] = {
            "kind": form.get(f"kind-{k}", "box"),
            **{key: v for key, v in row.items() if v is not None},
        }
    for k in _numbers(form, "color"):
        colors[form[f"color-{k}"].strip()] = form.get(f"paint-{k}", "")
    for k in _numbers(form, "of"):
        pieces.append(
            [form[f"of-{k}"].strip(), form.get(f"in-{k}", "").strip(), _number(form.get(f"count-{k}", "")) or 0]
        )
    return {"name": form.get("name", "").strip(), "shapes": shapes, "colors": colors, "pieces": pieces}


def _numbers(form: Mapping[str, str], field: str) -> list[str]:
    """Suffixes of the filled-in fields ``<field>-<k>``, in the form's order."""
    head = f"{field}-"
    return [key.removeprefix(head) for key in form if key.startswith(head) and form[key].strip()]


def _number(text: str) -> float | str | None:
    """The number written; None for nothing; the text itself when it is none, for the check to refuse."""
    try:
        return float(text.replace(",", ".")) if text.strip() else None
    except ValueError:
        return text
