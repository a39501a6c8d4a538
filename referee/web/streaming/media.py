"""Pictures that stay: cards as drawings, the verdict's picture, the replay around the press."""

import flask
from markupsafe import escape
from werkzeug.wrappers import Response

from cards.build import Piece
from cards.card import Card
from cards.drawing import build_svg, target_svg
from cards.pieces import PieceSet
from cards.scene import bounds
from cards.sentences import word
from referee.session.session import Session
from referee.web.i18n.texts import LANGUAGES
from referee.web.security import public

MARGIN_MM = 4.0
"""White around a target: ``cards.drawing.target_scene``'s own."""

SVG_HEADERS = {"Cache-Control": "no-cache", "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"}


def blueprint(session: Session) -> flask.Blueprint:
    """``/media/…``. Names from URLs are looked up, never joined to a path."""
    pages = flask.Blueprint("media", __name__, url_prefix="/media")

    @pages.get("/card/<card_id>.<lang>.svg")
    @public
    def card(card_id: str, lang: str) -> Response:
        face = session.deck.by_id.get(card_id)
        if face is None or lang not in LANGUAGES:
            flask.abort(404, "no such card")
        return _cached(named_svg(face, session.piece_set, lang), "image/svg+xml", SVG_HEADERS)

    @pages.get("/overlay/<int:number>.jpg")
    @public
    def overlay(number: int) -> Response:
        return _picture(session, f"overlay/{number}")

    @pages.get("/reading/<any(A, B):zone>/<int:index>.svg")
    def reading(zone: str, index: int) -> Response:
        said = session.state.verdicts.get(zone)
        others = said.alternatives if said else ()
        if index >= len(others):
            flask.abort(404, "there is no such reading")
        pieces = [Piece.from_json(row) for row in others[index].row.get("pieces", ())]
        return _cached(build_svg(pieces, session.piece_set), "image/svg+xml", SVG_HEADERS)

    @pages.get("/build/<int:number>/<any(A, B):zone>.jpg")
    @public
    def build(number: int, zone: str) -> Response:
        return _picture(session, f"build/{number}/{zone}")

    return pages


def _picture(session: Session, name: str) -> Response:
    """One of the session's pictures, or 404."""
    jpeg = session.picture(name)
    if jpeg is None:
        flask.abort(404, "there is no such picture")
    return _cached(jpeg, "image/jpeg", {"Cache-Control": "no-cache"})


def _cached(body: str | bytes, kind: str, headers: dict[str, str]) -> Response:
    """A response that a browser may keep as long as it asks whether it still holds."""
    response = flask.Response(body, mimetype=kind, headers=headers)
    response.add_etag()
    return response.make_conditional(flask.request)


def named_svg(card: Card, pieces: PieceSet, lang: str) -> str:
    """The card's picture with each piece's colour written on it, so that it needs no colour vision."""
    svg = target_svg(card, pieces)
    x0, _, _, y1 = bounds(card.picture(pieces))
    labels = [_label(word(lang, "color", p.color), p.x - x0 + MARGIN_MM, y1 - p.z + MARGIN_MM) for p in card.shown]
    return svg.replace("</svg>", "\n".join([*labels, "</svg>"]))


def _label(text: str, x: float, y: float) -> str:
    return (
        f'<text x="{x:.1f}" y="{y + 1.8:.1f}" text-anchor="middle" font-family="system-ui, sans-serif" '
        'font-size="5.2" font-weight="700" fill="#fff" stroke="#1b1d21" stroke-width="1.1" '
        f'stroke-linejoin="round" paint-order="stroke">{escape(text)}</text>'
    )
