"""``referee tournament``: begin one, run the hall, enter people, read the standings. And ``referee people``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import click

from referee.commands.hall import WHICH, WHO, directing
from referee.commands.match import JOURNAL, BadRequest
from referee.commands.options import PORT, Commands, Words, as_one
from referee.commands.serving import PATH, interrupted, pin_for
from referee.commands.tournament_shown import export, list_, plan, show
from referee.errors import DeviceLost
from referee.journal.file_lock import usable_folder
from referee.session.director import Director
from referee.session.people import People
from referee.session.seeds import new_seed
from referee.tournament.commands import (
    CloseTable,
    CreateTournament,
    Enter,
    Leave,
    OpenTable,
    PairRound,
    Rename,
    Rerun,
    Return,
    RuleGame,
    TournamentCommand,
)
from referee.tournament.ratings import ratings
from referee.tournament.state import FORMATS, Tournament, TournamentOptions
from referee.web.hall.app import create_hall_app
from referee.web.server import serve


@dataclass(frozen=True, kw_only=True)
class HallOptions:
    """What ``tournament run`` may be asked for."""

    journal: str
    tournament: str
    host: str
    port: int
    pin: str | None
    auto: bool
    data_dir: Path


@dataclass(frozen=True, kw_only=True)
class BeginOptions:
    """What ``tournament begin`` may be asked for."""

    journal: str
    name: str
    players: str
    tables: str
    form: str
    rounds: int
    group_size: int
    advance: int
    seed: int | None


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@click.group(cls=Commands)
def tournament() -> None:
    """An evening of many tables: who meets whom where, standings, people."""


@tournament.command()
@click.argument("name")
@click.option("--players", default="", help="Names, with commas; more may enter later.")
@click.option("--tables", default="T1", show_default=True, help="The tables' names, with commas.")
@click.option("--format", "form", type=Words(list(FORMATS)), default="swiss", show_default=True,
              help="swiss; groups, then a knock-out; printed: the printed round-robin in groups.")  # fmt: skip
@click.option("--rounds", type=int, default=0, help="Of a Swiss; default: as many as leave one without a loss.")
@click.option("--group-size", type=int, default=4, show_default=True, help="Players who meet at one table.")
@click.option("--advance", type=int, default=0, help="So many go on to the knock-out; default: two of each group.")
@click.option("--seed", type=int, help="Of the lots.")
@JOURNAL
@as_one(BeginOptions)
def begin(asked: BeginOptions) -> None:
    """Begin a tournament called NAME; its first pairing goes by the ratings that people have."""
    with directing(asked.journal, new=True) as (director, people):
        names = _listed(asked.players)
        seed = new_seed() if asked.seed is None else asked.seed
        form = next(f for f in FORMATS if f == asked.form)
        options = TournamentOptions(form, asked.rounds, asked.group_size, asked.advance, seed)
        strengths = strengths_of(director, people, names)
        create = CreateTournament("", asked.name, options, tuple(names), tuple(_listed(asked.tables)), strengths)
        state = director.create(create)
        people.meet(names)
        click.echo(f"{state.id}: {state.name}, {len(names)} players, tables {', '.join(state.tables)}")


def strengths_of(director: Director, people: People, names: list[str]) -> tuple[float, ...]:
    """What each is worth at least, by earlier matches; 0 where nothing is known."""
    register = people.register
    rated = ratings(register, director.played())
    found = [register.named(name) for name in names]
    return tuple(round(rated[p.id].careful, 3) if p else 0.0 for p in found)


@tournament.command("run")
@WHICH
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of the pages.")
@click.option("--port", type=PORT, default=8100, show_default=True, help="Their port; 0 takes a free one.")
@click.option("--pin", help="The organisers' PIN; made up and printed when --host is not this machine.")
@click.option("--auto", is_flag=True, help="Pair each round by itself as soon as the one before is over.")
@click.option("--data-dir", type=PATH, default=Path("referee-data/hall"), show_default=True)
@JOURNAL
@as_one(HallOptions)
def run_(asked: HallOptions) -> None:
    """Call the games to the tables and serve the hall's pages, until Ctrl-C. May be killed and started again."""
    with interrupted() as over, directing(asked.journal, asked.tournament) as (director, people):
        director.auto = asked.auto
        with hall_pages(director, people, asked.host, asked.port, asked.pin, usable_folder(asked.data_dir)):
            director.run(over)


@contextmanager
def hall_pages(
    director: Director, people: People, host: str, port: int, pin: str | None, data_dir: Path
) -> Iterator[str]:
    """The hall's pages, served while the context lasts: their address."""
    app = create_hall_app(director, people, data_dir, pin_for(host, pin, "organisers'"), host)
    try:
        server = serve(app, host, port)
    except OSError as error:
        raise DeviceLost(f"port {port} of {host} cannot be used ({error.strerror})") from None
    with closing(server):
        click.echo(f"hall: {server.url}   tables: {server.url}tables   organiser: {server.url}referee")
        yield server.url


def _done(journal: str, tournament: str, command: TournamentCommand) -> None:
    """Give the command to the tournament, and say how it stands."""
    with directing(journal, tournament) as (director, people):
        if not director.id:
            raise BadRequest(f"{journal}: no tournament has been begun")
        director.command(command)
        if isinstance(command, Enter):
            people.meet([director.state.entrants[-1].name], command.who)
        click.echo(_where(director.state))


def _where(state: Tournament) -> str:
    over = sum(g.result is not None for g in state.of_round(state.round))
    games = f", {over} of {len(state.of_round(state.round))} games over" if state.round else ""
    return f"{state.name}: {state.phase}, round {state.round} of {state.rounds}{games}, {len(state.present)} players"


def _player(journal: str, tournament: str, name: str) -> int:
    """The number of the entrant of that name. Raises BadRequest."""
    with directing(journal, tournament) as (director, _):
        names = [e.name for e in director.state.entrants]
    if name not in names:
        raise BadRequest(f"{name!r} takes no part: {', '.join(names) or 'nobody does'}")
    return names.index(name)


@tournament.command()
@click.argument("name")
@WHO
@WHICH
@JOURNAL
def enter(name: str, who: str, tournament: str, journal: str) -> None:
    """NAME takes part, from the next pairing on."""
    _done(journal, tournament, Enter(name, who=who))


@tournament.command()
@click.argument("name")
@click.argument("why")
@WHO
@WHICH
@JOURNAL
def leave(name: str, why: str, who: str, tournament: str, journal: str) -> None:
    """NAME goes home, and WHY."""
    _done(journal, tournament, Leave(_player(journal, tournament, name), why, who))


@tournament.command("return")
@click.argument("name")
@WHO
@WHICH
@JOURNAL
def return_(name: str, who: str, tournament: str, journal: str) -> None:
    """NAME, who had left, is back."""
    _done(journal, tournament, Return(_player(journal, tournament, name), who))


@tournament.command()
@click.argument("name")
@click.argument("new")
@WHO
@WHICH
@JOURNAL
def rename(name: str, new: str, who: str, tournament: str, journal: str) -> None:
    """NAME was entered wrongly and is NEW."""
    _done(journal, tournament, Rename(_player(journal, tournament, name), new, who))


@tournament.command("open-table")
@click.argument("table")
@WHO
@WHICH
@JOURNAL
def open_table(table: str, who: str, tournament: str, journal: str) -> None:
    """One more TABLE."""
    _done(journal, tournament, OpenTable(table, who))


@tournament.command("close-table")
@click.argument("table")
@click.argument("why")
@WHO
@WHICH
@JOURNAL
def close_table(table: str, why: str, who: str, tournament: str, journal: str) -> None:
    """Give a TABLE up, and WHY; its game goes to another."""
    _done(journal, tournament, CloseTable(table, why, who))


@tournament.command()
@WHICH
@JOURNAL
def pair(tournament: str, journal: str) -> None:
    """Pair the next round; after the last one, end the tournament."""
    _done(journal, tournament, PairRound())


@tournament.command()
@click.argument("game", type=int)
@click.argument("why")
@WHO
@WHICH
@JOURNAL
def rerun(game: int, why: str, who: str, tournament: str, journal: str) -> None:
    """Play GAME again, and WHY; what was played counts no longer."""
    _done(journal, tournament, Rerun(game, why, who))


@tournament.command()
@click.argument("game", type=int)
@click.argument("winner")
@click.argument("why")
@WHO
@WHICH
@JOURNAL
def rule(game: int, winner: str, why: str, who: str, tournament: str, journal: str) -> None:
    """GAME goes to WINNER (or `shared`), and WHY."""
    number = None if winner == "shared" else _player(journal, tournament, winner)
    _done(journal, tournament, RuleGame(game, number, why, who))


for command in (show, plan, list_, export):
    tournament.add_command(command)
