"""The simulated table with builds put down for a test: one call, one picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from cards.build import Piece
from cards.pieces import PieceSet
from referee.simulator.meshes import PosedPiece, place_piece
from referee.simulator.players import loose_places
from referee.simulator.table import Hand, TableSim, World


def loose_pieces(pieces: PieceSet, used: Sequence[Piece], seed: int) -> list[PosedPiece]:
    """The inventory without what is ``used``, each at its own place around the mat, in the mat's frame."""
    spots = loose_places(pieces, seed)
    missing = Counter((p.shape, p.color) for p in used)
    rest = []
    for placed in spots:
        if missing[placed.shape, placed.color] > 0:
            missing[placed.shape, placed.color] -= 1
        else:
            rest.append(placed)
    return rest


class PosedTable(TableSim):
    """A rig of which pictures are asked for by what stands on it."""

    def picture(
        self,
        builds: Mapping[str, Sequence[Piece]] | None = None,
        loose: Mapping[str, Sequence[PosedPiece]] | None = None,
        hands: Mapping[str, Hand | None] | None = None,
        card: np.ndarray | None = None,
        number: int = 0,
    ) -> np.ndarray:
        """The rig with these builds, (h, w, 3) uint8 BGR.

        ``builds`` by zone; what of the inventory is not in a build lies loose around its mat, unless
        ``loose`` says otherwise (``{}`` for none). ``number`` picks the noise.
        """
        builds = builds or {}
        pieces = {zone: [place_piece(p) for p in builds.get(zone, ())] for zone in self.seats}
        for zone in self.seats:
            rest = (
                loose_pieces(self.piece_set, builds.get(zone, ()), self.seed + ord(zone))
                if loose is None
                else loose.get(zone, ())
            )
            pieces[zone] += rest
        return self.render(World(pieces, hands or {}, card), number)

    def empty(self, number: int = 0) -> np.ndarray:
        """The rig with nothing on the mats, (h, w, 3) uint8 BGR."""
        return self.render(World(), number)
