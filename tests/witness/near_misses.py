"""Sessions with truth once more: every build asked by its own layout, and by layouts that it misses by one mistake.

python tests/witness/near_misses.py OUT SESSION… [--seed N] [--cards N]

Wrong builds of drawn sessions differ much from their cards; what players get wrong is one piece turned, of another
colour or shape, exchanged with another, too few or too many. OUT gets a folder of each session, with its pictures
and a frame of each build for each of N cards: first its own layout, then N - 1 of these mistakes, drawn by the
seed and the session. What is right the true build tells. ``referee bench OUT`` judges them.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
import shutil
import zlib
from collections.abc import Iterator
from pathlib import Path

from cards.build import Build, Piece
from cards.kinds.layout import LayoutCard
from cards.law import along_build, build_turn
from cards.pieces import PieceSet, Pose, load_piece_set
from referee.benchmark.run import truth_of
from referee.benchmark.scoring import true_pieces

SAME_HEIGHT_MM = 1.0
"""What is instead of a piece is no higher or lower by more: all that it carries stays where it is."""


def as_shown(build: Build) -> list[Piece]:
    """The pieces as a layout card has them: turned back, side by side in one plane, in whole millimetres."""
    x = along_build(build, build_turn(build))[:, 0]
    return [
        dataclasses.replace(p, x=float(round(a - x.mean())), y=0.0, z=float(round(p.z)), yaw=0.0)
        for p, a in zip(build.pieces, x, strict=True)
    ]


def mistakes(pieces: list[Piece], of: PieceSet) -> Iterator[tuple[str, list[Piece]]]:
    """What somebody who built these pieces would have got wrong, and the layout that was asked for then."""
    top = max(pieces, key=lambda p: p.z)
    kinds = sorted(of.inventory)
    if len(pieces) > 1:
        yield "one too many", [p for p in pieces if p is not top]
    for shape, color in kinds:
        z = top.z + (height(of, top) + of.shapes[shape].height) / 2
        yield "one too few", [*pieces, Piece(shape, color, Pose(), top.x, 0.0, float(round(z)))]
    for i, piece in enumerate(pieces):
        others = [dataclasses.replace(piece, pose=pose) for pose in of.shapes[piece.shape].poses()]
        others += [dataclasses.replace(piece, shape=shape, color=color) for shape, color in kinds]
        for other in others:
            if abs(height(of, other) - height(of, piece)) < SAME_HEIGHT_MM and other != piece:
                what = "turned" if other.shape == piece.shape and other.color == piece.color else "another piece"
                yield what, [*pieces[:i], other, *pieces[i + 1 :]]
        for j in range(i):
            one, two = (dataclasses.replace(pieces[a], x=pieces[b].x, z=pieces[b].z) for a, b in ((i, j), (j, i)))
            if abs(height(of, one) - height(of, two)) < SAME_HEIGHT_MM:
                yield "exchanged", [*(p for k, p in enumerate(pieces) if k not in (i, j)), one, two]


def height(of: PieceSet, piece: Piece) -> float:
    """Extent in z, mm."""
    return of.shapes[piece.shape].size(piece.pose)[2]


def layouts(build: Build, most: int, rng: random.Random) -> Iterator[tuple[str, LayoutCard]]:
    """Its own layout, and others that the build does not satisfy, of as many kinds of mistakes as there are."""
    pieces = as_shown(build)
    yield "", LayoutCard("", 1, tuple(pieces))
    found = list(mistakes(pieces, build.piece_set))
    rng.shuffle(found)
    chosen: dict[str, LayoutCard] = {}
    for what, shown in found:
        card = LayoutCard("", 1, tuple(shown))
        if what not in chosen and not card.inventory_problems(build.piece_set) and not card.is_right(build):
            chosen[what] = card
    yield from list(chosen.items())[: most - 1]


def write(session: Path, out: Path, seed: int, most: int) -> None:
    """The session's folder of near misses in ``out``."""
    of, truth = load_piece_set(session / "pieces.json"), truth_of(session)
    rng = random.Random(f"{seed} {zlib.crc32(session.name.encode())}")
    frames, cards = [], []
    for frame in truth["frames"]:
        for zone, row in frame["zones"].items():
            build = Build(of, true_pieces(row, "build"), true_pieces(row, "loose"))
            for what, card in layouts(build, most, rng) if build.pieces else ():
                name = f"N{len(cards):03d}"
                expected = "mismatch" if what or not card.is_right(build) else "match"
                cards.append(dataclasses.replace(card, id=name).to_json())
                frames.append(frame | {"card": name, "zones": {zone: row | {"expected": expected, "why": what}}})
    folder = out / f"near_{session.name}"
    folder.mkdir(parents=True)
    for file in session.iterdir():
        if file.suffix == ".jpg" or file.name in ("pieces.json", "camera.yaml", "placed.json"):
            shutil.copyfile(file, folder / file.name)
    (folder / "deck.json").write_text(json.dumps({"name": folder.name, "cards": cards}))
    (folder / "truth.json").write_text(json.dumps(truth | {"frames": frames}))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("sessions", type=Path, nargs="+")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cards", type=int, default=3)
    options = parser.parse_args()
    for session in options.sessions:
        write(session, options.out, options.seed, options.cards)


if __name__ == "__main__":
    main()
