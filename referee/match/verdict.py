"""What is said of a build: the verdict, its reasons, and their JSON (CONTRACT.md, ``referee judge``). Pure values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from cards.build import Build
from cards.law import Reason

Ruling = Literal["match", "mismatch", "undecided"]


def parse_wording(text: str) -> Reason:
    """Words that somebody wrote or a program said: a sentence keeps its code and values, other text is itself."""
    return Reason(getattr(text, "code", ""), str(text), (), getattr(text, "values", {}))


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
    alternatives: tuple["Verdict", ...] = field(default=())
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


@dataclass(frozen=True)
class ZoneVerdict:
    """What is said of one zone, as it is recorded and sent: ``row`` is the contract's object whole (the pieces as they
    were understood, and what another version writes), so that it is said again word for word; what the rules and the
    pages ask for is read from it once, by ``zone_verdict``.

    ``leaning`` is empty for none; ``count`` 0 and ``ground_contacts`` None where a record lacks them.
    """

    ruling: Ruling
    reasons: tuple[Reason, ...]
    leaning: str
    count: int
    ground_contacts: int | None
    row: Mapping[str, Any] = field(hash=False)

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the reasons."""
        return frozenset(r.code for r in self.reasons)

    @property
    def alternatives(self) -> tuple["ZoneVerdict", ...]:
        """The other readings that a human is offered, likeliest first."""
        return tuple(map(zone_verdict, self.row.get("alternatives") or ()))

    def undecided(self, leaning: str, because_of: Reason | None = None) -> "ZoneVerdict":
        """The same build, left open; with a reason in place of its own, where one is given."""
        changed: dict[str, Any] = {"verdict": "undecided"} | ({"leaning": leaning} if leaning else {})
        if because_of:
            changed["reasons"] = [because_of.to_json()]
        return zone_verdict({**self.row, **changed})

    def wrong(self, because_of: Reason) -> "ZoneVerdict":
        """The same build, wrong for that reason."""
        return zone_verdict({**self.row, "verdict": "mismatch", "reasons": [because_of.to_json()]})

    def to_json(self) -> dict[str, Any]:
        """The object it was read from."""
        return dict(self.row)


def zone_verdict(row: Mapping[str, Any]) -> ZoneVerdict:
    """The verdict in a recorded or sent object. A ruling that is none is kept: who is told it refuses it."""
    return ZoneVerdict(
        cast(Ruling, row.get("verdict", "")),
        tuple(reason_from_json(r) for r in row.get("reasons") or ()),
        row.get("leaning") or "",
        row.get("count") or 0,
        row.get("ground_contacts"),
        row,
    )


def reason_from_json(row: Mapping[str, Any]) -> Reason:
    """The inverse of ``Reason.to_json``; which pieces it is about is not recorded."""
    return Reason(row["code"], row.get("text", ""), (), row.get("values") or {})


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
