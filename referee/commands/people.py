"""``referee people``: everybody's record over evenings, and who is in which recording."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click

from referee.commands.hall import WHO, running_director
from referee.commands.match import JOURNAL
from referee.devices.ports import SystemClock
from referee.match.duel import stop_time
from referee.match.schedule import comparable_name
from referee.recording.index import Index
from referee.recording.retention import remove_on_request
from referee.tournament.people import careers, ratings


@click.group()
def people() -> None:
    """People over evenings: records, results, ratings, recordings; rename, merge, delete."""


PERSON, NAME = click.argument("person"), click.argument("name")
YES = click.option("--yes", is_flag=True, help="Do not ask.")
ARCHIVE = Path("referee-data") / "attempts"


def changing_command(*parameters: Callable) -> Callable:
    """A subcommand with these parameters that changes a record: who says so and where it lies are asked for too."""

    def declared(run: Callable[..., None]) -> click.Command:
        for parameter in reversed((*parameters, WHO, JOURNAL)):
            run = parameter(run)
        return people.command()(run)

    return declared


@people.command("list")
@JOURNAL
def list_(journal: str) -> None:
    """Everybody, by the lower edge of the rating."""
    with running_director(journal) as (director, known):
        register, played = known.register, director.played()
    rated, lives = ratings(register, played), careers(register, played)
    for person in sorted(register.people.values(), key=lambda p: -rated[p.id].careful):
        rating, career = rated[person.id], lives[person.id]
        line = f"{person.id:<5} {person.name:<20} {rating.value:5.1f} ± {rating.margin:4.1f}"
        click.echo(f"{line}  {rating.matches:>3} matches, {career.wins} won, {career.cards} card points")


@people.command()
@click.argument("person")
@JOURNAL
def show(person: str, journal: str) -> None:
    """One PERSON, by id or any of the names: results and best times."""
    with running_director(journal) as (director, known):
        register, played = known.register, director.played()
    found = register.person(person)
    rating, career = ratings(register, played)[found.id], careers(register, played)[found.id]
    click.echo(f"{found.id}  {found.name}  rating {rating.value:.1f} ± {rating.margin:.1f}")
    if len(found.names) > 1:
        click.echo(f"names: {', '.join(found.names)}")
    for meeting in career.meetings:
        others = ", ".join(register.people[a].name if a in register.people else a for a in meeting.against)
        click.echo(
            f"{meeting.at[:10]}  place {meeting.seat.place or '-'}  {meeting.seat.points} points  against {others}"
        )
    for card, (seconds, _) in sorted(career.best.items()):
        click.echo(f"best {card}  {stop_time(seconds)} s")


@changing_command(NAME, click.option("--color", default="", help="Like #1f5fb4."))
def add(name: str, color: str, who: str, journal: str) -> None:
    """A new record."""
    with running_director(journal, new=True) as (_, known):
        click.echo(f"{known.add(name, who, color).id}  {name}")


@changing_command(PERSON, NAME)
def rename(person: str, name: str, who: str, journal: str) -> None:
    """PERSON is called NAME from now on; results under earlier names stay."""
    with running_director(journal) as (_, known):
        click.echo(f"{known.rename(person, name, who).id}  {name}")


@changing_command(PERSON, click.argument("other"))
def merge(person: str, other: str, who: str, journal: str) -> None:
    """OTHER is PERSON too: names and results go together."""
    with running_director(journal) as (_, known):
        merged = known.merge(person, other, who)
        click.echo(f"{merged.id}  {merged.name}: {', '.join(merged.names)}")


@changing_command(PERSON, click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path)))
def picture(person: str, file: Path, who: str, journal: str) -> None:
    """Keep a picture of PERSON, made small."""
    with running_director(journal) as (_, known):
        known.take_picture(person, file.read_bytes(), who)


@changing_command(PERSON, YES)
def delete(person: str, yes: bool, who: str, journal: str) -> None:
    """Delete everything about PERSON: names, colour, picture, history, and with them results and rating."""
    with running_director(journal) as (_, known):
        found = known.person(person)
        if not yes:
            click.confirm(f"delete {found.id} {found.name} for good?", abort=True)
        known.delete(found.id, who)
        click.echo(f"{found.id} is deleted; what matches on record say of a name stays there")


@people.command()
@NAME
@click.argument("archive", type=click.Path(exists=True, file_okay=False, path_type=Path), default=ARCHIVE)
@click.option("--remove", is_flag=True, help="Delete them, contested or not; retention.jsonl then says so.")
@YES
@WHO
def films(name: str, archive: Path, remove: bool, yes: bool, who: str) -> None:
    """The recordings in ARCHIVE whose match a player called NAME was in.

    After --remove, `referee verify` says of each that it was removed on request. Exit status 1 when one had to stay.
    Copies of recordings elsewhere are yours to mind.
    """
    with closing(Index(archive)) as index:
        index.refresh(thorough=True)
        every = index.rows("SELECT path, at, card, players FROM attempts WHERE listed = 1 ORDER BY recorded_s, name")
        found = [row for row in every if comparable_name(name) in map(comparable_name, json.loads(row[3]))]
        for path, at, card, players in found:
            place = index.folder(path).relative_to(archive)
            click.echo(f"{place}  {at[:16]}  card {card}  {', '.join(json.loads(players))}")
        unread = index.rows("SELECT count(*) FROM attempts WHERE listed = 0")[0][0]
        click.echo(f"{len(found)} recordings show {name}" + (f"; {unread} cannot be read" if unread else ""))
        if not remove or not found:
            return
        if not yes:
            click.confirm(f"delete these {len(found)} recordings for good?", abort=True)
        told = [remove_on_request(index, index.folder(path), SystemClock().utc(), who) for path, *_ in found]
        left = [f"{index.folder(row[0]).name} stays: {why}" for row, why in zip(found, told, strict=True) if why]
    click.echo("\n".join([*left, f"{len(found) - len(left)} recordings are removed"]))
    if left:
        raise click.exceptions.Exit(1)
