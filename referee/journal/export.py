"""A match or a tower game out of the record: JSON for programs, CSV for spreadsheets, HTML for people.

Everything is folded from the entries of the chain; the last hash is printed on it, so that a
sheet signed at the table is a witness of the record.

A game's row is a command that stands; what was undone or corrected is told with who and why. Commands are told in
words by ``said(command, players)``, lines of a scoring by ``line(line)``, which the caller gives.

While a game or a match is not over, an export tells what the board tells and no more: no events, since these hold seed,
deal and all that was chosen in secret, nor a hash, since a secret can be guessed and tried on it.
"""

import csv
import html
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment

from referee.games import match as games
from referee.games.match import Match
from referee.journal.chain import Entry
from referee.journal.journal import Journal
from referee.match.duel import Duel, stop_time
from referee.match.evolve import fold
from referee.match.state import CARD_SHOWN_PHASES, MatchState, public_match

Table = tuple[Sequence[str], Sequence[Sequence[object]]]
"""A head and rows."""


def csv_text(head: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """A head and rows; cells that a spreadsheet would take for a formula are quoted."""
    out = io.StringIO()
    formula = ("=", "+", "-", "@", "\t", "\r")
    inert = ([f"'{c}" if isinstance(c, str) and c.startswith(formula) else c for c in row] for row in (head, *rows))
    csv.writer(out, lineterminator="\n").writerows(inert)
    return out.getvalue()


def page(title: str, result: str, tables: Iterable[Table], last: str, **more: object) -> str:
    """One HTML page: its ``title``, the ``result``, the tables, and the ``last`` words.

    ``more``: the ``heading`` where it is not the title; whether it was ``simulated``; the ``names`` of who are to sign
    it: then it is a sheet to print.
    """
    template = Environment(finalize=lambda value: html.escape(str(value))).from_string(
        files("referee.journal").joinpath("page.html").read_text(encoding="utf-8")
    )
    return template.render(title=title, result=result, tables=list(tables), last=last, **more) + "\n"


def json_text(shown: Mapping[str, Any], entries: Sequence[Entry], over: bool) -> str:
    """What is ``shown`` of the state, the events and the chain's head, of what is not over without events and hash."""
    events = [{"seq": e.seq, "hash": e.hash, **e.event.to_json()} for e in entries]
    whole = {"match": shown, "head": {"seq": entries[-1].seq, "hash": entries[-1].hash}, "events": events}
    if not over:
        whole |= {"head": {"seq": entries[-1].seq}, "events": []}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def seed_line(shown: Mapping[str, Any]) -> str:
    """The seed once all is over, its hash from the beginning; nothing where none was recorded."""
    seed = f"Seed {shown['seed']}. " if shown["seed"] else ""
    return seed + (f"SHA-256 of the seed {shown['seed_hash']}. " if shown["seed_hash"] else "")


def match_listing(journal: Journal) -> list[str]:
    """One line per match of the record."""
    lines = []
    for match_id in journal.matches():
        if is_game(entries := journal.entries(match_id)):
            match = games.fold(e.event for e in entries)
            mark = "  SIMULATED" if match.simulated else ""
            lines.append(f"{match.match_id}  {match.state.phase:<10}  {', '.join(match.state.players)}{mark}")
            continue
        if entries[0].event.kind != "match_created":  # a tournament: `referee tournament` tells of it
            continue
        state = fold(e.event for e in entries)
        mark = "  SIMULATED" if state.simulated else ""
        names = ", ".join(state.players)
        lines.append(f"{match_id}  {state.created_at[:16]}  {state.phase:<10}  {names}{mark}")
    return lines or ["no match is recorded"]


_CELLS: dict[str, Callable[[Duel], Any]] = {
    "number": lambda d: d.number,
    "round": lambda d: d.round_index + 1,
    "duel": lambda d: d.duel_index + 1,
    "attempt": lambda d: d.attempt,
    "zone_a": lambda d: d.seats["A"],
    "zone_b": lambda d: d.seats["B"],
    "card": lambda d: d.card_id or "",
    "value": lambda d: d.value,
    "caller": lambda d: " and ".join(d.seats[zone] for zone in d.callers),
    "verdict_a": lambda d: d.verdicts["A"].ruling if "A" in d.verdicts else "",
    "verdict_b": lambda d: d.verdicts["B"].ruling if "B" in d.verdicts else "",
    "ruled_by": lambda d: d.decided_by,
    "reason": lambda d: d.reason,
    "award": lambda d: d.award or "",
    "points": lambda d: d.points,
    "annulled": lambda d: d.annulled,
    "by_hand": lambda d: "yes" if d.by_hand else "",
    "seconds": lambda d: stop_time(min(stop.elapsed_s for stop in d.stops)) if d.stops else "",
    "stop_by": lambda d: " and ".join(stop.by for stop in d.stops if stop.by),
}
COLUMNS = tuple(_CELLS)


def duel_row(duel: Duel) -> dict[str, Any]:
    """One attempt at a duel as a row with ``COLUMNS``."""
    return {column: cell(duel) for column, cell in _CELLS.items()}


def to_json(state: MatchState, entries: Sequence[Entry]) -> str:
    """State, every event with its hash, and the chain's head; before the end what ``json_text`` leaves of them."""
    over = bool(state.finished)
    return json_text(state.to_json() if over else public_match(state.to_json()), entries, over)


def csv_of(duels: Sequence[Duel]) -> str:
    """A head and a row per duel; ``seconds`` is the first counted Stop's time after the go."""
    return csv_text(COLUMNS, (duel_row(duel).values() for duel in duels))


def to_html(state: MatchState, entries: Sequence[Entry]) -> str:
    """One self-contained page: result, standings, every attempt, fouls, the chain's head."""
    standings = [(row.rank or "left", row.player, row.score, row.duels, row.by_hand) for row in state.standings]
    fouls = [(f.player, f.wording.text, f.duel, f.sanction or "open", f.who) for f in state.fouls]
    tables: list[Table] = [
        (("rank", "player", "points", "duels", "points by hand"), standings),
        (COLUMNS, [tuple(duel_row(d).values()) for d in state.history]),
    ]
    tables += [(("player", "foul", "duel", "sanction", "reported by"), fouls)] if fouls else []
    title, last = f"Match {state.match_id}", _witness(state, entries)
    return page(title, result_text(state), tables, last, simulated=state.simulated)


def result_text(state: MatchState) -> str:
    """The final result with the deciding duel, or how far the match is."""
    if not state.finished:
        return f"Not finished: round {state.round_index + 1} of {len(state.rounds)}, phase {state.phase}."
    if state.winner is None:
        return "First place is shared by " + ", ".join(state.finished["shared"]) + "."
    extra = " (an extra duel)" if state.finished["extra"] else ""
    number = state.finished["deciding_duel"]
    decided = f"; duel {number}{extra} decided it" if number else ""
    return f"{state.winner} wins with {state.scores[state.winner]} points{decided}."


def _witness(state: MatchState, entries: Sequence[Entry]) -> str:
    """The last lines of a sheet. No hash while a card is hidden: who has the one before could try all cards on it."""
    head = f"Begun {state.created_at}, deck {state.deck_name}, mode {state.mode}. {seed_line(state.to_json())}"
    hidden = state.card_id and state.phase not in CARD_SHOWN_PHASES
    return f"{head}{len(entries)} events" + ("" if hidden else f", last hash {entries[-1].hash}")


SHEET_COLUMNS = ("#", "Zone A", "Zone B", "Card", "Value", "Stop by", "Card to", "Ruled by")


def to_sheet(state: MatchState, entries: Sequence[Entry]) -> str:
    """The printable A4 score sheet, an HTML page: duels played, blank rows, lines to sign."""
    tables: list[Table] = [(SHEET_COLUMNS, [*_played(state), *_to_play(state)])]
    names = [*(f"{row.player}: {row.score} points" for row in state.standings), "Referee"]
    heading, more = f"Score sheet, match {state.match_id}", {"names": names, "simulated": state.simulated}
    last = _witness(state, entries)
    return page(f"Score sheet {state.match_id}", result_text(state), tables, last, heading=heading, **more)


def _played(state: MatchState) -> list[tuple[Any, ...]]:
    """Every attempt that has ended."""
    rows = []
    for d in state.history:
        stop = " and ".join(d.seats[z] for z in d.callers)
        to = "counts no longer" if d.annulled else d.award or "void"
        by = f"{d.decided_by}, by hand" if d.by_hand else d.decided_by
        rows.append((d.number, d.seats["A"], d.seats["B"], d.card_id or "", d.value, stop, to, by))
    return rows


def _to_play(state: MatchState) -> list[tuple[Any, ...]]:
    """Blank rows to fill in by hand."""
    if state.finished:
        return []
    start = (state.round_index, state.duel_index + (state.duel.phase == "decided"))
    return [
        ("", r.a, r.b, "", "", "", "", "")
        for n, r in enumerate(state.rounds)
        for i in range(r.duels)
        if (n, i) >= start
    ]


FORMATS: dict[str, Callable[[MatchState, Sequence[Entry]], str]] = {
    "json": to_json,
    "csv": lambda state, entries: csv_of(state.history),
    "html": to_html,
    "sheet": to_sheet,
}


Said = Callable[[Mapping[str, Any], Sequence[str]], str]
Line = Callable[[Mapping[str, Any]], str]
GAME_BEGUN = "game_begun"


def is_game(entries: Sequence[Entry]) -> bool:
    """Whether these are the entries of a tower game."""
    return entries[0].event.kind == GAME_BEGUN


def export_game(form: str, entries: Sequence[Entry], said: Said, line: Line) -> str:
    """The game as json, csv, html or sheet."""
    match = games.fold(e.event for e in entries)
    if form == "json":
        return json_text(match.view(None), entries, match.over)
    if form == "csv":
        return csv_text(*_commands(match, said)) + "\n" + csv_text(*_scoring_table(match, line))
    last = f", last hash {entries[-1].hash}" if match.over else ""
    witness = f"{match.game.name}, {match.setup.mode}. {seed_line(match.view(None))}{len(entries)} events{last}"
    return _page(match, form == "sheet", witness, _tables(match, said, line))


def _commands(match: Match, said: Said) -> Table:
    """Every command that stands, with the points after it by seat."""
    after = [*(played.before for played in match.played), match.state][1:]
    return ("number", "move", "entered_by", *match.state.players), [
        (row["number"], said(row["command"], match.state.players), row["who"], *match.game.scores(state))
        for row, state in zip(match.view(None)["log"], after, strict=True)
    ]


def _result(match: Match) -> str:
    best = " and ".join(row.player for row in match.standings if row.wins)
    return f"{best} won." if match.over else f"Not finished: {len(match.played)} moves, phase {match.state.phase}."


def _scoring_table(match: Match, line: Line) -> Table:
    """Every row of every scoring."""
    owners = (*match.state.players, "passive owner")
    rows = [
        (s["scoring"], line(of), owners[r["owner"]], r["count"], r["rank"], r["shared"], r["points"])
        for s in match.view(None)["scored"]
        for of in s["lines"]
        for r in of["rows"]
    ]
    return ("scoring", "of", "owner", "how_many", "rank", "shared_by", "points"), rows


def _tables(match: Match, said: Said, line: Line) -> list[Table]:
    """Every scoring, every command that stands, and every undo and correction: what it was, who said so and why."""
    changes = [
        (c["kind"], c["number"], said(c["was"], match.state.players), c["who"], c["why"])
        for c in match.view(None)["changes"]
    ]
    head = ("change", "number", "it was", "who", "why")
    return [_scoring_table(match, line), _commands(match, said), *([(head, changes)] if changes else [])]


def _page(match: Match, sheet: bool, last: str, tables: Sequence[Table]) -> str:
    """The page of the game, or the sheet to sign."""
    if sheet:
        names = [*(f"{row.player}: {row.score} points" for row in match.standings), "Referee"]
        more = {"heading": f"Score sheet, {match.match_id}", "names": names}
        return page(f"Score sheet {match.match_id}", _result(match), tables, last, simulated=match.simulated, **more)
    standings = [(r.rank, r.player, r.score) for r in match.standings]
    tables = [(("rank", "player", "points"), standings), *tables]
    return page(f"Game {match.match_id}", _result(match), tables, last, simulated=match.simulated)
