"""Is a card fair? Everything that speaks against it with a given piece set, with a build as proof."""

from dataclasses import dataclass

from cards.build import TALLEST_MM, Piece
from cards.card import Card, Proofs
from cards.difficulty import PLANNING_COST, Difficulty, difficulty
from cards.errors import BadCard
from cards.generate import SPAN_MM
from cards.kinds.structure import MAX_GROUND_CONTACTS
from cards.pieces import PieceSet
from cards.sentences import Sentence, sentence
from cards.stability import StabilityReport, check_stability

EXAMPLES, EXAMPLES_OF_FEW, FEW_PIECES = 3, 8, 5
"""Builds looked at for a card without arrangement, more when it has at most FEW pieces; the easiest
gives its difficulty."""


@dataclass(frozen=True)
class CardCheck:
    """What was found of a card. ``build`` is the layout itself, or a right build found for it."""

    card: Card
    faults: tuple[str, ...]
    build: tuple[Piece, ...] = ()
    stand: StabilityReport | None = None
    difficulty: Difficulty | None = None

    @property
    def worth(self) -> int | None:
        """The value that follows from the difficulty; None for a card that cannot be built."""
        return self.difficulty.value if self.difficulty and not self.faults else None


def check_card(card: Card, pieces: PieceSet) -> CardCheck:
    """Inventory, overlaps, support, stability with its margins, room; for other kinds, a build as proof."""
    problems = [*card.inventory_problems(pieces), *_too_kind(card)]
    if problems:
        return CardCheck(card, tuple(problems))
    if card.shown:
        return _check_layout(card, pieces)
    try:
        tries = EXAMPLES_OF_FEW if card.piece_count <= FEW_PIECES else EXAMPLES
        known: Proofs = {}
        tried = dict(card.proved_example(pieces, seed, known) for seed in range(tries))
    except BadCard as error:
        told = error.wording
        return CardCheck(card, (told.values["rest"] if isinstance(told, Sentence) else told,))
    proofs = {build: proof or check_stability(pieces, build) for build, proof in tried.items()}
    found = [(difficulty(pieces, build, proof, PLANNING_COST), build) for build, proof in proofs.items()]
    easiest, build = min(found, key=lambda row: row[0].total)
    return CardCheck(card, (), build, proofs[build], easiest)


def _too_kind(card: Card) -> list[str]:
    """The game lets two pieces touch the table (RULES.md): a card may ask for fewer, not allow more."""
    most = getattr(card, "max_ground_contacts", MAX_GROUND_CONTACTS)
    if most <= MAX_GROUND_CONTACTS:
        return []
    return [sentence("too_kind", n=most, m=MAX_GROUND_CONTACTS)]


def _check_layout(card: Card, pieces: PieceSet) -> CardCheck:
    found = check_stability(pieces, card.shown)
    faults = found.faults + tuple(_room(card, pieces))
    measured = None if found.faults else difficulty(pieces, card.shown, found)
    return CardCheck(card, faults, card.shown, found, measured)


def _room(card: Card, pieces: PieceSet) -> list[str]:
    wide = [(p.x, pieces.shapes[p.shape].size(p.pose)[0] / 2) for p in card.shown]
    left, right = min(x - h for x, h in wide), max(x + h for x, h in wide)
    high = max(p.z + pieces.shapes[p.shape].size(p.pose)[2] / 2 for p in card.shown)
    faults: list[str] = []
    if right - left > 2 * SPAN_MM + 30:
        faults.append(sentence("wide", n=right - left, m=2 * SPAN_MM + 30))
    if high > TALLEST_MM:
        faults.append(sentence("high", n=high, m=TALLEST_MM))
    return faults
