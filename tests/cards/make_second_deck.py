"""How ``cards/decks/challenge80b.json`` was made: `python tests/cards/make_second_deck.py` writes it again.

Layouts are proposed by ``make_layouts``, some of them with one piece in a rarer pose, and taken where they differ
enough from all before and from the first deck, and stand when a hand is a little off (``survival``); at most 18 of the
52 end in a triangle. Height cards and organ pipes are the first deck's under ids of this one; shapes cards ask for sets
that the first deck does not. It takes some twenty minutes of processor time.
"""

import itertools
import json
import random
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace

import cv2
import numpy as np
from survival import survives

from cards.build import Build, top
from cards.check import check_card
from cards.deck import BUILTIN_DECKS, Deck, builtin_deck
from cards.elevation import elevation
from cards.errors import BadCard
from cards.kinds.layout import LayoutCard, distinct_layouts, make_layouts
from cards.kinds.shapes import ShapesCard
from cards.pieces import Pose, builtin_piece_set
from cards.stability import settle

PIECES, FIRST = builtin_piece_set(), builtin_deck()
LAYOUTS = [card for card in FIRST.cards if isinstance(card, LayoutCard)]
SEED = 41
WANTED = Counter(card.value for card in LAYOUTS)
ROOFS = {1: 5, 2: 6, 3: 4, 4: 3}
"""Of each value: layouts that end in a triangle, at most."""

RARE, ARCHES = {1: 4, 2: 5, 3: 4, 4: 3}, {1: 2, 2: 3, 3: 2, 4: 1}
"""Of each value: layouts with a rarer pose; with a hidden arch among them."""

ALIKE = 0.85
"""Two layouts whose outlines share more of their area than this look alike from a few metres."""

TRIALS, FALLS = 10, 1
"""How often a layout is put up a little off, and how often it may fall."""

RARER = {
    "cylinder": (Pose(90),),
    "crescent": (Pose(180), Pose(0, "top"), Pose(0, "top")),
    "bridge": (Pose(180), Pose(90), Pose(0, "top"), Pose(0, "top")),
}


def layouts_worth(value):
    """As many as the first deck has of the value."""
    rng = random.Random(SEED + value)
    taken, outlines, roofs = [], [outline(card) for card in LAYOUTS], 0
    room = {"arch": ARCHES[value], "rare": RARE[value] - ARCHES[value], "plain": WANTED[value] - RARE[value]}
    for seed in itertools.count(SEED):
        (made,) = make_layouts(PIECES, value, 1, seed, LAYOUTS)
        for card in (with_rarer_pose(made, rng), made):
            sort = "plain" if card is made else "arch" if card and arch(card) else "rare"
            if (
                card
                and card.value == value
                and room[sort]
                and (not roof(card) or roofs < ROOFS[value])
                and not all(Build(PIECES, card.pieces).on_table)
                and not any(alike(outline(card), other) for other in outlines)
                and all(distinct_layouts(PIECES, card, other) for other in (*LAYOUTS, *taken))
                and steady(card)
            ):
                taken.append(card)
                outlines.append(outline(card))
                roofs += roof(card)
                room[sort] -= 1
                print(value, len(taken), seed, sort, flush=True)
        if not any(room.values()):
            return sorted(taken, key=lambda card: len(card.pieces))


def steady(card):
    rng, falls = np.random.default_rng(SEED), 0
    for _ in range(TRIALS):
        falls += not survives(card, rng)
        if falls > FALLS:
            return False
    return True


def with_rarer_pose(card, rng):
    """The layout with one piece turned, let down again, worth what it then is; None where it would not stand."""
    turnable = [n for n, p in enumerate(card.pieces) if p.shape in RARER]
    if not turnable:
        return None
    n = rng.choice(turnable)
    turned = replace(card.pieces[n], pose=rng.choice(RARER[card.pieces[n].shape]))
    built = settle(PIECES, [turned if k == n else p for k, p in enumerate(card.pieces)])
    made = LayoutCard(card.id, card.value, tuple(p.at(z=round(p.z, 1)) for p in built))
    found = check_card(made, PIECES)
    return None if found.faults or found.worth is None else replace(made, value=found.worth)


def outline(card):
    """The layout as the player sees it, (150, 130) bool, 2 mm a pixel, in the middle."""
    picture = np.zeros((150, 130), np.uint8)
    middle = sum(p.x for p in card.pieces) / len(card.pieces)
    for p in card.pieces:
        points = elevation(PIECES.shapes[p.shape], p.pose) + (p.x - middle, p.z)
        cv2.fillPoly(picture, [np.round((points + (130, 0)) / 2).astype(np.int32)], 1)
    return picture > 0


def alike(a, b):
    return (a & b).sum() / (a | b).sum() > ALIKE


def roof(card):
    """Whether a triangle is the highest piece, or one of them."""
    highest = max(top(PIECES, p) for p in card.pieces)
    return any(p.shape == "triangle" and top(PIECES, p) > highest - 0.5 for p in card.pieces)


def arch(card):
    return any(PIECES.shapes[p.shape].opening and p.pose.facing != "front" for p in card.pieces)


def shapes_cards():
    """As many of each value as the first deck has, of shapes that it does not ask for together."""
    rng = random.Random(SEED)
    each = [shape for shape, _, n in PIECES.pieces for _ in range(n)]
    known = {card.shapes for card in FIRST.cards if isinstance(card, ShapesCard)}
    wanted = Counter(card.value for card in FIRST.cards if isinstance(card, ShapesCard))
    made = []
    while wanted.total():
        shapes = tuple(sorted(Counter(rng.sample(each, rng.randint(2, 7))).items()))
        if shapes in known or dict(shapes).get("triangle", 0) + dict(shapes).get("crescent", 0) > 2:
            continue
        known.add(shapes)
        try:
            worth = check_card(ShapesCard("B", 1, shapes), PIECES).worth
        except BadCard:
            continue
        if worth and wanted[worth]:
            wanted[worth] -= 1
            made.append(ShapesCard("B", worth, shapes))
    made.sort(key=lambda card: (card.value, card.piece_count))
    return [replace(card, id=f"BS{n:02d}") for n, card in enumerate(made, 1)]


def main():
    with ProcessPoolExecutor(2) as pool:
        found = pool.map(layouts_worth, (4, 3, 2, 1))
        shapes = pool.submit(shapes_cards)
        made = [card for cards in reversed(list(found)) for card in cards]
    layouts = [replace(c, id=f"BL{n:02d}", hidden_arches=True) for n, c in enumerate(made, 1)]
    others = [replace(c, id=f"B{c.id}") for c in FIRST.cards if c.kind in ("height", "organ_pipes")]
    heights = [c for c in others if c.kind == "height"]
    pipes = [c for c in others if c.kind == "organ_pipes"]
    deck = Deck("challenge80b", (*layouts, *heights, *shapes.result(), *pipes), 130)
    rows = [json.dumps(card.to_json()) for card in deck.cards]
    head = json.dumps({"name": deck.name, "first_marker": deck.first_marker})[1:-1]
    text = f'{{\n {head},\n "cards": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"
    (BUILTIN_DECKS / f"{deck.name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
