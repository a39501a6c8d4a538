"""What height and shapes cards share: one structure, of which few pieces touch the table.

The law: all pieces hang together, and at most ``max_ground_contacts`` of them are on the table.
"""

import itertools
import random
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from cards.build import Build, Piece, bottom, parse_build
from cards.card import Card, Kind, Proofs, kinds_of
from cards.generate import all_pieces, erect_build, placing_order
from cards.law import TOLERANCES, Reason, Tolerances, because
from cards.pieces import BUILTIN_SETS, PieceSet
from cards.sentences import sentence
from cards.stability import StabilityReport, check_stability, settle

MAX_GROUND_CONTACTS = 2
"""Printed rule: "only two can touch", ruled as at most two (RULES.md)."""

TRIES = 60
"""Fresh starts of a search."""

NOT_WHOLE = StabilityReport((sentence("not_whole"),), 0.0, (), ())


class StructureCard(Card):
    """Pieces as one structure, however they are arranged."""

    one_structure = True

    @property
    @abstractmethod
    def max_ground_contacts(self) -> int:
        """How many pieces may touch the table."""

    @abstractmethod
    def chosen(self, pieces: PieceSet, rng: random.Random) -> list[Kind]:
        """Pieces of a set for the card, by chance. Raises BadCard where it has too few."""

    def proved_example(
        self, pieces: PieceSet, seed: int = 0, proofs: Proofs | None = None
    ) -> tuple[tuple[Piece, ...], StabilityReport | None]:
        """A build of the file of builds, or else one that a search finds."""
        proofs = {} if proofs is None else proofs
        for built in itertools.chain(self._known(pieces, seed), self._searched(pieces, random.Random(seed))):
            if built not in proofs:
                whole = len(Build(pieces, built).structures) == 1
                proofs[built] = check_stability(pieces, built) if whole else NOT_WHOLE
            if proofs[built].stable:
                return built, proofs[built]
        raise self.bad(sentence("no_structure", n=self.max_ground_contacts))

    def _searched(self, pieces: PieceSet, rng: random.Random) -> Iterator[tuple[Piece, ...]]:
        for _ in range(TRIES):
            chosen = self.chosen(pieces, rng)  # those that carry others first
            chosen.sort(key=lambda kind: placing_order(pieces.shapes[kind[0]]) + rng.random() * 1.2)
            if built := erect_build(pieces, chosen, rng, self.max_ground_contacts, loose=False):
                yield built

    def _known(self, pieces: PieceSet, seed: int) -> Iterator[tuple[Piece, ...]]:
        """Builds of the file that the card and the set allow, turned about by the seed, with the set's sizes."""
        fitting = [b for b in _file_of_builds() if self._suited(b, pieces)]
        for k in range(len(fitting)):
            turn, which = divmod(seed + k, len(fitting))
            side = -1.0 if turn % 2 else 1.0
            built = tuple(settle(pieces, [p.at(x=side * p.x) for p in fitting[which]]))
            if sum(bottom(pieces, p) < 0.5 for p in built) <= self.max_ground_contacts:
                yield built

    def _suited(self, built: Sequence[Piece], pieces: PieceSet) -> bool:
        kinds = [(p.shape, p.color) for p in built]
        return self.asks_for(kinds) and Counter(kinds) <= pieces.inventory

    def is_right(self, build: Build, tolerances: Tolerances = TOLERANCES) -> bool:
        """What rests on what takes longest to tell: it is asked last."""
        right_pieces = self.asks_for(kinds_of(build))
        return right_pieces and sum(build.on_table) <= self.max_ground_contacts and not self.faults(build, tolerances)

    def not_one_structure(self, build: Build) -> tuple[Reason, ...]:
        """That too many pieces are on the table, and that the pieces do not hang together, if so."""
        found = []
        on_table = tuple(i for i, touches in enumerate(build.on_table) if touches)
        if (n := len(on_table)) > self.max_ground_contacts:
            found.append(because("too_many_on_table", on_table, n=n, m=self.max_ground_contacts))
        if (n := len(build.structures)) > 1:
            rest = tuple(i for group in sorted(build.structures, key=len)[:-1] for i in group)
            found.append(because("not_one_structure", rest, n=n))
        return tuple(found)


def shuffled(pieces: PieceSet, rng: random.Random) -> list[Kind]:
    """All pieces of a set in an order by chance."""
    each = all_pieces(pieces)
    rng.shuffle(each)
    return each


@cache
def _file_of_builds() -> tuple[tuple[Piece, ...], ...]:
    lines = (BUILTIN_SETS / "builds.txt").read_text(encoding="utf-8").splitlines()
    return tuple(parse_build(line) for line in lines if line and not line.startswith("#"))
