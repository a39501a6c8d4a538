"""Commands as forms: which fields a command has, and what was filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from cards.sentences import sentence
from referee.errors import IllegalCommand
from referee.games.core import Game, GameCommand


def form_of(kind: type[GameCommand]) -> list[dict[str, str]]:
    """The command's fields but the seat: ``name`` and ``kind``: number, yes, words or word."""
    kinds = {"int": "number", "bool": "yes", "str": "word"}
    return [{"name": f.name, "kind": kinds.get(str(f.type), "words")} for f in fields(kind) if f.name != "seat"]


def read_form(game: Game[Any], form: Mapping[str, str]) -> GameCommand:
    """The command that was filled in. Raises IllegalCommand for one that cannot be read."""
    kind = next((c for c in game.commands if form.get("command") == c.NAME), None)
    if kind is None:
        raise IllegalCommand(sentence("game.choose"))
    row: dict[str, Any] = {"command": kind.NAME, "seat": form.get("seat", "")}
    for field in form_of(kind):
        text = form.get(field["name"], "").strip()
        row[field["name"]] = {"words": text.replace(",", " ").split(), "yes": bool(text)}.get(field["kind"], text)
    return game.command(row)
