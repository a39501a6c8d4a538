"""What ``referee demo`` may be asked for, whichever demo it is."""

from dataclasses import dataclass
from pathlib import Path

import click

from referee.commands.options import PATH, option
from referee.commands.serving import DashboardOptions
from referee.simulator.table import SEATINGS
from referee.tournament.state import FORMATS, MOST_ROUNDS


@dataclass(frozen=True, kw_only=True)
class DemoOptions(DashboardOptions):
    """What ``demo`` may be asked for."""

    game: str | None = option(help="Play one of the tower games on the terminal instead, e.g. city_towers.")
    fast: bool = option(is_flag=True, help="Hands faster than any human's; ends with the match.")
    players: str | None = option(show_default="4", help="How many play, or names, youngest first.")
    duels: int | None = option(type=click.IntRange(min=1), help="End after so many decided duels.")
    seating: str = option(type=click.Choice(sorted(SEATINGS)), default="across")
    manual: bool = option(is_flag=True, help="You run the match on the console; the players build.")
    fps: float | None = option(type=click.FloatRange(2, 60), help="Of the simulated camera; default 15, fast 8.")
    second: bool = option("--second-camera", is_flag=True, help="Another simulated camera sees the table as well.")
    tables: int | None = option(
        type=click.IntRange(1, 64), help="A whole tournament on so many tables, without cameras."
    )
    form: str = option("--format", type=click.Choice(list(FORMATS)), default="swiss", help="Of --tables.")
    rounds: int = option(type=click.IntRange(0, MOST_ROUNDS), default=0, help="Of --tables: of a Swiss; 0: as needed.")
    journal: str | None = option(help="Of --tables: where the record goes, a file or a database URL.")
    data_dir: Path = option(type=PATH, default=Path("referee-data/simulated"))
