"""What ``referee judge`` may be asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from calibration import ZONES
from referee.commands.options import argument, option

FILE = click.Path(path_type=Path)
PIECES: dict[str, Any] = {
    "default": "challenge",
    "help": "The piece set: a pieces.json, or the name of one that ships with the program.",
}


@dataclass(frozen=True, kw_only=True)
class JudgeOptions:
    """What ``judge`` may be asked for."""

    images: tuple[Path, ...] = argument(nargs=-1, required=True, type=FILE)
    card_id: str = option("--card", required=True, help="Id of the card that was asked for.")
    deck: str = option(
        default="challenge80", help="The deck: a deck.json, or one that ships: challenge80, challenge80b."
    )
    pieces: str = option(**PIECES)
    camera_file: Path | None = option("--camera", type=FILE, help="camera.yaml of the calibrated lens.")
    empty: Path | None = option(type=FILE, help="The same rig with nothing on the mats.")
    colors: Path | None = option(type=FILE, help="The same rig with every piece standing apart.")
    palette: Path | None = option(type=FILE, help="What calibrate colors made of such a picture.")
    zones: tuple[str, ...] = option("--zone", multiple=True, type=click.Choice(list(ZONES)), help="Only this zone.")
    as_json: bool = option("--json", is_flag=True, help="One JSON object per image and line.")
    overlay: Path | None = option(type=FILE, help="Draw the verdict: a picture, or a folder for several.")
    steps: Path | None = option(type=FILE, help="A folder for a picture of every stage, from the mats to the verdict.")
