"""``referee tournament show | plan | list | export``: what stands in the record, to read."""

from pathlib import Path

import click

from referee.commands.hall import WHICH, running_director
from referee.commands.match import JOURNAL, BadArgument, write_output
from referee.session.director import Director, tournaments
from referee.tournament.evolve import fold
from referee.tournament.plan import remaining_s, time_plan
from referee.tournament.standings import RULES, standings
from referee.tournament.state import Fixture, Tournament
from referee.web.hall.export import to_json, to_trf
from referee.web.i18n.texts import translate

LANG = "en"


def begun_tournament(director: Director, journal: str) -> Tournament:
    """Its state. Raises BadArgument where there is none."""
    if not director.id:
        raise BadArgument(f"{journal}: no tournament has been begun")
    return director.state


@click.command("list")
@JOURNAL
def list_(journal: str) -> None:
    """The tournaments on record."""
    with running_director(journal) as (director, _):
        for tournament in tournaments(director.record):
            state = fold(director.record.events(tournament))
            mark = "  SIMULATED" if state.simulated else ""
            click.echo(f"{tournament}  {state.phase:<8}  {len(state.entrants)} players  {state.name}{mark}")


@click.command()
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


@click.command()
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


@click.command()
@WHICH
@JOURNAL
@click.option("--format", "form", type=click.Choice(["json", "trf"]), default="json", show_default=True)
@click.option("-o", "--out", type=click.Path(dir_okay=False, path_type=Path), help="Write here, not to the screen.")
def export(tournament: str, journal: str, form: str, out: Path | None) -> None:
    """The tournament as JSON; a Swiss also as TRF16 (trf), which pairing programs and their checkers read."""
    with running_director(journal, tournament) as (director, _):
        state = begun_tournament(director, journal)
        write_output(to_trf(state) if form == "trf" else to_json(state), out)
