"""What the board makes of a match beyond the duel itself: this round's score, who is next, the podium, what is said.

Pure: a match's JSON (``MatchState.to_json()``) in, values out. Times are seconds from the go, the box's where it told.
"""

from collections.abc import Callable, Mapping
from typing import Any

from referee.web.views import HumanDecision, by_key, decision, press_s

Match = Mapping[str, Any]
Say = Callable[..., str]

SOUNDS = {"building": "go", "stopped": "stop", "undecided": "ask", "void": "ask", "finished": "win"}
"""What is heard as a phase begins."""

PODIUM, BEST, STREAK = 3, 3, 3
CLOSE_S = 1.0
"""Two Stops further apart than this are no close ones."""


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


def moments(match: Match) -> list[dict[str, Any]]:
    """What is told of an award beside its points, two things at most: a text's name and its values."""
    duel = match["duel"]
    won = [row for row in match["history"] if row["award"] and not row["annulled"]]
    if match["phase"] != "decided" or match["under_review"] or not won or won[-1]["number"] != duel["number"]:
        return []
    name, scores = duel["award"], {row["player"]: row["score"] for row in match["standings"]}
    ahead = max(score for player, score in scores.items() if player != name)
    own = [row["award"] == name for row in reversed(won) if name in row["seats"].values()]
    in_a_row = (*own, False).index(False)
    fastest = [row["number"] for row in best_times(match, None) if row["award"] == name]
    close = closest_stop(match)
    told = {
        "leads": ahead > 0 and scores[name] - duel["points"] <= ahead < scores[name],
        "best": len(fastest) > 1 and fastest[0] == duel["number"],
        "closest": close is not None and close["number"] == duel["number"],
        "streak": in_a_row >= STREAK,
    }
    values = {"name": name, "n": in_a_row, "seconds": close["seconds"] if close else 0.0}
    return [{"what": what, **values} for what, so in told.items() if so][:2]


def closest_stop(match: Match) -> dict[str, Any] | None:
    """The two players' Stops that were the least time apart, under ``CLOSE_S``, in a duel that somebody won."""
    found = []
    for duel in match["history"]:
        presses = [press for press in reversed(duel["presses"]) if press.get("why") != "too_early"]
        times = {duel["seats"][press["zone"]]: press["elapsed_s"] for press in presses}
        if duel["award"] and not duel["annulled"] and len(times) > 1:
            first, second = sorted(times, key=lambda name: times[name])
            apart = times[second] - times[first]
            found.append({"first": first, "second": second, "seconds": apart, "number": duel["number"]})
    return min((row for row in found if row["seconds"] < CLOSE_S), key=lambda row: row["seconds"], default=None)


def podium(match: Match) -> list[Match]:
    """The table's first three ranks; those who share one all stand on it."""
    return [row for row in match["standings"] if row["rank"] is not None and row["rank"] <= PODIUM][:6]


def best_times(match: Match, most: int | None = BEST) -> list[dict[str, Any]]:
    """The duels that a right Stop won, the fastest first, of those shown alike the earlier first; so many at most."""
    won = [row for row in ended_duels(match) if row["right"] and row["seconds"] and not row["annulled"]]
    return sorted(won, key=lambda row: (round(row["seconds"], 2), row["number"]))[:most]


def pace(match: Match) -> dict[str, dict[str, Any]]:
    """While they build: player -> the right Stop to beat, the fastest so far for a card of this value, the player's own
    before anybody's. Time, not pieces: what a camera sees of a build in the making also counts what lies loose."""
    fastest = [row for row in best_times(match, None) if row["value"] == match["duel"]["value"]]
    players = match["seats"].values() if match["phase"] == "building" and fastest else ()
    return {name: next((row for row in fastest if row["award"] == name), fastest[0]) for name in players}


def ended_duels(match: Match) -> list[dict[str, Any]]:
    """Every duel that ended, in order; ``seconds`` is the first counted Stop's time after the go."""
    found = []
    for duel in match["history"]:
        times = [s for zone in duel["callers"] if (s := press_s(duel, zone))]
        human, seats = decision(duel), duel["seats"]
        row = {name: duel[name] for name in ("number", "value", "points", "decided_by", "annulled", "by_hand")}
        row |= {"duel": f"{duel['round_index'] + 1}.{duel['duel_index'] + 1}", "seconds": min(times, default=None)}
        row |= {"mat_a": seats.get("A", ""), "mat_b": seats.get("B", ""), "reason": human.why if human else ""}
        row |= {"card": duel["card_id"] or "", "award": duel["award"] or "", "by_key": by_key(duel)}
        found.append(row | {"right": row["award"] in (seats[zone] for zone in duel["callers"])})
    return found


def announcement(match: Match, decision: HumanDecision | None, t: Say) -> dict[str, str]:
    """What is heard when this state comes in: ``key`` is another whenever something new is to be heard, ``sound`` a
    file's name or '', ``say`` the words for a voice. After a correction only what it changed is said."""
    duel, phase = match["duel"], match["phase"]
    key = ".".join(str(v) for v in (match["match_id"], duel["number"], phase, duel["award"], duel["decided_by"]))
    sound, words = ("", "") if match["under_review"] else _heard(match, decision, t)
    return {"key": key, "phase": phase, "sound": sound, "say": words}


def _heard(match: Match, decision: HumanDecision | None, t: Say) -> tuple[str, str]:
    """A sound's name, and the words for a voice; '' for none."""
    duel, phase, seats = match["duel"], match["phase"], match["seats"]
    callers = [duel["seats"][zone] for zone in duel["callers"]]
    if phase != "decided":
        words = {
            "idle": lambda: t("say.next", a=seats.get("A", ""), b=seats.get("B", "")),
            "stopped": lambda: t("say.stop", name=" & ".join(callers)) if callers else "",
            "void": lambda: t("say.void"),
            "finished": lambda: t("board.winner", name=match["winner"]) if match["winner"] else "",
        }
        return SOUNDS.get(phase, ""), words[phase]() if phase in words else ""
    to = t("say.card_to", name=duel["award"], points=plural_text(t, "points", duel["points"]))
    if decision or len(callers) != 1:
        return "ask", f"{t('decision.title')}: {to}" if decision else to
    right = duel["award"] == callers[0]
    return "right" if right else "wrong", f"{t('ruling.match' if right else 'ruling.mismatch')}. {to}"


def plural_text(t: Say, what: str, n: int) -> str:
    """So many of a thing in words: the catalogue has one form for one and one for any other number."""
    return t(f"count.{what}.one" if n == 1 else f"count.{what}", n=n)
