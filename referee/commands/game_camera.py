"""``referee game look`` and ``game cards``: pictures in; out what stands on city plans, which cards lie open."""

import json
from itertools import groupby
from pathlib import Path

import click
import cv2

from calibration.camera import load_camera
from cards.sentences import word
from referee.commands.named_files import named_piece_set
from referee.errors import CannotSee
from referee.games.catalogue import GAMES, game_named
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye, CitySight
from referee.vision.image.files import read_picture, write_picture
from referee.vision.image.game_cards import open_cards
from referee.web.i18n.texts import LANGUAGES

FILE = click.Path(path_type=Path)


@click.command("look")
@click.argument("pictures", nargs=-1, required=True, type=FILE)
@click.option(
    "--stones",
    default="city_stones",
    show_default=True,
    help="The stones: a pieces.json whose lowest shape is one storey and whose colours are the seats' in order.",
)
@click.option("--camera", "camera_file", type=FILE, help="camera.yaml of the calibrated lens.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.option("--overlay", "overlays", type=FILE, help="A folder for a picture of each city with what was read.")
def look(
    pictures: tuple[Path, ...], stones: str, camera_file: Path | None, as_json: bool, overlays: Path | None
) -> None:
    """Read the towers of city_towers from PICTURES of the printed plans, all of one moment, best from several sides.

    Exit status: 0 read (undecided sites are said so), 2 unusable input.
    """
    eye = CityEye(named_piece_set(stones), load_camera(camera_file) if camera_file else None)
    sighting = eye.look([read_picture(path) for path in pictures])
    if not sighting.cities:
        raise CannotSee("no city plan is in view: print them with `referee print game plans`")
    if as_json:
        cities = {city: {n: s.to_json() for n, s in sight.sites.items()} for city, sight in sighting.cities.items()}
        click.echo(json.dumps({"cities": cities, "notes": list(sighting.notes)}))
    else:
        rows = [line for sight in sighting.cities.values() for line in _city(sight)]
        click.echo("\n".join([*rows, *sighting.notes]))
    if overlays:
        overlays.mkdir(parents=True, exist_ok=True)
        for city, sight in sighting.cities.items():
            write_picture(overlays / f"city{city}.png", overlay(sight))


def _city(sight: CitySight) -> list[str]:
    rows = [f"city {sight.city}:"]
    for number, site in sight.sites.items():
        if site.colors or not site.sure:
            stack = ", ".join(f"{len(list(group))} {color}" for color, group in groupby(site.colors))
            doubt = "" if site.sure else f"  UNDECIDED: {'; '.join(reason.text for reason in site.reasons)}"
            height = f"{len(site.colors)} high, from below {stack}" if stack else "nothing seen"
            rows.append(f"  site {number}: {height}{doubt}")
    return rows if len(rows) > 1 else [f"city {sight.city}: no towers"]


@click.command("cards")
@click.argument("name", type=click.Choice(list(GAMES)))
@click.argument("picture", type=FILE)
@click.option(
    "--lang", type=click.Choice(LANGUAGES), default="en", show_default=True, help="Language of the cards' names."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def cards(name: str, picture: Path, lang: str, as_json: bool) -> None:
    """Say which cards of the tower game NAME lie open in PICTURE, row by row: printed ones, by their markers."""
    kinds = [kind for kind, _ in game_named(name).printed()]
    lying = open_cards(cv2.cvtColor(read_picture(picture), cv2.COLOR_BGR2GRAY), len(kinds))
    if as_json:
        rows = [{"card": kinds[c.marker], "x": round(c.middle[0]), "y": round(c.middle[1])} for c in lying]
        click.echo(json.dumps({"cards": rows}))
        return
    for open_card in lying:
        x, y = open_card.middle
        card = word(lang, "game.card", kinds[open_card.marker])
        click.echo(f"{card}  at {x:.0f}, {y:.0f} px, turned by {open_card.turn:.0f}°")
    click.echo(f"{len(lying)} cards of {name} lie open" if len(lying) != 1 else f"1 card of {name} lies open")
