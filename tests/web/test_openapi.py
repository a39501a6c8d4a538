"""``openapi.yaml`` says what the API does: held against routes and commands, and attacked by schemathesis."""

from __future__ import annotations

import re

import pytest
import schemathesis
from conftest import PIN
from fake_session import FakeSession
from hypothesis import HealthCheck, settings
from schemathesis import checks

from referee.match.commands import DrawCard, Ready
from referee.web import create_app
from referee.web.actions import ACTIONS
from referee.web.api import openapi_document

DOCUMENT = openapi_document()


def _routes() -> set[tuple[str, str]]:
    """(method, path) of every route under /api, commands one by one."""
    found = set()
    for rule in create_app(FakeSession()).url_map.iter_rules():
        if not rule.rule.startswith("/api/"):
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        paths = [f"/api/commands/{n}" for n in ACTIONS] if path == "/api/commands/{name}" else [path]
        found |= {(m.lower(), p) for m in rule.methods - {"HEAD", "OPTIONS"} for p in paths}
    return found


def test_every_route_is_described_and_every_description_has_a_route():
    described = {(method, path) for path, row in DOCUMENT["paths"].items() for method in row}
    assert described == _routes()


@pytest.mark.parametrize("name", ACTIONS)
def test_the_body_of_each_command_is_described_as_it_is_checked(name):
    assert DOCUMENT["components"]["schemas"][name] == ACTIONS[name].model.model_json_schema()


def test_the_description_is_served(app):
    answer = app.test_client().get("/api/openapi.yaml")
    assert answer.status_code == 200 and answer.text.startswith("#")


class Doors:
    """The app as a logged-in referee calls it: his cookie always, his token in seven requests of eight."""

    def __init__(self, session: FakeSession) -> None:
        self.app = create_app(session, pin=PIN, host="0.0.0.0")
        client = self.app.test_client()
        first = client.get("/api/session").json["csrf"]
        body = {"pin": PIN, "name": "Eva"}
        answer = client.post("/api/session", json=body, headers={"X-CSRF-Token": first})
        self.count = 0
        name = self.app.config["SESSION_COOKIE_NAME"]
        self.token, self.cookie = answer.json["csrf"], f"{name}={client.get_cookie(name).value}"

    def __call__(self, environ, start_response):
        environ["HTTP_COOKIE"] = self.cookie
        self.count += 1
        if self.count % 8:
            environ["HTTP_X_CSRF_TOKEN"] = self.token
        return self.app(environ, start_response)


def _started() -> FakeSession:
    session = FakeSession()
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    session.command(DrawCard())
    session.command(Ready())
    return session


SCHEMA = schemathesis.openapi.from_wsgi("/api/openapi.yaml", Doors(_started()))


CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.slow
@SCHEMA.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_generated_request_breaks_the_api(case):
    response = case.call()
    assert response.status_code < 500
    case.validate_response(response, checks=CHECKS)
