"""``/prove``: builds of known truth asked for one after another, and how well this table judges them."""

from typing import Any

import flask

from cards.drawing import build_svg
from referee.journal.camera_record import camera_record
from referee.session.proving import last_figures
from referee.session.session import Session
from referee.web import views
from referee.web.board_views import Say
from referee.web.pages.rig_checks import Number, lens_numbers, mats_numbers
from referee.web.streaming.fragments import LivePage


def _values(session: Session, t: Say) -> dict[str, Any]:
    proof = session.proof
    values: dict[str, Any] = {"proof": proof, "mark": session.simulated}
    if proof.task:
        return values | {"card": views.card(proof.task.card), "like": build_svg(proof.task.pieces, session.piece_set)}
    pictures = {"empty": session.observer.empty, "colors": session.observer.colors}
    lacking = [step for step, picture in pictures.items() if picture is None]
    return values | {"mend": to_mend(session), "lacking": lacking}


PAGE = LivePage("prove", ("task", "results"), _values)


def to_mend(session: Session) -> list[Number]:
    """What of the rig is out of its limits in the picture of the empty table, where a proof is over and not all of it
    is right."""
    proof, observer, image = session.proof, session.observer, session.observer.empty
    if image is None or proof.task or proof.figures.right == proof.figures.count:
        return []
    numbers = [*mats_numbers(image, observer.look(image), observer.placed), *lens_numbers(observer.camera, image)]
    return [number for number in numbers if not number.passed]


def blueprint(session: Session) -> flask.Blueprint:
    """The page, its pictures, and what who builds asks for."""
    pages = flask.Blueprint("prove", __name__, url_prefix="/prove")

    @pages.get("")
    def page() -> str:
        last = last_figures(session.data_dir)
        since = camera_record(session.journal, last.at) if last else None
        return flask.render_template("prove.html", parts=PAGE.for_visitor(session), last=last, since=since)

    @pages.post("/<any(begin, stand, skip, again, end):what>")
    def command(what: str) -> flask.typing.ResponseReturnValue:
        getattr(session.proof, what)()
        return flask.redirect("/prove", 303)

    @pages.get("/build/<int:number>.jpg")
    def build(number: int) -> flask.Response:
        results = session.proof.results
        result = results[number] if number < len(results) else None
        if result is None or result.jpeg is None:
            flask.abort(404, "there is no such picture")
        return flask.Response(result.jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    return pages
