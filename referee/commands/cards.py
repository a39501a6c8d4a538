"""``referee cards``: check a deck, make new layouts, draw faces."""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click
import cv2
import numpy as np

from cards.check import CardCheck, check_card
from cards.deck import Deck
from cards.drawing import card_png, card_svg, faults_png
from cards.kinds.layout import LayoutCard, make_layouts
from cards.pieces import PieceSet
from referee.commands.named_files import PIECES, named_deck, named_piece_set, writing
from referee.commands.progress import Bar
from referee.workers import end_with_parent


@click.group()
def cards() -> None:
    """Decks: proof that each card can be built and stands, new cards, pictures."""


@cards.command()
@click.argument("deck", default="challenge80")
@PIECES
@click.option(
    "--pictures",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("refused"),
    show_default=True,
    help="Where pictures of refused cards go.",
)
def check(deck: str, pieces: str, pictures: Path) -> None:
    """Prove each card of DECK: pieces at hand, no overlap, supported, stable. Exit status 1 if one fails."""
    piece_set = named_piece_set(pieces)
    loaded = named_deck(deck)
    found = _checked(loaded, piece_set)
    for row in found:
        click.echo(_line(row))
    refused = [row for row in found if row.faults]
    for row in refused:
        blamed = row.stand.weakest if row.stand else ()
        path = _save(pictures / f"{row.card.id}.png", faults_png(row.card, piece_set, row.faults, blamed))
        click.echo(f"picture of {row.card.id}: {path}")
    click.echo(f"{len(found) - len(refused)} of {len(found)} cards can be built and stand")
    if refused:
        sys.exit(1)


SOME_CARDS = 8
"""Fewer are checked sooner than a second process begins."""


def _checked(deck: Deck, piece_set: PieceSet) -> list[CardCheck]:
    """Every card's check in the deck's order, on all cores, with a progress bar."""
    check_one = partial(check_card, pieces=piece_set)
    bar = partial(Bar, total=len(deck.cards), unit="card", leave=False)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if cores == 1 or len(deck.cards) < SOME_CARDS:
        return list(bar(map(check_one, deck.cards)))
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=end_with_parent) as pool:
        return list(bar(pool.map(check_one, deck.cards)))


def _line(row: CardCheck) -> str:
    head = f"{row.card.id:8s} {row.card.kind:11s} value {row.card.value}"
    if row.faults:
        return f"{head}  REFUSED: {'; '.join(row.faults)}"
    if row.stand is None or row.difficulty is None:  # what has no fault was measured
        return head
    worth = "" if row.worth == row.card.value else f", by measure worth {row.worth}"
    return (
        f"{head}  stands, tilt margin {row.stand.tilt_deg:4.1f} degrees, difficulty {row.difficulty.total:4.1f}{worth}"
    )


def _save(path: Path, picture: np.ndarray) -> Path:
    return _write(path, cv2.imencode(".png", picture)[1].tobytes())


def _write(path: Path, data: bytes) -> Path:
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path


@cards.command()
@click.option("--value", type=click.IntRange(1, 4), required=True, help="What each card shall be worth.")
@click.option("--n", "count", type=click.IntRange(1, 200), default=10, show_default=True, help="How many.")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed gives the same cards.")
@click.option("--known", default="challenge80", show_default=True, help="A deck whose layouts shall not come again.")
@PIECES
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=None,
    help="The deck file to write; standard output without it.",
)
def make(value: int, count: int, seed: int, known: str, pieces: str, output: Path | None) -> None:
    """Propose new, distinct, stable layouts of a wanted value as a deck."""
    piece_set = named_piece_set(pieces)
    old = [
        card
        for card in named_deck(known).cards
        if isinstance(card, LayoutCard) and all(p.shape in piece_set.shapes for p in card.pieces)
    ]
    with Bar(total=count, unit="card", leave=False) as bar:
        made = make_layouts(piece_set, value, count, seed, old, lambda found: bar.update())
    text = json.dumps(Deck(f"made-{value}-{seed}", made).to_json(), indent=1)
    if output is None:
        click.echo(text)
    else:
        click.echo(_write(output, text.encode()))


@cards.command()
@click.argument("deck", default="challenge80")
@click.argument("ids", nargs=-1)
@PIECES
@click.option("--format", "kind", type=click.Choice(["svg", "png"]), default="svg", show_default=True)
@click.option("--px", type=click.IntRange(50, 4000), default=704, show_default=True, help="Width of a PNG.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("faces"),
    show_default=True,
    help="The folder to write into; of one card also a file, .svg or .png.",
)
def draw(deck: str, ids: tuple[str, ...], pieces: str, kind: str, px: int, output: Path) -> None:
    """Draw the faces of DECK, or of the cards named."""
    piece_set = named_piece_set(pieces)
    loaded = named_deck(deck, piece_set)
    drawn, file = [loaded.card(i) for i in ids] or loaded.cards, output.suffix in (".svg", ".png")
    if file and len(drawn) > 1:
        raise click.UsageError(f"{output} is a file, for one card: name a folder for {len(drawn)}")
    for card in drawn:
        path = output if file else output / f"{card.id}.{kind}"
        if path.suffix == ".svg":
            _write(path, card_svg(card, loaded, piece_set).encode())
        else:
            _save(path, card_png(card, loaded, piece_set, px))
    click.echo(f"{len(drawn)} {'card' if len(drawn) == 1 else 'cards'} drawn into {output}{'' if file else '/'}")
