"""``referee demo --game``: a whole simulated game on the terminal and on the board. Everything is SIMULATED."""

from __future__ import annotations

import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from calibration import ZONES
from calibration.game_sheets import SITE_MM
from cards.pieces import PieceSet
from referee.commands.games import GameLines, game_server, going_on, made_up_pin, record_in
from referee.commands.named_files import named_piece_set
from referee.commands.options import simulated_players
from referee.commands.serving import DemoOptions, interrupted
from referee.devices.ports import SystemClock
from referee.games.catalogue import game_named
from referee.games.core import GameCommand
from referee.games.match import Match
from referee.session.game_table import GameTable
from referee.simulator.city_camera import pictures, stood
from referee.simulator.game_players import next_choice
from referee.vision.city.sight import CityEye
from referee.web.games.app import create_game_app
from referee.web.security import LOOPBACK

PACE_S = 0.5
"""How long a simulated player thinks."""


def demo_game(game: str, asked: DemoOptions) -> None:
    """Play a simulated game to its end; one that was broken off goes on. Unless it is fast, its board is served."""
    game_named(game)
    fast, folder = asked.fast, asked.data_dir / "games"
    players = simulated_players(asked.players) if asked.players else None
    with interrupted() as over, ExitStack() as stack:
        record = stack.enter_context(record_in(folder))
        click.echo("SIMULATED: players, cards and stones are not real")
        table = going_on(record, SystemClock(), game, players)
        if table is None:
            setup = game_named(game).setup(players or simulated_players("4"), {}, asked.seed or 0)
            table = GameTable.begun(record, SystemClock(), game, setup, simulated=True)
            click.echo(f"{game}: {', '.join(setup.players)}; match {table.match.match_id}")
        table.listen(GameLines(table.match))
        if not fast and not asked.headless:
            stack.enter_context(board(table, folder, asked))
        eye = None if fast or table.match.game.reads != "plans" else SimulatedEye(named_piece_set("city_stones"))
        while (command := next_choice(table.match)) is not None and not over.wait(0 if fast else PACE_S):
            before = table.match
            table.command(command, before.state.name(command.seat))
            if eye and table.match.state.phase != before.state.phase and (line := eye.read(before, command)):
                click.echo(f"     {line}")  # after the last stone of a round
        if not (fast or asked.headless or over.is_set()):
            click.echo("The game is over. The board stays until Ctrl-C.")
            over.wait()


@contextmanager
def board(table: GameTable, folder: Path, asked: DemoOptions) -> Iterator[None]:
    """The demo's pages while the context lasts. Raises DeviceLost when the port is taken."""
    pin = asked.pin
    if pin is None and asked.host not in LOOPBACK:
        pin = made_up_pin()
    app = create_game_app(table, folder, SystemClock(), pin, asked.host)
    with closing(game_server(app, asked.host, asked.port)) as server:
        click.echo(f"board: {server.url}   console: {server.url}referee")
        if not asked.no_browser:
            webbrowser.open(server.url)
        yield


class SimulatedEye:
    """The camera of a simulated game on plans: SIMULATED pictures of the plan built on, read by the real eye."""

    def __init__(self, stones: PieceSet) -> None:
        self._stones = stones

    def read(self, before: Match, command: GameCommand) -> str:
        """What the pictures after the command propose, held against the command; '' where it built on no plan."""
        built = before.game.plan(before.game.decide(before.state, command).state, command)
        if built is None:
            return ""
        number, towers = built
        placed = stood(self._stones, towers, SITE_MM, before.setup.seed)
        shown = pictures(self._stones, ZONES[number - 1], placed, before.setup.seed)
        proposal = before.game.proposal(before.state, CityEye(self._stones).look(shown).cities)
        word = "as played" if proposal.command == command else "NOT what was played"
        return f"camera (SIMULATED, {len(shown)} pictures of city {number}): {proposal.message}: {word}"
