"""Why a duel ended or was left open, as a value: a code, what the camera found besides, what somebody said. Pure.

The record keeps it as one text (``false_stop: hand_at_stop``, ``foul: …``, a human's own words), with what a device
said beside it as a reason of its own; it is read from there once.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cards.law import Reason
from referee.match.house_rules import FINDINGS
from referee.match.verdict import parse_wording, reason_from_json

CODES = (
    "right",
    "false_stop",
    "dead_heat_right",
    "both_right",
    "both_wrong",
    "cannot_tell",
    "open_finding",
    "taken_back",
    "human",
    "bumped",
    "device",
    "player_left",
    "timeout",
    "overruled",
    "foul",
)
CODE_SEPARATOR = ": "
"""What stands in the record's text between the code and the rest."""


@dataclass(frozen=True)
class Cause:
    """``text`` is the record's. ``code`` is one of ``CODES``, or empty where a human ended it in words of his own;
    ``finding`` the one that made the Stop a false one; ``wording`` the foul, or those words."""

    text: str = ""
    code: str = ""
    finding: str = ""
    wording: Reason | None = None

    def to_json(self) -> dict[str, Any]:
        """By field name; ``said`` is the wording as a reason."""
        said = self.wording.to_json() if self.wording else None
        return {"text": self.text, "code": self.code, "finding": self.finding, "said": said}


def cause_of(text: str, said: Mapping[str, Any] | None = None, why: str = "") -> Cause:
    """The cause in a record: its text, what a device said (a reason's JSON), and what a human added."""
    code, _, rest = text.partition(CODE_SEPARATOR)
    told = reason_from_json(said) if said else None
    if code == "foul":
        return Cause(text, code, wording=told or parse_wording(rest or why))
    if code in CODES and (not rest or rest in FINDINGS):
        return Cause(text, code, rest, told)
    return Cause(text, wording=parse_wording(text) if text else None)


OPEN_CAUSE = Cause()
"""Of a duel that has not ended."""
