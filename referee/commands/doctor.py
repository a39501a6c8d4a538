"""``referee doctor``: what this machine lacks to referee, and the command that mends it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import webbrowser
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

import click
from serial.tools import list_ports

from cards.sentences import sentence
from referee.commands.options import PATH
from referee.devices.camera import open_camera
from referee.devices.phone import PHONE
from referee.devices.ports import Camera, SystemClock
from referee.devices.webcams import find_webcam, webcams
from referee.errors import DeviceLost
from referee.journal.camera_record import camera_record
from referee.journal.journal import Journal
from referee.session.proving import last_figures
from referee.session.rig_setup import KeptCamera, kept_cameras

State = Literal["ok", "hint", "missing"]
SIGNS: dict[State, str] = {"ok": "ok     ", "hint": "hint   ", "missing": "MISSING"}

PICTURE_S, RATE_S, LEAST_HEIGHT = 8.0, 2.0, 720
NEEDED_GB, RECORDINGS_GB = 2.0, 40.0
"""Below the first nothing can be recorded for an evening; the second is what ``run`` may take by default."""

ANSWER_WAIT_S = 5.0


@dataclass(frozen=True)
class Finding:
    """What was found of one thing; ``mend`` is what to do about it, a command where there is one."""

    what: str
    state: State
    text: str
    mend: str = ""

    def lines(self) -> list[str]:
        """For a terminal."""
        head = f"{SIGNS[self.state]}  {self.what}: {self.text}"
        return [head, f"         -> {self.mend}"] if self.mend else [head]


def check_cameras(cameras: Sequence[KeptCamera]) -> list[Finding]:
    """The cameras that are meant, with their settings, and every other webcam that the system names."""
    meant = [find_webcam(source) for source, _ in cameras]
    others = [check_camera(one.path)[0] for one in webcams() if one not in meant and one.name]
    told = [replace(one, what="another camera", state="hint" if one.mend else "ok") for one in others]
    return [*(finding for camera in cameras for finding in check_camera(*camera)), *told]


def check_camera(source: str, settings: Mapping[str, float] | None = None) -> list[Finding]:
    """Whether the camera may be opened and gives pictures; and what it does not keep of its ``settings``."""
    if source == PHONE:
        lacks = find_spec("cryptography") is None
        mend = "pip install 'referee[phone]', or --tls with a certificate" if lacks else ""
        return [Finding("camera", "missing" if lacks else "ok", "a phone's browser is let in by referee run", mend)]
    webcam = find_webcam(source)
    if webcam is None and "://" not in source and not Path(source).is_file():
        known = ", ".join(str(one) for one in webcams())
        mend = f"--camera with one of: {known}" if known else "plug in a webcam; or --camera with a phone's address"
        return [Finding("camera", "missing", f"there is no camera {source}", mend)]
    if webcam and sys.platform == "linux" and not os.access(f"/dev/video{webcam.index}", os.R_OK | os.W_OK):
        return [Finding("camera", "missing", f"{webcam} may not be opened", _join("video"))]
    try:
        with closing(open_camera(source, SystemClock())) as opened:
            opened.settings.wanted = dict(settings or {})
            size = _picture_size(opened)
            opened.adjust(opened.settings.enforce)
            faults, stream = opened.settings.faults().values(), opened.status()
    except DeviceLost as error:
        return [Finding("camera", "missing", str(error), "end other programs that use it, or plug it in again")]
    text = f"{webcam or source} gives pictures of {size[0]}x{size[1]}, {stream['fps']:.0f} a second"
    text += f", {1000 * stream['delay_s']:.0f} ms after they were taken, ± {1000 * stream['frame_error_s']:.0f} ms"
    found = Finding("camera", "ok", text)
    if size[1] < LEAST_HEIGHT:
        found = Finding("camera", "hint", text, "1280x720 or more judges better")
    mend = "end other programs that set it, plug the camera in again, or measure the mats again on the page /setup"
    return [found, *(Finding("camera", "missing", str(fault), mend) for fault in faults)]


def _picture_size(camera: Camera) -> tuple[int, int]:
    """Width and height, once it has run for so long that its rate is known. Raises DeviceLost."""
    frame = camera.latest(-1, PICTURE_S)
    if frame is None:
        raise DeviceLost(sentence("no_picture", name=camera.name))
    until_s = time.monotonic() + RATE_S
    while time.monotonic() < until_s:
        frame = camera.latest(frame.number, 1.0) or frame
    height, width = frame.image.shape[:2]
    return width, height


def _join(group: str) -> str:
    return f"sudo usermod -aG {group} $USER, then log out and in again"


def check_button_box() -> Finding:
    """Whether a serial port that may be a box can be opened."""
    ports = [port.device for port in list_ports.comports() if port.vid is not None]
    if not ports:
        return Finding(
            "button box", "hint", "none is plugged in", "without one Stop is a key of the dashboard: --box none"
        )
    shut = [port for port in ports if sys.platform == "linux" and not os.access(port, os.R_OK | os.W_OK)]
    if shut:
        return Finding("button box", "missing", f"{', '.join(shut)} may not be opened", _join(_group_of(shut[0])))
    return Finding("button box", "ok", f"{', '.join(ports)} may be opened; `referee box check` tries the box")


def _group_of(port: str) -> str:
    try:
        return Path(port).group()
    except (OSError, KeyError):
        return "dialout"


def check_browser() -> Finding:
    """Whether this machine can show the dashboard."""
    try:
        webbrowser.get()
    except webbrowser.Error:
        mend = "install one (sudo apt-get install chromium), or open the address on another device: --host 0.0.0.0"
        return Finding("browser", "hint", "none is found on this machine", mend)
    return Finding("browser", "ok", "there is one")


def check_disk(data_dir: Path) -> list[Finding]:
    """Room for recordings, and whether the data folder may be written to. Nothing is made."""
    there = next(p for p in (data_dir.resolve(), *data_dir.resolve().parents) if p.exists())
    free = shutil.disk_usage(there).free / (1 << 30)
    found = [Finding("data folder", "ok", f"{data_dir} can be written to")]
    if not _can_be_written(there):
        mend = f"sudo chown $USER {there}, or --data-dir with another folder"
        found = [Finding("data folder", "missing", f"{there} cannot be written to", mend)]
    if free < NEEDED_GB:
        text = f"{free:.1f} GB are free, an evening's recordings take some"
        return [*found, Finding("disk", "missing", text, "make room, or --data-dir on another disk")]
    if free < RECORDINGS_GB:
        mend = f"referee run --recordings-gb {max(1, int(free * 0.8))}"
        return [
            *found,
            Finding("disk", "hint", f"{free:.0f} GB are free, recordings may take {RECORDINGS_GB:.0f}", mend),
        ]
    return [*found, Finding("disk", "ok", f"{free:.0f} GB are free")]


def _can_be_written(folder: Path) -> bool:
    """Whether a file can be made there, tried: permissions do not tell of a read-only disk, nor to root. It is gone."""
    try:
        tempfile.TemporaryFile(dir=folder).close()
    except OSError:
        return False
    return True


def check_clock() -> Finding:
    """Whether the time of day is kept right by the network. What a duel takes does not depend on it."""
    try:
        asked = ["timedatectl", "show", "--property=NTPSynchronized", "--value"]
        said = subprocess.run(asked, capture_output=True, text=True, timeout=ANSWER_WAIT_S, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return Finding(
            "clock", "hint", "whether the time of day is right cannot be asked here", "compare it with a phone"
        )
    if said == "yes":
        return Finding("clock", "ok", "the time of day is kept by the network")
    text = "the time of day is not kept by the network: dates on records may be wrong"
    return Finding("clock", "missing", text, "sudo timedatectl set-ntp true")


def check_proof(data_dir: Path) -> Finding:
    """How well the table was judged when it last proved itself, and how often the camera was overruled since."""
    last, journal = last_figures(data_dir), data_dir / "journal.db"
    if last is None:
        return Finding("this table", "hint", "how well it is judged is not known", "referee prove")
    if not journal.exists():
        return Finding("this table", "ok", last.text)
    with closing(Journal(journal, reading=True)) as record:
        return Finding("this table", "ok", f"{last.text}; {camera_record(record, last.at)}")


@click.command()
@click.option(
    "--camera",
    "sources",
    multiple=True,
    help="Webcam (name, path or index), URL or file to try; else the one used last. Twice for two cameras.",
)
@click.option("--data-dir", type=PATH, default=Path("referee-data"), show_default=True)
def doctor(sources: tuple[str, ...], data_dir: Path) -> None:
    """What this machine lacks to referee, and the command that mends it. The status is 1 when something is missing."""
    kept = kept_cameras(data_dir)
    cameras = [(one, dict(kept).get(one, kept[0][1])) for one in sources] or kept
    looks: list[Callable[[], Finding | list[Finding]]] = [
        lambda: check_cameras(cameras),
        check_button_box,
        check_browser,
        lambda: check_disk(data_dir),
        lambda: check_proof(data_dir),
        check_clock,
    ]
    missing = 0
    for look in looks:
        found = look()
        for finding in found if isinstance(found, list) else [found]:
            missing += finding.state == "missing"
            click.echo("\n".join(finding.lines()))
    click.echo(f"{missing} missing" if missing else "nothing is missing")
    sys.exit(1 if missing else 0)
