"""What every command with a dashboard shares: its options, its data folder and record, the pages, its end."""

import errno
import gc
import os
import secrets
import shutil
import signal
import socket
import ssl
import subprocess
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO
from urllib.parse import quote, urlsplit

import click
from flask import Flask

from cards.sentences import sentence
from referee.commands.options import PATH, USUAL_PORT, BrowsedOptions, PageOptions, option, same_players
from referee.devices.camera import ThreadedCamera, open_camera
from referee.devices.phone import PHONE, PhoneCamera
from referee.devices.ports import Clock
from referee.errors import DeviceLost
from referee.journal.file_lock import LOCK, lock_file, private_files, usable_folder
from referee.journal.journal import Journal
from referee.journal.recovery import open_server, open_sound
from referee.journal.spool import SpooledJournal
from referee.match.commands import MODES
from referee.session.device_choice import DeviceChoices
from referee.session.event_senders import EventSender
from referee.session.session import Equipment, Session
from referee.web.app import create_app
from referee.web.base_app import knows_pin
from referee.web.phone import phone_app
from referee.web.security import LOOPBACK
from referee.web.server import Server

ALL_ADDRESSES = ("0.0.0.0", "::")
SIGNAL_CHECK_S = 0.5
SHORTEST_PIN = 6
"""Characters of a PIN: what a thousand guesses an hour do not find in an evening."""

UNUSED_ADDRESS = ("192.0.2.1", 9)
"""An address of nobody's (RFC 5737)."""


@dataclass(frozen=True, kw_only=True)
class DashboardOptions(BrowsedOptions):
    """What every command with a dashboard may be asked for."""

    data_dir: Path
    headless: bool = option(is_flag=True, help="No dashboard at all.")
    rules_file: Path | None = option("--rules", type=PATH, help="house_rules.toml; default: the printed rules.")
    recordings_gb: float = option(
        type=click.FloatRange(min=0),
        default=40,
        help="Disk budget of recordings: beyond it the oldest uncontested ones go, and it is said.",
    )
    mode: str = option(type=click.Choice(tuple(MODES)), default="all", help="Which cards are played.")
    seed: int | None = option(type=int, help="Seed of the draws, and of everything simulated.")
    notify: tuple[str, ...] = option(
        multiple=True, metavar="URL", help="Send every public event there: https://… or mqtt://HOST/TOPIC; repeatable."
    )
    notify_secret: TextIO | None = option(
        type=click.File(), help="File with the secret that signs them; default: what REFEREE_NOTIFY_SECRET holds."
    )


@contextmanager
def locked_data_folder(data_dir: Path) -> Iterator[Path]:
    """The data folder as an absolute path, this program's alone while the context lasts; what is written meanwhile
    no other user of the machine can read.

    Raises FolderUnusable, or HeldElsewhere saying which program works with it.
    """
    with private_files():
        folder = usable_folder(data_dir)
        with lock_file(folder / LOCK, f"the data folder {folder}"):
            yield folder


@contextmanager
def open_record(where: str | Path, data_dir: Path, table: str) -> Iterator[Journal | SpooledJournal]:
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
    with lock_file(Path(f"{path}.{quote(table, safe='')}.{LOCK}"), f"table {table!r} of {path}"):
        kept_there, salvaged = open_sound(path)
        if salvaged:
            click.echo(f"the record was damaged: {salvaged.text()}", err=True)
        with closing(kept_there):
            yield kept_there


@contextmanager
def running_session(use: Equipment, players: Sequence[str] | None = None) -> Iterator[Session]:
    """A session with this equipment, not started yet; it is stopped in the end.

    The record's open match goes on where ``players`` are None or those who play it; for other players, and for nobody,
    it stays open in the record. Either is said, and what keeps a duel from going on.
    """
    session = Session(use)
    session.notifier.say = say_alarm
    try:
        state = session.state
        if state.phase != "new":
            match, names = f"match {state.match_id}", ", ".join(state.players)
            begun_by = session.journal.events(state.match_id)[0].data["players"]
            if players is None or any(same_players(players, those) for those in (state.players, begun_by)):
                click.echo(f"going on with {match}, phase {state.phase}: {names}")
            else:
                session.match.set_aside()
                click.echo(f"{match} of {names} stays open; the console can take it up again")
        yield session
    finally:
        session.stop()


def say_alarm(text: str) -> None:
    """One line on the terminal, where it takes one: its log may be on the full disk that the line is about."""
    with suppress(OSError):
        click.echo(f"referee: {text}", err=True)


@contextmanager
def events_sent(session: Session, asked: DashboardOptions) -> Iterator[None]:
    """Public events go to whoever is to be notified, while the context lasts. Raises BadTarget."""
    secret = asked.notify_secret.read() if asked.notify_secret else os.environ.get("REFEREE_NOTIFY_SECRET", "")
    with ExitStack() as stack:
        for url in dict.fromkeys(asked.notify):
            sender = EventSender(url, secret.strip().encode(), session.feed, session.data_dir, session)
            sender.start()
            stack.callback(sender.stop)
        yield


def start_server(app: Flask, asked: PageOptions, usual_port: int = USUAL_PORT) -> Server:
    """The pages on a port; where none was asked for on the usual one or, when that is taken, on a free one.

    Before anybody can ask, the first page's templates and the board's are compiled, and what is loaded by now is no
    more searched for garbage: that took 60 ms each time, in which nobody is served.
    """
    app.test_client().get("/")
    for name in app.jinja_env.list_templates(filter_func=lambda name: "board" in name):
        app.jinja_env.get_template(name)
    gc.collect()
    gc.freeze()
    try:
        return Server(app, asked.host, usual_port if asked.port is None else asked.port, asked.tls)
    except OSError as error:
        if asked.port is not None or error.errno != errno.EADDRINUSE:
            raise
        click.echo(f"port {usual_port} is taken, so the pages have another address")
        return Server(app, asked.host, 0, asked.tls)


@contextmanager
def page_server(app: Flask, asked: PageOptions, usual_port: int = USUAL_PORT) -> Iterator[str]:
    """The pages as ``start_server``, while the context lasts: their address, the one that others can open where they
    can. Under TLS cookies travel encrypted only.

    Raises DeviceLost when the port is taken or the certificate is none.
    """
    app.config["SESSION_COOKIE_SECURE"] |= bool(asked.tls)
    try:
        server = start_server(app, asked, usual_port)
    except ssl.SSLError as error:
        raise DeviceLost(f"pages: --tls: not a certificate and its key ({error.reason})") from None
    except OSError as error:
        gone = asked.tls and error.errno == errno.ENOENT
        what = f"--tls: {error.filename or asked.tls}" if gone else f"port {asked.port} of {asked.host}"
        raise DeviceLost(f"pages: {what} cannot be used ({error.strerror})") from None
    with closing(server):
        address = app.extensions["referee.address"] = reachable(server.url, asked.host)
        yield address or server.url


def pin_for(asked: PageOptions, whose: str, data_dir: Path) -> str | None:
    """The PIN that was asked for; without one, a new one, which is told, where others reach the pages.

    Raises UsageError for a short one, unless it is the one that this data folder knows: then it is told.
    """
    pin = asked.pin
    if pin is not None and len(pin) < SHORTEST_PIN:
        if not knows_pin(data_dir, pin):
            raise click.UsageError(f"--pin: {SHORTEST_PIN} characters at least, or others guess it")
        click.echo(f"the {whose} PIN is short: take one of {SHORTEST_PIN} characters at least", err=True)
    if pin is None and asked.host not in LOOPBACK:
        pin = f"{secrets.randbelow(10**6):06d}"
        click.echo(f"the {whose} PIN is {pin}")
    return pin


def reachable(url: str, host: str) -> str | None:
    """Where other devices of the network find what is served at ``url`` on ``host``; None where they cannot.

    For a server on every address it is the one that this machine would speak to others from; nothing is sent.
    """
    if host in LOOPBACK:
        return None
    if host not in ALL_ADDRESSES:
        return url
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        try:
            line.connect(UNUSED_ADDRESS)
            own = line.getsockname()[0]
        except OSError:  # no network at all
            return None
    parts = urlsplit(url)
    return None if own in LOOPBACK else parts._replace(netloc=f"{own}:{parts.port}").geturl()


@contextmanager
def dashboard(
    session: Session, asked: DashboardOptions, choices: DeviceChoices | None = None, first: str = ""
) -> Iterator[str]:
    """The web pages, served while the context lasts; a browser opens at the page ``first``. Gives the address that
    other machines find them at, '' for none. Raises DeviceLost when the port is taken."""
    if asked.headless:
        yield ""
        return
    app = create_app(session, pin_for(asked, "referee's", Path(session.data_dir)), asked.host, choices=choices)
    with page_server(app, asked) as url:
        more = f"   {first}: {url}{first}" if first else ""
        click.echo(f"board: {url}   console: {url}referee{more}")
        if not asked.no_browser:
            webbrowser.open(url + first)
        yield app.extensions["referee.address"] or ""


class Ending(threading.Event):
    """An event that a signal sets. Python's handlers run on the main thread alone, and a signal that another thread
    took, or that came just as the main thread fell asleep, does not wake it: so no wait for this event is for ever."""

    def wait(self, timeout: float | None = None) -> bool:
        """Whether it is set, once it is or after ``timeout`` seconds."""
        if timeout is not None:
            return super().wait(timeout)
        while not super().wait(SIGNAL_CHECK_S):
            pass
        return True


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """An event that Ctrl-C or a polite kill sets, so that everything is closed in order."""
    over = Ending()
    before = {s: signal.signal(s, lambda *_: over.set()) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


PHONE_PORT = 8443


def open_phone_or_camera(data_dir: Path, asked: PageOptions, source: str, clock: Clock) -> ThreadedCamera:
    """As ``open_camera``; for ``phone`` a camera whose page is served to the network, and its address told.

    Raises DeviceLost.
    """
    if source != PHONE:
        return open_camera(source, clock)
    host = "0.0.0.0" if asked.host in LOOPBACK else asked.host
    tls, fingerprint = (asked.tls, "") if asked.tls else _own_certificate(data_dir, host)
    with ExitStack() as unless_served:
        camera = unless_served.enter_context(closing(PhoneCamera(clock)))
        where = PageOptions(host=host, port=None, pin=None, tls=tls)
        camera.address = camera.server.enter_context(page_server(phone_app(camera, data_dir), where, PHONE_PORT))
        camera.fingerprint = fingerprint
        unless_served.pop_all()
    click.echo(f"the phone that is to be the camera opens {camera.link} or scans the code on the page /setup")
    if fingerprint:
        click.echo(f"its warning is of a certificate with the SHA-256 fingerprint {fingerprint}")
    return camera


def _own_certificate(data_dir: Path, host: str) -> tuple[tuple[Path, Path], str]:
    """Where certificate and key are, and the fingerprint. Raises DeviceLost without the package that makes it."""
    try:
        from referee.web.certificate import own_certificate
    except ImportError:
        raise DeviceLost(sentence("phone_no_certificate")) from None
    own = urlsplit(reachable(f"https://{host}:0/", host) or "//127.0.0.1").hostname
    path, fingerprint = own_certificate(data_dir, str(own))
    return (path, path), fingerprint


def kept_awake() -> AbstractContextManager[object]:
    """The computer does not fall asleep while the context lasts, where systemd can hold it. However this program ends,
    its pipe ends with it, and so does ``cat``."""
    tool, quiet = shutil.which("systemd-inhibit"), subprocess.DEVNULL
    if tool is None:
        return nullcontext()
    command = [tool, "--what=idle:sleep:handle-lid-switch", "--who=referee", "--why=a table is refereed", "cat"]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, start_new_session=True)
