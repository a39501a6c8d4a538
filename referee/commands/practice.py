"""``referee practice``: one or two players alone with the camera, at a real table or a SIMULATED one."""

from contextlib import ExitStack
from dataclasses import dataclass, replace

import click

from referee.commands.options import names_in, option, takes_options
from referee.commands.play import PRACTICE, TableOptions, at_table, simulated_table
from referee.commands.serving import dashboard, interrupted, locked_data_folder, open_record, running_session
from referee.devices.box_keyboard import KeysBox
from referee.errors import RefereeError
from referee.session.practising import PracticeRunner
from referee.session.session import Session
from referee.simulator.operator import Practisers
from referee.simulator.rig import Staging

PAGE = "practice"
FPS, FAST_FPS = 15.0, 8.0


@dataclass(frozen=True, kw_only=True)
class PracticeOptions(TableOptions):
    """What ``practice`` may be asked for."""

    players: str | None = option(help="One name or two with a comma: begins at once. Else the page asks.")
    level: int | None = option(
        type=click.IntRange(1, 4), help="Only cards of this difficulty: the points that they bring."
    )
    simulated: bool = option(is_flag=True, help="At a simulated table; everything is marked SIMULATED.")
    fast: bool = option(is_flag=True, help="Simulated hands faster than any human's.")
    builds: int | None = option(type=click.IntRange(min=1), help="End after so many simulated builds.")


@click.command()
@takes_options(PracticeOptions)
def practice(asked: PracticeOptions) -> None:
    """Build against the clock, alone or in twos: no button box, no referee.

    The camera sees the empty field, counts down, sees when the card has been built, and judges it.
    """
    names = names_in(asked.players) if asked.players else []
    if len(names) > 2:
        raise click.BadParameter("one or two can practise", param_hint="--players")
    if asked.simulated:
        _simulated(names or ["Ann"], asked)
        return
    at_table(asked, lambda session: _begin(_room(session), names, asked), (), PAGE)


def _room(session: Session) -> PracticeRunner:
    if session.practice is None:
        raise RefereeError("this table has no record of practice")
    return session.practice


def _begin(room: PracticeRunner, names: list[str], asked: PracticeOptions) -> None:
    """Begin with these names, else with those of a practice that was broken off."""
    players = dict(zip("AB", names, strict=False)) or (dict(room.left.players) if room.left else {})
    if players:
        room.begin(players, asked.level, asked.seed)
        click.echo(f"practising: {', '.join(players.values())}")


def _simulated(names: list[str], asked: PracticeOptions) -> None:
    """The same at the simulated table: players who carry pieces, and nothing else."""
    with ExitStack() as stack, interrupted() as over:
        click.echo("SIMULATED: table, players and camera are not real")
        data_dir = stack.enter_context(locked_data_folder(asked.data_dir / "simulated"))
        staging = Staging(asked.seed or 0, "across", asked.fast, FAST_FPS if asked.fast else FPS)
        table, use = simulated_table(stack, data_dir, staging)
        record = stack.enter_context(open_record(data_dir / PRACTICE, data_dir, ""))
        use = replace(use, practice=record, box=KeysBox(use.clock))
        session = stack.enter_context(running_session(use, ()))
        stack.enter_context(dashboard(session, asked, None, PAGE))
        table.set_up(use.observer)
        session.start()
        room = _room(session)
        robots = Practisers(room, table.players, use.deck, use.piece_set, use.clock)
        stack.callback(robots.stop)
        robots.start()
        _begin(room, names, asked)
        while not over.wait(0.1):
            for line in robots.lines():
                click.echo(line)
            if asked.builds is not None and robots.ended >= asked.builds:
                break
