"""``/evening``: the referee's hand on the board. Sides, sound, pause, the countdown before a go."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import flask
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictBool, ValidationError

from cards.errors import first_fault
from referee.errors import IllegalCommand
from referee.fields import Zone, refuse_invisible
from referee.files import write_whole
from referee.match.commands import Go
from referee.session.session import Session
from referee.web.pages.login import json_object
from referee.web.security import LOOPBACK, public

EVENING_FILE = "evening.json"


class Evening(BaseModel):
    """``swapped``: mat B is on the left where the board hangs. ``volume`` in per cent; ``speech``: names are spoken.
    ``countdown``: seconds from 'Go' on the console to the go, 0 for none. ``pause``: what the board says instead of a
    duel ('' for none), ``back`` when it goes on. ``keys``: zone -> the key that is its player's Stop."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    swapped: StrictBool = False
    sound: StrictBool = True
    speech: StrictBool = True
    volume: int = Field(80, ge=0, le=100)
    countdown: int = Field(3, ge=0, le=10)
    paused: StrictBool = False
    pause: Annotated[str, Field(max_length=120), AfterValidator(refuse_invisible)] = ""
    back: str = Field("", pattern=r"^(\d\d:\d\d)?$")
    keys: dict[Zone, Annotated[str, Field(max_length=40), AfterValidator(refuse_invisible)]] = Field({})


class EveningStore:
    """The present ``Evening`` of a data folder; ``go_at_s`` is when a countdown on the session's clock ends."""

    def __init__(self, folder: Path) -> None:
        self._path, self._lock = folder / EVENING_FILE, threading.Lock()
        self.go_at_s: float | None = None
        self.now = self._read()

    def change(self, values: dict[str, Any]) -> Evening:
        """Set some of the values. Raises IllegalCommand for a value that is none; then nothing has changed."""
        with self._lock:
            try:
                self.now = Evening.model_validate(self.now.model_dump() | values)
            except ValidationError as error:
                raise IllegalCommand(first_fault(error)) from None
            with suppress(OSError):  # it holds for this run; the disk's own alarm says that it is full
                write_whole(self._path, self.now.model_dump_json(indent=1).encode())
            return self.now

    def _read(self) -> Evening:
        try:
            return Evening.model_validate_json(self._path.read_bytes())
        except (OSError, ValidationError):
            return Evening()


QUIET_ZONE_MODULES = 4
"""White modules around a QR code: less, and phones do not find it (ISO/IEC 18004)."""


def store() -> EveningStore:
    """The running app's."""
    kept: EveningStore = flask.current_app.extensions["referee.evening"]
    return kept


def blueprint(session: Session) -> flask.Blueprint:
    """Changing what the board does; the spectators' address as a QR code."""
    pages = flask.Blueprint("evening", __name__)

    @pages.post("/evening")
    def change() -> flask.typing.ResponseReturnValue:
        values = json_object()
        if values is None:
            flask.abort(400, "the body is not a JSON object")
        store().change(values)
        session.touch()
        return flask.jsonify(ok=True)

    @pages.post("/evening/count")
    def count() -> flask.typing.ResponseReturnValue:
        """Begin the countdown on every board; whoever began it gives the go when it ends."""
        evening, now_s = store(), session.clock.now_s() + session.shift_s
        if refusal := session.state.refusal(Go):
            raise IllegalCommand(refusal)
        seconds = evening.now.countdown
        evening.go_at_s = now_s + seconds
        session.touch()
        return flask.jsonify(seconds=seconds)

    add_qr(pages)
    return pages


def add_qr(pages: flask.Blueprint) -> None:
    """The spectators' address as a QR code."""

    @pages.get("/media/qr.svg")
    @public
    def code() -> flask.Response:
        address = spectators_address()
        if address is None:
            flask.abort(404, "the board is not on the network")
        return flask.Response(qr_svg(address), mimetype="image/svg+xml", headers={"Cache-Control": "no-cache"})


def spectators_address() -> str | None:
    """Where phones find the board; None while it is on this computer alone."""
    told = flask.current_app.extensions.get("referee.address")
    host = flask.request.host.rpartition(":")[0] or flask.request.host
    here = None if host.strip("[]") in LOOPBACK or flask.request.host in LOOPBACK else flask.request.host_url
    return told or here


def qr_svg(text: str) -> str:
    """The text as a QR code of medium correction: black squares on white, a module to a unit."""
    from reportlab.graphics.barcode import qrencoder  # here: a tenth of a second that the board need not wait for

    code = qrencoder.QRCode(None, qrencoder.QRErrorCorrectLevel.M)
    code.addData(text)
    code.make()
    n, edge = code.getModuleCount(), QUIET_ZONE_MODULES
    path = "".join(f"M{x + edge} {y + edge}h1v1h-1z" for y in range(n) for x in range(n) if code.isDark(y, x))
    size = n + 2 * edge
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" shape-rendering="crispEdges">'
        f'<path fill="#fff" d="M0 0h{size}v{size}H0z"/><path d="{path}"/></svg>'
    )
