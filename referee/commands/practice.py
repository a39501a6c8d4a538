"""``referee practice``: one or two players alone with the camera, at a real table or a SIMULATED one."""

from contextlib import ExitStack
from dataclasses import dataclass

import click

from referee.commands.options import names_in, option, takes_options
from referee.commands.play import TableOptions, at_table, simulated_session
from referee.errors import RefereeError
from referee.session.practising import PracticeRunner
from referee.session.session import Session
from referee.simulator.operator import Practisers

PAGE = "practice"


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
    with simulated_session(asked, asked.fast, PAGE) as (table, session, over), ExitStack() as stack:
        room = _room(session)
        robots = Practisers(room, table.players, session.deck, session.piece_set, session.clock)
        stack.callback(robots.stop)
        robots.start()
        _begin(room, names, asked)
        while not over.wait(0.1):
            for line in robots.lines():
                click.echo(line)
            if asked.builds is not None and robots.ended >= asked.builds:
                break
