"""A foul as it stands in the record: whose, what, what the camera saw of it, and what a human made of it. Pure."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from cards.law import Reason
from cards.sentences import Sentence, sentence
from referee.match.verdict import parse_wording, reason_from_json

KINDS: Mapping[str, str] = {
    "bare_hand": "seen_bare_hand",
    "second_hand": "seen_second_hand",
    "neighbours_hand": "seen_neighbours_hand",
    "strangers_hand": "seen_strangers_hand",
    "came_together": "seen_came_together",
    "shaken": "seen_shaken",
    "brought_after_stop": "seen_brought_after_stop",
}
"""What a camera may propose, and the sentence that says it."""


ANYBODYS = ("shaken", "neighbours_hand", "strangers_hand")
"""What not only the player of that field may have done."""


def foul_sentence(kind: str, zone: str) -> Sentence:
    """What the camera says of a foul of that kind in that field. Raises KeyError for a kind that is none."""
    return sentence(KINDS[kind], zone=zone)


@dataclass(frozen=True)
class FoulProposal:
    """What the camera saw: in which field, whose hand (None where that is not known), how long after the go, how
    surely (0..1), and when in the frames' time."""

    kind: str
    zone: str
    after_go_s: float
    sure: float
    culprit: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class FoulNoted:
    """``wording`` is what it was; ``sanction`` None until somebody has ruled, ``seq`` the event that noted it."""

    player: str
    wording: Reason
    sanction: str | None
    who: str
    at: str
    duel: int
    seq: int
    seen: FoulProposal | None = None
    ruled_by: str = ""
    why: str = ""

    @property
    def open(self) -> bool:
        """Whether it waits for a human."""
        return self.sanction is None

    @property
    def anybodys(self) -> bool:
        """Whether the camera saw what was done, but not who did it: ``player`` is whose field it was."""
        return self.seen is not None and self.seen.kind in ANYBODYS and not self.seen.culprit

    def ruled(self, sanction: str, by: str, why: str) -> Self:
        """The same foul with what a human made of it."""
        return replace(self, sanction=sanction, ruled_by=by, why=why)

    def to_json(self) -> dict[str, Any]:
        """By field name, with the English ``text``; what is empty is left out."""
        row: dict[str, Any] = {name: getattr(self, name) for name in ("player", "sanction", "who", "at", "duel", "seq")}
        row |= {"text": self.wording.text, "said": self.wording.to_json()}
        row |= {"seen": asdict(self.seen)} if self.seen else {}
        return row | {name: given for name in ("ruled_by", "why") if (given := getattr(self, name))}


def foul_from_event(data: Mapping[str, Any], who: str, at: str, duel: int, seq: int) -> FoulNoted:
    """The foul that an event of kind ``foul`` notes. One that an older version wrote has its text alone."""
    said = reason_from_json(data["said"]) if data.get("said") else parse_wording(data["text"])
    seen = data.get("seen")
    proposal = (
        FoulProposal(**{k: v for k, v in seen.items() if k in FoulProposal.__dataclass_fields__}) if seen else None
    )
    return FoulNoted(data["player"], said, data["sanction"], who, at, duel, seq, proposal)
