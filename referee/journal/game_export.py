"""A tower game out of the record, in the formats of ``referee.journal.export``.

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

from referee.games.match import Match, fold
from referee.journal.chain import Entry

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


Said = Callable[[Mapping[str, Any], Sequence[str]], str]
Line = Callable[[Mapping[str, Any]], str]
GAME_BEGUN = "game_begun"


def is_game(entries: Sequence[Entry]) -> bool:
    """Whether these are the entries of a tower game."""
    return entries[0].event.kind == GAME_BEGUN


def game_line(entries: Sequence[Entry]) -> str:
    """One line for a listing."""
    match = fold(e.event for e in entries)
    mark = "  SIMULATED" if match.simulated else ""
    return f"{match.match_id}  {match.state.phase:<10}  {', '.join(match.state.players)}{mark}"


def export_game(form: str, entries: Sequence[Entry], said: Said, line: Line) -> str:
    """The game as json, csv, html or sheet."""
    match = fold(e.event for e in entries)
    if form == "json":
        return json_text(match.view(None), entries, match.over)
    if form == "csv":
        return csv_text(*_commands(match, said)) + "\n" + csv_text(*_scoring_table(match, line))
    return _page(match, form == "sheet", _witness(match, entries), _tables(match, said, line))


def _commands(match: Match, said: Said) -> Table:
    """Every command that stands, with the points after it by seat."""
    after = [*(played.before for played in match.played), match.state][1:]
    return ("number", "move", "entered_by", *match.state.players), [
        (row["number"], said(row["command"], match.state.players), row["who"], *match.game.scores(state))
        for row, state in zip(match.view(None)["log"], after, strict=True)
    ]


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


def _result(match: Match) -> str:
    best = " and ".join(row.player for row in match.standings if row.wins)
    return f"{best} won." if match.over else f"Not finished: {len(match.played)} moves, phase {match.state.phase}."


def _witness(match: Match, entries: Sequence[Entry]) -> str:
    last = f", last hash {entries[-1].hash}" if match.over else ""
    return f"{match.game.name}, {match.setup.mode}. {seed_line(match.view(None))}{len(entries)} events{last}"


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
