"""Builds made to deceive, at simulated tables: how many are accepted, and are their honest twins right?

python tests/vision/bench_deceive.py [--tables N] [--first SEED] [--json FILE]

Each deceit of ``deceiving.py`` stands on mat A of N tables (seeds from SEED), its honest twin on mat B where both mats
are seen from their own side, each with the set's other pieces about it. One picture is judged, with empty frame,
colours and lens: no film tells what came behind. Printed are every wrong build accepted and every right one called
wrong, and the sums. Exit status 1 when more than one in forty is accepted, or a right build with a hidden piece is
called wrong.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "simulator"))
sys.path.insert(0, str(Path(__file__).parent))

import cv2
from deceiving import HALVES, SET, Deceit, Standing, Tilted, deceits
from posed_table import PosedTable, loose_pieces

from calibration.errors import FewPieces
from cards.pieces import PieceSet
from referee.simulator.build_plans import spread_set
from referee.simulator.meshes import PosedPiece, place_piece
from referee.simulator.table import World
from referee.vision.observer import Observer

SEATINGS = ("beside", "across")
MOST_ACCEPTED = 1 / 40


def observer_of(table: PosedTable) -> Observer:
    """One that has learnt empty frame, colours and sizes of the table."""
    observer = Observer(table.piece_set, table.lens.model(), empty=table.empty())
    apart = spread_set(table.piece_set)
    with suppress(FewPieces):
        colors = table.picture({"A": apart, "B": apart}, {})
        observer.learn_colors(colors)
        observer.learn_sizes(colors)
    return observer


def standing(pieces: PieceSet, build: Standing, seed: int) -> list[PosedPiece]:
    """The build's solids and the set's other pieces around the mat."""
    solids = [p.posed(pieces) if isinstance(p, Tilted) else place_piece(p) for p in build]
    used = [p.piece if isinstance(p, Tilted) else p for p in build]
    return solids + loose_pieces(pieces, used, seed)


def rows_of(seed: int) -> Iterator[dict]:
    """A row for every build at the table of that seed."""
    seating = SEATINGS[seed % 2]
    back = 1 if seating == "beside" else -1
    for pieces in (SET, HALVES):
        table = PosedTable(pieces, seed, seating=seating)
        observer = observer_of(table)
        zones = "AB" if seating == "beside" else "A"
        for number, one in enumerate(one for one in deceits(back) if one.pieces is pieces):
            builds = {"A": one.wrong, "B": one.right} if zones == "AB" else {"A": one.wrong}
            world = {zone: standing(pieces, build, seed + ord(zone)) for zone, build in builds.items()}
            judged = observer.judge([table.render(World(world), number)], one.card, list(zones))
            for zone in zones:
                yield row_of(one, seed, zone, judged.zones.get(zone))


def row_of(one: Deceit, seed: int, zone: str, verdict) -> dict:
    """What was said of one build, and what it is."""
    is_right = zone == "B" or one.is_right
    return {
        "name": one.name,
        "seed": seed,
        "kind": "honest" if zone == "B" else "right, a piece hidden" if one.is_right else "deceit",
        "is_right": is_right,
        "ruling": verdict.ruling if verdict else "not seen",
        "confidence": round(verdict.confidence, 3) if verdict else None,
        "reasons": [reason.code for reason in verdict.reasons] if verdict else [],
    }


def is_wrong(row: dict) -> bool:
    """Whether what was said is wrong."""
    return row["ruling"] == ("mismatch" if row["is_right"] else "match")


def main() -> int:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--tables", type=int, default=2)
    asked.add_argument("--first", type=int, default=11)
    asked.add_argument("--json", type=Path)
    given = asked.parse_args()
    cv2.setNumThreads(1)
    rows = []
    for seed in range(given.first, given.first + given.tables):
        for row in rows_of(seed):
            rows.append(row)
            if is_wrong(row):
                print(f"{row['seed']:4} {row['name']} ({row['kind']}): {row['ruling']} {row['confidence']}", flush=True)
    if given.json:
        given.json.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for kind in dict.fromkeys(row["kind"] for row in rows):
        print(f"{kind}: {dict(Counter(row['ruling'] for row in rows if row['kind'] == kind))}")
    of_deceit = [row for row in rows if row["kind"] == "deceit"]
    accepted = sum(map(is_wrong, of_deceit))
    hidden = sum(is_wrong(row) for row in rows if row["kind"].startswith("right"))
    print(f"accepted {accepted} of {len(of_deceit)}; right builds with a hidden piece called wrong: {hidden}")
    return int(accepted > MOST_ACCEPTED * len(of_deceit) or hidden > 0)


if __name__ == "__main__":
    sys.exit(main())
