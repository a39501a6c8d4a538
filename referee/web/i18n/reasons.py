"""A fault in the visitor's language. The judge speaks English; its sentences are few and known by code."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache

from referee.web.texts import translate

_NUMBERED = re.compile(r"\d+(?:\.\d+)?")


def say(lang: str, reason: Mapping[str, str], words: Mapping[str, str]) -> str:
    """The reason's text in ``lang``: its own in English, else the catalogue's sentence for its code.

    The catalogue's sentence may name ``{piece}`` (the pieces named in the text, translated by ``words``)
    and ``{n}``, ``{m}`` (the numbers in it). A code without a sentence keeps the English text.
    """
    sentence = translate(lang, f"reason.{reason['code']}")
    if lang == "en" or sentence == f"reason.{reason['code']}":
        return reason["text"]
    numbers = [*_NUMBERED.findall(reason["text"]), "?", "?"]
    return sentence.format(piece=_piece_in(reason["text"], words), n=numbers[0], m=numbers[1])


def _piece_in(text: str, words: Mapping[str, str]) -> str:
    found = [words[word] for word in re.findall(r"[\w-]+", text) if word in words]
    return ", ".join(reversed(found)) or "?"


@cache
def words_of(lang: str, colors: tuple[str, ...], shapes: tuple[str, ...]) -> dict[str, str]:
    """English names of colours and shapes -> names in ``lang``; a name in no catalogue stays."""

    def word(kind: str, name: str) -> str:
        text = translate(lang, f"{kind}.{name}")
        return name if text == f"{kind}.{name}" else text

    return {c: word("color", c) for c in colors} | {s: word("shape", s) for s in shapes}


def sayer(lang: str, colors: tuple[str, ...], shapes: tuple[str, ...]) -> Callable[[Mapping[str, str]], str]:
    """``say`` bound to a language and a piece set, for templates."""
    words = words_of(lang, colors, shapes)
    return lambda reason: say(lang, reason, words)
