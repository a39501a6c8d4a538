"""The page ``/``."""

from __future__ import annotations

from typing import Any

import flask

from referee.web.security import public
from referee.web.streams import Parts


def parts(session: Any, environment: Any, lang: str) -> Parts:
    return {}


def blueprint(session: Any) -> flask.Blueprint:
    pages = flask.Blueprint("board", __name__)

    @pages.get("/")
    @public
    def board() -> str:
        return flask.render_template("board.html")

    return pages
