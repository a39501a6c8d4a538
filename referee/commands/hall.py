"""What the commands about a tournament share: the director on a journal, and options."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from referee.commands.match import BadArgument
from referee.devices.ports import SystemClock
from referee.journal.file_lock import private_files, usable_folder
from referee.journal.journal import Journal
from referee.journal.recovery import open_server
from referee.journal.side_tables import PeopleStore, Presence
from referee.session.called_games import CalledGames, TableService
from referee.session.director import Director
from referee.session.people import People
from referee.session.session import Session
from referee.tournament.state import RECORD

WHICH = click.option("--id", "tournament", default="", help="Another tournament than the one begun last.")
WHO = click.option("--who", default="organiser", show_default=True, help="Your name, for the record.")


@contextmanager
def running_director(
    journal: str, tournament: str = "", new: bool = False, keep: Path | None = None
) -> Iterator[tuple[Director, People]]:
    """A director on this journal, and everybody's records, while the context lasts; a ``new`` one may be made.

    In the folder ``keep`` the tournament goes on while a server is away.
    Raises BadArgument when there is none, FolderUnusable.
    """
    if "://" not in journal:
        if not new and not Path(journal).is_file():
            raise BadArgument(f"{journal}: no such journal; `referee tournament begin` makes one")
        usable_folder(Path(journal).absolute().parent)
    with ExitStack() as stack:
        stack.enter_context(private_files())
        clock = SystemClock()
        spool = None
        if keep and "://" in journal:
            spool = stack.enter_context(closing(open_server(journal, RECORD, keep / "tournament.lines", shared=True)))
        record = stack.enter_context(closing(Journal(journal, later=spool is not None)))
        presence = stack.enter_context(closing(Presence(journal)))
        store = stack.enter_context(closing(PeopleStore(journal, presence)))
        yield Director(record, clock, tournament, presence, spool), People(store, clock)


@contextmanager
def linked_to_hall(session: Session, journal: str, table: str, called: bool) -> Iterator[TableService]:
    """While the context lasts the hall hears how this table is; if ``called``, its matches begin by themselves."""
    with ExitStack() as stack:
        presence = stack.enter_context(closing(Presence(journal)))
        # an SQLite file that is written to here is read by a connection of its own as well
        reader = stack.enter_context(closing(Journal(journal, reading="://" in journal, later="://" in journal)))
        service = TableService(session, table, presence, CalledGames(reader, table) if called else None)
        service.alarms, service.simulated = session.notifier.alarms, session.simulated
        stack.callback(service.stop)
        service.start()
        yield service
