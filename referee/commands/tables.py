"""``referee demo --tables N``: a whole tournament of SIMULATED tables on one machine, each a process of its own."""

import multiprocessing
import time
import webbrowser
from collections.abc import Sequence
from contextlib import ExitStack, closing
from multiprocessing.process import BaseProcess
from pathlib import Path
from urllib.parse import quote

import click

from cards.deck import builtin_deck
from referee.commands.demo_options import DemoOptions
from referee.commands.hall import running_director
from referee.commands.serving import interrupted, locked_data_folder
from referee.commands.tournament import game_text, hall_pages, strengths_of, table_text
from referee.devices.ports import SystemClock
from referee.errors import JournalUnwritable
from referee.events import Event
from referee.journal.file_lock import LOCK, lock_file
from referee.journal.journal import Journal
from referee.journal.side_tables import Presence, TableHeartbeat
from referee.match.house_rules import DEFAULT_RULES
from referee.session.called_games import CalledGames
from referee.session.director import POLL_S, Director
from referee.session.people import People
from referee.simulator.quick_table import QuickTable
from referee.tournament.commands import CreateTournament
from referee.tournament.state import FORMATS, Tournament, TournamentOptions
from referee.workers import end_with_parent

HEARTBEAT_S = 2.0
"""How often a table says that it lives."""

PACE_S, FAST_S, IDLE_S = 0.8, 0.0, 0.2
"""What a simulated table waits after each step, also in the fast demo; and while nothing is called."""

FAST_EVERY_S = 0.1
"""How often the director of the fast demo looks at the tables."""

FIRST = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo", "Mia", "Ned", "Ole", "Pia")
LAST = ("Abel", "Berg", "Cruz", "Dorn", "Egli", "Falk", "Gora", "Holm", "Ivic", "Jung", "Kaya", "Lind", "Moor", "Noll")


def invented_names(count: int) -> list[str]:
    """So many different names."""
    return [f"{FIRST[n % len(FIRST)]} {LAST[(n + n // len(FIRST)) % len(LAST)]}" for n in range(count)]


def run_table(journal: str, name: str, seed: int, pace_s: float) -> None:
    """The process of the simulated table ``name``: plays what is called to it until the tournament is over, and waits
    ``pace_s`` seconds after each step."""
    end_with_parent()
    with ExitStack() as stack:
        server = "://" in journal
        if not server:
            lock = Path(f"{Path(journal).absolute()}.{quote(name, safe='')}.{LOCK}")
            stack.enter_context(lock_file(lock, f"table {name!r}"))
        record = stack.enter_context(closing(Journal(journal, hold=name if server else None)))
        presence = stack.enter_context(closing(Presence(journal)))
        table = QuickTable(record, builtin_deck(), SystemClock(), name, seed, DEFAULT_RULES)
        games = CalledGames(record, name)
        beat, last_s = 0, -HEARTBEAT_S
        while True:
            if time.monotonic() - last_s >= HEARTBEAT_S:
                beat, last_s = beat + 1, time.monotonic()
                presence.tell(name, TableHeartbeat(beat, alarms=tuple(table.alarms()), simulated=True))
            if table.step():
                time.sleep(pace_s)
            elif called := games.called():
                table.create_match(called)
            elif games.over():
                break
            else:
                time.sleep(IDLE_S)
        presence.leave(name)


def start_table_process(journal: str, asked: DemoOptions, n: int) -> BaseProcess:
    """The process of the table of that number, begun. It ends with this program; all tables load their modules once."""
    name = f"T{n + 1}"
    args = (journal, name, asked.seed or 0, FAST_S if asked.fast else PACE_S)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    process = context.Process(target=run_table, args=args, name=f"SIMULATED table {name}", daemon=True)
    process.start()
    return process


def _end(processes: Sequence[BaseProcess]) -> None:
    for process in processes:
        process.kill()
        process.join()


def current_tournament(
    director: Director, people: People, players: list[str], tables: int, asked: DemoOptions
) -> Tournament:
    """The tournament that goes on, or a new one."""
    if director.state.phase not in ("new", "finished"):
        click.echo(f"going on with {director.id}, round {director.state.round}, {len(director.state.present)} players")
        return director.state
    form = next(f for f in FORMATS if f == asked.form)
    options = TournamentOptions(form, rounds=asked.rounds, seed=asked.seed or 0)
    called, strengths = tuple(f"T{n + 1}" for n in range(tables)), strengths_of(director, people, players)
    return director.create(CreateTournament("", "Demo Cup", options, tuple(players), called, strengths, simulated=True))


def print_events(state: Tournament, events: Sequence[Event]) -> None:
    """Say on the terminal what happens in the hall."""
    for event in events:
        game = state.game(event.data.get("game", 0))
        if event.kind == "round_paired":
            click.echo(f"round {state.round} of {state.rounds}: {len(event.data['games'])} games")
        elif event.kind == "game_called" and game:
            click.echo(f"next at table {game.table}: {' - '.join(state.named(game))}")
        elif event.kind == "game_ended" and game:
            click.echo(f"game {game_text(state, game).strip()}")
        elif event.kind == "tournament_finished":
            click.echo(table_text(state))


def play_demo_tables(asked: DemoOptions, tables: int, players: int) -> None:
    """Play the tournament of so many players at so many tables; one that was broken off goes on."""
    with interrupted() as over, ExitStack() as stack:
        click.echo("SIMULATED: tables, players and verdicts are not real; nothing is seen, verdicts are drawn by lot")
        folder = stack.enter_context(locked_data_folder(asked.data_dir / "tables"))
        journal = asked.journal or str(folder / "journal.db")
        director, people = stack.enter_context(running_director(journal, new=True, keep=folder))
        everybody = invented_names(players)
        director.listen(print_events)
        current_tournament(director, people, everybody, tables, asked)
        people.meet(everybody)
        director.auto = True
        if not asked.headless:
            url = stack.enter_context(hall_pages(director, people, asked, folder))
            if not asked.no_browser:
                webbrowser.open(url)
        processes = [start_table_process(journal, asked, n) for n in range(tables)]
        stack.callback(_end, processes)
        while not over.wait(FAST_EVERY_S if asked.fast else POLL_S) and director.state.phase != "finished":
            for n, process in enumerate(processes):
                if not process.is_alive():  # killed: a new one goes on with its match
                    click.echo(f"table T{n + 1}: its program has ended and is started again")
                    processes[n] = start_table_process(journal, asked, n)
            try:
                director.step()
            except JournalUnwritable as error:
                director.notifier.alarm("journal", error.wording)
        if director.state.phase == "finished" and not (asked.fast or asked.headless):
            click.echo("The tournament is over. The pages stay until Ctrl-C.")
            over.wait()
