"""``referee run`` and ``referee demo``: the composition roots that choose real or simulated devices."""

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import click
import numpy as np

from calibration.camera import load_camera
from calibration.palette import load_palette
from cards.card import Card
from cards.deck import builtin_deck
from cards.pieces import builtin_piece_set, load_piece_set
from cards.sentences import sentence
from referee.commands import serving
from referee.commands.demo_options import DemoOptions
from referee.commands.named_files import DECK_HELP, named_deck
from referee.commands.options import names_in, option, simulated_players, takes_options
from referee.commands.serving import PATH, DashboardOptions, kept_awake, open_phone_or_camera
from referee.devices.box_keyboard import KeysBox
from referee.devices.camera import ThreadedCamera
from referee.devices.phone import PhoneCamera
from referee.devices.ports import Camera, Clock, SystemClock
from referee.devices.webcams import find_webcam, webcams
from referee.errors import DeviceLost
from referee.events import Event
from referee.match.duel import Duel, stop_time
from referee.match.house_rules import DEFAULT_RULES, load_rules
from referee.match.state import MatchState
from referee.recording import Budget, Recorder
from referee.review.signing import load_private, sign
from referee.session import heap
from referee.session.device_choice import FIRST_PICTURE_S, DeviceChoices, open_box
from referee.session.duel_recording import Sign
from referee.session.rig_setup import kept_cameras
from referee.session.second_view import SecondView
from referee.session.session import Equipment, Session
from referee.simulator.rig import SimulatedTable, Staging
from referee.tournament.state import MOST_ENTRANTS, RECORD
from referee.vision.live.gate import Gate
from referee.vision.observer import Judgement, Observer
from referee.vision.overlay import with_marks


class ScoreLines:
    """A session's listener that says how each duel ended.

    ``truth`` (simulator only) says of a zone and a card id whether the build is right, to check the camera.
    """

    def __init__(self, say: Callable[[str], None], truth: Callable[[str, str], bool] | None = None) -> None:
        self._say, self._truth = say, truth
        self._count: Counter[str] = Counter()

    def __call__(self, state: MatchState, events: Sequence[Event]) -> None:
        """Hear of new events."""
        for event in events:
            if event.kind == "duel_decided":
                self._count[event.data["by"]] += 1
                self._say(self._duel(state.duel, state))
            elif event.kind == "duel_void":
                self._count["void"] += 1
                self._say(f"duel {state.duel.number}: void ({state.duel.reason}), fresh card")
            elif event.kind == "verdict":
                self._count[self._checked(event, state)] += 1
            elif event.kind == "match_finished":
                table = ", ".join(f"{row.rank}. {row.player} {row.score}" for row in state.standings if row.rank)
                self._say(f"winner: {state.winner or 'shared'}   ({table})")

    def tally(self) -> str:
        """All duels in a line, and with the truth known how often the camera was right."""
        n = self._count
        text = f"decided by the camera {n['camera']}, by a human {n['human']}, void {n['void']}"
        if self._truth is None:
            return text
        seen = f"{n['right']} right, {n['wrong']} wrong, {n['undecided']} undecided"
        return f"{text}; verdicts on callers: {seen}"

    def _checked(self, event: Event, state: MatchState) -> str:
        said = str(event.data["verdict"]["verdict"])
        if said == "undecided" or self._truth is None or state.card_id is None:
            return said
        there = "match" if self._truth(event.data["zone"], state.card_id) else "mismatch"
        return "right" if said == there else "wrong"

    def _duel(self, duel: Duel, state: MatchState) -> str:
        stop = min(duel.stops, key=lambda press: press.elapsed_s, default=None)
        by_key = " (by key)" if stop and stop.by == "key" else ""
        call = f"Stop by {duel.at_zone(stop.zone)} after {stop_time(stop.elapsed_s)} s{by_key}, " if stop else ""
        scores = "  ".join(f"{p} {s}" for p, s in state.scores.items())
        seats = " - ".join(duel.seats[z] for z in sorted(duel.seats))
        return (
            f"duel {duel.number}: {seats}, card {duel.card_id}: {call}{duel.reason.replace('_', ' ')}: "
            f"{duel.points} to {duel.award} ({duel.decided_by})   {scores}"
        )


SIMULATED_BEFORE_S, SIMULATED_WAITING_BYTES = 1.0, 64 << 20
"""A simulated camera's frames are no evidence: few are kept from before the go, and few wait for the encoder."""

SIMULATED_FPS, SIMULATED_FAST_FPS = 15.0, 8.0
PRACTICE = "practice.db"
"""What is practised is kept beside the matches' journal."""

AT_A_TABLE = DEFAULT_RULES.model_copy(update={"sign_off": "asked"})
"""A real table begins with a set-up that both players have signed; a house-rules file may say otherwise."""


@dataclass(frozen=True, kw_only=True)
class TableOptions(DashboardOptions):
    """What every command with real devices may be asked for."""

    match_id: str | None = None
    tournament: bool = False
    sources: tuple[str, ...] = option(
        "--camera",
        multiple=True,
        help="Webcam by name, path or index, phone (its browser, without an app), URL or file; else the one used last. "
        "Twice for two cameras on one table, the main one first.",
    )
    box_port: str = option(
        "--box",
        default="none",
        help="Serial port, pattern, auto, or none; the middle two follow a box to another port.",
    )
    box_id: str | None = option("--id", help="Insist on the button box of this name.")
    deck: str = option(default="challenge80", help=DECK_HELP)
    pieces_file: Path | None = option("--pieces", type=PATH, help="pieces.json; default: the challenge set.")
    camera_file: tuple[Path, ...] = option(
        type=PATH, multiple=True, help="camera.yaml of a calibrated lens; the second one is the second camera's."
    )
    palette_file: Path | None = option("--palette", type=PATH, help="palette.json of the pieces' colours.")
    journal: str | None = option(help="Where the record goes: a file or a database URL.")
    table: str = option(default="", help="This table's name, where many tables share one journal.")
    sign_with: Path | None = option(type=PATH, help="Sign every recording with this key (referee attempts key).")
    data_dir: Path = option(type=PATH, default=Path("referee-data"))


@dataclass(frozen=True, kw_only=True)
class RunOptions(TableOptions):
    """What ``run`` may be asked for."""

    players: str | None = option(help="Names, youngest first, with commas: begins a match at once.")
    match_id: str | None = option("--match", help="Take up this older match of the record (referee export lists them).")
    tournament: bool = option(is_flag=True, help="Begin the matches that the hall calls to this table.")


@click.command()
@takes_options(RunOptions)
def run(asked: RunOptions) -> None:
    """Referee real duels with a camera and a button box, or keys."""
    if asked.tournament and not asked.table:
        raise click.UsageError("--tournament: name this table with --table")
    if asked.table == RECORD:
        raise click.BadParameter(
            f"{RECORD!r} is where tournaments stand: name the table otherwise", param_hint="--table"
        )
    if asked.match_id and asked.players:
        raise click.UsageError("--match takes up a match with its players: leave --players out")
    names = names_in(asked.players) if asked.players else None

    def begin(session: Session) -> None:
        if names and session.state.phase == "new":
            session.create_match(names, asked.mode, asked.seed)

    at_table(asked, begin, names)


def at_table(
    asked: TableOptions, begin: Callable[[Session], None], players: Sequence[str] | None = None, first: str = ""
) -> None:
    """A session with real devices until it is interrupted; ``begin`` is called once all runs, ``players`` is as for
    ``running_session``, ``first`` the page that a browser opens."""
    pieces = load_piece_set(asked.pieces_file) if asked.pieces_file else builtin_piece_set()
    deck = named_deck(asked.deck, pieces)
    lenses = [*map(load_camera, asked.camera_file), None, None]
    palette = load_palette(asked.palette_file, pieces) if asked.palette_file else None
    rules, clock = load_rules(asked.rules_file) if asked.rules_file else AT_A_TABLE, SystemClock()
    signing = signing_with(asked.sign_with)
    with ExitStack() as stack, serving.interrupted() as over:
        data_dir = stack.enter_context(serving.locked_data_folder(asked.data_dir))
        stack.enter_context(kept_awake())
        cameras = open_cameras(stack, asked, data_dir, clock)
        box = stack.enter_context(closing(open_box(asked.box_port, clock, asked.box_id)))
        observer, *others = (Observer(pieces, lens, palette) for lens, _ in zip(lenses, cameras, strict=False))
        second = next((SecondView(cameras[1], other, Gate(other)) for other in others), None)
        where = asked.journal or str(data_dir / "journal.db")
        record = stack.enter_context(serving.open_record(where, data_dir, asked.table))
        use = Equipment(
            journal=record,
            practice=stack.enter_context(serving.open_record(data_dir / PRACTICE, data_dir, "")),
            recorder=stack.enter_context(closing(recorder_of(data_dir, clock, asked))),
            data_dir=data_dir,
            draw=with_reading_drawn,
            deck=deck,
            piece_set=pieces,
            observer=observer,
            gate=Gate(observer),
            camera=cameras[0],
            second=second,
            box=box,
            clock=clock,
            rules=rules,
            simulated=box.simulated,
            table=asked.table,
            sign=signing,
        )
        session = stack.enter_context(serving.running_session(use, players))
        session.listen(ScoreLines(click.echo))
        if asked.match_id and asked.match_id != session.state.match_id:
            session.take_up(asked.match_id)
            click.echo(f"taken up: match {asked.match_id}, phase {session.state.phase}")
        stack.enter_context(serving.events_sent(session, asked))
        session.start()
        open_source = partial(open_phone_or_camera, data_dir, asked)
        choices = stack.enter_context(closing(DeviceChoices(session, asked.box_port, clock, open_source)))
        address = stack.enter_context(serving.dashboard(session, asked, choices, first))
        if asked.table:
            from referee.commands.hall import linked_to_hall  # here: who plays alone need not wait for what pairs many

            stack.enter_context(linked_to_hall(session, where, asked.table, asked.tournament)).address = address
        begin(session)
        if all([isinstance(camera, PhoneCamera) or _gives_a_picture(camera, asked.headless) for camera in cameras]):
            session.setup.keep_camera()
        over.wait()


def open_cameras(stack: ExitStack, asked: TableOptions, data_dir: Path, clock: Clock) -> list[ThreadedCamera]:
    """The cameras that were asked for, else those used last, each set as it was; they are closed with the stack.

    Raises UsageError for more than two, and for the same one twice; DeviceLost.
    """
    kept = dict(kept_cameras(data_dir))
    sources = list(asked.sources or kept)
    if len(sources) > 2:
        raise click.UsageError("--camera: a table has two cameras at most")
    found = [(one.path if (one := find_webcam(source)) else source) for source in sources]
    if len(set(found)) < len(found):
        raise click.UsageError(f"--camera: {sources[0]} and {sources[1]} are the same camera")
    cameras = [stack.enter_context(closing(open_phone_or_camera(data_dir, asked, s, clock))) for s in sources]
    for camera in cameras:
        camera.settings.wanted = kept.get(camera.source, camera.settings.wanted)
    return cameras


def _gives_a_picture(camera: Camera, headless: bool) -> bool:
    """Whether it does; if not, one line on the terminal says what to do, and the program goes on."""
    try:
        if camera.latest(-1, FIRST_PICTURE_S) is not None:
            return True
        fault = str(sentence("no_picture", name=camera.name))
    except DeviceLost as error:
        fault = str(error)
    choose = "plug it in" if headless else "plug it in, or choose another on the page /setup"
    known = "; ".join(str(one) for one in webcams()) or "none"
    click.echo(f"referee: {fault}: {choose}. Webcams here: {known}", err=True)
    return False


def signing_with(path: Path | None) -> Sign | None:
    """What signs a recording with the key in that file; None without one. Raises BadAttempt for what is no key."""
    if path is None:
        return None
    key = load_private(path)
    return lambda folder: sign(folder, key)


@click.command()
@takes_options(DemoOptions)
def demo(asked: DemoOptions) -> None:
    """Referee simulated duels: no hardware needed, everything marked SIMULATED."""
    if asked.game:
        from referee.commands.game_demo import demo_game

        demo_game(asked.game, asked)
        return
    if asked.tables:
        _demo_tables(asked, asked.tables)
        return
    names = simulated_players(asked.players) if asked.players else None
    rules = load_rules(asked.rules_file) if asked.rules_file else DEFAULT_RULES
    with ExitStack() as stack, serving.interrupted() as over:
        click.echo("SIMULATED: table, players, camera and button box are not real")
        data_dir = stack.enter_context(serving.locked_data_folder(asked.data_dir))
        usual_fps = SIMULATED_FAST_FPS if asked.fast else SIMULATED_FPS
        staging = Staging(asked.seed or 0, asked.seating, asked.fast, asked.fps or usual_fps, asked.second)
        table, use = simulated_table(stack, data_dir, staging)
        recorder = stack.enter_context(closing(recorder_of(data_dir, use.clock, asked, simulated=True)))
        beside = use.second.observer if use.second else None
        use = replace(use, recorder=recorder, rules=rules)
        session = stack.enter_context(serving.running_session(use, names))
        lines = ScoreLines(click.echo, table.truth(use.deck))
        session.listen(lines)
        stack.enter_context(serving.dashboard(session, asked))
        table.set_up(use.observer, beside)
        stack.enter_context(serving.events_sent(session, asked))
        session.start()
        if session.state.phase == "new":
            session.create_match(names or simulated_players("4"), asked.mode, asked.seed)
        while not session.judging.gates() and not over.wait(0.05):
            pass  # no duel before the gate has looked once
        done = stack.enter_context(table.played(session, None if asked.manual else asked.duels, asked.manual))
        while not over.wait(0.1) and not done.is_set():
            pass
        click.echo(lines.tally())
        if done.is_set() and not (asked.fast or asked.duels or asked.headless):
            click.echo("The match is over. The dashboard stays until Ctrl-C.")
            over.wait()


def simulated_table(stack: ExitStack, data_dir: Path, staging: Staging) -> tuple[SimulatedTable, Equipment]:
    """A SIMULATED table until the stack ends, and what a session works with there, its record in ``data_dir``."""
    heap.limit_heap()
    clock, pieces = SystemClock(), builtin_piece_set()
    table = stack.enter_context(SimulatedTable(pieces, clock, staging))
    observer, beside = Observer(pieces, table.lens), Observer(pieces, table.side_lens)
    return table, Equipment(
        journal=stack.enter_context(serving.open_record(data_dir / "journal.db", data_dir, "")),
        data_dir=data_dir,
        draw=with_reading_drawn,
        deck=builtin_deck(),
        piece_set=pieces,
        observer=observer,
        gate=Gate(observer),
        camera=table.camera,
        second=SecondView(table.second, beside, Gate(beside)) if table.second else None,
        box=table.box,
        clock=clock,
        simulated=True,
    )


@contextmanager
def simulated_session(
    asked: DashboardOptions, fast: bool, page: str
) -> Iterator[tuple[SimulatedTable, Session, threading.Event]]:
    """A session without a match at a SIMULATED table that is set up, its pages beginning at ``page``, and what says
    that all is to end."""
    with ExitStack() as stack, serving.interrupted() as over:
        click.echo("SIMULATED: table, players and camera are not real")
        data_dir = stack.enter_context(serving.locked_data_folder(asked.data_dir / "simulated"))
        fps = SIMULATED_FAST_FPS if fast else SIMULATED_FPS
        table, use = simulated_table(stack, data_dir, Staging(asked.seed or 0, "across", fast, fps))
        record = stack.enter_context(serving.open_record(data_dir / PRACTICE, data_dir, ""))
        use = replace(use, practice=record, box=KeysBox(use.clock))
        session = stack.enter_context(serving.running_session(use, ()))
        stack.enter_context(serving.dashboard(session, asked, None, page))
        table.set_up(use.observer)
        session.start()
        yield table, session, over


def _demo_tables(asked: DemoOptions, tables: int) -> None:
    """A tournament on so many tables: each has about three players, unless it is said how many there are."""
    from referee.commands.tables import play_demo_tables

    if asked.players and not asked.players.isdigit():
        raise click.BadParameter("with --tables say how many play", param_hint="--players")
    players = int(asked.players) if asked.players else max(2, 3 * tables)
    if not 2 <= players <= MOST_ENTRANTS:
        raise click.BadParameter(f"from 2 to {MOST_ENTRANTS} can play", param_hint="--players")
    play_demo_tables(asked, tables, players)


def recorder_of(data_dir: Path, clock: Clock, asked: DashboardOptions, simulated: bool = False) -> Recorder:
    budget, where = Budget(round(asked.recordings_gb * (1 << 30))), data_dir / "attempts"
    if simulated:
        return Recorder(where, clock, SIMULATED_BEFORE_S, budget, SIMULATED_WAITING_BYTES)
    return Recorder(where, clock, budget=budget)


def with_reading_drawn(frame: np.ndarray, judgement: Judgement, card: Card) -> np.ndarray:
    """The frame with what was read drawn in, whatever the card."""
    return with_marks(frame, judgement, None)
