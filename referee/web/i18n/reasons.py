"""A verdict's reason in the visitor's language: the catalogue's sentence for its code, filled with its values.

The reason carries what the sentence needs (``referee.match.verdict.Reason``); its English text is never taken apart.
A record of before that has texts alone is said in them, as it was written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from referee.web.i18n.texts import translate


def say(lang: str, reason: Mapping[str, Any], words: Mapping[str, str]) -> str:
    """The reason in ``lang``: its own text in English, else the catalogue's sentence for its code.

    ``words`` are the names of colours and shapes. The text stays where the catalogue has no sentence for the code, or
    the reason not the values that the sentence asks for.
    """
    sentence = translate(lang, f"reason.{reason['code']}")
    if lang == "en" or sentence == f"reason.{reason['code']}":
        return str(reason["text"])
    values = {name: said(lang, value, words) for name, value in reason.get("values", {}).items()}
    try:
        return sentence.format_map(values)
    except KeyError:
        return str(reason["text"])


def said(lang: str, value: Any, words: Mapping[str, str]) -> Any:
    """One of a reason's values in ``lang``: a piece, a list of colours, another reason; a number stays a number."""
    if isinstance(value, Mapping) and "code" in value:
        return say(lang, value, words)
    if isinstance(value, Mapping):
        return ", ".join(words.get(value[part], value[part]) for part in ("shape", "color") if part in value)
    if isinstance(value, list):
        return ", ".join(words.get(word, word) for word in value)
    return value


@cache
def words_of(lang: str, colors: tuple[str, ...], shapes: tuple[str, ...]) -> dict[str, str]:
    """English names of colours and shapes -> names in ``lang``; a name in no catalogue stays."""

    def word(kind: str, name: str) -> str:
        text = translate(lang, f"{kind}.{name}")
        return name if text == f"{kind}.{name}" else text

    return {c: word("color", c) for c in colors} | {s: word("shape", s) for s in shapes}


def sayer(lang: str, colors: tuple[str, ...], shapes: tuple[str, ...]) -> Callable[[Mapping[str, Any]], str]:
    """``say`` bound to a language and a piece set, for templates."""
    words = words_of(lang, colors, shapes)
    return lambda reason: say(lang, reason, words)
