"""``referee demo --game``: a whole simulated game on the terminal and on the board. Everything is SIMULATED."""

from contextlib import ExitStack

import click

from calibration import ZONES
from calibration.game_sheets import SITE_MM
from referee.commands.demo_options import DemoOptions
from referee.commands.games import GameLines, locked_game_record, pages_of, resume_game
from referee.commands.named_files import named_piece_set
from referee.commands.options import simulated_players
from referee.commands.serving import interrupted
from referee.devices.ports import SystemClock
from referee.games.catalogue import game_named
from referee.games.core import GameCommand, Table
from referee.games.match import Match
from referee.session.game_table import GameTable
from referee.simulator.city_camera import city_pictures, next_command, placed_stones
from referee.vision.city.sight import CityEye

PACE_S = 0.5
"""How long a simulated player thinks."""


def demo_game(game: str, asked: DemoOptions) -> None:
    """Play a simulated game to its end; one that was broken off goes on. Unless it is fast, its board is served."""
    game_named(game)
    fast, folder = asked.fast, asked.data_dir / "games"
    players = simulated_players(asked.players) if asked.players else None
    with interrupted() as over, ExitStack() as stack:
        record = stack.enter_context(locked_game_record(folder))
        click.echo("SIMULATED: players, cards and stones are not real")
        table = resume_game(record, SystemClock(), game, players)
        if table is None:
            setup = game_named(game).setup(players or simulated_players("4"), {}, asked.seed or 0)
            table = GameTable.begun(record, SystemClock(), game, setup, simulated=True)
            click.echo(f"{game}: {', '.join(setup.players)}; match {table.match.match_id}")
        table.listen(GameLines(table.match))
        if not fast and not asked.headless:
            stack.enter_context(pages_of(table, folder, asked))
        while (command := next_command(table.match)) is not None and not over.wait(0 if fast else PACE_S):
            before = table.match
            table.command(command, before.state.name(command.seat))
            if not fast and table.match.state.phase != before.state.phase:  # after the last stone of a round
                check_by_camera(before, table.match.state, command)
        if not (fast or asked.headless or over.is_set()):
            click.echo("The game is over. The board stays until Ctrl-C.")
            over.wait()


def check_by_camera(before: Match, after: Table, command: GameCommand) -> None:
    """Say what SIMULATED pictures of the plan that the command built on, read by the real eye, propose."""
    if (built := before.game.plan(after, command)) is None:
        return
    number, towers = built
    stones, seed = named_piece_set("city_stones"), before.setup.seed
    shown = city_pictures(stones, ZONES[number - 1], placed_stones(stones, towers, SITE_MM, seed), seed)
    proposal = before.game.proposal(before.state, CityEye(stones).look(shown).cities)
    word = "as played" if proposal.command == command else "NOT what was played"
    click.echo(f"     camera (SIMULATED, {len(shown)} pictures of city {number}): {proposal.message}: {word}")
