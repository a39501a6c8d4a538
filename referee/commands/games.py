"""``referee game``: the four tower games at a table and on the terminal."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from flask import Flask

from referee.commands.game_camera import cards, look
from referee.commands.named_files import named_piece_set
from referee.commands.options import PORT, Commands, Words, as_one, names_in, same_players
from referee.commands.serving import interrupted, opened, served, taken
from referee.devices.ports import Clock, SystemClock
from referee.errors import DeviceLost, RefereeError
from referee.events import Event
from referee.games.catalogue import GAMES, game_named
from referee.games.core import BadGame, Mode
from referee.games.match import Match, evolve, fold
from referee.session.game_camera import CardCamera, PlanCamera, TableCamera
from referee.session.game_table import GameTable, game_matches
from referee.session.ports import Record
from referee.session.seeds import new_seed
from referee.web.games.app import create_game_app
from referee.web.i18n.games import said
from referee.web.i18n.texts import translate
from referee.web.security import LOOPBACK
from referee.web.server import Server

PATH = click.Path(path_type=Path)
LANG = "en"


@dataclass(frozen=True, kw_only=True)
class PlayOptions:
    """What ``game play`` may be asked for; each is explained there."""

    name: str
    players: str
    scorer: bool
    rules_file: Path | None
    seed: int | None
    stones: str
    host: str
    port: int
    pin: str | None
    data_dir: Path


class GameLines:
    """Says on the terminal what happens in a game, as everybody may read it at that moment."""

    def __init__(self, match: Match) -> None:
        self._scores = {row.player: row.score for row in match.standings}

    def __call__(self, match: Match, events: Sequence[Event]) -> None:
        """Hear of new events: the match after them."""
        for event in events:
            if event.kind in ("undone", "corrected"):
                change = match.changes[-1]
                was = said(LANG, match.shown(None, change["was"]), match.state.players)
                values = {"who": change["who"], "number": change["number"], "why": change["why"], "was": was}
                click.echo(f"     {translate(LANG, f'game.{event.kind}', **values)}")
        if any(event.kind == "asked" for event in events):
            click.echo(f"{len(match.played):4d} {said(LANG, match.shown(None, match.played[-1]), match.state.players)}")
        scores = {row.player: row.score for row in match.standings}
        if scores != self._scores:
            click.echo(f"     score: {'  '.join(f'{name} {score}' for name, score in scores.items())}")
        self._scores = scores
        if match.over:
            click.echo(result(match))


def result(match: Match) -> str:
    """The final result in a line."""
    best = [row.player for row in match.standings if row.wins]
    table = ", ".join(f"{row.rank}. {row.player} {row.score}" for row in match.standings)
    return f"winner: {' and '.join(best)}   ({table})"


@contextmanager
def record_in(data_dir: Path) -> Iterator[Record]:
    """The games' record under the folder, this program's alone while the context lasts."""
    with taken(data_dir) as folder, opened(folder / "journal.db", folder, "") as record:
        yield record


def going_on(record: Record, clock: Clock, game: str, players: Sequence[str] | None) -> GameTable | None:
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


@click.group(cls=Commands)
def game() -> None:
    """Four more tower games: play, what is on record, replays, house rules, towers read from pictures."""


game.add_command(look)
game.add_command(cards)


@game.command("list")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
def list_(data_dir: Path) -> None:
    """The games on record."""
    with record_in(data_dir / "games") as record:
        for match_id in game_matches(record):
            match = fold(record.events(match_id))
            mark = "SIMULATED " if match.simulated else ""
            state = result(match) if match.over else f"open, {len(match.played)} commands"
            click.echo(f"{match_id}: {mark}{state}")


@game.command("replay")
@click.argument("match_id", metavar="[MATCH]", required=False)
@click.option("--step", is_flag=True, help="Wait for Enter before every command.")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
def replay(match_id: str | None, step: bool, data_dir: Path) -> None:
    """Show a MATCH of the record command by command; without MATCH the last one."""
    with record_in(data_dir / "games") as record:
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
    for events in commands_of(entries[1:]):
        if step:
            click.prompt("", default="", show_default=False, prompt_suffix="")
        for event in events:
            match = evolve(match, event)
        lines(match, events)


def commands_of(events: Sequence[Event]) -> Iterator[list[Event]]:
    """The events of each command together, a correction's with those that it decided anew."""
    group: list[Event] = []
    for event in events:
        if group and event.step != group[0].step:
            yield group
            group = []
        group.append(event)
    if group:
        yield group


@game.command("rules")
@click.argument("name", type=Words(list(GAMES)))
def rules(name: str) -> None:
    """Print a game's house rules with their defaults, for a file of your own."""
    fields = game_named(name).rules.model_fields
    defaults = game_named(name).rules().model_dump(mode="json")
    for key, field in fields.items():
        click.echo(f"# {field.description}\n{key} = {_toml(defaults[key])}\n")


def _toml(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_toml, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def rules_of(file: Path | None) -> dict[str, Any]:
    """The house rules in the file. Raises BadGame when it cannot be read."""
    if file is None:
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BadGame(f"{file}: {error}") from None


def camera_of(name: str, stones: str) -> TableCamera:
    """What reads pictures of that game's table."""
    chosen = game_named(name)
    return PlanCamera(named_piece_set(stones)) if chosen.reads == "plans" else CardCamera(chosen)


def made_up_pin() -> str:
    """Six digits, told on the terminal."""
    pin = f"{secrets.randbelow(10**6):06d}"
    click.echo(f"the referee's PIN is {pin}")
    return pin


def game_server(app: Flask, host: str, port: int | None) -> Server:
    """The pages on that port; None takes a free one where the usual is taken. Raises DeviceLost."""
    try:
        return served(app, host, port, None)
    except OSError as error:
        raise DeviceLost(f"port {port} of {host} cannot be used ({error.strerror})") from None


@game.command("play")
@click.argument("name", type=Words(list(GAMES)))
@click.option("--players", required=True, help="Names with commas, youngest first.")
@click.option(
    "--scorer", is_flag=True, help="Real cards and stones: people enter what was done. Else the program deals."
)
@click.option("--rules", "rules_file", type=PATH, help="House rules, as `referee game rules` prints them.")
@click.option("--seed", type=int, help="Seed of the deal.")
@click.option("--stones", default="city_stones", help="The stones of city_towers, for the camera: a pieces.json.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the pages.")
@click.option("--port", type=PORT, default=8000, show_default=True, help="Their port; 0 takes a free one.")
@click.option("--pin", help="The referee's PIN; made up and printed when --host is not this machine.")
@click.option("--data-dir", type=PATH, default=Path("referee-data"), show_default=True)
@as_one(PlayOptions)
def play(asked: PlayOptions) -> None:
    """Play a game on board, console and phones; one of these players that has not ended goes on."""
    clock, pin, players = SystemClock(), asked.pin, names_in(asked.players)
    if pin is None and asked.host not in LOOPBACK:
        pin = made_up_pin()
    with interrupted() as over, record_in(asked.data_dir / "games") as record:
        table = going_on(record, clock, asked.name, players)
        if table is None:
            seed = new_seed() if asked.seed is None else asked.seed
            mode: Mode = "scorer" if asked.scorer else "full"
            setup = game_named(asked.name).setup(players, rules_of(asked.rules_file), seed, mode)
            table = GameTable.begun(record, clock, asked.name, setup)
        table.listen(GameLines(table.match))
        camera = camera_of(asked.name, asked.stones)
        app = create_game_app(table, asked.data_dir / "games", clock, pin, asked.host, camera)
        with closing(game_server(app, asked.host, asked.port)) as server:
            click.echo(f"board: {server.url}   console: {server.url}referee (with the private links of the seats)")
            over.wait()
