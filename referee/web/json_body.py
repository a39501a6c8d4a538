"""The JSON that a request carries."""

from typing import Any

import flask


def json_object() -> dict[str, Any] | None:
    """The request's body as a JSON object; None when it is none, however deep it is nested."""
    try:
        body = flask.request.get_json(silent=True)
    except RecursionError:  # json gives up on a body of nothing but brackets
        return None
    return body if isinstance(body, dict) else None
