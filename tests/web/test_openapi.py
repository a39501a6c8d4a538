"""The description of the API is made from it: what other programs may rely on."""

from __future__ import annotations

import re

import pytest
import yaml
from fake_session import FakeSession

from referee.fields import PRINTABLE
from referee.match.commands import RULINGS
from referee.web.actions import ACTIONS
from referee.web.app import create_app
from referee.web.openapi import document

APP = create_app(FakeSession())
DOCUMENT = document(APP)

BODIES = """
CreateMatch players mode? seed? rules? leave_open?
TakeUpMatch match_id
Go
PressStop zone
RestTongs zone resting
CallTimeout
DrawCard card_id? again?
DrawByHand
NameCard card_id source? again?
Ready
HumanRuling ruling who? why zone?
Overrule ruling who? why number?
OpenReview who? why
CloseReview who?
Foul player text who? sanction?
FoulRuling index sanction who? why?
VoidDuel who? why reason?
NextDuel
Undo who?
PlayerLeaves player who? why
PlayerJoins player who?
PlayerLate player who?
RenamePlayer player name who?
ReplayRound round_index who? why
ReplayDuel number who? why
ChangeMode mode who?
GoUnsigned who?
RuleByHand on who?
WaiveFields who? why
"""
"""What programs written for the API send: a command, its fields, those with a ? may be left out."""


def _routes() -> set[tuple[str, str]]:
    """(method, path) of every route under /api, commands one by one."""
    found = set()
    for rule in APP.url_map.iter_rules():
        if not rule.rule.startswith("/api/"):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        paths = [f"/api/commands/{n}" for n in ACTIONS] if path == "/api/commands/{name}" else [path]
        found |= {(m.lower(), p) for m in rule.methods - {"HEAD", "OPTIONS"} for p in paths}
    return found


def test_every_route_is_described_and_every_description_has_a_route():
    described = {(method, path) for path, row in DOCUMENT["paths"].items() for method in row}
    assert described == _routes()


def test_every_command_takes_the_fields_that_programs_send():
    rows = {}
    for name in ACTIONS:
        body = DOCUMENT["components"]["schemas"][name]
        rows[name] = [field + "?" * (field not in body.get("required", ())) for field in body["properties"]]
    assert rows == {row.split()[0]: row.split()[1:] for row in BODIES.strip().splitlines()}


@pytest.mark.parametrize(
    ("name", "field", "limits"),
    [
        ("CreateMatch", "players", {"minItems": 2, "maxItems": 12}),
        ("CreateMatch", "rules", {"maxProperties": 40}),
        ("PressStop", "zone", {"enum": ["A", "B"]}),
        ("HumanRuling", "ruling", {"enum": list(RULINGS)}),
        ("Foul", "text", {"maxLength": 300, "pattern": PRINTABLE}),
        ("FoulRuling", "index", {"minimum": 0, "maximum": 10**6}),
        ("Undo", "who", {"default": "", "maxLength": 300, "pattern": PRINTABLE}),
    ],
)
def test_the_limits_of_a_field_are_described(name, field, limits):
    assert limits.items() <= DOCUMENT["components"]["schemas"][name]["properties"][field].items()


@pytest.mark.parametrize(
    ("method", "path", "statuses", "closed"),
    [
        ("get", "/api/session", "200", False),
        ("post", "/api/session", "200 400 401 403 413 415 422 429", False),
        ("delete", "/api/session", "200 403", False),
        ("get", "/api/snapshot", "200 401", True),
        ("get", "/api/cards/{card_id}", "200 404", False),
        ("get", "/api/events", "200 503", False),
        ("post", "/api/commands/Undo", "200 400 401 403 409 413 415 422", True),
    ],
)
def test_an_operation_says_who_may_call_it_and_why_it_may_refuse(method, path, statuses, closed):
    row = DOCUMENT["paths"][path][method]
    assert list(row["responses"]) == statuses.split()
    assert ("security" in row) == closed
    assert row["summary"] and not row["summary"].endswith(".")


def test_the_stream_of_public_events_is_described():
    row = DOCUMENT["paths"]["/api/events"]["get"]
    assert [(p["name"], p["in"]) for p in row["parameters"]] == [("Last-Event-ID", "header")]
    schema = row["responses"]["200"]["content"]["text/event-stream"]["schema"]
    assert schema == {"$ref": "#/components/schemas/EventAnswer"}
    assert "verdict" in DOCUMENT["components"]["schemas"]["EventAnswer"]["properties"]["kind"]["enum"]


def test_the_description_is_served(app):
    answer = app.test_client().get("/api/openapi.yaml")
    assert answer.status_code == 200 and answer.mimetype == "application/yaml"
    assert yaml.safe_load(answer.text) == DOCUMENT
