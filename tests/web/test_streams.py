"""Live streams: what a viewer hears, what slow and vanished ones cost, and that places are given back."""

from __future__ import annotations

import json
import socket
import time
import urllib.request

import pytest
from fake_session import FakeSession

from referee.match import DrawCard, Go, Ready
from referee.web import create_app, serve
from referee.web import streams as module
from referee.web.streams import Feed, Streams


def events(answer, count: int) -> list[tuple[str, dict]]:
    """The next ``count`` events of an open stream as (kind, data)."""
    found, kind = [], ""
    while len(found) < count:
        line = answer.readline().decode().strip()
        if line.startswith("event: "):
            kind = line[7:]
        elif line.startswith("data: "):
            found.append((kind, json.loads(line[6:])))
    return found


def wait_until(true, seconds: float = 10.0) -> None:
    """Wait for something to become true."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_viewer_gets_all_parts_first_and_then_only_what_has_changed(server, session):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    with urllib.request.urlopen(f"{server.url}events", timeout=10) as answer:
        ((kind, first),) = events(answer, 1)
        assert (kind, set(first["parts"])) == ("parts", {"duel", "stage", "table", "schedule"})
        session.command(DrawCard())
        ((kind, second),) = events(answer, 1)
    assert kind == "parts" and set(second["parts"]) == {"duel", "stage"}
    assert abs(second["now"] - session.clock.now_s()) < 5


def test_a_quiet_line_carries_beats(server, session, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.2)
    with urllib.request.urlopen(f"{server.url}events", timeout=10) as answer:
        kinds = [kind for kind, _ in events(answer, 3)]
    assert kinds == ["parts", "beat", "beat"]


def test_the_hidden_card_is_in_nothing_that_the_public_gets_before_the_go(server, session):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    session.command(DrawCard())
    card = session.state.card_id
    session.command(Ready())
    read = [urllib.request.urlopen(f"{server.url}{path}").read().decode() for path in ("", "api/state")]
    assert not any(card in text for text in read)
    session.command(Go(session.clock.now_s()))
    assert card in urllib.request.urlopen(server.url).read().decode()


def test_german_and_english_viewers_watch_two_feeds(server, session):
    session.create_match(["Ann", "Ben"])
    for lang, word in (("en", "Standings"), ("de", "Tabelle")):
        with urllib.request.urlopen(f"{server.url}events?lang={lang}", timeout=10) as answer:
            assert word in events(answer, 1)[0][1]["parts"]["table"]


def test_a_film_is_a_row_of_pictures(server):
    with urllib.request.urlopen(f"{server.url}live/live.mjpg", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "multipart/x-mixed-replace; boundary=frame"
        data = b""
        while data.count(b"--frame") < 3:
            data += answer.read1(65536)
    assert b"\xff\xd8\xff" in data


def test_viewers_who_hang_up_give_their_place_back(server, app, monkeypatch):
    monkeypatch.setattr(module, "BEAT_S", 0.2)
    open_now = app.extensions["referee.streams"].open_now
    paths = ("events", "live/live.mjpg")
    lines = [urllib.request.urlopen(f"{server.url}{path}", timeout=10) for path in paths]
    wait_until(lambda: open_now() == {"events": 1, "pictures": 1})
    for line in lines:
        line.close()
    wait_until(lambda: open_now() == {"events": 0, "pictures": 0})


def test_when_every_place_is_taken_more_viewers_are_told_to_come_again(session, monkeypatch):
    monkeypatch.setattr(module, "MAX_EVENT_STREAMS", 1)
    server = serve(create_app(session), "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"{server.url}events", timeout=10):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{server.url}events", timeout=10)
            assert refused.value.code == 503 and refused.value.headers["Retry-After"] == "5"
            refused.value.close()
            assert urllib.request.urlopen(server.url, timeout=10).status == 200
    finally:
        server.close()


def test_slow_readers_and_slow_writers_keep_nobody_else_waiting(server):
    lines = [socket.create_connection((server.host, server.port)) for _ in range(40)]
    try:
        for n, line in enumerate(lines):
            if n % 2:  # a film that is never read
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                line.sendall(b"GET /live/live.mjpg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            else:  # a request that never ends
                line.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        began = time.monotonic()
        for _ in range(10):
            assert urllib.request.urlopen(server.url, timeout=10).status == 200
        assert time.monotonic() - began < 5
    finally:
        for line in lines:
            line.close()


def test_a_body_larger_than_its_limit_is_cut_off_by_the_server(server):
    with socket.create_connection((server.host, server.port)) as line:
        line.sendall(b"POST /api/commands/DrawCard HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_closing_the_server_ends_open_streams_and_every_thread(session):
    server = serve(create_app(session), "127.0.0.1", 0)
    with urllib.request.urlopen(f"{server.url}events", timeout=10) as answer:
        events(answer, 1)
        server.close()
        assert b"event: parts" not in answer.read()


def test_a_feed_tells_only_what_is_new_to_each_viewer():
    feed = Feed(lambda: {})
    assert feed.take({"a": "1", "b": "1"}) and not feed.take({"a": "1", "b": "1"})
    feed.take({"a": "2", "b": "1"})
    assert b'"parts":{"a":"2"}' in feed.message(1, 0.0)
    assert b'"parts":{"a":"2","b":"1"}' in feed.message(0, 0.0)


def test_a_stream_that_was_never_begun_gives_its_place_back():
    streams = Streams(FakeSession())
    stream = streams.pictures("live", lambda: False)
    stream.close()
    stream.close()
    assert streams.open_now() == {"events": 0, "pictures": 0}
    streams.close()


def test_a_rendering_that_fails_lets_viewers_go_and_the_next_one_starts_anew(session, monkeypatch):
    monkeypatch.setattr("threading.excepthook", lambda args: None)
    streams = Streams(session)
    broken = [False]

    def render() -> dict[str, str]:
        if broken[0]:
            raise KeyError("a template's fault")
        return {"a": str(session.version)}

    watcher = streams.events("page", render, lambda: False)
    assert next(watcher).startswith(b"retry") and b"parts" in next(watcher)
    broken[0] = True
    session.touch()
    assert all(b"event: beat" in rest for rest in watcher)  # and then the stream ends
    with pytest.raises(KeyError):
        streams.events("page", render, lambda: False)
    watcher.close()
    assert streams.open_now()["events"] == 0
    broken[0] = False
    again = iter(streams.events("page", render, lambda: False))
    next(again)
    assert b"parts" in next(again)
    streams.close()
