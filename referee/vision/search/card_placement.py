"""What a layout card shows, placed where the evidence likes it best: starts of the search, and rivals of its finds."""

import numpy as np

from cards.card import Card
from referee.kernels import local_search
from referee.vision.measured import measured
from referee.vision.search.beam_search import TURNS_DEG
from referee.vision.search.canvas import FINE, Canvas, Reading, fit_readings
from referee.vision.search.rules import BRANCH, STEP_X, STEP_Y
from referee.vision.search.stances import Catalogue

PLACED_MM = measured((90.0, 40.0), "mm in x and y", "by hand: how far from the field's middle a whole build is tried")


def from_card(canvas: Canvas, card: Card | None) -> list[Reading]:
    """The card's build at the places where it fits best, and fitted there; none if it is no layout or cannot stand."""
    rows = card_rows(canvas.cat, card) if card and card.shown else None
    if rows is None:
        return []
    placed = []
    for _, x, y, turn in _places(canvas, rows):
        moved = rows.copy()
        moved[:, 1] += x
        moved[:, 2] += y
        placed.append(Reading(float(turn), moved, 0.0, "card"))
    return fit_readings(canvas, placed, FINE)


def card_rows(cat: Catalogue, card: Card) -> np.ndarray | None:
    """The card's pieces as rows (n, 5), lowest first, centred in x; None if a pose cannot rest."""
    rows = []
    for p in sorted(card.shown, key=lambda p: p.z):
        stance = cat.index.get((p.shape, p.color, cat.piece_set.shapes[p.shape].canonical(p.pose)))
        if stance is None:
            return None
        rows.append((stance, p.x, 0.0, p.z, 0.0))
    out = np.array(rows)
    out[:, 1] -= (out[:, 1].min() + out[:, 1].max()) / 2
    return out


def _places(canvas: Canvas, rows: np.ndarray) -> np.ndarray:
    """The three best places of a whole build: rows (score, x, y, turn) in the frame turned by ``turn``."""

    def tried(xs: np.ndarray, ys: np.ndarray, turns: np.ndarray) -> np.ndarray:
        return local_search.place_whole(canvas.arrays, rows, xs, ys, turns, canvas.scene())

    def best(places: np.ndarray, most: int) -> np.ndarray:
        return places[np.argsort(-places[:, 0])[:most]]

    (x_most, y_most), turns = PLACED_MM, np.deg2rad(TURNS_DEG)
    some = best(
        tried(np.arange(-x_most, x_most + 1, 2 * STEP_X), np.arange(-y_most, y_most + 1, 2 * STEP_Y), turns), BRANCH
    )
    near = np.arange(-1, 2)
    found = []
    for _, x, y, turn in some:
        c, s = np.cos(turn), np.sin(turn)  # back to the mat's frame
        found.append(tried(c * x - s * y + near * STEP_X, s * x + c * y + near * STEP_Y, np.array([turn])))
    return best(np.concatenate(found), 3)
