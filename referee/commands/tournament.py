"""``referee tournament``: begin one, run the hall, enter people, read the standings. And ``referee people``."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from referee.commands.hall import WHICH, WHO, running_director
from referee.commands.match import JOURNAL, BadArgument, write_output
from referee.commands.options import PATH, PORT, PageOptions, argument, option, takes_options
from referee.commands.serving import interrupted, page_server, pin_for
from referee.journal.file_lock import usable_folder
from referee.session.director import Director, tournaments
from referee.session.people import People
from referee.session.seeds import new_seed
from referee.tournament import commands
from referee.tournament.commands import TournamentCommand
from referee.tournament.evolve import fold
from referee.tournament.people import ratings
from referee.tournament.plan import remaining_s, time_plan
from referee.tournament.standings import RULES, standings
from referee.tournament.state import FORMATS, Fixture, Tournament, TournamentOptions
from referee.web.hall.app import create_hall_app
from referee.web.hall.export import to_json, to_trf
from referee.web.i18n.texts import translate


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


@click.group()
def tournament() -> None:
    """An evening of many tables: who meets whom where, standings, people."""


@dataclass(frozen=True, kw_only=True)
class BeginOptions:
    """What ``tournament begin`` may be asked for."""

    journal: str
    name: str = argument()
    players: str = option(
        default="",
        help="Names, with commas; more may enter later. Strengths for those without ratings: Ann=7,Ben=4.",
    )
    tables: str = option(default="T1", help="The tables' names, with commas.")
    form: str = option(
        "--format",
        type=click.Choice(list(FORMATS)),
        default="swiss",
        help="swiss; groups, then a knock-out; printed: the printed round-robin in groups.",
    )
    rounds: int = option(type=int, default=0, help="Of a Swiss; default: as many as leave one without a loss.")
    group_size: int = option(type=int, default=4, help="Players who meet at one table.")
    advance: int = option(type=int, default=0, help="So many go on to the knock-out; default: two of each group.")
    seed: int | None = option(type=int, help="Of the lots.")


@tournament.command()
@takes_options(BeginOptions)
@JOURNAL
def begin(asked: BeginOptions) -> None:
    """Begin a tournament called NAME; its first pairing goes by strengths, or else the ratings that people have."""
    with running_director(asked.journal, new=True) as (director, people):
        names, strengths = _with_strengths(asked.players)
        seed = new_seed() if asked.seed is None else asked.seed
        form = next(f for f in FORMATS if f == asked.form)
        options = TournamentOptions(form, asked.rounds, asked.group_size, asked.advance, seed)
        strengths = strengths or strengths_of(director, people, names)
        tables = tuple(_listed(asked.tables))
        create = commands.CreateTournament("", asked.name, options, tuple(names), tables, strengths)
        state = director.create(create)
        people.meet(names)
        click.echo(f"{state.id}: {state.name}, {len(names)} players, tables {', '.join(state.tables)}")


def _with_strengths(text: str) -> tuple[list[str], tuple[float, ...]]:
    """``Ann=7,Ben``: the names and, where one has a strength, everybody's, 0 without one. Raises BadArgument."""
    parts = [part.rpartition("=") if "=" in part else (part, "", "0") for part in _listed(text)]
    try:
        strengths = tuple(float(strength) for _, _, strength in parts)
    except ValueError as error:
        raise BadArgument(f"--players: {error}; strengths are numbers, as in Ann=7,Ben=4") from None
    return [name.strip() for name, _, _ in parts], strengths if any(sign for _, sign, _ in parts) else ()


def strengths_of(director: Director, people: People, names: list[str]) -> tuple[float, ...]:
    """What each is worth at least, by earlier matches; 0 where nothing is known."""
    register = people.register
    rated = ratings(register, director.played())
    found = [register.named(name) for name in names]
    return tuple(round(rated[p.id].careful, 3) if p else 0.0 for p in found)


@dataclass(frozen=True, kw_only=True)
class HallOptions(PageOptions):
    """What ``tournament run`` may be asked for."""

    journal: str
    tournament: str
    port: int = option(type=PORT, default=8100, help="Their port; 0 takes a free one.")
    auto: bool = option(is_flag=True, help="Pair each round by itself as soon as the one before is over.")
    data_dir: Path = option(type=PATH, default=Path("referee-data/hall"))


@tournament.command("run")
@WHICH
@takes_options(HallOptions)
@JOURNAL
def run_(asked: HallOptions) -> None:
    """Call the games to the tables and serve the hall's pages, until Ctrl-C. May be killed and started again."""
    folder = usable_folder(asked.data_dir)
    with interrupted() as over, running_director(asked.journal, asked.tournament, keep=folder) as (director, people):
        director.auto = asked.auto
        with hall_pages(director, people, asked, folder):
            director.run(over)


@contextmanager
def hall_pages(director: Director, people: People, asked: PageOptions, data_dir: Path) -> Iterator[str]:
    """The hall's pages, served while the context lasts: their address."""
    app = create_hall_app(director, people, data_dir, pin_for(asked, "organisers'", data_dir), asked.host)
    with page_server(app, asked) as url:
        click.echo(f"hall: {url}   tables: {url}tables   organiser: {url}referee")
        yield url


LANG = "en"


def begun_tournament(director: Director, journal: str) -> Tournament:
    """Its state. Raises BadArgument where there is none."""
    if not director.id:
        raise BadArgument(f"{journal}: no tournament has been begun")
    return director.state


@tournament.command("list")
@JOURNAL
def list_(journal: str) -> None:
    """The tournaments on record."""
    with running_director(journal) as (director, _):
        for tournament in tournaments(director.record):
            state = fold(director.record.events(tournament))
            mark = "  SIMULATED" if state.simulated else ""
            click.echo(f"{tournament}  {state.phase:<8}  {len(state.entrants)} players  {state.name}{mark}")


@tournament.command()
@WHICH
@JOURNAL
def show(tournament: str, journal: str) -> None:
    """Standings with the rules that break ties, and every round's games."""
    with running_director(journal, tournament) as (director, _):
        state = begun_tournament(director, journal)
    click.echo(table_text(state))
    for number in range(1, state.round + 1):
        click.echo(f"\nround {number} of {state.rounds}")
        for game in state.of_round(number):
            click.echo(f"  {game_text(state, game)}")


def table_text(state: Tournament) -> str:
    """The standings, and by which rules."""
    width = max((len(e.name) for e in state.entrants), default=4)
    mark = "  SIMULATED" if state.simulated else ""
    rows = [f"{state.name}: {translate(LANG, f'hall.format.{state.options.format}')}, {state.phase}{mark}", ""]
    for row in standings(state):
        place = f"{row.place:>3}." if row.place else "left"
        swiss = f"{row.match_points:>3} points  Buchholz {row.buchholz:>3}  "
        made = swiss if state.options.format == "swiss" else f"place in group {row.group_place or '-'}  "
        rows.append(f"{place} {row.name:<{width}}  {made}{row.cards:>4} card points")
    ties = "; ".join(translate(LANG, f"tie.{rule}") for rule in RULES[state.options.format])
    return "\n".join([*rows, "", f"places by {ties}"])


def game_text(state: Tournament, game: Fixture) -> str:
    """A game in a line."""
    names = " - ".join(state.named(game))
    label = f" (group {game.label})" if game.label else ""
    if game.result is None:
        where = f" at table {game.table}" if game.table else ""
        return f"{game.number:>3}: {names}{label}: {game.phase}{where}"
    if game.bye:
        return f"{game.number:>3}: {names}: {translate(LANG, f'hall.by.{game.result.by}')}"
    rows = ", ".join(f"{state.entrants[r.player].name} {r.points}" for r in game.result.rows)
    winner = game.result.winner
    to = state.entrants[winner].name if winner is not None else "shared"
    by = "" if game.result.by == "match" else f" ({game.result.by})"
    return f"{game.number:>3}: {names}{label}: {to}{by}   {rows}"


@tournament.command()
@WHICH
@JOURNAL
def plan(tournament: str, journal: str) -> None:
    """Who is where now, who is next, and when it will be over."""
    with running_director(journal, tournament) as (director, _):
        state, passed = begun_tournament(director, journal), director.passed_s()
    for table in state.tables:
        if game := state.at_table(table):
            click.echo(f"at table {table}: {' - '.join(state.named(game))} ({game.phase})")
    for slot in time_plan(state, passed):
        names = " - ".join(state.named(state.games[slot.game - 1]))
        click.echo(f"next at table {slot.table}: {names} in {slot.begins_s / 60:.0f} min")
    click.echo(f"over in about {remaining_s(state, passed) / 60:.0f} min")


@tournament.command()
@WHICH
@JOURNAL
@click.option("--format", "form", type=click.Choice(["json", "trf"]), default="json", show_default=True)
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write here, not to the screen.")
def export(tournament: str, journal: str, form: str, out: Path | None) -> None:
    """The tournament as JSON; a Swiss also as TRF16 (trf), which pairing programs and their checkers read."""
    with running_director(journal, tournament) as (director, _):
        state = begun_tournament(director, journal)
        write_output(to_trf(state) if form == "trf" else to_json(state), out)


METAVARS = {"player": "NAME", "name": "NEW"}
"""How fields of a command are called on the command line, where not as they are."""


def changing_command(name: str, kind: type[TournamentCommand], about: str) -> None:
    """A subcommand of that name: the command of that kind, its fields asked for one after another, is given to the
    tournament, and how that stands is said."""
    asked = fields(kind)

    def run(journal: str, tournament: str, **given: Any) -> None:
        with running_director(journal, tournament) as (director, people):
            state = begun_tournament(director, journal)
            for field in asked:
                if field.name == "winner" or (field.name == "player" and field.type is int):
                    name = given[field.name]
                    shared = field.name == "winner" and name == "shared"
                    given[field.name] = None if shared else _player(state, name)
            command = kind(**given)
            director.command(command)
            if isinstance(command, commands.Enter):
                people.meet([director.state.entrants[-1].name], command.who)
            click.echo(_where(director.state))

    for field in reversed(asked):
        metavar = METAVARS.get(field.name, field.name.upper())
        kept = int if field.name == "game" else str
        if field.name == "who":
            run = WHO(run)
        elif field.type is float:
            run = click.option(f"--{field.name}", type=float, default=0.0, help="More is stronger.")(run)
        else:
            run = click.argument(field.name, type=kept, metavar=metavar)(run)
    tournament.command(name, help=about)(WHICH(JOURNAL(run)))


def _where(state: Tournament) -> str:
    over = sum(g.result is not None for g in state.of_round(state.round))
    games = f", {over} of {len(state.of_round(state.round))} games over" if state.round else ""
    return f"{state.name}: {state.phase}, round {state.round} of {state.rounds}{games}, {len(state.present)} players"


def _player(state: Tournament, name: str) -> int:
    """The number of the entrant of that name. Raises BadArgument."""
    names = [e.name for e in state.entrants]
    if name not in names:
        raise BadArgument(f"{name!r} takes no part: {', '.join(names) or 'nobody does'}")
    return names.index(name)


for name, kind, about in (
    ("enter", commands.Enter, "NAME takes part, from the next pairing on."),
    ("leave", commands.Leave, "NAME goes home, and WHY."),
    ("sit-out", commands.SitOut, "NAME asks not to play the next round, once, for half of a win."),
    ("return", commands.Return, "NAME, who had left or would sit out, plays on."),
    ("rename", commands.Rename, "Correct a name: NAME is NEW from now on."),
    ("open-table", commands.OpenTable, "One more TABLE."),
    ("close-table", commands.CloseTable, "Give a TABLE up, and WHY; its game goes to another."),
    ("pair", commands.PairRound, "Pair the next round; after the last one, end the tournament."),
    ("rerun", commands.Rerun, "Play GAME again, and WHY; what was played counts no longer."),
    ("rule", commands.RuleGame, "GAME goes to WINNER (or `shared`), and WHY."),
):
    changing_command(name, kind, about)
