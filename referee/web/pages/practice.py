"""``/practice``: one or two players alone with the camera. Everybody may look; who may run the table may begin."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import flask

from referee.fields import displayable
from referee.match.practice import MAX_REPEATED_VIEWS, Practice, PracticeResult, best_by_level, best_results
from referee.session.practising import PracticeRunner
from referee.session.session import Session
from referee.web import views
from referee.web.board_views import Say
from referee.web.security import public
from referee.web.streaming.fragments import LivePage

PHASES = {"counting": "ready", "building": "building"}
"""What the board's script calls these phases: it counts down in the first and shows live pictures in the second."""

BY = ("camera", "box")


@dataclass(frozen=True)
class PracticeRow:
    """One player at his card. ``state``: building, looking (pressed or given up, not judged yet), untold (the camera
    cannot tell what stands there) or ended. ``best`` is his fastest time for this card before, by the same means as
    the present one; ``record`` that the present one beats it, or is the first."""

    zone: str
    player: str
    state: str
    result: PracticeResult | None
    best: PracticeResult | None
    record: bool


def rows(practice: Practice, results: Iterable[PracticeResult]) -> list[PracticeRow]:
    """A row for each player."""
    known, ended = list(results), practice.last
    fresh = list(ended.values())
    earlier = best_results(r for r in known if not any(r is new for new in fresh))
    return [_row(practice, zone, ended.get(zone), earlier) for zone in practice.players]


def _row(
    practice: Practice, zone: str, result: PracticeResult | None, earlier: Mapping[tuple[str, str, str], PracticeResult]
) -> PracticeRow:
    field, by = practice.fields[zone], result.by if result and result.by else "camera"
    best = earlier.get((field.player, practice.card[0], by))
    beats = result is not None and result.seconds is not None and (not best or result.seconds < (best.seconds or 0.0))
    untold = field.view is not None and field.view.ruling == "undecided" and field.view.times >= MAX_REPEATED_VIEWS
    state = "ended" if field.ended else "looking" if field.ending else "untold" if untold else "building"
    return PracticeRow(zone, field.player, state, result, best, beats)


@dataclass(frozen=True)
class Best:
    """A line of the table of bests: a card or a difficulty, and the fastest time by each means."""

    player: str
    what: str
    value: int
    times: Mapping[str, PracticeResult]


def _table(
    found: Mapping[Any, PracticeResult], players: list[str], named: Callable[[PracticeResult], tuple[str, int]]
) -> list[Best]:
    """The players' bests, in order."""
    lines: dict[tuple[str, str, int], dict[str, PracticeResult]] = {}
    for best in found.values():
        if best.player in players:
            lines.setdefault((best.player, *named(best)), {})[best.by] = best
    rows = [Best(*key, times) for key, times in lines.items()]
    return sorted(rows, key=lambda row: (row.value, row.what, row.player))


def announcement(practice: Practice, t: Say, shift_s: float = 0.0) -> dict[str, Any]:
    """What is heard when this state comes in, in the form of ``board_views.announcement``, and the go that is counted
    down to."""
    ended = practice.last
    key = ".".join([practice.session_id, str(practice.turn), practice.phase, *sorted(ended)])
    heard = {"key": key, "phase": PHASES.get(practice.phase, practice.phase), "sound": "", "say": "", "go_at": None}
    if practice.phase == "counting" and practice.go_at_s is not None:
        return heard | {"go_at": practice.go_at_s + shift_s}
    if practice.phase in ("building", "shown") and ended:
        last = practice.results[-1]
        sound = {"match": "right", "mismatch": "wrong"}.get(last.ruling, "ask")
        words = t("practice.say", name=last.player, seconds=f"{last.seconds:.1f}") if last.seconds is not None else ""
        return heard | {"sound": sound, "say": words}
    return heard | {"sound": "go" if practice.phase == "building" else ""}


ZONES = ("A", "B")
LONGEST_NAME = 40


def _values(session: Session, t: Say) -> dict[str, Any]:
    room = session.practice
    if room is None or not room.now.on:
        quiet = {"key": "", "phase": "new", "sound": "", "say": "", "go_at": None}
        return {"practice": None, "announcement": quiet, "levels": [], "cards": [], "mark": session.simulated}
    now, results = room.now, room.results
    face = session.deck.by_id.get(now.card[0])
    names = list(now.players.values())
    go_s = now.go_at_s + session.shift_s if now.go_at_s is not None else None
    return {
        "practice": now,
        "rows": rows(now, results),
        "announcement": announcement(now, t, session.shift_s),
        "go_s": go_s,
        "faults": dict(room.faults),
        "card": views.card(face) if face and now.phase in ("building", "shown") else None,
        "pictures": [zone for zone in now.players if room.picture(zone)],
        "levels": _table(best_by_level(results), names, lambda r: (str(r.value), r.value)),
        "cards": _table(best_results(results), names, lambda r: (r.card_id, r.value)),
        "by": BY,
        "mark": session.simulated,
    }


PAGE = LivePage("practice", ("players", "stage", "bests", "evening"), _values)


def require_practice(session: Session) -> PracticeRunner:
    """Practice at this table. 404 where it has none."""
    if session.practice is None:
        flask.abort(404, "there is no practice at this table")
    return session.practice


def blueprint(session: Session) -> flask.Blueprint:
    """The page, its pictures, and what the players ask for."""
    pages = flask.Blueprint("practice", __name__, url_prefix="/practice")

    @pages.get("")
    @public
    def page() -> str:
        room = require_practice(session)
        live = PAGE.for_visitor(session)
        last = room.now if room.now.players else room.left
        values = {"levels": sorted({card.value for card in session.deck.cards}), "last": last, "zones": ZONES}
        return flask.render_template("practice.html", parts=live, on=room.now.on, **values)

    @pages.post("/begin")
    def begin() -> flask.typing.ResponseReturnValue:
        form, room = flask.request.form, require_practice(session)
        names = {zone: displayable(form.get(zone, ""), LONGEST_NAME) for zone in ZONES}
        level = form.get("level", "")
        room.end()
        room.begin({z: n for z, n in names.items() if n}, int(level) if level.isdecimal() else None)
        return flask.redirect("/practice", 303)

    @pages.post("/<any(next, end):what>")
    def run(what: str) -> flask.typing.ResponseReturnValue:
        room = require_practice(session)
        (room.next_card if what == "next" else room.end)()
        return flask.jsonify(ok=True)

    @pages.post("/give-up/<any(A, B):zone>")
    def give_up(zone: str) -> flask.typing.ResponseReturnValue:
        require_practice(session).give_up(zone)
        return flask.jsonify(ok=True)

    @pages.get("/build/<any(A, B):zone>.jpg")
    @public
    def build(zone: str) -> flask.Response:
        jpeg = require_practice(session).picture(zone)
        if jpeg is None:
            flask.abort(404, "there is no such picture")
        return flask.Response(jpeg, mimetype="image/jpeg", headers={"Cache-Control": "no-store"})

    return pages
