"""``referee run`` and ``referee demo``: the composition roots that choose real or simulated devices."""

from __future__ import annotations

import secrets
import signal
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import click

from calibration.camera import camera_text, load_camera
from calibration.palette import load_palette
from cards.deck import Deck, builtin_deck, load_deck
from cards.pieces import PieceSet, builtin_piece_set, load_piece_set
from referee.attempt import Budget, Recorder
from referee.commands.scoreline import ScoreLines
from referee.commands.simulated import SimulatedTable
from referee.devices.camera import open_camera
from referee.devices.choices import DeviceChoices, open_box
from referee.devices.table_sim import SEATINGS
from referee.errors import DeviceLost
from referee.ports import SystemClock
from referee.rules import DEFAULT_RULES, load_rules
from referee.salvage import open_sound
from referee.session import Session
from referee.vision.gate import Gate
from referee.vision.observe import Observer
from referee.vision.overlay import marked
from referee.web import create_app, serve
from referee.web.security import LOOPBACK

NAMES = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo")
PATH = click.Path(path_type=Path)
AT_A_TABLE = DEFAULT_RULES.model_copy(update={"sign_off": "asked"})
"""A real table begins with a set-up that both players have signed; a house-rules file may say otherwise."""

WEB_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Address of the dashboard."),
    click.option("--port", default=8000, show_default=True, help="Its port; 0 takes a free one."),
    click.option("--pin", help="The referee's PIN; made up and printed when --host is not this machine."),
    click.option("--no-browser", is_flag=True, help="Do not open the dashboard in a browser."),
    click.option("--headless", is_flag=True, help="No dashboard at all."),
    click.option("--rules", "rules_file", type=PATH, help="house_rules.toml; default: the printed rules."),
    click.option(
        "--recordings-gb",
        type=click.FloatRange(min=0),
        default=40,
        show_default=True,
        help="Disk budget of recordings: beyond it the oldest uncontested ones go, and it is said.",
    ),
    click.option("--seed", type=int, help="Seed of the draws, and of everything simulated."),
)


def web_options(command: Callable) -> Callable:
    """The options that both commands share."""
    for option in reversed(WEB_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.option("--camera", "source", default="0", show_default=True, help="Webcam index, URL or file.")
@click.option("--box", "box_port", default="none", show_default=True, help="Serial port, auto, or none.")
@click.option("--deck", "deck_file", type=PATH, help="deck.json; default: the built-in deck.")
@click.option("--pieces", "pieces_file", type=PATH, help="pieces.json; default: the challenge set.")
@click.option("--camera-file", type=PATH, help="camera.yaml of a calibrated lens.")
@click.option("--palette", "palette_file", type=PATH, help="palette.json of the pieces' colours.")
@click.option("--players", help="Names, youngest first, with commas: begins a match at once.")
@click.option("--journal", help="Where the record goes: a file or a database URL.")
@click.option("--table", default="", help="This table's name, where many tables share one journal.")
@click.option("--data-dir", type=PATH, default=Path("referee-data"), show_default=True)
@web_options
def run(
    source: str,
    box_port: str,
    deck_file: Path | None,
    pieces_file: Path | None,
    camera_file: Path | None,
    palette_file: Path | None,
    players: str | None,
    journal: str | None,
    table: str,
    data_dir: Path,
    seed: int | None,
    rules_file: Path | None,
    recordings_gb: float,
    **web: str | int | bool | None,
) -> None:
    """Referee real duels with a camera and a button box, or keys."""
    pieces = load_piece_set(pieces_file) if pieces_file else builtin_piece_set()
    deck = load_deck(deck_file, pieces) if deck_file else builtin_deck()
    lens = load_camera(camera_file) if camera_file else None
    palette = load_palette(palette_file, pieces) if palette_file else None
    rules, clock = load_rules(rules_file) if rules_file else AT_A_TABLE, SystemClock()
    with ExitStack() as stack, interrupted() as over:
        camera = stack.enter_context(closing(open_camera(source, clock)))
        box = stack.enter_context(closing(open_box(box_port, clock)))
        observer = ready(Observer(pieces, lens, palette))
        session = stack.enter_context(
            running(
                data_dir,
                journal,
                recordings_gb,
                kept(deck, pieces, observer),
                deck=deck,
                piece_set=pieces,
                observer=observer,
                gate=Gate(observer),
                camera=camera,
                box=box,
                clock=clock,
                rules=rules,
                simulated=box.simulated,
                table=table,
            )
        )
        session.listen(ScoreLines(click.echo))
        choices = stack.enter_context(closing(DeviceChoices(session, source, box_port, clock)))
        stack.enter_context(dashboard(session, choices=choices, **web))
        if players and session.state.phase == "new":
            session.create_match([name.strip() for name in players.split(",")], seed=seed)
        over.wait()


def kept(deck: Deck, pieces: PieceSet, observer: Observer) -> dict:
    """What an attempt keeps beside its video; the lens, the colours and the empty table as of its go."""
    return {
        "deck.json": deck.to_json(),
        "pieces.json": pieces.to_json(),
        "camera.yaml": lambda: observer.camera and camera_text(observer.camera),
        "palette.json": lambda: observer.palette,
        "empty.png": lambda: observer.empty,
    }


def ready(observer: Observer) -> Observer:
    """The observer with its search compiled, so that no first duel waits for that."""
    click.echo("getting ready to see; the first time on a machine takes about a minute")
    observer.warm_up()
    return observer


@click.command()
@click.option("--fast", is_flag=True, help="Hands faster than any human's; ends with the match.")
@click.option("--players", default="4", show_default=True, help="How many play, or names, youngest first.")
@click.option("--duels", type=click.IntRange(min=1), help="End after so many decided duels.")
@click.option("--seating", type=click.Choice(sorted(SEATINGS)), default="across", show_default=True)
@click.option("--manual", is_flag=True, help="You run the match on the console; the players build.")
@click.option("--fps", type=click.FloatRange(2, 60), help="Of the simulated camera; default 15, fast 8.")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
@web_options
def demo(
    fast: bool,
    players: str,
    duels: int | None,
    seating: str,
    manual: bool,
    fps: float | None,
    data_dir: Path,
    seed: int | None,
    rules_file: Path | None,
    recordings_gb: float,
    **web: str | int | bool | None,
) -> None:
    """Referee simulated duels: no hardware needed, everything marked SIMULATED."""
    names = _names(players)
    clock, pieces, deck = SystemClock(), builtin_piece_set(), builtin_deck()
    rules = load_rules(rules_file) if rules_file else DEFAULT_RULES
    with ExitStack() as stack, interrupted() as over:
        click.echo("SIMULATED: table, players, camera and button box are not real")
        pace = fps or (8.0 if fast else 15.0)
        table = stack.enter_context(SimulatedTable(pieces, clock, seed or 0, seating, fast, pace))
        observer = ready(Observer(pieces, table.lens))
        table.set_up(observer)
        session = stack.enter_context(
            running(
                data_dir,
                None,
                recordings_gb,
                kept(deck, pieces, observer),
                deck=deck,
                piece_set=pieces,
                observer=observer,
                gate=Gate(observer),
                camera=table.camera,
                box=table.box,
                clock=clock,
                rules=rules,
                simulated=True,
            )
        )
        lines = ScoreLines(click.echo, table.truth(deck))
        session.listen(lines)
        stack.enter_context(dashboard(session, **web))
        if session.state.phase == "new":
            session.create_match(names, seed=seed)
        done = stack.enter_context(table.played(session, None if manual else duels, manual))
        while not over.wait(0.1) and not done.is_set():
            pass
        click.echo(lines.tally())
        if done.is_set() and not (fast or duels or web["headless"]):
            click.echo("The match is over. The dashboard stays until Ctrl-C.")
            over.wait()


def _names(players: str) -> list[str]:
    if players.isdigit():
        if not 2 <= int(players) <= len(NAMES):
            raise click.BadParameter(f"from 2 to {len(NAMES)} can play", param_hint="--players")
        return list(NAMES[: int(players)])
    return [name.strip() for name in players.split(",")]


@contextmanager
def running(
    data_dir: Path, journal: str | None, recordings_gb: float, keep: dict, **parts: object
) -> Iterator[Session]:
    """A session at work with its journal and recorder under ``data_dir``."""
    data_dir.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        record, salvaged = open_sound(journal or data_dir / "journal.db")
        stack.enter_context(closing(record))
        if salvaged:
            click.echo(f"the record was damaged: {salvaged.text()}", err=True)
        budget = Budget(round(recordings_gb * (1 << 30)))
        recorder = stack.enter_context(closing(Recorder(data_dir / "attempts", parts["clock"], budget=budget)))
        session = Session(
            journal=record,
            recorder=recorder,
            data_dir=data_dir,
            keep=keep,
            draw=lambda frame, judgement, card: marked(frame, judgement),
            **parts,
        )
        session.start()
        stack.callback(session.stop)
        if session.state.phase != "new":
            click.echo(f"going on with match {session.state.match_id}, phase {session.state.phase}")
        yield session


@contextmanager
def dashboard(
    session: Session,
    host: str,
    port: int,
    pin: str | None,
    no_browser: bool,
    headless: bool,
    choices: DeviceChoices | None = None,
) -> Iterator[None]:
    """The web pages, served while the context lasts. Raises DeviceLost when the port is taken."""
    if headless:
        yield
        return
    if pin is None and host not in LOOPBACK:
        pin = f"{secrets.randbelow(10**6):06d}"
        click.echo(f"the referee's PIN is {pin}")
    try:
        server = serve(create_app(session, pin, host, choices=choices), host, port)
    except OSError as error:
        raise DeviceLost(f"dashboard: port {port} of {host} cannot be used ({error.strerror})") from None
    click.echo(f"board: {server.url}   console: {server.url}referee")
    if not no_browser:
        webbrowser.open(server.url)
    try:
        yield
    finally:
        server.close()


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """An event that Ctrl-C or a polite kill sets, so that everything is closed in order."""
    over = threading.Event()
    before = {s: signal.signal(s, lambda *_: over.set()) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
