"""``referee game``: the four tower games at a table and on the terminal."""

import json
import tomllib
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import click

from calibration.camera import load_camera
from cards.errors import parsed_file
from referee.commands.named_files import named_piece_set
from referee.commands.options import (
    PATH,
    BrowsedOptions,
    argument,
    names_in,
    option,
    same_players,
    takes_options,
)
from referee.commands.serving import interrupted, locked_data_folder, open_record, page_server, pin_for
from referee.devices.ports import Clock, SystemClock
from referee.errors import CannotSee, RefereeError
from referee.events import Event
from referee.games.catalogue import GAMES, game_named
from referee.games.core import BadGame, Mode
from referee.games.match import Match, evolve, fold
from referee.match.house_rules import toml_value
from referee.session.game_camera import CardCamera, PlanCamera, TableCamera
from referee.session.game_table import GameTable, game_matches
from referee.session.ports import Record
from referee.session.seeds import new_seed
from referee.vision.city.overlay import overlay
from referee.vision.city.sight import CityEye, CitySight
from referee.vision.image.files import read_picture, write_picture
from referee.web.games.app import create_game_app
from referee.web.i18n.texts import command_sentence, translate

LANG = "en"


class GameLines:
    """Says on the terminal what happens in a game, as everybody may read it at that moment."""

    def __init__(self, match: Match) -> None:
        self._scores = {row.player: row.score for row in match.standings}

    def __call__(self, match: Match, events: Sequence[Event]) -> None:
        """Hear of new events: the match after them."""
        for event in events:
            if event.kind in ("undone", "corrected"):
                change = match.changes[-1]
                was = command_sentence(LANG, match.shown(None, change["was"]), match.state.players)
                values = {"who": change["who"], "number": change["number"], "why": change["why"], "was": was}
                click.echo(f"     {translate(LANG, f'game.{event.kind}', **values)}")
        if any(event.kind == "asked" for event in events):
            shown = match.shown(None, match.played[-1])
            click.echo(f"{len(match.played):4d} {command_sentence(LANG, shown, match.state.players)}")
        scores = {row.player: row.score for row in match.standings}
        if scores != self._scores:
            click.echo(f"     score: {'  '.join(f'{name} {score}' for name, score in scores.items())}")
        self._scores = scores
        if match.over:
            click.echo(result_line(match))


def result_line(match: Match) -> str:
    """The final result in a line."""
    best = [row.player for row in match.standings if row.wins]
    table = ", ".join(f"{row.rank}. {row.player} {row.score}" for row in match.standings)
    return f"winner: {' and '.join(best)}   ({table})"


@contextmanager
def locked_game_record(data_dir: Path) -> Iterator[Record]:
    """The games' record under the folder, this program's alone while the context lasts."""
    with locked_data_folder(data_dir) as folder, open_record(folder / "journal.db", folder, "") as record:
        yield record


def resume_game(record: Record, clock: Clock, game: str, players: Sequence[str] | None) -> GameTable | None:
    """The game on record to go on with: the last one of these players, or of anybody where None, unless it has ended.

    It is said, and so is how to go on with another open one.
    """
    known = [match_id for match_id, name in game_matches(record).items() if name == game]
    for match_id in reversed(known):
        match = fold(record.events(match_id))
        names = ",".join(match.state.players)
        if players is None or same_players(players, match.state.players):
            if match.over:
                return None
            click.echo(f"going on with {match_id} behind command {len(match.played)}: {names}")
            return GameTable(record, clock, match)
        if match_id == known[-1] and not match.over:
            click.echo(f"{match_id} stays open: --players {names} goes on with it")
    return None


@click.group()
def game() -> None:
    """Four more tower games: play, what is on record, replays, house rules, towers read from pictures."""


@game.command("list")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
def list_(data_dir: Path) -> None:
    """The games on record."""
    with locked_game_record(data_dir / "games") as record:
        if not (matches := game_matches(record)):
            click.echo("no game is on record")
        for match_id in matches:
            match = fold(record.events(match_id))
            mark = "SIMULATED " if match.simulated else ""
            state = result_line(match) if match.over else f"open, {len(match.played)} commands"
            click.echo(f"{match_id}: {mark}{state}")


@game.command("replay")
@click.argument("match_id", metavar="[MATCH]", required=False)
@click.option("--step", is_flag=True, help="Wait for Enter before every command.")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
def replay(match_id: str | None, step: bool, data_dir: Path) -> None:
    """Show a MATCH of the record command by command; without MATCH the last one."""
    with locked_game_record(data_dir / "games") as record:
        known = list(game_matches(record))
        if not known:
            raise RefereeError(f"{data_dir}: no game is on record")
        chosen = match_id or known[-1]
        if chosen not in known:
            raise RefereeError(f"no game {chosen!r} is in the record: `referee game list` names them")
        entries = record.events(chosen)
    match = fold(entries[:1])
    mark = " SIMULATED" if match.simulated else ""
    seed = f", seed {match.setup.seed}" if fold(entries).over else ""
    click.echo(f"{chosen}:{mark} {', '.join(match.state.players)}{seed}")
    lines = GameLines(match)
    for _, group in groupby(entries[1:], key=lambda event: event.step):  # a correction's events are one step
        events = list(group)
        if step:
            click.prompt("", default="", show_default=False, prompt_suffix="")
        for event in events:
            match = evolve(match, event)
        lines(match, events)


@game.command("rules")
@click.argument("name", type=click.Choice(list(GAMES)))
def rules(name: str) -> None:
    """Print a game's house rules with their defaults, for a file of your own."""
    fields = game_named(name).rules.model_fields
    defaults = game_named(name).rules().model_dump(mode="json")
    for key, field in fields.items():
        click.echo(f"# {field.description}\n{key} = {toml_value(defaults[key])}\n")


@contextmanager
def pages_of(
    table: GameTable, folder: Path, asked: BrowsedOptions, camera: TableCamera | None = None
) -> Iterator[None]:
    """The game's pages while the context lasts, which is said, and a browser opens. Raises DeviceLost when the port
    cannot be had."""
    pin = pin_for(asked, "referee's", folder)
    app = create_game_app(table, folder, SystemClock(), pin, asked.host, camera)
    with page_server(app, asked) as url:
        click.echo(f"board: {url}   console: {url}referee (with the private links of the seats)")
        if not asked.no_browser:
            webbrowser.open(url)
        yield


@dataclass(frozen=True, kw_only=True)
class PlayOptions(BrowsedOptions):
    """What ``game play`` may be asked for."""

    name: str = argument(type=click.Choice(list(GAMES)))
    players: str = option(required=True, help="Names with commas, youngest first.")
    scorer: bool = option(
        is_flag=True, help="Real cards and stones: people enter what was done. Else the program deals."
    )
    rules_file: Path | None = option("--rules", type=PATH, help="House rules, as `referee game rules` prints them.")
    seed: int | None = option(type=int, help="Seed of the deal.")
    stones: str = option(
        default="city_stones", show_default=False, help="The stones of city_towers, for the camera: a pieces.json."
    )
    data_dir: Path = option(type=PATH, default=Path("referee-data"))


@game.command("play")
@takes_options(PlayOptions)
def play(asked: PlayOptions) -> None:
    """Play a game on board, console and phones; one of these players that has not ended goes on."""
    clock, players = SystemClock(), names_in(asked.players)
    with interrupted() as over, locked_game_record(asked.data_dir / "games") as record:
        table = resume_game(record, clock, asked.name, players)
        if table is None:
            seed = new_seed() if asked.seed is None else asked.seed
            mode: Mode = "scorer" if asked.scorer else "full"
            rules = parsed_file(asked.rules_file, tomllib.loads, "TOML", BadGame) if asked.rules_file else {}
            setup = game_named(asked.name).setup(players, rules, seed, mode)
            table = GameTable.begun(record, clock, asked.name, setup)
        table.listen(GameLines(table.match))
        plans = game_named(asked.name).reads == "plans"
        camera = PlanCamera(named_piece_set(asked.stones)) if plans else CardCamera(game_named(asked.name))
        with pages_of(table, asked.data_dir / "games", asked, camera):
            over.wait()


FILE = click.Path(path_type=Path)


@game.command("look")
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
