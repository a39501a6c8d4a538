"""A tower game out of the record, in the formats of ``referee.journal.export``.

A game's row is a command that stands; what was undone or corrected is told with who and why. Commands are told in
words by ``said(command, players)``, which the caller gives.

While a game is not over, an export tells what the board tells and no more: no events, since these hold the deal and all
that was chosen in secret, nor a hash, since a secret can be guessed and tried on it.
"""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from referee.games.match import Match, fold
from referee.journal.chain import Entry
from referee.journal.page import SHEET_STYLE, STYLE, csv_text, opening, page, signatures, table

Said = Callable[[Mapping[str, Any], Sequence[str]], str]
BEGUN = "game_begun"


def is_game(entries: Sequence[Entry]) -> bool:
    """Whether these are the entries of a tower game."""
    return entries[0].event.kind == BEGUN


def game_line(entries: Sequence[Entry]) -> str:
    """One line for a listing."""
    match = fold(e.event for e in entries)
    mark = "  SIMULATED" if match.simulated else ""
    return f"{match.match_id}  {match.state.phase:<10}  {', '.join(match.state.players)}{mark}"


def exported(form: str, entries: Sequence[Entry], said: Said) -> str:
    """The game as json, csv, html or sheet."""
    match = fold(e.event for e in entries)
    return {"json": _json, "csv": _csv, "html": _html, "sheet": _sheet}[form](match, entries, said)


def _columns(match: Match) -> tuple[str, ...]:
    return ("number", "move", "entered_by", *match.state.players)


def _rows(match: Match, said: Said) -> list[tuple[object, ...]]:
    """Every command that stands, with the points after it by seat."""
    after = [*(played.before for played in match.played), match.state][1:]
    return [
        (row["number"], said(row["command"], match.state.players), row["who"], *match.game.scores(state))
        for row, state in zip(match.view(None)["log"], after, strict=True)
    ]


def _json(match: Match, entries: Sequence[Entry], said: Said) -> str:
    events = [{"seq": e.seq, "hash": e.hash, **e.event.to_json()} for e in entries]
    head = {"seq": entries[-1].seq, "hash": entries[-1].hash}
    whole: dict[str, Any] = {"match": match.view(None), "head": head, "events": events}
    if not match.over:
        whole |= {"head": {"seq": entries[-1].seq}, "events": []}
    return json.dumps(whole, indent=1, ensure_ascii=False) + "\n"


def _csv(match: Match, entries: Sequence[Entry], said: Said) -> str:
    return csv_text(_columns(match), _rows(match, said))


def _result(match: Match) -> str:
    best = " and ".join(row.player for row in match.standings if row.wins)
    return f"{best} won." if match.over else f"Not finished: {len(match.played)} moves, phase {match.state.phase}."


def _witness(match: Match, entries: Sequence[Entry]) -> str:
    if not match.over:
        return html.escape(f"{match.game.name}, {match.setup.mode}. {len(entries)} events")
    last = f"{len(entries)} events, last hash {entries[-1].hash}"
    return html.escape(f"{match.game.name}, {match.setup.mode}, seed {match.setup.seed}. {last}")


def _changes(match: Match, said: Said) -> str:
    """Every undo and correction: what it was, who said so and why."""
    rows = [
        (c["kind"], c["number"], said(c["was"], match.state.players), c["who"], c["why"])
        for c in match.view(None)["changes"]
    ]
    return table(("change", "number", "it was", "who", "why"), rows) if rows else ""


def _html(match: Match, entries: Sequence[Entry], said: Said) -> str:
    parts = opening(f"Game {match.match_id}", match.simulated, _result(match))
    parts.append(table(("rank", "player", "points"), [(r.rank, r.player, r.score) for r in match.standings]))
    parts += [table(_columns(match), _rows(match, said)), _changes(match, said), f"<p>{_witness(match, entries)}</p>"]
    return page(f"Game {match.match_id}", STYLE, parts)


def _sheet(match: Match, entries: Sequence[Entry], said: Said) -> str:
    parts = opening(f"Score sheet, {match.match_id}", match.simulated, _result(match))
    parts += [table(_columns(match), _rows(match, said)), _changes(match, said)]
    names = [*(f"{row.player}: {row.score} points" for row in match.standings), "Referee"]
    parts += [signatures(names), f"<p><small>{_witness(match, entries)}</small></p>"]
    return page(f"Score sheet {match.match_id}", SHEET_STYLE, parts)
