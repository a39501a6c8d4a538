"""Any key, presenter or clicker as a player's Stop: presses that a page of the referee's hears, dated by its clock."""

import math
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


class KeyPress(BaseModel):
    """A player's Stop by key: ``at_ms`` by the page's clock."""

    zone: Zone
    at_ms: Annotated[float, Field(ge=0, lt=MOST_MS)]


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
        key = None if math.isinf(error_s) else (at_s, error_s)
        session.press(said.zone, flask.session.get("name", ""), key)
        return flask.jsonify(bound_s=key and error_s)

    return pages
