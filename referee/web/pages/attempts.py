"""``/attempts``: recorded duels to look at again, frame by frame, with why they were decided as they were."""

import io
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

import flask
from markupsafe import escape

from cards.errors import RefereeError
from cards.sentences import localized_number, piece_name, say, word
from referee.errors import IllegalCommand
from referee.fields import displayable
from referee.match.cause import cause_of
from referee.match.commands import Overrule, Ruling
from referee.match.duel import OTHER_ZONE, stop_time
from referee.match.state import MatchState
from referee.recording import Attempt
from referee.recording.folder import META, TIMES, VIDEO, pack
from referee.recording.index import FILTERS, ArchiveFilter
from referee.recording.retention import read_removals
from referee.recording.writer import SILENCE_S
from referee.review.timeline import pace
from referee.review.verify import changed_files
from referee.session.ports import Reviewing
from referee.web import views
from referee.web.i18n.texts import translate
from referee.web.pages.attempt_archive import Archive, match_words
from referee.web.security import is_referee
from referee.web.streaming.media import SVG_HEADERS, named_svg
from referee.web.views import HumanDecision, decision

RULINGS: tuple[Ruling, ...] = ("match", "mismatch", "void")
MOST_TEXT = 400
NO_PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 270"><text x="240" y="143" text-anchor="middle" '
    'font-family="sans-serif" font-size="24" fill="#6b6357">{}</text></svg>'
)


def human_decision(attempt: Attempt, state: MatchState) -> HumanDecision | None:
    """A human's last word on the attempt; None where the camera's stands.

    The match that is on says it best: names mended, rulings of today. Of any other match the record beside the video
    is asked.
    """
    if state.match_id and state.match_id == attempt.meta.get("match_id"):
        for duel in state.history:
            if duel.number == attempt.meta.get("duel"):
                return decision(duel.to_json())
    return decision(_recorded(attempt))


def _recorded(attempt: Attempt) -> dict[str, Any]:
    """The duel as the folder tells it, the latest line beside it taken in."""
    meta = attempt.meta
    human = [dict(row) for row in meta.get("human") or ()]
    duel: dict[str, Any] = {
        "phase": "decided" if meta.get("award") else "void",
        "award": meta.get("award"),
        "points": meta.get("value") or 0,
        "decided_by": meta.get("decided_by", ""),
        "cause": cause_of(meta.get("reason") or "", meta.get("said")).to_json(),
        "human": human,
        "verdicts": attempt.verdicts,
        "callers": meta.get("callers") or [attempt.caller],
        "seats": attempt.players,
    }
    rulings = [row for row in attempt.reviews() if row.get("kind") == "ruling"]
    if rulings:
        award = _award(attempt, rulings[-1])
        duel |= {"decided_by": "human", "award": award, "phase": "decided" if award else "void"}
        duel["human"] = [*human, rulings[-1]]
    return duel


def _award(attempt: Attempt, row: dict[str, Any]) -> str | None:
    ruling, zone = row.get("ruling", ""), row.get("zone") or attempt.caller
    if ruling.startswith("award_"):
        return attempt.players.get(ruling[-1])
    if ruling == "void" or zone not in OTHER_ZONE:
        return None
    return attempt.players.get(zone if ruling == "match" else OTHER_ZONE[zone])


def story_of(attempt: Attempt, timeline: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """What the page's script needs: frame times of each film, marks in video time, the time line as far as it is known.

    A Stop's ``elapsed`` is its official time after the go, as it is shown; video time is good to a frame."""
    presses = [p for p in attempt.meta.get("presses") or () if p.get("callers") and p.get("elapsed_s")]
    official = {p["zone"]: localized_number(lang, stop_time(p["elapsed_s"])) for p in presses}
    marks = [
        {"name": m["name"], "seconds": m["seconds"], "zone": m.get("zone"), "why": m.get("why")}
        | ({"elapsed": official[m["zone"]]} if m["name"] == "stop" and m.get("zone") in official else {})
        for m in attempt.meta.get("marks", ())
    ]
    for name, seconds, zone in (("go", attempt.go_s, None), ("stop", attempt.stop_s, attempt.caller)):
        if seconds is not None and all(m["name"] != name for m in marks):
            marks.append({"name": name, "seconds": seconds, "zone": zone})
    second = attempt.seen_by(2)
    shown = attempt.seconds if (attempt.folder / TIMES).exists() else []
    beside = second.seconds if second.film.exists() else []
    last_s = shown[-1] if shown else 0.0
    if beside and beside[-1] > last_s + SILENCE_S:  # the first camera was lost: the second alone shows the rest
        shown = [*shown, *(s for s in beside if s > last_s)]
    judged = [s for row in attempt.meta.get("judged", ()) for s in row["seconds"][:1]]
    marks += [{"name": "judged", "seconds": s, "zone": None} for s in judged]
    return {
        "seconds": shown,
        "second": beside,
        "go": attempt.go_s,
        "marks": sorted(marks, key=lambda m: m["seconds"]),
        "timeline": _named(attempt, timeline, lang),
    }


def _named(attempt: Attempt, timeline: Mapping[str, Any], lang: str) -> dict[str, Any]:
    """The time line with each piece's ``name`` in the visitor's language and its colour as ``#rrggbb``."""

    def piece(row: Mapping[str, Any]) -> dict[str, Any]:
        name = piece_name(lang, row) if row["shape"] else word(lang, "color", row["color"])
        return {**row, "name": name, "paint": attempt.piece_set.colors[row["color"]]}

    zones = {
        zone: {**row, "placed": [piece(p) for p in row["placed"]]} for zone, row in timeline.get("zones", {}).items()
    }
    return {**timeline, "zones": zones}


def _verdicts(attempt: Attempt, lang: str) -> list[dict[str, Any]]:
    """Per zone who sat there, the ruling, its margin, and why, in the visitor's language."""
    return [
        {
            "zone": zone,
            "player": attempt.players.get(zone, zone),
            "called": zone == attempt.caller,
            "ruling": row["verdict"],
            "leaning": row.get("leaning"),
            "confidence": row.get("confidence", 0.0),
            "reasons": [say(lang, r) for r in row.get("reasons", ())],
            "notes": [say(lang, note) for note in row.get("notes", ())],
            "findings": (attempt.meta.get("findings") or {}).get(zone, ()),
        }
        for zone, row in sorted(attempt.verdicts.items())
    ]


def _text(name: str) -> str:
    text = displayable(flask.request.form.get(name, ""), MOST_TEXT + 1)
    if not text or len(text) > MOST_TEXT:
        flask.abort(400, f"{name}: say something, in at most {MOST_TEXT} letters")
    return text


def _overrule(session: Reviewing, attempt: Attempt, ruling: Ruling, who: str, why: str) -> str:
    """Have the running match follow the ruling when the duel is one of its own; gives a text's key."""
    state = session.state
    number = attempt.meta.get("duel")
    if not number or not state.match_id or state.match_id != attempt.meta.get("match_id"):
        return "attempts.noted"
    try:
        session.command(Overrule(ruling, who, why, number), who)
    except IllegalCommand:
        return "attempts.noted"
    return "attempts.overruled"


def blueprint(session: Reviewing, archive: Archive | None = None) -> flask.Blueprint:
    """The pages; every one is for the referee. ``archive``: another than the session's own."""
    pages = flask.Blueprint("attempts", __name__, url_prefix="/attempts")
    archive = archive or Archive((session.data_dir / "attempts").resolve())
    began = session.clock.utc()

    def named(view: Callable, whole: bool = True) -> Callable:
        """Hand the view the attempt of the URL's name, with all its files or what lists need of it, or 404."""

        @wraps(view)
        def found(name: str, **more: Any) -> Any:
            attempt = archive.attempt(name, whole)
            if attempt is None:
                flask.abort(404, "no such attempt")
            try:
                return view(name, attempt, **more)
            except RefereeError as error:
                flask.abort(404, str(error))

        return found

    def asked(**words: str) -> ArchiveFilter:
        """What is to be shown, beside what the running match knows of it."""
        state = session.state
        ruled = [duel.number for duel in state.history if duel.human]
        return ArchiveFilter(**words, match=state.match_id or "", ruled=ruled, began_s=began.timestamp())

    _grid(pages, archive, asked)
    _one(pages, session, archive, named, asked)
    _media(pages, archive, named)
    _changes(pages, session, archive, named)
    return pages


def _grid(pages: flask.Blueprint, archive: Archive, asked: Callable[..., ArchiveFilter]) -> None:
    @pages.get("")
    def grid() -> str:
        words = {k: flask.request.args.get(k, "") for k in ("player", "card", "verdict", "show")}
        page = archive.page(asked(**words), flask.request.args.get("page", 1, int))
        options = {
            "player": archive.index.players(),
            "card": archive.index.cards(),
            "verdict": ["match", "mismatch", "undecided"],
            "show": list(FILTERS),
        }
        matches = {m: match_words(played, flask.g.lang) for m, played in page.matches.items()}
        gone = read_removals(archive.root)
        return flask.render_template(
            "attempts_grid.html",
            page=page,
            options=options,
            wanted=words,
            matches=matches,
            removed=[row for row in gone if not row.get("who")],
            requested=[row for row in gone if row.get("who")],
            say=partial(say, flask.g.lang),
        )

    @pages.get("/pace/<match_id>")
    def by_player(match_id: str) -> str:
        mine = archive.of_match(match_id)
        if not mine:
            flask.abort(404, "no attempt of such a match")
        words = match_words(archive.index.match(match_id), flask.g.lang)
        stories = [(archive.attempt(one), archive.story(one)) for one in mine]
        ready = [(a.players, a.go_s, a.stop_s, story) for a, story in stories if a and "zones" in story]
        waiting = sum("pending" in story for _, story in stories)
        return flask.render_template(
            "attempts_pace.html", match=words, table=pace(ready), waiting=waiting, count=len(mine)
        )


def _one(
    pages: flask.Blueprint, session: Reviewing, archive: Archive, named: Callable, asked: Callable[..., ArchiveFilter]
) -> None:
    @pages.get("/<name>")
    @named
    def one(name: str, attempt: Attempt) -> str:
        path = archive.get(name)
        row = path and archive.row(path, asked())
        if not path or not row:
            flask.abort(404, "no such attempt")
        before, after = archive.index.neighbours(path)
        return flask.render_template(
            "attempts_one.html",
            attempt=attempt,
            name=row.address,
            row=row,
            say=partial(say, flask.g.lang),
            decision=human_decision(attempt, session.state),
            verdicts=_verdicts(attempt, flask.g.lang),
            face=views.card(attempt.card) if attempt.meta["card"] else None,
            problems=changed_files(attempt),
            reviews=attempt.reviews(),
            before=before,
            after=after,
            has_video=(attempt.folder / VIDEO).exists(),
            second=attempt.meta.get("second") if attempt.seen_by(2).film.exists() else None,
            rulings=RULINGS,
            may_rule=is_referee(),
        )

    @pages.get("/<name>/story.json")
    @named
    def story(name: str, attempt: Attempt) -> flask.Response:
        return flask.jsonify(story_of(attempt, archive.story(name), flask.g.lang))


def _media(pages: flask.Blueprint, archive: Archive, named: Callable) -> None:
    light = partial(named, whole=False)

    @pages.get('/<name>/<any("video.mp4", "video_2.mp4"):film>')
    @named
    def video(name: str, attempt: Attempt, film: str) -> flask.Response:
        if not (attempt.folder / film).exists():
            flask.abort(404, "this attempt has no such video")
        return flask.send_file(attempt.folder / film, mimetype="video/mp4", conditional=True)

    @pages.get("/<name>/picture.jpg")
    @light
    def picture(name: str, attempt: Attempt) -> flask.Response:
        data = archive.thumb(name, (attempt.folder / META).stat().st_mtime_ns)
        if data is None:  # a browser shows a picture that comes with a 404, and a torn one for anything else
            drawn = NO_PICTURE.format(escape(translate(flask.g.lang, "attempts.no_picture")))
            return flask.Response(drawn, 404, mimetype="image/svg+xml", headers=SVG_HEADERS)
        return flask.Response(data, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=60"})

    @pages.get("/<name>/card.svg")
    @light
    def card(name: str, attempt: Attempt) -> flask.Response:
        drawn = named_svg(attempt.card, attempt.piece_set, flask.g.lang)
        return flask.Response(drawn, mimetype="image/svg+xml", headers=SVG_HEADERS)

    @pages.get("/<name>/overlay/<int:index>.jpg")
    @named
    def overlay(name: str, attempt: Attempt, index: int) -> flask.Response:
        data = archive.overlay(name, index, flask.g.lang)
        return flask.Response(data, mimetype="image/jpeg", headers={"Cache-Control": "private, max-age=3600"})

    @pages.get("/<name>/bundle.zip")
    @named
    def bundle(name: str, attempt: Attempt) -> flask.Response:
        packed = io.BytesIO()
        pack(attempt, packed)
        packed.seek(0)
        return flask.send_file(
            packed, mimetype="application/zip", as_attachment=True, download_name=f"{attempt.name}.zip"
        )


def _changes(pages: flask.Blueprint, session: Reviewing, archive: Archive, named: Callable) -> None:
    def note(attempt: Attempt, row: Mapping[str, Any]) -> None:
        archive.note(attempt, {"at": session.clock.utc().isoformat(timespec="seconds"), **row})

    light = partial(named, whole=False)

    @pages.post("/<name>/reviewed")
    @light
    def reviewed(name: str, attempt: Attempt) -> Any:
        note(attempt, {"kind": "reviewed", "who": _text("who")})
        flask.flash("attempts.noted")
        return flask.redirect(flask.url_for("attempts.one", name=name), 303)

    @pages.post("/<name>/ruling")
    @light
    def ruling(name: str, attempt: Attempt) -> Any:
        who, why = _text("who"), _text("why")
        what = next((r for r in RULINGS if r == flask.request.form.get("ruling")), None)
        zone = flask.request.form.get("zone", attempt.caller or "")
        if what is None or zone not in {*attempt.verdicts, *attempt.players, attempt.caller}:
            flask.abort(400, "a ruling is match, mismatch or void, of a zone of this attempt")
        done = _overrule(session, attempt, what, who, why) if zone == attempt.caller else "attempts.noted"
        if done == "attempts.noted":  # what the match follows is noted with its event
            note(attempt, {"kind": "ruling", "zone": zone, "ruling": what, "who": who, "why": why})
        flask.flash(done)
        return flask.redirect(flask.url_for("attempts.one", name=name), 303)
