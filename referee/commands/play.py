"""``referee run`` and ``referee demo``: the composition roots that choose real or simulated devices."""

from __future__ import annotations

import errno
import secrets
import signal
import ssl
import threading
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import click
import numpy as np
from flask import Flask

from calibration.camera import camera_text, load_camera
from calibration.palette import load_palette
from cards.card import Card
from cards.deck import Deck, builtin_deck, load_deck
from cards.pieces import PieceSet, builtin_piece_set, load_piece_set
from referee.commands.options import as_one
from referee.commands.preparing import Preparation, PreparedObserver
from referee.commands.scoreline import ScoreLines
from referee.devices.camera import open_camera
from referee.devices.ports import Clock, SystemClock
from referee.errors import DeviceLost
from referee.journal.holding import LOCK, held, usable_folder
from referee.journal.journal import Journal
from referee.journal.recovery import open_server, open_sound
from referee.journal.spool import SpooledJournal
from referee.match.commands import MODES
from referee.match.house_rules import DEFAULT_RULES, load_rules
from referee.recording import Budget, Recorder
from referee.session import heap
from referee.session.device_choice import DeviceChoices, open_box
from referee.session.session import Equipment, Session
from referee.simulator.rig import SimulatedTable, Staging
from referee.simulator.table import SEATINGS
from referee.vision.live.gate import Gate
from referee.vision.observer import Judgement, Observer
from referee.vision.render.overlay import marked
from referee.web import create_app, serve
from referee.web.security import LOOPBACK
from referee.web.server import Server

USUAL_PORT = 8000
SIMULATED_BEFORE_S, SIMULATED_WAITING_BYTES = 1.0, 64 << 20
"""A simulated camera's frames are no evidence: few are kept from before the go, and few wait for the encoder."""

NAMES = ("Ann", "Ben", "Cem", "Dia", "Eli", "Fay", "Gus", "Hal", "Ida", "Jon", "Kim", "Leo")
PATH = click.Path(path_type=Path)
AT_A_TABLE = DEFAULT_RULES.model_copy(update={"sign_off": "asked"})
"""A real table begins with a set-up that both players have signed; a house-rules file may say otherwise."""

WEB_OPTIONS = (
    click.option("--host", default="127.0.0.1", show_default=True, help="Address of the dashboard."),
    click.option(
        "--port",
        type=int,
        help=f"Its port; 0 takes a free one, and so does {USUAL_PORT}, the default, when it is taken.",
    ),
    click.option("--pin", help="The referee's PIN; made up and printed when --host is not this machine."),
    click.option("--tls", nargs=2, type=PATH, metavar="CERT KEY", help="Serve https with these PEM files."),
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
    click.option(
        "--mode", type=click.Choice(tuple(MODES)), default="all", show_default=True, help="Which cards are played."
    ),
    click.option("--seed", type=int, help="Seed of the draws, and of everything simulated."),
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """What ``run`` and ``demo`` may both be asked for; each is explained there."""

    host: str
    port: int | None
    pin: str | None
    tls: tuple[Path, Path] | None
    no_browser: bool
    headless: bool
    rules_file: Path | None
    recordings_gb: float
    mode: str
    seed: int | None
    data_dir: Path


@dataclass(frozen=True, kw_only=True)
class RunOptions(Options):
    """What ``run`` may be asked for."""

    source: str
    box_port: str
    box_id: str | None
    deck_file: Path | None
    pieces_file: Path | None
    camera_file: Path | None
    palette_file: Path | None
    players: str | None
    match_id: str | None
    journal: str | None
    table: str


@dataclass(frozen=True, kw_only=True)
class DemoOptions(Options):
    """What ``demo`` may be asked for."""

    game: str | None
    fast: bool
    players: str
    duels: int | None
    seating: str
    manual: bool
    fps: float | None


def web_options(command: Callable) -> Callable:
    """The options that both commands share."""
    for option in reversed(WEB_OPTIONS):
        command = option(command)
    return command


@click.command()
@click.option("--camera", "source", default="0", show_default=True, help="Webcam index, URL or file.")
@click.option("--box", "box_port", default="none", show_default=True, help="Serial port, auto, or none.")
@click.option("--id", "box_id", help="Insist on the button box of this name.")
@click.option("--deck", "deck_file", type=PATH, help="deck.json; default: the built-in deck.")
@click.option("--pieces", "pieces_file", type=PATH, help="pieces.json; default: the challenge set.")
@click.option("--camera-file", type=PATH, help="camera.yaml of a calibrated lens.")
@click.option("--palette", "palette_file", type=PATH, help="palette.json of the pieces' colours.")
@click.option("--players", help="Names, youngest first, with commas: begins a match at once.")
@click.option("--match", "match_id", help="Take up this older match of the record (referee export lists them).")
@click.option("--journal", help="Where the record goes: a file or a database URL.")
@click.option("--table", default="", help="This table's name, where many tables share one journal.")
@click.option("--data-dir", type=PATH, default=Path("referee-data"), show_default=True)
@web_options
@as_one(RunOptions)
def run(asked: RunOptions) -> None:
    """Referee real duels with a camera and a button box, or keys."""
    pieces = load_piece_set(asked.pieces_file) if asked.pieces_file else builtin_piece_set()
    deck = load_deck(asked.deck_file, pieces) if asked.deck_file else builtin_deck()
    lens = load_camera(asked.camera_file) if asked.camera_file else None
    palette = load_palette(asked.palette_file, pieces) if asked.palette_file else None
    rules, clock = load_rules(asked.rules_file) if asked.rules_file else AT_A_TABLE, SystemClock()
    with ExitStack() as stack, interrupted() as over:
        data_dir = stack.enter_context(taken(asked.data_dir))
        camera = stack.enter_context(closing(open_camera(asked.source, clock)))
        box = stack.enter_context(closing(open_box(asked.box_port, clock, asked.box_id)))
        preparation = stack.enter_context(closing(Preparation()))
        observer = PreparedObserver(preparation, pieces, lens, palette)
        record = stack.enter_context(opened(asked.journal or data_dir / "journal.db", data_dir, asked.table))
        recorder = stack.enter_context(closing(_recorder(data_dir, clock, asked)))
        use = Equipment(
            journal=record,
            recorder=recorder,
            data_dir=data_dir,
            keep=kept(deck, pieces, observer),
            draw=_drawn,
            deck=deck,
            piece_set=pieces,
            observer=observer,
            gate=Gate(observer),
            camera=camera,
            box=box,
            clock=clock,
            rules=rules,
            simulated=box.simulated,
            table=asked.table,
        )
        session = stack.enter_context(running(use))
        session.listen(ScoreLines(click.echo))
        if asked.match_id and asked.match_id != session.state.match_id:
            session.take_up(asked.match_id)
            click.echo(f"taken up: match {asked.match_id}, phase {session.state.phase}")
        stack.callback(preparation.close)  # before the session ends: a judgement may be waiting for it
        preparation.tell(session.alarm)
        session.start()
        choices = stack.enter_context(closing(DeviceChoices(session, asked.source, asked.box_port, clock)))
        stack.enter_context(dashboard(session, asked, choices))
        if asked.players and session.state.phase == "new":
            names = [name.strip() for name in asked.players.split(",")]
            session.create_match(names, asked.mode, asked.seed)
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


@click.command()
@click.option("--game", help="Play one of the tower games on the terminal instead, e.g. city_towers.")
@click.option("--fast", is_flag=True, help="Hands faster than any human's; ends with the match.")
@click.option("--players", default="4", show_default=True, help="How many play, or names, youngest first.")
@click.option("--duels", type=click.IntRange(min=1), help="End after so many decided duels.")
@click.option("--seating", type=click.Choice(sorted(SEATINGS)), default="across", show_default=True)
@click.option("--manual", is_flag=True, help="You run the match on the console; the players build.")
@click.option("--fps", type=click.FloatRange(2, 60), help="Of the simulated camera; default 15, fast 8.")
@click.option("--data-dir", type=PATH, default=Path("referee-data/simulated"), show_default=True)
@web_options
@as_one(DemoOptions)
def demo(asked: DemoOptions) -> None:
    """Referee simulated duels: no hardware needed, everything marked SIMULATED."""
    if asked.game:
        from referee.commands.games import demo_game

        demo_game(asked.game, asked.players, asked.seed, asked.fast, asked.data_dir)
        return
    names = _names(asked.players)
    heap.keep_small()
    clock, pieces, deck = SystemClock(), builtin_piece_set(), builtin_deck()
    rules = load_rules(asked.rules_file) if asked.rules_file else DEFAULT_RULES
    with ExitStack() as stack, interrupted() as over:
        click.echo("SIMULATED: table, players, camera and button box are not real")
        data_dir = stack.enter_context(taken(asked.data_dir))
        preparation = stack.enter_context(closing(Preparation()))
        staging = Staging(asked.seed or 0, asked.seating, asked.fast, asked.fps or (8.0 if asked.fast else 15.0))
        table = stack.enter_context(SimulatedTable(pieces, clock, staging))
        observer = PreparedObserver(preparation, pieces, table.lens)
        use = Equipment(
            journal=stack.enter_context(opened(data_dir / "journal.db", data_dir, "")),
            recorder=stack.enter_context(closing(_recorder(data_dir, clock, asked, simulated=True))),
            data_dir=data_dir,
            keep=kept(deck, pieces, observer),
            draw=_drawn,
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
        session = stack.enter_context(running(use))
        lines = ScoreLines(click.echo, table.truth(deck))
        session.listen(lines)
        stack.callback(preparation.close)  # before the session ends: a judgement may be waiting for it
        preparation.tell(session.alarm)
        stack.enter_context(dashboard(session, asked))
        table.set_up(observer)
        session.start()
        if session.state.phase == "new":
            session.create_match(names, asked.mode, asked.seed)
        while not session.judging.gates() and not over.wait(0.05):
            pass  # hands are faster than a compiler: no duel before the gate has looked once
        done = stack.enter_context(table.played(session, None if asked.manual else asked.duels, asked.manual))
        while not over.wait(0.1) and not done.is_set():
            pass
        click.echo(lines.tally())
        if done.is_set() and not (asked.fast or asked.duels or asked.headless):
            click.echo("The match is over. The dashboard stays until Ctrl-C.")
            over.wait()


def _names(players: str) -> list[str]:
    if players.isdigit():
        if not 2 <= int(players) <= len(NAMES):
            raise click.BadParameter(f"from 2 to {len(NAMES)} can play", param_hint="--players")
        return list(NAMES[: int(players)])
    return [name.strip() for name in players.split(",")]


@contextmanager
def taken(data_dir: Path) -> Iterator[Path]:
    """The data folder as an absolute path, this program's alone while the context lasts.

    Raises FolderUnusable, or HeldElsewhere saying which program works with it.
    """
    folder = usable_folder(data_dir)
    with held(folder / LOCK, f"the data folder {folder}"):
        yield folder


@contextmanager
def opened(where: str | Path, data_dir: Path, table: str) -> Iterator[Journal | SpooledJournal]:
    """The record, checked, and this table's in it for this program alone while the context lasts.

    Raises HeldElsewhere saying which program has the table, JournalDamaged, JournalUnwritable.
    """
    if "://" in str(where):
        if not table:
            raise click.UsageError("--journal URL: many tables may share a server: name this one with --table")
        with closing(open_server(str(where), table, data_dir / f"journal-{quote(table, safe='')}.lines")) as record:
            yield record
        return
    path = Path(where).resolve()
    usable_folder(path.parent)
    with held(Path(f"{path}.{quote(table, safe='')}.{LOCK}"), f"table {table!r} of {path}"):
        kept_there, salvaged = open_sound(path)
        if salvaged:
            click.echo(f"the record was damaged: {salvaged.text()}", err=True)
        with closing(kept_there):
            yield kept_there


def _recorder(data_dir: Path, clock: Clock, asked: Options, simulated: bool = False) -> Recorder:
    budget, where = Budget(round(asked.recordings_gb * (1 << 30))), data_dir / "attempts"
    if simulated:
        return Recorder(where, clock, SIMULATED_BEFORE_S, budget, SIMULATED_WAITING_BYTES)
    return Recorder(where, clock, budget=budget)


def _drawn(frame: np.ndarray, judgement: Judgement, card: Card) -> np.ndarray:
    """The frame with what was read drawn in, whatever the card."""
    return marked(frame, judgement, words=False)


@contextmanager
def running(use: Equipment) -> Iterator[Session]:
    """A session with this equipment, not started yet; it is stopped in the end."""
    session = Session(use)
    try:
        if session.state.phase != "new":
            click.echo(f"going on with match {session.state.match_id}, phase {session.state.phase}")
        yield session
    finally:
        session.stop()


def _served(app: Flask, host: str, port: int | None, tls: tuple[Path, Path] | None) -> Server:
    """The pages on a port; where none was asked for on the usual one or, when that is taken, on a free one."""
    if port is not None:
        return serve(app, host, port, tls)
    try:
        return serve(app, host, USUAL_PORT, tls)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        click.echo(f"port {USUAL_PORT} is taken, so the board has another address")
        return serve(app, host, 0, tls)


@contextmanager
def dashboard(session: Session, asked: Options, choices: DeviceChoices | None = None) -> Iterator[None]:
    """The web pages, served while the context lasts. Raises DeviceLost when the port is taken."""
    if asked.headless:
        yield
        return
    host, pin, tls = asked.host, asked.pin, asked.tls
    if pin is None and host not in LOOPBACK:
        pin = f"{secrets.randbelow(10**6):06d}"
        click.echo(f"the referee's PIN is {pin}")
    app = create_app(session, pin, host, choices=choices, tls=bool(tls))
    try:
        server = _served(app, host, asked.port, tls)
    except ssl.SSLError as error:
        raise DeviceLost(f"dashboard: --tls: not a certificate and its key ({error.reason})") from None
    except OSError as error:
        gone = tls and error.errno == errno.ENOENT
        what = f"--tls: {error.filename or tls}" if gone else f"port {asked.port} of {host}"
        raise DeviceLost(f"dashboard: {what} cannot be used ({error.strerror})") from None
    click.echo(f"board: {server.url}   console: {server.url}referee")
    if not asked.no_browser:
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
