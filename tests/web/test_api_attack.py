"""An attack by schemathesis on the API, as its description tells it to."""

from __future__ import annotations

import pytest
import schemathesis
from conftest import PIN
from fake_session import FakeSession
from hypothesis import HealthCheck, settings
from schemathesis import checks

from referee.match.commands import DrawCard, Ready
from referee.web.app import create_app

pytestmark = pytest.mark.slow


class Doors:
    """The app as a logged-in referee calls it: his cookie always, one request in eight from another site."""

    def __init__(self, session: FakeSession) -> None:
        self.app = create_app(session, pin=PIN, host="0.0.0.0")
        client = self.app.test_client()
        client.post("/api/session", json={"pin": PIN, "name": "Eva"})
        self.count = 0
        name = self.app.config["SESSION_COOKIE_NAME"]
        self.cookie = f"{name}={client.get_cookie(name).value}"

    def __call__(self, environ, start_response):
        environ["HTTP_COOKIE"] = self.cookie
        self.count += 1
        if self.count % 8 == 0:
            environ["HTTP_ORIGIN"] = "http://elsewhere.example"
        return self.app(environ, start_response)


def _started() -> FakeSession:
    session = FakeSession()
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    session.command(DrawCard())
    session.command(Ready())
    return session


SCHEMA = schemathesis.openapi.from_wsgi("/api/openapi.yaml", Doors(_started()))
SCHEMA = SCHEMA.exclude(path="/api/events")  # it has no end: test_streams


CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
]


@SCHEMA.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_no_generated_request_breaks_the_api(case):
    response = case.call()
    assert response.status_code < 500
    case.validate_response(response, checks=CHECKS)
