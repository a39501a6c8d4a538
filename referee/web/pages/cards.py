"""``/cards``: an editor for layouts, decks to keep, check, print and play, and a form for piece sets.

The page's script only moves pieces about; where they come to rest, whether they stand and what the
card is worth is answered here, by the same functions that ``referee cards check`` uses.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, wraps
from pathlib import Path
from typing import Any, get_args

import flask

from calibration.print_sheets import PAPERS, cards_pdf
from cards.build import Piece
from cards.card import Card
from cards.check import check_card
from cards.deck import Deck, builtin_deck, builtin_deck_names, load_deck
from cards.difficulty import difficulty
from cards.drawing import card_svg
from cards.elevation import elevation, piece_patches
from cards.errors import BadCard, RefereeError
from cards.kinds import parse_card
from cards.kinds.layout import LayoutCard, make_layouts
from cards.law import worded_piece
from cards.pieces import Kind, PieceSet, Pose, Shape, load_piece_set, parse_piece_set
from cards.scene import Patch, PatchDrawing, Rgb, patch, placed, to_svg
from cards.sentences import sentence, word
from cards.stability import MISPLACEMENT_MM, check_stability, settle
from referee.recording.folder import write_json
from referee.session.session import Session
from referee.web.i18n.texts import translate
from referee.web.pages.login import fault_text, json_object
from referee.web.streaming.media import SVG_HEADERS

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
MOST_PIECES = 20


class Shelf:
    """Decks and piece sets as files of the data folder; names are checked, never joined unseen."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.decks, self.sets = (Path(session.data_dir) / kind for kind in ("decks", "piece_sets"))

    def names(self) -> list[str]:
        """The running deck first, then those that ship with the program, then those kept."""
        kept = sorted(p.stem for p in self.decks.glob("*.json"))
        return list(dict.fromkeys([self.session.deck.name, *builtin_deck_names(), *kept]))

    def deck(self, name: str) -> Deck:
        """A kept deck, the running one or one that ships. Raises BadCard for a name that is none of them."""
        if NAME.fullmatch(name) and (path := self.decks / f"{name}.json").exists():
            return load_deck(path)
        if name == self.session.deck.name:
            return self.session.deck
        if name in builtin_deck_names():
            return builtin_deck(name)
        raise BadCard(sentence("no_deck", name=name))

    def keep(self, made: Deck | PieceSet) -> None:
        """Write the deck or the piece set in one step. Raises BadCard for a name that is none."""
        path = (self.decks if isinstance(made, Deck) else self.sets) / f"{_checked(made.name)}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, made.to_json())

    def piece_set(self, name: str) -> PieceSet:
        """A kept piece set, or the running one."""
        if NAME.fullmatch(name) and (path := self.sets / f"{name}.json").exists():
            return load_piece_set(path)
        return self.session.piece_set


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise BadCard(sentence("name", name=name))
    return name


def set_for_script(pieces: PieceSet) -> dict[str, Any]:
    """Shapes with the outline (x, z) mm of each pose, colours and counts: all that drawing needs."""

    def pose(shape: str, p: Pose) -> dict[str, Any]:
        return {
            "rotation": p.rotation,
            "facing": p.facing,
            "outline": elevation(pieces.shapes[shape], p).round(2).tolist(),
        }

    shapes = {name: [pose(name, p) for p in s.poses() if p.facing != "top"] for name, s in pieces.shapes.items()}
    rows = [{"shape": s, "color": c, "count": n} for (s, c), n in sorted(pieces.inventory.items())]
    return {"shapes": shapes, "colors": pieces.colors, "pieces": rows}


def look(pieces: PieceSet, rows: object, *, thorough: bool) -> dict[str, Any]:
    """Pieces let down, and what is known of them: faults, tilt margin, difficulty, suggested value.

    ``thorough`` also misplaces every piece, which takes some tenths of a second. Raises BadCard.
    """
    card = _layout(pieces, rows, "new", 1)
    settled = settled_in_order(pieces, card.pieces)
    found = check_stability(pieces, settled, MISPLACEMENT_MM if thorough else None)
    measured = difficulty(pieces, settled, found) if found.touches else None
    faults = [*LayoutCard("new", 1, settled).inventory_problems(pieces), *found.faults]
    return {
        "pieces": [{"x": p.x, "z": p.z} for p in settled],
        "faults": faults,
        "weakest": list(found.weakest),
        "tilt_deg": round(found.tilt_deg, 1),
        "difficulty": round(measured.total, 1) if measured else None,
        "value": measured.value if measured and not faults else None,
    }


def settled_in_order(pieces: PieceSet, placed: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """The pieces let down, to the tenth of a millimetre that a deck file keeps."""
    return tuple(p.at(z=round(p.z, 1)) for p in settle(pieces, placed)) if placed else ()


def _layout(pieces: PieceSet, rows: object, card_id: str, value: object) -> LayoutCard:
    if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_PIECES:
        raise BadCard(sentence("layout_size", n=MOST_PIECES))
    card = parse_card({"id": card_id, "kind": "layout", "value": value, "pieces": rows})
    assert isinstance(card, LayoutCard), "its kind says so"
    for p in card.pieces:
        if p.shape not in pieces.shapes or p.color not in pieces.colors:
            raise BadCard(sentence("set_lacks", name=pieces.name, piece=worded_piece(p)))
        if not abs(p.x) < 500 or not abs(p.z) < 2000:
            raise BadCard(sentence("off_table", piece=worded_piece(p)))
    return card


def with_card(deck: Deck | None, name: str, card: LayoutCard) -> Deck:
    """The deck with the card added, or put in place of the one of its id."""
    if deck is None:
        return Deck(name, (card,))
    if card.id in deck.by_id:
        return replace(deck, name=name, cards=tuple(card if c.id == card.id else c for c in deck.cards))
    return replace(deck, name=name, cards=(*deck.cards, card))


def refuse_unfair(deck: Deck, pieces: PieceSet) -> None:
    """BadCard with the first fault that ``referee cards check`` would report; the program's own cards are proved."""
    for card in deck.cards:
        if card in _proved_cards() and not card.inventory_problems(pieces):
            continue
        for fault in check_card(card, pieces).faults:
            raise BadCard(sentence("of_card", card=card.id, rest=fault))


@cache
def _proved_cards() -> frozenset[Card]:
    return frozenset(card for name in builtin_deck_names() for card in builtin_deck(name).cards)


def _answered(view: Callable) -> Callable:
    """A fault of the asker becomes ``{"error": …}`` with status 400."""

    @wraps(view)
    def answer(*args: Any, **named: Any) -> Any:
        try:
            return view(*args, **named)
        except RefereeError as error:
            return flask.jsonify(error=fault_text(error.wording)), 400

    return answer


def _asked() -> Mapping[str, Any]:
    data = json_object()
    if data is None:
        raise BadCard(sentence("no_object"))
    return data


def blueprint(session: Session) -> flask.Blueprint:
    """All pages under ``/cards``; every one is for the referee."""
    pages = flask.Blueprint("cards", __name__, url_prefix="/cards")
    shelf = Shelf(session)
    _editor(pages, session, shelf)
    _saving(pages, session, shelf)
    _decks(pages, session, shelf)
    _sets(pages, session, shelf)
    return pages


def _editor(pages: flask.Blueprint, session: Session, shelf: Shelf) -> None:
    @pages.get("")
    def editor() -> str:
        return flask.render_template(
            "cards_editor.html",
            decks=shelf.names(),
            running=session.deck.name,
            piece_set=session.piece_set,
            papers=list(PAPERS),
        )

    @pages.get("/set.json")
    def piece_set() -> flask.Response:
        pieces = session.piece_set
        lang = flask.g.lang
        names = {c: word(lang, "color", c) for c in pieces.colors} | {s: word(lang, "shape", s) for s in pieces.shapes}
        return flask.jsonify(set_for_script(pieces) | {"names": names})

    @pages.post("/look")
    @_answered
    def looked() -> flask.Response:
        asked = _asked()
        thorough = bool(asked.get("thorough"))
        found = look(session.piece_set, asked.get("pieces"), thorough=thorough)
        return flask.jsonify(found | {"faults": list(map(fault_text, found["faults"]))})

    @pages.post("/propose")
    @_answered
    def propose() -> flask.Response:
        asked = _asked()
        value, seed = asked.get("value"), asked.get("seed")
        if value not in (1, 2, 3, 4) or not isinstance(seed, int):
            raise BadCard(sentence("value_seed"))
        return flask.jsonify(pieces=make_layouts(session.piece_set, value, 1, seed)[0].to_json()["pieces"])


def _saving(pages: flask.Blueprint, session: Session, shelf: Shelf) -> None:
    @pages.post("/save")
    @_answered
    def save() -> Any:
        asked = _asked()
        name, value = _checked(str(asked.get("deck", ""))), asked.get("value")
        card = _layout(session.piece_set, asked.get("pieces"), _checked(str(asked.get("id", ""))), value)
        card = LayoutCard(card.id, card.value, settled_in_order(session.piece_set, card.pieces))
        found = check_card(card, session.piece_set)
        if found.faults:
            raise BadCard(sentence("not_saved", rest=list(found.faults)))
        deck = shelf.deck(name) if name in shelf.names() else None
        if name in builtin_deck_names():
            raise BadCard(sentence("shipped_deck", name=name))
        old = deck.by_id.get(card.id) if deck else None
        if old is not None and old.kind != card.kind:
            raise BadCard(sentence("no_layout", card=card.id, deck=name))
        if old is not None and asked.get("replace") is not True:
            return flask.jsonify(error=fault_text(sentence("card_exists", card=card.id, deck=name)), replaces=True), 409
        shelf.keep(deck := with_card(deck, name, card))
        return flask.jsonify(deck=name, cards=[c.id for c in deck.cards])


def _decks(pages: flask.Blueprint, session: Session, shelf: Shelf) -> None:
    @pages.get("/deck/<name>.json")
    @_answered
    def deck(name: str) -> flask.Response:
        return flask.jsonify(shelf.deck(name).to_json())

    @pages.get("/deck/<name>/<card_id>.svg")
    @_answered
    def face(name: str, card_id: str) -> flask.Response:
        found = shelf.deck(name)
        svg = card_svg(found.card(card_id), found, session.piece_set)
        return flask.Response(svg, mimetype="image/svg+xml", headers=SVG_HEADERS)

    @pages.get("/deck/<name>/check.json")
    @_answered
    def check(name: str) -> flask.Response:
        rows = [check_card(c, session.piece_set) for c in shelf.deck(name).cards if c.shown]
        told = [(r.card, [fault_text(fault) for fault in r.faults], r.worth) for r in rows]
        return flask.jsonify([{"id": c.id, "faults": f, "value": c.value, "worth": worth} for c, f, worth in told])

    @pages.get("/deck/<name>/cards.pdf")
    @_answered
    def sheet(name: str) -> flask.Response:
        paper = flask.request.args.get("paper", "a4")
        if paper not in PAPERS:
            raise BadCard(sentence("paper", known=list(PAPERS)))
        pdf = cards_pdf(shelf.deck(name), session.piece_set, paper)
        return flask.Response(
            pdf,
            mimetype="application/pdf",
            headers={"Content-Disposition": f'attachment; filename="{_checked(name)}.pdf"'},
        )

    @pages.post("/play")
    @_answered
    def play() -> flask.Response:
        chosen = shelf.deck(str(_asked().get("deck", "")))
        refuse_unfair(chosen, session.piece_set)
        if session.state.match_id and not session.state.winner and session.state.phase != "finished":
            raise BadCard(sentence("running"))
        session.deck = chosen
        return flask.jsonify(deck=chosen.name, cards=len(chosen.cards))


def _sets(pages: flask.Blueprint, session: Session, shelf: Shelf) -> None:
    def page(pieces: PieceSet, said: str = "", fault: str = "") -> str:
        return flask.render_template(
            "cards_pieces.html", rows=form_rows(pieces), name=pieces.name, said=said, fault=fault
        )

    @pages.get("/pieces")
    def pieces() -> str:
        return page(shelf.piece_set(flask.request.args.get("name", "")))

    @pages.get("/pieces/<name>.json")
    def pieces_file(name: str) -> flask.Response:
        return flask.jsonify(shelf.piece_set(name).to_json())

    @pages.get("/kind/<kind>.svg")
    def kind(kind: str) -> flask.Response:
        svg = kind_svg(kind, flask.g.lang)
        if svg is None:
            flask.abort(404, "no such kind of piece")
        return flask.Response(svg, mimetype="image/svg+xml", headers=SVG_HEADERS)

    @pages.post("/pieces")
    def keep() -> Any:
        try:
            made = parse_piece_set(set_of_form(flask.request.form), "the form")
            shelf.keep(made)
        except RefereeError as error:
            return page(session.piece_set, fault=fault_text(error.wording)), 400
        return page(made, said=made.name)


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
