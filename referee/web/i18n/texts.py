"""One catalogue of what the pages say: ``texts/<lang>.json`` and ``texts/<part>.<lang>.json``.

Faults and reasons are sentences of their own (``cards.sentences``); the names of colours and shapes come from there.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache, partial
from importlib.resources import files
from typing import Any

from cards.sentences import LANGUAGES, WRITTEN, fill, localized_number, say, table, word
from referee.match.duel import stop_time

__all__ = ["LANGUAGES", "WRITTEN", "catalogue", "moment", "number", "tools", "translate"]

NAMES = ("color.", "shape.", "piece", "game.card.")
"""How the keys of the words for pieces and cards begin."""


@cache
def catalogue(language: str) -> dict[str, str]:
    """All texts of one of ``LANGUAGES`` by key. Raises ValueError on a key given twice."""
    found = {key: text for key, text in table(language).items() if key.startswith(NAMES)}
    for path in sorted(files("referee.web.i18n").joinpath("texts").iterdir(), key=lambda p: p.name):
        if path.name == f"{language}.json" or path.name.endswith(f".{language}.json"):
            rows = json.loads(path.read_text(encoding="utf-8"))
            if again := found.keys() & rows.keys():
                raise ValueError(f"{path.name} gives {sorted(again)} a second time")
            found |= rows
    return found


def translate(language: str, key: str, /, **values: object) -> str:
    """The text of ``key``, ``{name}`` filled in. A key in no catalogue comes back as it is."""
    text = catalogue(language).get(key) or catalogue(WRITTEN).get(key) or key
    return fill(text, values, language) if values else text


def moment(language: str, at: str, key: str = "moment") -> str:
    """When that was here, as the language writes it; with ``key`` "date" the day. What is no time stays as it is."""
    try:
        return datetime.fromisoformat(at).astimezone().strftime(translate(language, key))
    except ValueError:
        return at


@cache
def _offered() -> dict[str, str]:
    """Key of each reason and foul that the console offers, by its words in every language."""
    offered = ((text, key) for lang in LANGUAGES for key, text in catalogue(lang).items())
    return {text: key for text, key in offered if key.startswith(("chipwhy.", "foul."))}


def _say(language: str, message: Any) -> str:
    """As ``say``; a reason that the console offered is said in this language too, whoever picked it in another."""
    key = _offered().get(message) if isinstance(message, str) else None
    return translate(language, key) if key else say(language, message)


def number(language: str, value: float, digits: int | None = None) -> str:
    """A number as the language writes it, with so many decimals; without ``digits`` as many as it has."""
    return localized_number(language, str(value) if digits is None else f"{value:.{digits}f}")


def tools(language: str) -> dict[str, Any]:
    """What every template writes with: ``t`` a text, ``num`` a number, ``moment`` when something was, ``stop_time`` a
    Stop's time, ``say`` a verdict's reason or an alarm's text, all in ``lang``."""
    return {
        "t": partial(translate, language),
        "num": partial(number, language),
        "moment": partial(moment, language),
        "stop_time": lambda *time: localized_number(language, stop_time(*time)),
        "say": partial(_say, language),
        "lang": language,
    }


NAMED = ("seat", "victim")
"""Fields that hold a seat: the player's name is said."""


def command_sentence(lang: str, command: Mapping[str, Any], players: Sequence[str]) -> str:
    """The command as a sentence, the same on the terminal and on the pages."""
    values = {name: _filled(lang, name, value, players) for name, value in command.items() if name != "command"}
    return translate(lang, f"game.said.{command['command']}", **values)


def line_words(lang: str, line: Mapping[str, Any]) -> str:
    """What a line of a scoring counts."""
    key = f"game.page.kind.{line['of']}" if line["what"] == "kind" else f"game.line.{line['what']}"
    return translate(lang, key, of=line["of"] or "–")


def _filled(lang: str, name: str, value: Any, players: Sequence[str]) -> str:
    if name in NAMED:
        return players[int(value)]
    if isinstance(value, bool):
        return translate(lang, f"game.{name}.yes") if value else ""
    if isinstance(value, list | tuple):
        return " ".join(word(lang, "game.card", str(part)) for part in value) or "–"
    return word(lang, "game.card", str(value))
