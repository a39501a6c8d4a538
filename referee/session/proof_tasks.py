"""What a table is asked to build to prove itself: right builds, and wrong ones with one named mistake each.

All follows from a seed. That a wrong build is wrong, and that it stands, is worked out by the card's own law.
"""

import random
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations, zip_longest
from typing import Any

from cards.build import Build, Piece, shape_of
from cards.card import Card, piece_words
from cards.deck import Deck
from cards.errors import BadCard
from cards.kinds.height import HeightCard
from cards.kinds.organ_pipes import OrganCard
from cards.law import worded_piece
from cards.pieces import Facing, PieceSet, Pose
from cards.sentences import sentence
from cards.stability import check_stability
from referee.match.verdict import Ruling, build_to_json

TASKS = 10
QUARTER: dict[str, Facing] = {"front": "side", "side": "front"}
Mistaken = Iterator[tuple[str, tuple[Piece, ...]]]
"""What to do otherwise than the card says, and what then stands."""


@dataclass(frozen=True)
class BuildTask:
    """One build that is asked for: ``asked`` says in words what to do with the card, ``pieces`` is how it then stands,
    at y = 0 in the middle, and ``expected`` what is true of it."""

    card: Card
    expected: Ruling
    asked: str
    pieces: tuple[Piece, ...]

    def truth(self, piece_set: PieceSet) -> dict[str, Any]:
        """Its zone's row of a session's ``truth.json``. Its pieces are ``asked``: where they stand nobody has measured,
        and who builds may have taken others where the card leaves that open."""
        row = build_to_json(Build(piece_set, self.pieces))
        pieces = [piece | {"yaw_deg": 0.0, "part_of": "asked"} for piece in row["pieces"]]
        why = "" if self.expected == "match" else str(self.asked)
        return {"expected": self.expected, "why": why, **row, "pieces": pieces}


def draw_tasks(deck: Deck, pieces: PieceSet, seed: int) -> tuple[BuildTask, ...]:
    """``TASKS`` builds in a mixed order, a wrong one for each of ``MISTAKES`` that a card of the deck allows; kinds of
    cards by turns, and no card twice where there are enough."""
    rng = random.Random(seed)
    kinds: dict[str, list[Card]] = {}
    for card_id in deck.shuffled(seed):
        kinds.setdefault(deck.card(card_id).kind, []).append(deck.card(card_id))
    waiting = [card for row in zip_longest(*kinds.values()) for card in row if card]
    tasks: list[BuildTask] = []
    for mistake in MISTAKES:
        found = next((task for card in waiting if (task := _wrong(card, pieces, mistake, rng))), None)
        if found:
            tasks.append(found)
            waiting.remove(found.card)
    for card in waiting * TASKS:  # a small deck is asked for again
        with suppress(BadCard):
            if len(tasks) < TASKS:
                tasks.append(BuildTask(card, "match", sentence("prove_right"), card.example(pieces, seed)))
    rng.shuffle(tasks)
    return tuple(tasks)


def _wrong(card: Card, pieces: PieceSet, mistake: Any, rng: random.Random) -> BuildTask | None:
    """The card with that mistake; None where it can have none that is surely wrong and stands."""
    with suppress(BadCard):
        for asked, built in mistake(card, pieces, rng.randrange(1 << 31)):
            if card.faults(Build(pieces, built)) and check_stability(pieces, built, None).stable:
                return BuildTask(card, "mismatch", asked, built)
    return None


def _bare(built: Sequence[Piece], pieces: PieceSet) -> list[int]:
    """Pieces that carry nothing."""
    carried = {below for on in Build(pieces, tuple(built)).contacts for below in on}
    return [i for i in range(len(built)) if i not in carried]


def _turned(card: Card, pieces: PieceSet, seed: int) -> Mistaken:
    for i in _bare(card.shown, pieces):
        piece = card.shown[i]
        if piece.pose.facing in QUARTER:
            turned = replace(piece, pose=Pose(piece.pose.rotation, QUARTER[piece.pose.facing]))
            yield sentence("prove_turned", piece=worded_piece(piece)), (*card.shown[:i], turned, *card.shown[i + 1 :])


def _exchanged(card: Card, pieces: PieceSet, seed: int) -> Mistaken:
    high = {p: shape_of(pieces, p).size(p.pose)[2] for p in card.shown}
    for a, b in combinations(card.shown, 2):
        if (a.shape, a.color) != (b.shape, b.color) and high[a] == high[b]:
            other = {a: b.at(x=a.x, z=a.z), b: a.at(x=b.x, z=b.z)}
            words = {"a": worded_piece(a), "b": worded_piece(b)}
            yield sentence("prove_exchanged", **words), tuple(other.get(p, p) for p in card.shown)


def _without(card: Card, pieces: PieceSet, seed: int) -> Mistaken:
    built = card.example(pieces, seed) if card.piece_count > 1 and card.asked else ()
    for i in _bare(built, pieces):
        (named,) = card.named([(built[i].shape, built[i].color)])
        yield sentence("prove_without", piece=piece_words(named)), built[:i] + built[i + 1 :]


def _more(card: Card, pieces: PieceSet, seed: int) -> Mistaken:
    if isinstance(card, HeightCard | OrganCard):
        n = card.count + 1
        yield sentence("prove_more", n=n), replace(card, count=n).example(pieces, seed)


MISTAKES = (_turned, _exchanged, _without, _more)
