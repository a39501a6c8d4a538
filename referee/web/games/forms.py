"""Commands as forms: the fields of each, what was filled in, and what a camera's reading proposes to confirm."""

from base64 import b64encode
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
    jpegs = {city: cv2.imencode(".jpg", p, [cv2.IMWRITE_JPEG_QUALITY, 80])[1] for city, p in look.overlays.items()}
    moves = [*([proposal.command] if proposal.command and not proposal.refusal else []), *proposal.others]
    return {
        "message": say(lang, proposal.message),
        "moves": [move.to_json() for move in moves],
        "refusal": say(lang, proposal.refusal),
        "unknown": [f"{city}/{site}" for city, site in proposal.unknown],
        "count": look.pictures,
        "pictures": {n: f"data:image/jpeg;base64,{b64encode(jpeg.tobytes()).decode()}" for n, jpeg in jpegs.items()},
    }
