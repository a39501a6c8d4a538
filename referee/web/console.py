"""The page ``/referee``."""

from __future__ import annotations

from typing import Any

import flask

from referee.web.streams import Parts


def parts(session: Any, environment: Any, lang: str) -> Parts:
    return {}


def blueprint(session: Any) -> flask.Blueprint:
    pages = flask.Blueprint("console", __name__)

    @pages.get("/referee")
    
    def console() -> str:
        return flask.render_template("console.html")

    return pages
