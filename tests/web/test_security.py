"""Hostile requests: without a PIN, with a wrong one, from other sites, with tricks. Nothing breaks."""

from __future__ import annotations

import pytest
from conftest import PIN
from fake_session import FakeSession

from referee.match import DrawCard
from referee.web import create_app
from referee.web.actions import ACTIONS
from referee.web.security import PIN_TRIES, PIN_TRIES_ALL, PIN_WINDOW_S, Door

PLAYERS = ["Ann", "Ben", "Cem", "Dia"]


def token(client) -> dict[str, str]:
    """The header that a client of our own pages sends."""
    return {"X-CSRF-Token": client.get("/api/session").json["csrf"]}


def logged_in(app):
    """A client that knows the PIN, and its CSRF header."""
    client = app.test_client()
    answer = client.post("/api/session", json={"pin": PIN, "name": "Eva"}, headers=token(client))
    assert answer.status_code == 200
    return client, {"X-CSRF-Token": answer.json["csrf"]}


def changing_routes(app) -> list[tuple[str, str]]:
    """(method, path) of every route that changes something, blanks filled."""
    found = []
    for rule in app.url_map.iter_rules():
        path = rule.rule
        for argument in rule.arguments:
            part = path[path.index("<") : path.index(">") + 1]
            filled = {"name": "DrawCard", "step": "mats"}.get(argument, "1")
            path = path.replace(part, filled, 1)
        found += [(m, path) for m in sorted(rule.methods - {"GET", "HEAD", "OPTIONS"})]
    return found


def test_without_the_pin_no_route_changes_anything(locked_app, session):
    session.create_match(PLAYERS)
    before = session.version
    for method, path in changing_routes(locked_app):
        client = locked_app.test_client()
        status = client.open(path, method=method, json={}, headers=token(client)).status_code
        assert status in (401, 422) or (method, path) in {
            ("DELETE", "/api/session"),
            ("POST", "/logout"),
            ("POST", "/login"),
        }, (method, path, status)
    assert session.version == before


def test_without_a_csrf_token_no_route_changes_anything_even_for_the_referee(locked_app, session):
    session.create_match(PLAYERS)
    client, _ = logged_in(locked_app)
    before = session.version
    for method, path in changing_routes(locked_app):
        assert client.open(path, method=method, json={}).status_code == 403, (method, path)
    assert session.version == before


def test_a_request_from_another_site_is_refused_with_a_valid_token_too(app, session):
    session.create_match(PLAYERS)
    client = app.test_client()
    for forged in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ):
        answer = client.post("/api/commands/DrawCard", json={}, headers=token(client) | forged)
        assert answer.status_code == 403, forged
    assert session.state.phase == "idle"


def test_a_foreign_name_that_leads_to_loopback_is_not_served(app):
    client = app.test_client()
    for host in ("evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"):
        assert client.get("/", headers={"Host": host}).status_code in (400, 421), host
    for host in ("127.0.0.1:8080", "localhost", "[::1]:8080"):
        assert client.get("/", headers={"Host": host}).status_code == 200, host


def test_the_public_may_watch_and_only_the_referee_sees_cameras_and_console(locked_app):
    client = locked_app.test_client()
    for path in ("/", "/api/state", "/api/schedule", "/api/standings", "/api/cards", "/login"):
        assert client.get(path).status_code == 200, path
    for path in (
        "/live/live.jpg",
        "/live/zone_A.mjpg",
        "/events?page=console",
        "/api/snapshot",
        "/api/commands",
        "/setup/mats.jpg",
    ):
        assert client.get(path).status_code == 401, path
    answer = client.get("/referee", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.location) == (302, "/login?next=/referee")


def test_the_right_pin_opens_the_console_and_the_cookie_is_kept_from_scripts_and_other_sites(locked_app):
    client, headers = logged_in(locked_app)
    assert client.get("/referee").status_code == 200
    cookie = client.get_cookie("referee")
    assert (cookie.http_only, cookie.same_site) == (True, "Strict")
    assert client.delete("/api/session", headers=headers).json["referee"] is False
    assert client.get("/api/snapshot").status_code == 401


def test_logging_in_changes_the_token(locked_app):
    client = locked_app.test_client()
    before = token(client)
    client.post("/api/session", json={"pin": PIN}, headers=before)
    assert token(client) != before


def test_wrong_pins_are_counted_and_then_even_the_right_one_must_wait(locked_app):
    client = locked_app.test_client()
    headers = token(client)
    for _ in range(PIN_TRIES):
        assert client.post("/api/session", json={"pin": "0000"}, headers=headers).status_code == 401
    answer = client.post("/api/session", json={"pin": PIN}, headers=headers)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= PIN_WINDOW_S


def test_the_door_opens_again_after_the_window_and_many_addresses_gain_nothing(monkeypatch):
    monkeypatch.setattr("referee.web.security.check_password_hash", lambda known, pin: pin == "right")
    now = [0.0]
    door = Door("right", lambda: now[0])
    for n in range(PIN_TRIES_ALL // PIN_TRIES):
        for _ in range(PIN_TRIES):
            assert not door.opens("wrong", f"10.0.0.{n}")
    assert door.wait_s("10.9.9.9") > 0
    now[0] = PIN_WINDOW_S + 1
    assert door.wait_s("10.0.0.1") == 0
    assert door.opens("right", "10.0.0.1")


def test_the_pin_itself_is_not_kept():
    door = Door("secret pin", lambda: 0.0)
    assert "secret pin" not in repr(vars(door))
    assert vars(door)["_hash"].startswith("scrypt:")


def test_a_network_address_needs_a_pin(session):
    with pytest.raises(ValueError, match="needs a PIN"):
        create_app(session, host="0.0.0.0")


@pytest.mark.parametrize(
    "path",
    [
        "/static/../security.py",
        "/static/..%2fsecurity.py",
        "/static/%2e%2e/%2e%2e/cli.py",
        "/static//etc/passwd",
        "/live/..%2f..%2fetc%2fpasswd.jpg",
        "/live/../../x.mjpg",
        "/media/card/..%2f..%2fx.en.svg",
        "/media/card/L01.xx.svg",
        "/media/overlay/-1.jpg",
        "/media/overlay/99999999999999999999.jpg",
        "/media/replay/1.mp4",
        "/media/replay/..%2f1.mp4",
        "/api/cards/..%2fdeck.json",
        "/api/cards/%00",
        "/api/commands/__class__",
        "/events?page=../../etc",
        "/setup/measure/../../x",
        "/live/live%00.jpg",
        "/?lang=../../etc/passwd",
        "/login?next=//evil.example",
        "/\\..\\..",
        "/%ff%fe",
    ],
)
def test_tricks_with_paths_reach_nothing(app, path):
    answer = app.test_client().get(path)
    assert answer.status_code in (200, 302, 308, 400, 401, 404, 405), path
    assert b"root:" not in answer.data and b"def " not in answer.data
    assert "evil" not in (answer.location or "")


def test_after_logging_in_nobody_is_sent_to_another_site(locked_app):
    for wanted in ("//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)"):
        client = locked_app.test_client()
        form = {"pin": PIN, "name": "Eva", "next": wanted, "csrf_token": token(client)["X-CSRF-Token"]}
        assert client.post("/login", data=form).location == "/referee"


@pytest.mark.parametrize(
    "body, status",
    [
        (b"", 400),
        (b"not json", 400),
        (b"[]", 400),
        (b"null", 400),
        (b'"DrawCard"', 400),
        (b'{"card_id": 5}', 422),
        (b'{"extra": 1}', 422),
        (b'{"card_id": "\\ud800"}', 422),
        (b'{"card_id": "a\\u0000b"}', 422),
        (b'{"card_id": "' + b"x" * 5000 + b'"}', 422),
        (b'{"card_id": ' + b"[" * 30000 + b"}", 400),
        (b'{"card_id": "' + b"x" * 100_000 + b'"}', 413),
        (b'{"card_id": "no such card"}', 409),
        (b"\xff\xfe", 400),
    ],
)
def test_bodies_that_do_not_fit_are_refused_in_one_line(app, session, body, status):
    session.create_match(PLAYERS)
    client = app.test_client()
    answer = client.post("/api/commands/DrawCard", data=body, content_type="application/json", headers=token(client))
    assert answer.status_code == status
    assert isinstance(answer.json["error"], str) and "\n" not in answer.json["error"]
    assert session.state.phase == "idle"


def test_another_type_of_body_is_refused(app):
    client = app.test_client()
    answer = client.post("/api/commands/DrawCard", data="card_id=L01", headers=token(client))
    assert answer.status_code == 415


def test_a_giant_form_is_refused(app):
    client = app.test_client()
    answer = client.post("/setup/sign", data={"name_A": "x" * 9_000_000}, headers=token(client))
    assert answer.status_code == 413


def test_names_with_markup_stay_text(app, session):
    session.create_match(["<script>alert(1)</script>", "Ben & Co", "Cem\"'", "Dia"])
    session.command(DrawCard())
    for path in ("/", "/referee", "/setup"):
        html = app.test_client().get(path).text
        assert "<script>alert" not in html
    assert "&lt;script&gt;" in app.test_client().get("/").text


@pytest.mark.parametrize("path", ["/", "/referee", "/setup", "/api/state", "/nothing", "/static/live.js"])
def test_every_answer_carries_the_strict_headers(app, path):
    with app.test_client().get(path) as answer:
        headers = answer.headers
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_no_page_holds_inline_script_or_style_or_anything_from_elsewhere(app, session):
    session.create_match(PLAYERS)
    for path in ("/", "/referee", "/setup", "/login", "/nothing"):
        html = app.test_client().get(path, headers={"Accept": "text/html"}).text
        assert "<style" not in html and " style=" not in html and " onclick=" not in html
        assert "<script>" not in html and "http://" not in html and "https://" not in html


@pytest.mark.parametrize("path", ["/", "/referee", "/setup", "/login", "/nothing-here"])
def test_the_simulated_mark_is_on_every_page_and_only_on_a_simulator(path):
    for simulated in (True, False):
        app = create_app(FakeSession(simulated), pin=PIN if path == "/login" else None)
        html = app.test_client().get(path, headers={"Accept": "text/html"}).text
        assert ("SIMULATED" in html) is simulated


def test_every_command_over_the_api_is_a_referees(locked_app):
    client = locked_app.test_client()
    headers = token(client)
    for name in ACTIONS:
        assert client.post(f"/api/commands/{name}", json={}, headers=headers).status_code == 401, name
