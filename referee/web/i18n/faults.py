"""Refusals and faults in the visitor's language. The rules speak English, in sentences that are known here.

The catalogue has each sentence in both languages with its blanks (``texts/faults.*.json``): what fits an English
one is said by the other with the same blanks. A sentence that fits none stays English.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from string import Formatter

from referee.web.i18n.texts import FALLBACK, catalogue

REST = "rest"
"""The blank in which further faults may stand, with semicolons between them."""

APART = "; "


def say_fault(lang: str, text: str, words: Mapping[str, str]) -> str:
    """The fault in ``lang``; ``words`` are the names of colours and shapes in it (``reasons.words_of``)."""
    if lang == FALLBACK:
        return text
    for key, pattern in _patterns():
        if found := pattern.fullmatch(text):
            blanks = {name: _filled(lang, name, value, words) for name, value in found.groupdict().items()}
            return catalogue(lang)[key].format_map(blanks)
    return text


def _filled(lang: str, name: str, value: str, words: Mapping[str, str]) -> str:
    if name == REST:
        return APART.join(say_fault(lang, part, words) for part in value.split(APART))
    if name.startswith("piece"):
        return ", ".join(reversed([words.get(word, word) for word in value.split(" ")]))
    return value


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Key and pattern of every English sentence, the most telling first."""
    rows = [(key, text) for key, text in catalogue(FALLBACK).items() if key.startswith("fault.")]
    rows.sort(key=lambda row: ("{rest}" not in row[1], -len(re.sub(r"{\w+}", "", row[1]))))
    return tuple((key, re.compile(_pattern(text))) for key, text in rows)


def _pattern(text: str) -> str:
    return "".join(
        re.escape(literal) + (f"(?P<{name}>{'.+' if name == REST else '[^;]+?'})" if name else "")
        for literal, name, *_ in Formatter().parse(text)
    )
