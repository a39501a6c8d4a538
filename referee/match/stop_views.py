"""The two views of a Stop, and what they say together (RULES.md: from the Stop on nobody may act). Pure.

*At the press*: the field in the last frames before the press in which it is at rest, or the last ones there are.
*Settled*: the first view after it in which nothing has moved for ``SETTLED_S`` and nobody is in the way. ``after``
says what happened in the field in between. Live judging, imported videos and judging again all ask ``combine_rulings``.

``LAW`` is the truth table; its rows are read from the top, and the first that fits holds. *still*: nothing moved and
no hand came; *nobody*: it moved and no hand was near; *own*, *neighbour*: it moved with that player's hand there;
*somebody*: with a hand that cannot be told to be the caller's; *mat*: the mat itself moved, and no hand but the
caller's was near. A view at the press that is covered by a hand, or unclear, is what each pixel's time line says
(``verdict_at_press``): the pieces of a right build stood then, or one came after. Where no time line tells it is
undecided, unless what is left to be seen of it is right all the same. The view at the press is *unseen* where nobody
looked at the field just before the press, or for a while after it (``PRESS_UNSEEN``). Where the ruling is undecided,
``CombinedRuling.why`` says why, and it never gives the card to whom the hand may have belonged.
"""

from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

from cards.law import Reason, because
from referee.match.verdict import Ruling, ZoneVerdict, zone_verdict

SETTLED_S = 0.4
"""A view has settled when nothing in the field has moved for so long: what topples moves sooner."""

SETTLED_FRAMES = 3
"""How many frames of a settled view are judged together."""

LAW = """
at press    after        settled     -> ruling      finding
unseen      *            *           -> undecided   -
*           still        match       -> match       -
*           still        mismatch    -> mismatch    -
*           *            undecided   -> undecided   -
match       *            match       -> match       -
mismatch    nobody       match       -> mismatch    touched_after_stop
mismatch    own          match       -> mismatch    touched_after_stop
mismatch    neighbour    match       -> mismatch    touched_after_stop
mismatch    somebody     match       -> mismatch    touched_after_stop
mismatch    mat          match       -> mismatch    touched_after_stop
mismatch    *            mismatch    -> mismatch    -
match       nobody       mismatch    -> mismatch    fell_after_stop
match       own          mismatch    -> mismatch    touched_after_stop
match       neighbour    mismatch    -> undecided   bumped
match       somebody     mismatch    -> undecided   bumped
match       mat          mismatch    -> undecided   bumped
undecided   *            match       -> undecided   -
undecided   nobody       mismatch    -> mismatch    fell_after_stop
undecided   own          mismatch    -> mismatch    -
undecided   neighbour    mismatch    -> undecided   bumped
undecided   somebody     mismatch    -> undecided   bumped
undecided   mat          mismatch    -> undecided   bumped
"""
"""Row by row; ``*`` is whatever it is, ``-`` none. The first row that fits holds."""

UNSEEN = zone_verdict({"verdict": "undecided", "confidence": 0.5, "reasons": []})
"""What is said of a view that nobody has."""

PRESS_UNSEEN = UNSEEN.undecided("", because("press_unseen"))
"""What is said of the view at the press where nobody saw the field then, or for a while after it."""

AtPress = Literal["match", "mismatch", "undecided", "unseen"]
"""What is known of the build at the press."""

After = Literal["still", "nobody", "own", "neighbour", "somebody", "mat"]

Placed = Literal["before", "after", "unknown"]
"""When the pieces of the settled view came to stand there: all before the press, some after it, or nobody knows."""

Hand = Literal["none", "own", "unclear"]
"""Whose hand was at work in the field at the press, if any was."""

OF_TWO = ("touched_after_stop", "fell_after_stop", "bumped")
"""The findings that two views lead to."""


@dataclass(frozen=True)
class Views:
    """What was judged of one field: the ``settled`` verdict, the one at the ``press`` (None: not looked at), what came
    ``after`` the press, the ``culprit`` (the player whose hand came from elsewhere, empty where that is not known), and
    whose ``hand`` was at work in it at the press."""

    settled: ZoneVerdict
    press: ZoneVerdict | None
    after: After
    culprit: str = ""
    hand: Hand = "none"


@dataclass(frozen=True)
class CombinedRuling:
    """What both views say: the ruling, what was seen around the Stop (``house_rules.FINDINGS``, empty: nothing),
    the view whose build counts, and the reason's code where it is undecided because of the two."""

    ruling: Ruling
    finding: str = ""
    counts: Literal["press", "settled"] = "settled"
    why: str = ""


def combine_rulings(press: AtPress, after: After, settled: Ruling) -> CombinedRuling:
    """The first row of the table that fits."""
    for row in law_rows():
        if all(said in ("*", seen) for said, seen in zip(row[:3], (press, after, settled), strict=True)):
            return _outcome(row)
    raise ValueError(f"no row for {press}, {after}, {settled}")


@cache
def law_rows() -> tuple[tuple[str, str, str, str, str], ...]:
    """The law's rows: at press, after, settled, ruling, finding (``-`` for none)."""
    _, *lines = LAW.strip().splitlines()
    rows = (line.replace("->", " ").split() for line in lines)
    return tuple((press, after, settled, ruling, finding) for press, after, settled, ruling, finding in rows)


def _outcome(row: tuple[str, str, str, str, str]) -> CombinedRuling:
    press, after, settled, ruling, finding = row
    finding = "" if finding == "-" else finding
    at_press = ruling != settled and press in ("match", "mismatch")
    why = _why_open(press, after, settled, finding) if ruling == "undecided" else ""
    return CombinedRuling(cast(Ruling, ruling), finding, "press" if at_press else "settled", why)


def _why_open(press: str, after: str, settled: str, finding: str) -> str:
    """Code of the reason why the two views leave it open; empty where the settled view itself is open."""
    if press == "unseen":
        return "press_unseen"
    if finding == "bumped":
        return "mat_shaken" if after == "mat" else "bumped"
    return "press_hidden" if settled == "match" else ""


def verdict_at_press(said: ZoneVerdict, settled: ZoneVerdict, came: Placed, covered: bool) -> ZoneVerdict:
    """The verdict on a view at the press. Where a hand is in it (``covered``), or it is not clear, the time line of the
    pieces that stand right now tells; where that tells nothing, what is wrong there may only be hidden."""
    if not covered and said.ruling != "undecided":
        return said
    if settled.ruling != "match" or came == "unknown":
        return said.undecided("mismatch") if said.ruling == "mismatch" else said
    if came == "before":
        return settled
    return said if said.ruling == "mismatch" else said.wrong(because("came_after_stop"))


def combine_verdicts(
    press: ZoneVerdict, after: After, settled: ZoneVerdict, culprit: str = ""
) -> tuple[ZoneVerdict, str]:
    """The verdict that both views make together, and the finding (empty: none).

    It is that on the view whose build counts; where it is open because of the two, its reason says so.
    ``culprit`` is the player whose hand came from the other side, empty where that is not known.
    """
    seen = "unseen" if "press_unseen" in press.codes else press.ruling
    both = combine_rulings(seen, after, settled.ruling)
    said = press if both.counts == "press" else settled
    if both.why:
        leaning = "void" if both.finding == "bumped" else settled.ruling
        said = said.undecided("" if leaning == "undecided" else leaning, _why(both.why, culprit))
    return said, both.finding


def rule_stop(views: Views, hand_rule: str = "wrong") -> tuple[ZoneVerdict, tuple[str, ...]]:
    """The verdict and the findings that follow from what was seen around a Stop; ``hand_rule`` is the house rule
    ``hand_at_stop``. Live judging and imported videos both ask here."""
    said, finding = views.settled, ""
    if views.press is not None:
        said, finding = combine_verdicts(views.press, views.after, views.settled, views.culprit)
    elif said.ruling == "mismatch" and views.after == "nobody":
        finding = "fell_after_stop"
    findings = (finding,) if finding else ()
    if views.hand == "own" and not views.culprit:
        return said, ("hand_at_stop", *findings)
    if views.hand != "none" and said.ruling == "match" and hand_rule != "ignore":
        said = said.undecided("match", because("hand_at_stop"))  # it may be the neighbour's: a human says whose
    return said, findings


def _why(code: str, player: str) -> Reason:
    """The reason of a verdict that is open because of what came between the two views."""
    if code != "bumped":
        return because(code)
    return because(code, player=player) if player else because("bumped_somebody")
