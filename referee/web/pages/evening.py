"""``/evening``: the referee's hand on the board. Sides, sound, pause, the countdown before a go."""

import flask

from referee.errors import IllegalCommand
from referee.match.commands import Go
from referee.session.session import Session
from referee.web.evening import EveningStore
from referee.web.pages.login import json_object
from referee.web.security import LOOPBACK, public

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
