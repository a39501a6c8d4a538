"""Hostile requests: without a PIN, with a wrong one, from other sites, with tricks. Nothing breaks."""

from __future__ import annotations

import json
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from http.client import HTTPConnection

import pytest
from conftest import PIN
from fake_session import FakeSession

from referee.match.commands import DrawCard
from referee.web import security
from referee.web.actions import ACTIONS
from referee.web.app import create_app
from referee.web.logins import LOGIN_LIFETIME_S, Logins
from referee.web.security import BRAKE_AFTER, BRAKE_S, PIN_LIMITS, WAITING_GUESSES, Access, visitor_of
from referee.web.server import THREADS, Server

PIN_TRIES, PIN_WINDOW_S = PIN_LIMITS[0]

PLAYERS = ["Ann", "Ben", "Cem", "Dia"]


def logged_in(app):
    """A client that knows the PIN."""
    client = app.test_client()
    assert client.post("/api/session", json={"pin": PIN, "name": "Eva"}).status_code == 200
    return client


def changing_routes(app) -> list[tuple[str, str]]:
    """(method, path) of every route that changes something, blanks filled."""
    found = []
    for rule in app.url_map.iter_rules():
        path = rule.rule
        for argument in rule.arguments:
            part = path[path.index("<") : path.index(">") + 1]
            filled = {"name": "DrawCard", "step": "mats", "what": "next", "zone": "A"}.get(argument, "1")
            filled = part[len("<any(") :].split(",")[0] if part.startswith("<any(") else filled
            path = path.replace(part, filled, 1)
        found += [(m, path) for m in sorted(rule.methods - {"GET", "HEAD", "OPTIONS"})]
    return found


def test_without_the_pin_no_route_changes_anything(locked_app, session):
    session.create_match(PLAYERS)
    before = len(session.events)
    for method, path in changing_routes(locked_app):
        client = locked_app.test_client()
        status = client.open(path, method=method, json={}).status_code
        assert status in (401, 422) or (method, path) in {
            ("DELETE", "/api/session"),
            ("POST", "/logout"),
            ("POST", "/login"),
        }, (method, path, status)
    assert len(session.events) == before


def test_from_another_site_no_route_changes_anything_even_for_the_referee(locked_app, session):
    session.create_match(PLAYERS)
    client = logged_in(locked_app)
    before = len(session.events)
    for method, path in changing_routes(locked_app):
        answer = client.open(path, method=method, json={}, headers={"Origin": "http://localhost:81"})
        assert answer.status_code == 403, (method, path)
    assert len(session.events) == before


def test_what_a_browser_sends_from_another_site_is_refused(app, session):
    session.create_match(PLAYERS)
    client = app.test_client()
    for forged in (
        {"Origin": "http://evil.example"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "null"},
    ):
        answer = client.post("/api/commands/DrawCard", json={}, headers=forged)
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
        "/setup/camera.jpg?source=0",
    ):
        assert client.get(path).status_code == 401, path
    answer = client.get("/referee", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.location) == (302, "/login?next=/referee")


def test_the_right_pin_opens_the_console_and_the_cookie_is_kept_from_scripts_and_other_sites(locked_app):
    client = logged_in(locked_app)
    assert client.get("/referee").status_code == 200
    cookie = client.get_cookie(locked_app.config["SESSION_COOKIE_NAME"])
    assert (cookie.http_only, cookie.same_site) == (True, "Strict")
    assert client.delete("/api/session").json["referee"] is False
    assert client.get("/api/snapshot").status_code == 401


def test_wrong_pins_are_counted_and_then_even_the_right_one_must_wait(locked_app):
    client = locked_app.test_client()
    for _ in range(PIN_TRIES):
        assert client.post("/api/session", json={"pin": "0000"}).status_code == 401
    answer = client.post("/api/session", json={"pin": PIN})
    assert answer.status_code == 429
    assert 0 < int(answer.headers["Retry-After"]) <= PIN_WINDOW_S


@pytest.fixture
def door(monkeypatch):
    """A door whose PIN is "right", and its clock in seconds."""
    monkeypatch.setattr("referee.web.security.check_password_hash", lambda known, pin: pin == "right")
    now = [0.0]
    return Access("right", lambda: now[0]), now


def test_the_door_opens_again_after_the_window(door):
    door, now = door
    for _ in range(PIN_TRIES):
        assert not door.guess("wrong", "10.0.0.1").look()
    assert door.wait_s("10.0.0.1") > 0
    now[0] = PIN_WINDOW_S + 1
    assert door.wait_s("10.0.0.1") == 0
    assert door.guess("right", "10.0.0.1").look()


def test_wrong_pins_from_elsewhere_lock_nobody_out(door):
    door, _ = door
    for n in range(40):
        for _ in range(PIN_TRIES):
            door.guess("wrong", f"10.0.0.{n}").look()
    assert door.wait_s("10.9.9.9") <= BRAKE_S
    assert door.wait_s("known aBcD") == 0
    assert sum(count for _, count in door.wrong()) == 40 * PIN_TRIES


def test_many_addresses_together_guess_no_faster_than_one_once_they_have_guessed_for_long(door):
    """A million PINs of six digits at this pace take 11 days."""
    door, now = door
    guesses = 0
    for n in range(3600 * 4):
        now[0] = n / 4
        if door.wait_s(f"10.{n >> 8}.{n & 255}.1") == 0:
            guesses += 1
            door.guess("wrong", f"10.{n >> 8}.{n & 255}.1").look()
    assert guesses <= BRAKE_AFTER + 3600 / BRAKE_S


def test_guesses_are_hashed_one_at_a_time_and_take_no_thread_from_the_pages(monkeypatch, session):
    """More guesses than the pages have threads wait, and a page comes at once; one more is told to wait."""
    waiting, at_once, most, begun, go_on = THREADS + 3, [0], [0], threading.Event(), threading.Event()

    def slow(known, pin):
        at_once[0] += 1
        most[0] = max(most[0], at_once[0])
        begun.set()
        assert go_on.wait(60)
        at_once[0] -= 1
        return pin == PIN

    monkeypatch.setattr(security, "check_password_hash", slow)
    monkeypatch.setattr(security, "WAITING_GUESSES", waiting)
    server = Server(create_app(session, pin=PIN, host="0.0.0.0"), "127.0.0.1", 0)

    def guess(pin: str, source: str) -> int:
        with closing(HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(source, 0))) as line:
            line.request("POST", "/api/session", json.dumps({"pin": pin}), {"Content-Type": "application/json"})
            return line.getresponse().status

    with closing(server), ThreadPoolExecutor(waiting + 1) as pool:
        try:
            tries = [pool.submit(guess, PIN if n == 5 else "wrong", f"127.9.0.{n + 2}") for n in range(waiting + 1)]
            assert begun.wait(60)
            assert next(as_completed(tries, 60)).result() == 429
            assert urllib.request.urlopen(server.url, timeout=5).status == 200
        finally:
            go_on.set()
        statuses = sorted(one.result() for one in tries)
    assert statuses == [200, *[401] * (waiting - 1), 429] and most[0] == 1


def test_who_has_logged_in_before_is_not_turned_away_where_many_guess(door):
    door, _ = door
    assert all(door.guess("wrong", f"10.0.0.{n}") for n in range(WAITING_GUESSES))
    assert door.guess("right", "10.9.9.9") is None
    assert door.guess("right", "known aBcD").look()


def test_who_only_watches_gets_no_session_cookie(locked_app):
    client = locked_app.test_client()
    for path in ("/", "/results", "/overlay", "/api/state", "/api/schedule", "/static/base.css", "/login"):
        with client.get(path) as answer:
            assert "Set-Cookie" not in answer.headers, path


def test_who_goes_on_guessing_waits_longer(door):
    door, now = door
    tries, window_s = PIN_LIMITS[1]
    for n in range(tries):
        now[0] = n * (PIN_WINDOW_S / PIN_TRIES + 1)
        assert door.wait_s("10.0.0.1") == 0
        door.guess("wrong", "10.0.0.1").look()
    assert door.wait_s("10.0.0.1") > window_s / 2


def test_the_many_addresses_of_one_ipv6_network_are_one_visitor():
    assert visitor_of("2001:db8::1") == visitor_of("2001:db8::ffff:2") != visitor_of("2001:db8:0:1::1")
    assert visitor_of("::ffff:10.0.0.1") == visitor_of("10.0.0.1") == "10.0.0.1"
    assert visitor_of("not an address") == "not an address"


def test_a_browser_that_has_logged_in_before_is_not_locked_out_by_others_at_its_address(locked_app):
    client = logged_in(locked_app)
    assert client.delete("/api/session").status_code == 200
    guesser = locked_app.test_client()
    for _ in range(PIN_TRIES + 1):
        last = guesser.post("/api/session", json={"pin": "0000"})
    assert last.status_code == 429
    assert client.post("/api/session", json={"pin": PIN}).status_code == 200


def test_wrong_pins_show_on_the_console(locked_app):
    guesser = locked_app.test_client()
    guesser.post("/api/session", json={"pin": "0000"})
    client = logged_in(locked_app)
    guesser.post("/api/session", json={"pin": "0000"})
    assert "Wrong PINs in the last hour: 1" in client.get("/referee").text


# --- A copied cookie


def stolen(client) -> str:
    """A copy of the browser's session cookie."""
    return client.get_cookie(client.application.config["SESSION_COOKIE_NAME"]).value


def holds(app, cookie: str) -> bool:
    """Whether a thief with that cookie is taken for the referee."""
    thief = app.test_client()
    thief.set_cookie(app.config["SESSION_COOKIE_NAME"], cookie)
    return thief.get("/api/session").json["referee"]


def test_a_copied_cookie_ends_with_the_logout(locked_app):
    client = logged_in(locked_app)
    cookie = stolen(client)
    assert holds(locked_app, cookie)
    client.delete("/api/session")
    assert not holds(locked_app, cookie)


def test_a_copied_cookie_outlives_a_restart_only_with_the_same_pin_and_without_logout(session, locked_app):
    client = logged_in(locked_app)
    cookie = stolen(client)
    assert holds(create_app(session, pin=PIN, host="0.0.0.0"), cookie)
    assert not holds(create_app(session, pin="another", host="0.0.0.0"), cookie)
    client.post("/logout", data={})
    assert not holds(create_app(session, pin=PIN, host="0.0.0.0"), cookie)


def test_the_console_lists_logins_and_ends_them(locked_app):
    first, second = logged_in(locked_app), logged_in(locked_app)
    assert second.get("/referee").text.count("data-end-login") == 2
    assert second.post("/logins/1/end").status_code == 303
    assert first.get("/api/snapshot").status_code == 401
    assert second.get("/api/snapshot").status_code == 200


def test_a_login_ends_by_itself(tmp_path):
    now = [1e9]
    logins = Logins(tmp_path / "logins.json", "pin", lambda: now[0])
    login = logins.begin("Eva", "10.0.0.1")
    now[0] += LOGIN_LIFETIME_S - 1
    assert logins.holds(login.key) == login
    now[0] += 2
    assert logins.holds(login.key) is None and logins.rows() == []


@pytest.mark.parametrize("bad", ["", "[]", "{", '{"pin": "pin", "last": 1, "logins": [{"number": 1}]}', "[" * 100_000])
def test_a_broken_list_of_logins_is_an_empty_one(tmp_path, bad):
    (tmp_path / "logins.json").write_text(bad)
    assert Logins(tmp_path / "logins.json", "pin", lambda: 1.0).rows() == []


def test_under_tls_cookies_travel_encrypted_only(session):
    app = create_app(session, pin=PIN, host="0.0.0.0", tls=True)
    client = app.test_client()
    answer = client.post("/api/session", json={"pin": PIN}, base_url="https://localhost")
    assert "Secure" in answer.headers["Set-Cookie"]


def test_the_pin_itself_is_not_kept_and_trying_one_takes_time(monkeypatch):
    monkeypatch.undo()
    door = Access("secret pin", lambda: 0.0)
    assert "secret pin" not in repr(vars(door))
    assert vars(door)["_hash"].startswith("scrypt:32768:8:1$")


def test_a_network_address_needs_a_pin(session):
    with pytest.raises(ValueError, match="need a PIN"):
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
        "/media/replay/99999999999999999999.mp4",
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
        form = {"pin": PIN, "name": "Eva", "next": wanted}
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
    answer = client.post("/api/commands/DrawCard", data=body, content_type="application/json")
    assert answer.status_code == status
    assert isinstance(answer.json["error"], str) and "\n" not in answer.json["error"]
    assert session.state.phase == "idle"


def test_another_type_of_body_is_refused(app):
    client = app.test_client()
    answer = client.post("/api/commands/DrawCard", data="card_id=L01")
    assert answer.status_code == 415


def test_a_giant_form_is_refused(app):
    client = app.test_client()
    answer = client.post("/setup/sign", data={"name_A": "x" * 9_000_000})
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
    for name in ACTIONS:
        assert client.post(f"/api/commands/{name}", json={}).status_code == 401, name


@pytest.mark.parametrize("path", ["/cards/look", "/cards/propose", "/cards/save", "/cards/play"])
def test_a_body_of_nothing_but_brackets_is_no_card(app, path):
    client = app.test_client()
    answer = client.post(path, data=b"[" * 50_000, content_type="application/json")
    assert answer.status_code == 400 and "\n" not in answer.json["error"]


@pytest.mark.parametrize("hidden", ["\u202e", "\u2066", "\u200b", "\u200d", "\u2028", "\ufeff", "\u00ad", "\u3164"])
def test_letters_that_cannot_be_seen_are_refused_in_commands_and_shown_in_forms(app, session, hidden):
    client = app.test_client()
    names = ["Ann", f"A{hidden}nn"]
    answer = client.post("/api/commands/CreateMatch", json={"players": names})
    assert answer.status_code == 422 and f"U+{ord(hidden):04X}" in answer.json["error"]
    client.post("/name", data={"name": f"E{hidden}va"})
    assert client.get("/api/session").json["name"] == "E\N{REPLACEMENT CHARACTER}va"


def test_names_of_the_world_are_taken(app, session):
    client = app.test_client()
    names = ["Zoë", "李小龍", "Дмитрий", "נועה", "José María", "Åsa-Lisa O'Neil"]
    answer = client.post("/api/commands/CreateMatch", json={"players": names})
    assert answer.status_code == 200


# --- A full disk


@pytest.fixture
def full_disk(session):
    """The list of logins cannot be written: something else lies where its draft would."""
    (session.data_dir / "logins.json.tmp").mkdir()


def test_the_referee_gets_in_on_a_full_disk(locked_app, full_disk):
    client = logged_in(locked_app)
    assert client.get("/api/snapshot").status_code == 200


def test_a_logout_on_a_full_disk_holds_after_a_restart(session, locked_app):
    client = logged_in(locked_app)
    cookie = stolen(client)
    (session.data_dir / "logins.json.tmp").mkdir()
    assert client.delete("/api/session").status_code == 200
    assert not holds(create_app(session, pin=PIN, host="0.0.0.0"), cookie)


@pytest.mark.parametrize("seed", [0, 2**53, str(2**128 - 1)])
def test_a_recorded_seed_can_be_asked_for_again_to_the_last_digit(app, session, seed):
    client = app.test_client()
    body = {"players": PLAYERS, "seed": seed}
    assert client.post("/api/commands/CreateMatch", json=body).status_code == 200
    assert session.state.seed == int(seed)
