"""What a look at the table gives a page: the proposal in words, its command as a form's fields, pictures as data."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import cv2

from cards.sentences import say
from referee.games.core import GameCommand
from referee.session.game_camera import TableReading
from referee.web.i18n.games import said


def shown_look(look: TableReading, lang: str, players: Sequence[str]) -> dict[str, Any]:
    """For the template: ``message``, ``moves`` that may be confirmed (fields, and in words), ``refusal``, ``unknown``,
    ``pictures``."""
    proposal = look.proposal
    moves = [*([proposal.command] if proposal.command and not proposal.refusal else []), *proposal.others]
    return {
        "message": say(lang, proposal.message),
        "moves": [(_fields(move), said(lang, move.to_json(), players)) for move in moves],
        "refusal": say(lang, proposal.refusal),
        "unknown": [f"{city}/{site}" for city, site in proposal.unknown],
        "count": look.pictures,
        "pictures": {city: _data_url(image) for city, image in look.overlays.items()},
    }


def _fields(move: GameCommand) -> dict[str, str]:
    """The command as a form sends it."""
    row = {name: value for name, value in move.to_json().items() if value is not False}
    return {name: " ".join(map(str, v)) if isinstance(v, list | tuple) else str(v) for name, v in row.items()}


def _data_url(image: Any) -> str:
    """A picture (h, w, 3) BGR as a JPEG in an address of its own."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()
