"""What people are told, in any language: a sentence is a code with values, its words stand in one table a language.

    sentence("zone", zone="C")              # no zone 'C' plays: A or B
    say("de", sentence("zone", zone="C"))   # Es spielt keine Matte 'C': A oder B

The tables are ``texts/sentences.<language>.json``, code -> template. A blank of a template is ``{name}`` with one of

* ``{name:.1f}``, ``{name!r}`` -- a number or text as Python formats it, with the language's decimal point;
* ``{n:piece|pieces}`` -- one of two words: the first where ``n`` is 1;
* ``{names: and }`` -- a list, joined by what stands after the colon; ``{names:has|have}`` counts it;
* ``{card!k}`` -- a card of a tower game, by its name;
* ``{piece}``, ``{piece:n}`` -- a piece by its colour, shape and place; in the plural unless ``n`` is 1;

and a value that is itself a sentence is said in the same language.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any, Protocol, Self

LANGUAGES = ("en", "de")
WRITTEN = "en"
"""The language of every ``text`` that is kept: in it a record is said as it was written."""

POINT = {"en": ".", "de": ","}
"""What stands between a number's whole and its parts."""

TEXTS = Path(__file__).with_name("texts")


class Sentence(str):
    """English text that any other language can say too: ``code`` and ``values`` (JSON-able, or sentences) are kept.

    A text without a code is said as it stands in every language.
    """

    code: str
    values: Mapping[str, Any]

    def __new__(cls, text: str, code: str = "", values: Mapping[str, Any] | None = None) -> Self:
        made = super().__new__(cls, text)
        made.code, made.values = code, dict(values or {})
        return made


def sentence(code: str, /, **values: Any) -> Sentence:
    """The sentence of that code. Raises KeyError for a code in no table, or without a value that it needs."""
    return Sentence(fill(table(WRITTEN)[code], values), code, values)


class Worded(Protocol):
    """What carries a sentence's parts by name, as a verdict's reason does."""

    @property
    def text(self) -> str:
        """The English text."""

    @property
    def code(self) -> str:
        """The sentence's code; empty of a text without one."""

    @property
    def values(self) -> Mapping[str, Any]:
        """What fills its blanks."""


def say(language: str, message: str | Worded | Mapping[str, Any]) -> str:
    """The message in ``language``: a sentence, a plain text, or ``text``, ``code`` and ``values``, named or as JSON.

    Text alone stays as it is, and so does what an older version wrote without the values that the words need.
    """
    if isinstance(message, Mapping):
        message = from_record(message)
    elif not isinstance(message, str):
        message = Sentence(message.text, message.code, message.values)
    if language == WRITTEN or not isinstance(message, Sentence):
        return str(message)
    template = table(language).get(message.code)
    if template is None or not _blanks(template) <= message.values.keys():
        return str(message)
    return fill(template, message.values, language)


def from_record(row: Mapping[str, Any]) -> Sentence:
    """The sentence that a record keeps as ``text``, ``code`` and ``values``."""
    return Sentence(str(row["text"]), str(row["code"]), row.get("values"))


def sentence_json(message: str) -> dict[str, Any] | None:
    """``text``, ``code`` and ``values`` of a sentence, as ``say`` takes them; None of a text without a code."""
    if not isinstance(message, Sentence) or not message.code:
        return None
    values = {name: sentence_json(v) or str(v) if isinstance(v, str) else v for name, v in message.values.items()}
    return {"text": str(message), "code": message.code, "values": values}


@cache
def table(language: str) -> Mapping[str, str]:
    """Code -> template of one of ``LANGUAGES``."""
    rows: dict[str, str] = json.loads((TEXTS / f"sentences.{language}.json").read_text(encoding="utf-8"))
    return rows


def fill(template: str, values: Mapping[str, Any], language: str = WRITTEN) -> str:
    """The template with its blanks filled as this module's head says. Raises KeyError when a value is not given."""
    parts = []
    for literal, name, spec, conversion in _parsed(template):
        parts.append(literal)
        if name is not None:
            parts.append(_value(language, values[name], spec or "", conversion, values))
    return "".join(parts)


@cache
def _parsed(template: str) -> tuple[tuple[str, str | None, str | None, str | None], ...]:
    return tuple(Formatter().parse(template))


def _blanks(template: str) -> set[str]:
    return {name for _, name, _, _ in _parsed(template) if name}


def _value(language: str, value: Any, spec: str, conversion: str | None, values: Mapping[str, Any]) -> str:
    if isinstance(value, Sentence) or (isinstance(value, Mapping) and "code" in value):
        return say(language, value)
    if isinstance(value, Mapping):
        return piece_name(language, value, values.get(spec, 1))
    several = isinstance(value, Sequence) and not isinstance(value, str)
    if "|" in spec:
        one, _, many = spec.partition("|")
        return one if (len(value) if several else value) == 1 else many
    if several:
        return spec.join(_value(language, part, "", conversion, values) for part in value)
    if conversion == "k":
        return word(language, "game.card", value)
    said = format(repr(value) if conversion == "r" else value, spec)
    return localized_number(language, said) if isinstance(value, float) else said


def localized_number(language: str, number: str) -> str:
    """A number as Python writes it, with the decimal point of the language."""
    return number.replace(".", POINT[language])


def piece_name(language: str, piece: Mapping[str, Any], n: float = 1) -> str:
    """So many pieces in words: ``color``, ``shape`` and, where given, ``x``; what has no colour goes without."""
    shape = word(language, "shape", piece["shape"], n)
    parts = {"shape": shape, "color": word(language, "color", piece["color"])} if "color" in piece else {}
    name = table(language)["piece"].format_map(parts) if parts else shape
    return (
        table(language)["piece.at"].format(piece=name, x=localized_number(language, format(piece["x"], "g")))
        if "x" in piece
        else name
    )


def word(language: str, kind: str, name: str, n: float = 1) -> str:
    """The name of a colour, shape or card (``kind``), of a shape also for ``n`` of it; a name in no table stays."""
    words = table(language)
    one = words.get(f"{kind}.{name}", name)
    if n == 1 or kind != "shape":
        return one
    return words.get(f"shape.{name}.many") or words["shape.many"].format(shape=one)
