"""The page ``/setup``."""

from __future__ import annotations

from typing import Any

import flask

from referee.web.streams import Parts


def parts(session: Any, environment: Any, lang: str) -> Parts:
    return {}


def blueprint(session: Any) -> flask.Blueprint:
    pages = flask.Blueprint("setup", __name__)

    @pages.get("/setup")
    
    def setup() -> str:
        return flask.render_template("setup.html")

    return pages
