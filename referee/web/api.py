"""JSON API."""

from __future__ import annotations

from typing import Any

import flask


def blueprint(session: Any) -> flask.Blueprint:
    return flask.Blueprint("api", __name__, url_prefix="/api")
