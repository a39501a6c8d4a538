"""Commands as forms: the fields of each, what was filled in, and what a camera's reading proposes to confirm."""

import base64
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import cv2

from cards.sentences import say, sentence
from referee.errors import IllegalCommand
from referee.games.core import Game, GameCommand
from referee.session.game_camera import TableReading


def form_of(kind: type[GameCommand]) -> list[dict[str, str]]:
    """The command's fields but the seat: ``name`` and ``kind``: number, yes, words or word."""
    kinds: dict[Any, str] = {int: "number", bool: "yes", str: "word"}
    return [{"name": f.name, "kind": kinds.get(f.type, "words")} for f in fields(kind) if f.name != "seat"]


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


def shown_look(look: TableReading, lang: str) -> dict[str, Any]:
    """For the template: ``message``, ``moves`` that may be confirmed, ``refusal``, ``unknown``, ``pictures``."""
    proposal = look.proposal
    moves = [*([proposal.command] if proposal.command and not proposal.refusal else []), *proposal.others]
    return {
        "message": say(lang, proposal.message),
        "moves": [move.to_json() for move in moves],
        "refusal": say(lang, proposal.refusal),
        "unknown": [f"{city}/{site}" for city, site in proposal.unknown],
        "count": look.pictures,
        "pictures": {city: _data_url(image) for city, image in look.overlays.items()},
    }


def _data_url(image: Any) -> str:
    """A picture (h, w, 3) BGR as a JPEG in an address of its own."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()
