"""The two views of a Stop, and what they say together (RULES.md: from the Stop on nobody may act). Pure.

*At the press*: the field in the last frames before the press in which it is at rest, or the last ones there are.
*Settled*: the first view after it in which nothing has moved for ``SETTLED_S`` and nobody is in the way. ``after``
says what happened in the field in between. Live judging, imported videos and judging again all ask ``together``.

``LAW`` is the truth table; its rows are read from the top, and the first that fits holds. *still*: nothing moved and
no hand came; *nobody*: it moved and no hand was near; *own*, *neighbour*: it moved with that player's hand there;
*somebody*: with a hand that cannot be told to be the caller's. A view at the press that is covered by a hand is
undecided, unless what is left to be seen of it is right all the same. An undecided row says why in ``Together.why``,
and never gives the card to whom the hand may have belonged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from referee.match.verdict import Reason, Ruling

SETTLED_S = 0.4
"""A view has settled when nothing in the field has moved for so long: what topples moves sooner."""

SETTLED_FRAMES = 3
"""How many frames of a settled view are judged together."""

LAW = """
at press    after        settled     -> ruling      finding
*           still        match       -> match       -
*           still        mismatch    -> mismatch    -
*           *            undecided   -> undecided   -
match       *            match       -> match       -
mismatch    nobody       match       -> mismatch    touched_after_stop
mismatch    own          match       -> mismatch    touched_after_stop
mismatch    neighbour    match       -> mismatch    touched_after_stop
mismatch    somebody     match       -> mismatch    touched_after_stop
mismatch    *            mismatch    -> mismatch    -
match       nobody       mismatch    -> mismatch    fell_after_stop
match       own          mismatch    -> mismatch    touched_after_stop
match       neighbour    mismatch    -> undecided   bumped
match       somebody     mismatch    -> undecided   bumped
undecided   *            match       -> undecided   -
undecided   nobody       mismatch    -> mismatch    fell_after_stop
undecided   own          mismatch    -> mismatch    -
undecided   neighbour    mismatch    -> undecided   bumped
undecided   somebody     mismatch    -> undecided   bumped
"""
"""Row by row; ``*`` is whatever it is, ``-`` none. The first row that fits holds."""

Row = Mapping[str, Any]
"""The contract's object of one zone."""

After = Literal["still", "nobody", "own", "neighbour", "somebody"]

WHY = {"bumped": "bumped", "match": "press_hidden"}
"""Code of the reason of an undecided row, by its finding or, without one, by the settled view."""


OF_TWO = ("touched_after_stop", "fell_after_stop", "bumped")
"""The findings that two views lead to."""


@dataclass(frozen=True)
class Together:
    """What both views say: the ruling, what was seen around the Stop (``house_rules.FINDINGS``, empty: nothing),
    the view whose build counts, and the reason's code where it is undecided because of the two."""

    ruling: Ruling
    finding: str = ""
    counts: Literal["press", "settled"] = "settled"
    why: str = ""


def together(press: Ruling, after: After, settled: Ruling) -> Together:
    """The first row of the table that fits."""
    for row in table():
        if all(said in ("*", seen) for said, seen in zip(row[:3], (press, after, settled), strict=True)):
            return _outcome(row)
    raise ValueError(f"no row for {press}, {after}, {settled}")


@cache
def table() -> tuple[tuple[str, str, str, str, str], ...]:
    """The law's rows: at press, after, settled, ruling, finding (``-`` for none)."""
    _, *lines = LAW.strip().splitlines()
    rows = (line.replace("->", " ").split() for line in lines)
    return tuple((press, after, settled, ruling, finding) for press, after, settled, ruling, finding in rows)


def _outcome(row: tuple[str, str, str, str, str]) -> Together:
    press, _, settled, ruling, finding = row
    finding = "" if finding == "-" else finding
    at_press = ruling != settled and press != "undecided"
    why = WHY.get(finding or settled, "") if ruling == "undecided" else ""
    return Together(cast(Ruling, ruling), finding, "press" if at_press else "settled", why)


def covered(row: Row) -> Row:
    """The row of a view at the press with a hand in it: what is wrong there may only be hidden."""
    return {**row, "verdict": "undecided", "leaning": "mismatch"} if row["verdict"] == "mismatch" else row


def combined(press: Row, after: After, settled: Row, culprit: str = "") -> tuple[Row, str]:
    """The row that both views make together, and the finding (empty: none).

    It is the row of the view whose build counts; where it is open because of the two, its reason says so.
    ``culprit`` is the player whose hand came from the other side, empty where that is not known.
    """
    both = together(press["verdict"], after, settled["verdict"])
    row = press if both.counts == "press" else settled
    if both.why:
        leaning = "void" if both.why == "bumped" else "match"
        row = {**row, "verdict": "undecided", "leaning": leaning, "reasons": [_why(both.why, culprit).to_json()]}
    return row, both.finding


def _why(code: str, player: str) -> Reason:
    """The reason of a row that is open because of what came between the two views."""
    if code == "press_hidden":
        return Reason(code, "the field was touched after the Stop, and the build at the press cannot be seen")
    if not player:
        text = "the build stood right at the press and was knocked over after it; whose hand is not clear"
        return Reason("bumped_somebody", text)
    text = f"the build stood right at the press and was knocked over after it by {player}'s hand"
    return Reason(code, text, values={"player": player})
