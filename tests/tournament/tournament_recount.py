"""An independent recount of a tournament: from the rows of the database, by none of the program's code."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict

import psycopg


def rows(url: str) -> tuple[dict[str, list[dict]], dict[str, str]]:
    """Match -> its raw lines in order, and match -> table, straight from the store."""
    connect = psycopg.connect if "://" in url else sqlite3.connect
    connection = connect(url)
    try:
        cursor = connection.cursor()
        cursor.execute("SELECT match_id, seq, line FROM events ORDER BY match_id, seq")
        lines = defaultdict(list)
        for match_id, seq, line in cursor.fetchall():
            row = json.loads(line)
            assert (row["match"], row["seq"]) == (match_id, seq) and seq == len(lines[match_id]) + 1
            lines[match_id].append(row["event"])
        cursor.execute("SELECT match_id, table_name FROM matches")
        return dict(lines), dict(cursor.fetchall())
    finally:
        connection.close()


def match_score(events: list[dict]) -> tuple[list[str], Counter, Counter, str | None]:
    """Players, card points and duels won of each, and who won, by the awards alone."""
    players = events[0]["data"]["players"]
    cards, won, value = Counter(), Counter(), 0
    for event in events:
        if event["kind"] == "card_drawn":
            value = event["data"]["value"]
        if event["kind"] == "duel_decided" and event["data"]["award"]:
            assert event["data"]["award"] in players, "an award to somebody of another table"
            cards[event["data"]["award"]] += value
            won[event["data"]["award"]] += 1
    best = [p for p in players if cards[p] == max(cards[q] for q in players)]
    assert events[-1]["kind"] == "match_finished" and len(best) == 1
    return players, cards, won, best[0]


def misplaced(url: str) -> list[str]:
    """What stands where it does not belong."""
    lines, tables = rows(url)
    (cup,) = [m for m, table in tables.items() if table == "tournament"]
    called, began, wrong = {}, {}, []
    for event in lines[cup]:
        data = event["data"]
        if event["kind"] == "game_called":
            called[data["game"]] = data["table"]
        elif event["kind"] == "game_began":
            if data["match_id"] in began:
                wrong.append(f"match {data['match_id']} began twice")
            began[data["match_id"]] = called[data["game"]]
    for match_id, events in lines.items():
        if match_id == cup:
            continue
        if began.get(match_id) != tables[match_id]:
            wrong.append(f"match {match_id} of table {tables[match_id]} was called to {began.get(match_id)}")
        if match_id.rpartition("-")[0].rpartition("-")[0].rpartition("-")[0] != tables[match_id]:
            wrong.append(f"match {match_id} stands at table {tables[match_id]}")
        players = set(events[0]["data"]["players"])
        for event in events:
            award = event["data"].get("award")
            if award is not None and award not in players:
                wrong.append(f"match {match_id}: {award} does not play there")
        if sum(e["kind"] == "match_created" for e in events) != 1:
            wrong.append(f"match {match_id} was created more than once")
    return wrong


def swiss_table(url: str) -> dict[str, tuple[int, int, int, int]]:
    """Name -> match points, Buchholz, card points, duels won, of a Swiss."""
    lines, tables = rows(url)
    (cup,) = [m for m, table in tables.items() if table == "tournament"]
    names, games, match_of = [], {}, {}
    for event in lines[cup]:
        data = event["data"]
        if event["kind"] == "tournament_created":
            names = [row["name"] for row in data["entrants"]]
        elif event["kind"] == "round_paired":
            games |= {g["number"]: [names[p] for p in g["players"]] for g in data["games"]}
        elif event["kind"] == "game_began":
            match_of[data["game"]] = data["match_id"]
    points, cards, won, met, alone = Counter(), Counter(), Counter(), defaultdict(list), Counter()
    for number, players in games.items():
        if len(players) == 1:
            points[players[0]] += 2
            alone[players[0]] += 1
            continue
        seated, made, duels, winner = match_score(lines[match_of[number]])
        assert sorted(seated) == sorted(players)
        points[winner] += 2
        cards.update(made)
        won.update(duels)
        for player in players:
            met[player] += [other for other in players if other != player]
    buchholz = {n: sum(points[o] for o in met[n]) + alone[n] * points[n] for n in names}
    return {n: (points[n], buchholz[n], cards[n], won[n]) for n in names}
