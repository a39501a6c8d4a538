"""What the board makes of a match beyond the duel itself: this round's score, who is next, the podium, what is said.

Pure: a match's JSON (``MatchState.to_json()``) in, values out. Times are seconds from the go, the box's where it told.
"""

from collections.abc import Callable, Mapping
from typing import Any

from referee.web.views import HumanDecision, decision, press_s

Match = Mapping[str, Any]
Say = Callable[..., str]

SOUNDS = {"building": "go", "stopped": "stop", "undecided": "ask", "void": "ask", "finished": "win"}
"""What is heard as a phase begins."""

PODIUM, BEST, STREAK = 3, 3, 3


def round_scores(match: Match) -> dict[str, int]:
    """Player -> points won in the round that is played; a score under review stays as the public knows it."""
    won = dict.fromkeys(match["seats"].values(), 0)
    for duel in match["history"]:
        now = duel["number"] == match["duel"]["number"]
        counts = duel["round_index"] == match["round_index"] and not (now and match["under_review"])
        if counts and duel["award"] in won:
            won[duel["award"]] += duel["points"]
    return won


def up_next(match: Match) -> Match | None:
    """The round that the duel after this one belongs to, with its players ``a`` and ``b``; None after the last."""
    at, duels = match["round_index"], match["rounds"]
    if match["phase"] in ("new", "finished") or at >= len(duels):
        return None
    after = at if match["duel_index"] + 1 < duels[at]["duels"] else at + 1
    return duels[after] if after < len(duels) else None


def moment(match: Match, t: Say) -> str:
    """What is told of an award beside its points: who leads now, else how many in a row; '' where neither is so."""
    won = [duel for duel in match["history"] if duel["award"] and not duel["annulled"]]
    if match["phase"] != "decided" or match["under_review"] or not won:
        return ""
    name, scores = won[-1]["award"], {row["player"]: row["score"] for row in match["standings"]}
    ahead = max(score for player, score in scores.items() if player != name)
    if ahead > 0 and scores[name] - won[-1]["points"] <= ahead < scores[name]:
        return t("moment.leads", name=name)
    own = [duel["award"] == name for duel in reversed(won) if name in duel["seats"].values()]
    row = (*own, False).index(False)
    return t("moment.streak", name=name, n=row) if row >= STREAK else ""


def podium(match: Match) -> list[Match]:
    """The table's first three ranks; those who share one all stand on it."""
    return [row for row in match["standings"] if row["rank"] is not None and row["rank"] <= PODIUM][:6]


def best_times(match: Match) -> list[dict[str, Any]]:
    """The fastest right Stops of the match, the fastest first, with their duels' numbers."""
    found = []
    for duel in match["history"]:
        for zone in duel["callers"]:
            seconds = press_s(duel, zone)
            if seconds and duel["award"] == duel["seats"][zone] and not duel["annulled"]:
                row = {"player": duel["award"], "seconds": seconds, "card": duel["card_id"]}
                found.append(row | {"number": duel["number"]})
    return sorted(found, key=lambda row: row["seconds"])[:BEST]


def ended_duels(match: Match) -> list[dict[str, Any]]:
    """Every duel that ended, in order; ``seconds`` is the first counted Stop's time after the go."""
    found = []
    for duel in match["history"]:
        times = [s for zone in duel["callers"] if (s := press_s(duel, zone))]
        human = decision(duel)
        row = {name: duel[name] for name in ("number", "value", "points", "decided_by", "annulled")}
        row |= {"duel": f"{duel['round_index'] + 1}.{duel['duel_index'] + 1}", "seconds": min(times, default=None)}
        row |= {"mat_a": duel["seats"].get("A", ""), "mat_b": duel["seats"].get("B", "")}
        row |= {"card": duel["card_id"] or "", "award": duel["award"] or "", "reason": human.why if human else ""}
        found.append(row)
    return found


def announcement(match: Match, decision: HumanDecision | None, t: Say) -> dict[str, str]:
    """What is heard when this state comes in: ``key`` is another whenever something new is to be heard, ``sound`` a
    file's name or '', ``say`` the words for a voice. After a correction only what it changed is said."""
    duel, phase = match["duel"], match["phase"]
    key = ".".join(str(v) for v in (match["match_id"], duel["number"], phase, duel["award"], duel["decided_by"]))
    return {"key": key, "phase": phase, "sound": _sound(match, decision), "say": _words(match, decision, t)}


def _sound(match: Match, decision: HumanDecision | None) -> str:
    duel = match["duel"]
    if match["under_review"]:
        return ""
    if match["phase"] != "decided":
        return SOUNDS.get(match["phase"], "")
    if decision or len(duel["callers"]) != 1:
        return "ask"
    return "right" if duel["award"] == duel["seats"][duel["callers"][0]] else "wrong"


def _words(match: Match, decision: HumanDecision | None, t: Say) -> str:
    duel, phase = match["duel"], match["phase"]
    if match["under_review"]:
        return ""
    if phase == "idle":
        return t("say.next", a=match["seats"].get("A", ""), b=match["seats"].get("B", ""))
    if phase == "stopped" and duel["callers"]:
        return t("say.stop", name=" & ".join(duel["seats"][zone] for zone in duel["callers"]))
    if phase == "void":
        return t("say.void")
    if phase == "finished":
        return t("board.winner", name=match["winner"]) if match["winner"] else ""
    if phase != "decided":
        return ""
    to = t("say.card_to", name=duel["award"], points=plural_text(t, "points", duel["points"]))
    if decision:
        return f"{t('decision.title')}: {to}"
    if len(duel["callers"]) != 1:
        return to
    right = duel["award"] == duel["seats"][duel["callers"][0]]
    return f"{t('ruling.match' if right else 'ruling.mismatch')}. {to}"


def plural_text(t: Say, what: str, n: int) -> str:
    """So many of a thing in words: the catalogue has one form for one and one for any other number."""
    return t(f"count.{what}.one" if n == 1 else f"count.{what}", n=n)
