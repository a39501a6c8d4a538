"""What happens in a game, in words: one line for each command, the same on the terminal and on the pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from cards.sentences import word
from referee.web.i18n.texts import translate

NAMED = ("seat", "victim")
"""Fields that hold a seat: the player's name is said."""


def command_sentence(lang: str, command: Mapping[str, Any], players: Sequence[str]) -> str:
    """The command as a sentence."""
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
