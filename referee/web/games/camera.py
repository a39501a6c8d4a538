"""What a look at the table gives a page: the proposal in words, its command as a form's fields, pictures as data."""

from __future__ import annotations

import base64
from typing import Any

import cv2

from cards.sentences import say
from referee.session.game_camera import Look


def shown_look(look: Look, lang: str) -> dict[str, Any]:
    """For the template: ``said``, ``command`` (fields, None without one), ``refusal``, ``unknown``, ``pictures``."""
    proposal = look.proposal
    return {
        "said": say(lang, proposal.said),
        "command": proposal.command.to_json() if proposal.command else None,
        "refusal": say(lang, proposal.refusal),
        "unknown": [f"{city}/{site}" for city, site in proposal.unknown],
        "count": look.pictures,
        "pictures": {city: _data_url(image) for city, image in look.overlays.items()},
    }


def _data_url(image: Any) -> str:
    """A picture (h, w, 3) BGR as a JPEG in an address of its own."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    return "data:image/jpeg;base64," + base64.b64encode(data.tobytes()).decode()
