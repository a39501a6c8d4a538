"""What is said of a build: the verdict, its reasons, and their JSON (CONTRACT.md, ``referee judge``). Pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cards.build import Build, Piece

Ruling = Literal["match", "mismatch", "undecided"]


@dataclass(frozen=True)
class Reason:
    """One fault, or one cause why it cannot be told. ``pieces`` index the build's pieces.

    ``text`` says it in English; ``values`` fill the blanks of the sentence for ``code`` in any other language and are
    JSON-able: numbers (``n``, ``m``), pieces (``worded``), lists of colours, other reasons (their JSON).
    """

    code: str
    text: str
    pieces: tuple[int, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def to_json(self) -> dict[str, Any]:
        """The contract's form, code and text, with the values where there are any."""
        row: dict[str, Any] = {"code": self.code, "text": self.text}
        return row | ({"values": dict(self.values)} if self.values else {})


def worded(piece: Piece) -> dict[str, str]:
    """A piece as a reason's value: colour and shape, each to be said in the reader's language."""
    return {"color": piece.color, "shape": piece.shape}


@dataclass(frozen=True)
class Verdict:
    """What is ruled of one build, how surely, why, and the build as it was understood.

    ``confidence`` is the probability that the ruling is right (for ``undecided``: that of the
    likelier of match and mismatch, which ``leaning`` names). ``alternatives`` are other readings
    worth offering to a human, likeliest first. ``margin`` is by how many nats of evidence the ruling's
    best reading is ahead of the best one of the other ruling (an alternative's is negative: behind);
    None where nothing was weighed.
    """

    ruling: Ruling
    confidence: float
    reasons: tuple[Reason, ...] = ()
    build: Build | None = None
    leaning: Ruling | None = None
    alternatives: tuple[Verdict, ...] = field(default=())
    margin: float | None = None

    def to_json(self) -> dict[str, Any]:
        """The contract's form of one zone of ``referee judge --json``."""
        row: dict[str, Any] = {
            "verdict": self.ruling,
            "confidence": round(self.confidence, 4),
            "reasons": [r.to_json() for r in self.reasons],
        }
        if self.leaning:
            row["leaning"] = self.leaning
        if self.margin is not None:
            row["margin"] = round(self.margin, 1)
        if self.build is not None:
            row |= build_to_json(self.build)
        return row


def build_to_json(build: Build) -> dict[str, Any]:
    """Count, ground contacts and pieces as in the contract's ``judge --json``."""
    pieces = [
        {
            "shape": p.shape,
            "color": p.color,
            "rotation": p.pose.rotation,
            "facing": p.pose.facing,
            "x": round(p.x, 1),
            "y": round(p.y, 1),
            "z": round(p.z, 1),
            "yaw": round(p.yaw, 1),
            "touches_table": bool(t),
            "rests_on": list(r),
        }
        for p, t, r in zip(build.pieces, build.on_table, build.contacts, strict=True)
    ]
    return {"count": len(pieces), "ground_contacts": int(build.ground_contacts), "pieces": pieces}
