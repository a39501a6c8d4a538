"""``referee print``: mats, cards, colour sheet and lens board as PDF sheets at true size."""

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, PackageLoader

from calibration import ZONES
from calibration.game_sheets import faces_pdf, plans_pdf
from calibration.print_sheets import PAPERS, cards_pdf, charuco_pdf, colors_pdf, mats_pdf
from cards.errors import RefereeError
from referee.commands.named_files import PIECES, named_deck, named_piece_set, writing
from referee.games.catalogue import GAMES, game_named
from referee.web.i18n.texts import LANGUAGES, tools, translate


@click.group("print")
def print_() -> None:
    """Sheets to print at 100 %: mats, cards, colours, charuco, games. A ruler on each shows the scale."""


_PAPER = click.option(
    "--paper", type=click.Choice(list(PAPERS)), default="a4", show_default=True, help="Paper in the printer."
)
_WORDS = Environment(loader=PackageLoader("referee.web"), autoescape=True)


def _sheets(name: str, file: str, *, both_sides: bool = False) -> Callable[[Callable[..., bytes]], click.Command]:
    """The command that writes what a function draws; ``file`` is where to by default, ``{}`` in it an argument."""

    def add(draw: Callable[..., bytes]) -> click.Command:
        @print_.command(name)
        @click.option(
            "--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the words."
        )
        @click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), show_default=file)
        @click.option("--force", is_flag=True, help="Replace a file that holds something else.")
        @wraps(draw)
        def write(output: Path | None, force: bool, **asked: Any) -> None:
            path, data = output or Path(file.format(**asked)), draw(**asked)
            with writing(path):
                if not force and path.exists() and path.read_bytes() != data:
                    raise RefereeError(f"{path} is there and holds something else: -o another name, or --force")
                path.write_bytes(data)
            pages = data.count(b"/Type /Page\n")
            sheets = f" on {pages // 2} sheets, both sides" if both_sides and asked.get("name") != "plans" else ""
            how = f"{pages} page{'s' * (pages > 1)}{sheets}; print at 100 %, then measure the ruler"
            click.echo(f"{path}: {how if pages else '1 page; open it in a browser and print it'}")

        return write

    return add


@_sheets("mats", "mats.pdf")
@click.option("--zones", default="AB", show_default=True, help="Letters A to L, one mat each.")
@_PAPER
def mats(zones: str, lang: str, paper: str) -> bytes:
    """The players' mats. On Letter, which is too short, a mat is two halves to join."""
    wrong = [z for z in zones.upper() if z not in ZONES]
    if wrong or not zones:
        raise click.BadParameter(f"zones are the letters A to L, not {zones!r}", param_hint="--zones")
    words = [translate(lang, f"print.mat.{part}") for part in ("tongs", "edge", "title", "rule1", "rule2", "rule3")]
    return mats_pdf(list(dict.fromkeys(zones.upper())), paper, words, lang)


@_sheets("cards", "cards.pdf", both_sides=True)
@click.argument("deck", default="challenge80")
@PIECES
@_PAPER
def cards(deck: str, pieces: str, lang: str, paper: str) -> bytes:
    """The cards of DECK (a file, or a built-in name), four to a page, fronts and backs in turn."""
    piece_set = named_piece_set(pieces)
    return cards_pdf(named_deck(deck, piece_set), piece_set, paper, lang)


@_sheets("colors", "colors.pdf")
@PIECES
@_PAPER
def colors(pieces: str, lang: str, paper: str) -> bytes:
    """Where to stand every piece for the colour picture, and the set's colours."""
    return colors_pdf(named_piece_set(pieces), paper, lang)


@_sheets("charuco", "charuco.pdf")
@_PAPER
def charuco(lang: str, paper: str) -> bytes:
    """A ChArUco board, to fit a lens with."""
    return charuco_pdf(paper, lang)


@_sheets("game", "{name}.pdf", both_sides=True)
@click.argument("name", type=click.Choice([*GAMES, "plans"]))
@_PAPER
def game(name: str, lang: str, paper: str) -> bytes:
    """The cards of the tower game NAME, nine to a page, fronts and backs in turn; or the six city plans (on A4)."""
    if name == "plans":
        return plans_pdf(paper, lang)
    faces = game_named(name).faces(partial(translate, lang))
    return faces_pdf(translate(lang, f"game.name.{name}"), faces, paper, lang)


@_sheets("rules", "rules.html")
def rules(lang: str) -> bytes:
    """The rules of the duel on one page, for the browser to print."""
    return _WORDS.get_template("print_rules.html").render(tools(lang)).encode()


@_sheets("scores", "scores.html")
def scores(lang: str) -> bytes:
    """A score sheet to fill in by hand, for the browser to print."""
    return _WORDS.get_template("print_scores.html").render(tools(lang)).encode()
