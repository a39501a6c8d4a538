"""What the console makes of a match: what an undo takes back, and the keys that settle a contested build. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

Match = Mapping[str, Any]

REASONS = ("picture", "seen", "agreed", "touched", "camera")
"""What people most often say for a ruling, as chips: texts ``chipwhy.<name>``."""

DIGITS = "3456789"


def undone(match: Match, t: Callable[..., str]) -> str:
    """What the next undo takes back, in words; empty where there is nothing."""
    if not match.get("undo"):
        return ""
    award = match["award"]["player"]
    named = t(f"undo.{match['undo']}")
    gives_card = match["undo"] in ("verdict", "ruling", "duel_decided", "duel_overruled")
    return f"{named}, {t('undo.to', name=award)}" if award and gives_card else named


def readings(match: Match) -> list[dict[str, Any]]:
    """The other readings of contested builds, the likeliest first, each with a key of its own: zone, ruling, reason."""
    found = []
    for zone in match["duel"]["callers"]:
        row = match["duel"]["verdicts"].get(zone, {})
        for index, other in enumerate(row.get("alternatives") or ()):
            if other.get("verdict") in ("match", "mismatch"):
                reasons = other.get("reasons") or [None]
                found.append({"zone": zone, "index": index, "ruling": other["verdict"], "reason": reasons[0]})
    return [row | {"key": key} for key, row in zip(DIGITS, found, strict=False)]


def quick(match: Match) -> list[dict[str, Any]]:
    """The five keys: what each rules, of an open duel or an ended one; empty where no ruling is possible."""
    if "HumanRuling" in match["allowed"]:
        command, fixed = "HumanRuling", {}
    elif "Overrule" in match["allowed"] and match["phase"] in ("decided", "void", "finished"):
        command, fixed = "Overrule", {"number": match["history"][-1]["number"]}
    else:
        return []
    one = len(match["duel"]["callers"]) == 1
    rulings = [("match", "q"), ("mismatch", "w")] if one else []
    rulings += [("void", "e"), ("award_A", "a"), ("award_B", "b")]
    return [{"command": command, "key": key, "body": {"ruling": ruling, **fixed}} for ruling, key in rulings]
