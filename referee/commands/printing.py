"""``referee print``: mats, cards, colour sheet and lens board as PDF sheets at true size."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click
from jinja2 import Environment, PackageLoader

from calibration import ZONES
from calibration.game_sheets import faces_pdf, plans_pdf
from calibration.print_sheets import PAPERS, cards_pdf, charuco_pdf, colors_pdf, mats_pdf
from referee.commands.named_files import PIECES, named_deck, named_piece_set, writing
from referee.games.catalogue import GAMES, game_named
from referee.web.i18n.texts import LANGUAGES, tools, translate


@click.group("print")
def print_() -> None:
    """Sheets to print at 100 %: mats, cards, colours, charuco, games. A ruler on each shows the scale."""


_LANG = click.option(
    "--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the words."
)


def _common(name: str) -> Callable:
    """The options that every sheet has: paper and output file."""

    def add(command: Callable) -> Callable:
        file = click.Path(dir_okay=False, path_type=Path)
        command = click.option(
            "-o", "--output", type=file, default=Path(f"{name}.pdf"), show_default=True, help="The PDF to write."
        )(command)
        return click.option(
            "--paper", type=click.Choice(list(PAPERS)), default="a4", show_default=True, help="Paper in the printer."
        )(command)

    return add


def _write(path: Path, data: bytes, *, both_sides: bool = False) -> None:
    with writing(path):
        path.write_bytes(data)
    pages = data.count(b"/Type /Page\n")
    sheets = f" on {pages // 2} sheets, both sides" if both_sides else ""
    click.echo(f"{path}: {pages} page{'s' * (pages > 1)}{sheets}; print at 100 %, then measure the ruler")


@print_.command()
@click.option("--zones", default="AB", show_default=True, help="Letters A to L, one mat each.")
@_LANG
@_common("mats")
def mats(zones: str, lang: str, paper: str, output: Path) -> None:
    """The players' mats. On Letter, which is too short, a mat is two halves to join."""
    wrong = [z for z in zones.upper() if z not in ZONES]
    if wrong or not zones:
        raise click.BadParameter(f"zones are the letters A to L, not {zones!r}", param_hint="--zones")
    words = [translate(lang, f"print.mat.{part}") for part in ("tongs", "edge", "title", "rule1", "rule2", "rule3")]
    _write(output, mats_pdf(list(dict.fromkeys(zones.upper())), paper, words))


@print_.command()
@click.argument("deck", default="challenge80")
@PIECES
@_common("cards")
def cards(deck: str, pieces: str, paper: str, output: Path) -> None:
    """The cards of DECK (a file, or a built-in name), four to a page, fronts and backs in turn."""
    piece_set = named_piece_set(pieces)
    _write(output, cards_pdf(named_deck(deck, piece_set), piece_set, paper), both_sides=True)


@print_.command()
@PIECES
@_common("colors")
def colors(pieces: str, paper: str, output: Path) -> None:
    """Where to stand every piece for the colour picture, and the set's colours."""
    _write(output, colors_pdf(named_piece_set(pieces), paper))


@print_.command()
@_common("charuco")
def charuco(paper: str, output: Path) -> None:
    """A ChArUco board, to fit a lens with."""
    _write(output, charuco_pdf(paper))


@print_.command("game")
@click.argument("name", type=click.Choice([*GAMES, "plans"]))
@_LANG
@_common("game")
def game(name: str, lang: str, paper: str, output: Path) -> None:
    """The cards of the tower game NAME, nine to a page; or the six city plans (on A4)."""
    if name == "plans":
        _write(output, plans_pdf(paper))
    else:
        faces = game_named(name).faces(partial(translate, lang))
        _write(output, faces_pdf(f"cards of {name}", faces, paper))


def _page(name: str, about: str) -> None:
    """A sheet of words alone: a page for the browser to print."""

    @print_.command(name, help=about)
    @_LANG
    @click.option("-o", "--output", type=click.Path(path_type=Path), default=Path(f"{name}.html"), show_default=True)
    def page(lang: str, output: Path) -> None:
        template = Environment(loader=PackageLoader("referee.web"), autoescape=True).get_template(f"print_{name}.html")
        with writing(output):
            output.write_text(template.render(tools(lang)), encoding="utf-8")
        click.echo(f"{output}: 1 page; open it in a browser and print it")


_page("rules", "The rules of the duel on one page.")
_page("scores", "A score sheet to fill in by hand.")
