"""A phone as the camera: its page is served by https beside the dashboard; and the computer is kept from sleeping."""

import shutil
import subprocess
from contextlib import AbstractContextManager, ExitStack, closing, nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import click

from cards.sentences import sentence
from referee.commands.options import PageOptions
from referee.commands.serving import page_server, reachable
from referee.devices.camera import ThreadedCamera, open_camera
from referee.devices.phone import PHONE, PhoneCamera
from referee.devices.ports import Clock
from referee.errors import DeviceLost
from referee.web.phone import phone_app
from referee.web.security import LOOPBACK

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
