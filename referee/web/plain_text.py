"""Text from outside: a letter that nobody sees, or that turns its neighbours round, makes one name pass for another.

Refused or shown are control characters (Cc), formatting ones such as bidirectional overrides and zero-width
letters (Cf), line and paragraph separators (Zl, Zp), lone surrogates (Cs) and fillers that draw nothing.
"""

from __future__ import annotations

import unicodedata
from typing import Any

import flask

HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0"
MARK = "\N{REPLACEMENT CHARACTER}"


def is_hidden(letter: str) -> bool:
    """Whether nobody would see that this letter is there."""
    return unicodedata.category(letter) in HIDDEN or letter in FILLERS


def plain(text: str) -> str:
    """The text itself. Raises ValueError when it holds a letter that cannot be seen."""
    hidden = sorted({f"U+{ord(letter):04X}" for letter in text if is_hidden(letter)})
    if hidden:
        raise ValueError(f"a character that cannot be seen ({', '.join(hidden[:3])})")
    return text


def shown(text: str, most: int) -> str:
    """The text of at most so many letters, each that cannot be seen replaced by one that can."""
    return "".join(MARK if is_hidden(letter) else letter for letter in text.strip())[:most]


def json_object() -> dict[str, Any] | None:
    """The request's body as a JSON object; None when it is none, however deep it is nested."""
    try:
        body = flask.request.get_json(silent=True)
    except RecursionError:  # json gives up on a body of nothing but brackets
        return None
    return body if isinstance(body, dict) else None
