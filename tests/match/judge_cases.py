"""Reads ``judge_cases.txt``: the law, case by case."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from cards.build import Build, parse_build
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.shapes import ShapesCard
from cards.pieces import Shape, builtin_piece_set

POSTS = {f"post{h:g}": Shape(f"post{h:g}", "box", 25, h, 25) for h in (30, 31.9, 32)}
PIECES = replace(builtin_piece_set(), shapes=builtin_piece_set().shapes | POSTS)
CASES = Path(__file__).with_name("judge_cases.txt")


@dataclass(frozen=True)
class Case:
    """One case of the file: what is asked, what is built, and what is said of it, line by line."""

    line: int
    title: str
    card: Card
    build: str
    expected: tuple[str, ...]


def read_cases(text: str) -> list[Case]:
    """The cases of the file; its head says how it is written."""
    found, card, title, indented = [], None, "", []
    for number, line in enumerate([*text.splitlines(), "=="], 1):
        if line.startswith("  "):
            indented.append(line.strip())
            continue
        if indented:
            found.append(Case(number - len(indented) - 1, title, card, indented[0], tuple(indented[1:])))
            indented = []
        if line.startswith("card "):
            card = read_card(line[5:])
        elif line and not line.startswith(("#", "==")):
            title = line
    return found


def read_card(text: str) -> Card:
    """``layout: BUILD``, ``height: N, at most M on the table``, ``shapes: N cube, at most …``, ``organ_pipes: N``."""
    kind, _, rest = text.partition(": ")
    if kind == "layout":
        return LayoutCard("C", 1, parse_build(rest))
    rest, _, most = rest.partition(", at most ")
    ground = int(most.split()[0]) if most else 0
    if kind == "height":
        return HeightCard("C", 1, int(rest), ground)
    if kind == "shapes":
        wanted = [part.split() for part in rest.split(", ")]
        return ShapesCard("C", 1, tuple((shape, int(n)) for n, shape in wanted), ground)
    return Card.kinds[kind]("C", 1, int(rest))


def built(text: str) -> Build:
    """The build of a row; "-" is none."""
    return Build(PIECES, parse_build("" if text == "-" else text))


ALL = read_cases(CASES.read_text(encoding="utf-8"))
