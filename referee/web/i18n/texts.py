"""One catalogue of what the pages say: ``texts/<lang>.json`` and ``texts/<part>.<lang>.json``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from markupsafe import Markup

LANGUAGES = ("en", "de")
FALLBACK = "en"


@cache
def catalogue(language: str) -> dict[str, str]:
    """All texts of one of ``LANGUAGES`` by key. Raises ValueError on a key given twice."""
    found: dict[str, str] = {}
    for path in sorted(files("referee.web.i18n").joinpath("texts").iterdir(), key=lambda p: p.name):
        if path.name == f"{language}.json" or path.name.endswith(f".{language}.json"):
            rows = json.loads(path.read_text(encoding="utf-8"))
            if again := found.keys() & rows.keys():
                raise ValueError(f"{path.name} gives {sorted(again)} a second time")
            found |= rows
    return found


def translate(language: str, key: str, /, **values: object) -> str:
    """The text of ``key``, ``{name}`` filled in. A key in no catalogue comes back as it is."""
    text = catalogue(language).get(key) or catalogue(FALLBACK).get(key) or key
    return text.format_map(values) if values else text


def markup(template: str, *values: str) -> Markup:
    """HTML with each ``{}`` filled by an escaped value."""
    return Markup(template).format(*values)
