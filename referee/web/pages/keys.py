"""Any key, presenter or clicker as a player's Stop: presses that a page of the referee's hears, dated by its clock."""

from functools import lru_cache
from typing import Annotated

import flask
from pydantic import BaseModel, Field, ValidationError

from referee.devices.page_clock import MOST_MS, PageClock
from referee.fields import Zone
from referee.session.session import Session

MOST_PAGES = 64
"""Pages whose clocks are known at a time; the one that was unheard for longest is forgotten first."""

FINGER_S = (0.0, 0.06)
"""From the finger to the time that the browser gives a key: an estimate of contact bounce, and of a keyboard's or
clicker's radio and polling."""


POST_S = 5.0
"""The page gives a post up after so long."""

Milliseconds = Annotated[float, Field(ge=0, lt=MOST_MS)]


class KeyPress(BaseModel):
    """A player's Stop by key, and when it was sent, both by the page's clock."""

    zone: Zone
    at_ms: Milliseconds
    sent_ms: Milliseconds


def blueprint(session: Session) -> flask.Blueprint:
    """Round trips of a page's clock, and the presses that it heard. ``page`` is a name that the page made up."""
    pages = flask.Blueprint("keys", __name__, url_prefix="/keys")
    clock_of = lru_cache(MOST_PAGES)(lambda page: PageClock(session.clock))

    @pages.post("/clock/<page>")
    def clock(page: str) -> flask.Response:
        return flask.jsonify(host_s=clock_of(page).trip(flask.request.get_data()))

    @pages.post("/press/<page>")
    def press(page: str) -> flask.Response:
        try:
            said = KeyPress.model_validate_json(flask.request.get_data())
        except ValidationError:
            flask.abort(422, "a zone and a time are wanted")
        at_s, error_s = clock_of(page).to_host(said.at_ms, FINGER_S)
        sent_s, _ = clock_of(page).to_host(said.sent_ms, (0.0, 0.0))
        # a post cannot have been under way for longer, nor come before it was sent: else one of the clocks has jumped;
        # and a bound wider than that tells no more than the post's arrival
        tied = error_s <= POST_S and -error_s <= session.clock.now_s() - sent_s <= POST_S + error_s
        session.press(said.zone, flask.session.get("name", ""), (at_s, error_s) if tied else None)
        return flask.jsonify(bound_s=error_s if tied else None)

    return pages
