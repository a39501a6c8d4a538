"""Live streams: what a viewer hears, what slow and vanished ones cost, and that places are given back."""

from __future__ import annotations

import gc
import json
import socket
import time
import urllib.request
import warnings

import flask
import pytest
from fake_session import FakeSession

from referee.match.commands import DrawCard, Go, Ready
from referee.web.answers import EventAnswer
from referee.web.app import create_app
from referee.web.server import ConnectionLimits, Connections, Server
from referee.web.streaming import crowd
from referee.web.streaming.streams import PLACES, EventStream, Feed, Places, Streams, Visitor

ANN, BEN, REFEREE = Visitor("10.0.0.1"), Visitor("10.0.0.2"), Visitor("10.0.0.1", referee=True)


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


def beats_every(monkeypatch, seconds: float) -> None:
    """A quiet line carries a beat so often."""
    monkeypatch.setattr(EventStream, "wait_s", seconds)
    monkeypatch.setattr(crowd, "TICK_S", seconds / 5)


def test_a_viewer_gets_all_parts_first_and_then_only_what_has_changed(server, session):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    with urllib.request.urlopen(f"{server.url}events", timeout=60) as answer:
        ((kind, first),) = events(answer, 1)
        assert (kind, set(first["parts"])) == ("parts", {"camera", "duel", "stage", "table", "schedule", "evening"})
        session.command(DrawCard())
        ((kind, second),) = events(answer, 1)
    assert kind == "parts" and set(second["parts"]) == {"duel", "stage", "evening"}
    assert abs(second["now"] - session.clock.now_s()) < 5


def test_a_quiet_line_carries_beats(server, session, monkeypatch):
    beats_every(monkeypatch, 0.2)
    with urllib.request.urlopen(f"{server.url}events", timeout=60) as answer:
        kinds = [kind for kind, _ in events(answer, 3)]
    assert kinds == ["parts", "beat", "beat"]


def test_beats_of_a_quiet_line_leave_nothing_behind(server, monkeypatch):
    beats_every(monkeypatch, 0.05)
    with urllib.request.urlopen(f"{server.url}events", timeout=60) as answer:
        events(answer, 40)
        assert server._bridge.crowd.count() == 1
    wait_until(lambda: server._bridge.crowd.count() == 0)


def test_the_hidden_card_is_in_nothing_that_the_public_gets_before_the_go(server, session):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    session.command(DrawCard())
    card = session.state.card_id
    session.command(Ready())
    read = [urllib.request.urlopen(f"{server.url}{path}").read().decode() for path in ("", "api/state")]
    assert not any(card in text for text in read)
    session.command(Go(session.clock.now_s()))
    assert card in urllib.request.urlopen(server.url).read().decode()


def told(answer, count: int) -> list[dict]:
    """The next ``count`` public events of an open stream; each message's id is its event's."""
    found, name = [], ""
    while len(found) < count:
        line = answer.readline().decode().strip()
        name = line[4:] if line.startswith("id: ") else name
        if line.startswith("data: ") and "kind" in (row := json.loads(line[6:])):
            found.append(row)
            assert row["id"] == name
    return found


def test_public_events_are_pulled_as_they_come_and_from_where_one_was(server, session):
    session.create_match(["Ann", "Ben"])
    address = f"{server.url}api/events"
    with urllib.request.urlopen(address, timeout=60) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream")
        session.command(DrawCard())
        session.command(Ready())
        first, second = told(answer, 2)
        assert (first["kind"], second["kind"], first["match"]["card_id"]) == ("card_drawn", "ready", None)
    EventAnswer.model_validate(first)
    session.go()
    for last, kinds in ((first["id"], ["ready", "go"]), ("unknown/9", ["match_created", "card_drawn", "ready", "go"])):
        again = urllib.request.Request(address, headers={"Last-Event-ID": last})
        with urllib.request.urlopen(again, timeout=60) as answer:
            assert [row["kind"] for row in told(answer, len(kinds))] == kinds


def test_german_and_english_viewers_watch_two_feeds(server, session):
    session.create_match(["Ann", "Ben"])
    for lang, word in (("en", "Standings"), ("de", "Tabelle")):
        with urllib.request.urlopen(f"{server.url}events?lang={lang}", timeout=60) as answer:
            assert word in events(answer, 1)[0][1]["parts"]["table"]


def test_a_film_is_a_row_of_pictures(pictures, server):
    with urllib.request.urlopen(f"{server.url}live/live.mjpg", timeout=60) as answer:
        assert answer.headers["Content-Type"] == "multipart/x-mixed-replace; boundary=frame"
        data = b""
        while data.count(b"--frame") < 3:
            data += answer.read1(65536)
    assert b"\xff\xd8\xff" in data


def open_now(streams):
    """How many streams of each kind are open."""
    return {kind: counts.total() for kind, counts in streams._open.items()}


def test_viewers_who_hang_up_give_their_place_back(pictures, server, app, monkeypatch):
    beats_every(monkeypatch, 0.2)
    streams = app.extensions["referee.streams"]
    paths = ("events", "live/live.mjpg")
    lines = [urllib.request.urlopen(f"{server.url}{path}", timeout=60) for path in paths]
    wait_until(lambda: open_now(streams) == {"events": 1, "pictures": 1})
    for line in lines:
        line.close()
    wait_until(lambda: open_now(streams) == {"events": 0, "pictures": 0})


def test_when_every_place_is_taken_more_viewers_are_told_to_come_again(session, monkeypatch):
    monkeypatch.setitem(PLACES, "events", Places(1, 1, 1))
    server = Server(create_app(session), "127.0.0.1", 0)
    try:
        with urllib.request.urlopen(f"{server.url}events", timeout=60):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(f"{server.url}events", timeout=60)
            assert refused.value.code == 503 and refused.value.headers["Retry-After"] == "5"
            refused.value.close()
            assert urllib.request.urlopen(server.url, timeout=60).status == 200
    finally:
        server.close()


def test_slow_readers_and_slow_writers_keep_nobody_else_waiting(pictures, server):
    lines = [socket.create_connection((server.host, server.port)) for _ in range(40)]
    try:
        for n, line in enumerate(lines):
            if n % 2:  # a film that is never read
                line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                line.sendall(b"GET /live/live.mjpg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            else:  # a request that never ends
                line.sendall(b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\n{")
        for _ in range(10):
            assert urllib.request.urlopen(server.url, timeout=60).status == 200
    finally:
        for line in lines:
            line.close()


def test_a_body_larger_than_its_limit_is_cut_off_by_the_server(server):
    with socket.create_connection((server.host, server.port)) as line:
        line.sendall(b"POST /api/commands/DrawCard HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_closing_the_server_ends_open_streams_and_every_thread(session):
    server = Server(create_app(session), "127.0.0.1", 0)
    with urllib.request.urlopen(f"{server.url}events", timeout=60) as answer:
        events(answer, 1)
        server.close()
        assert b"event: parts" not in answer.read()


@pytest.mark.slow
def test_closing_the_server_cuts_off_a_reader_who_takes_nothing(app):
    @app.get("/media/much")
    def much():
        return flask.Response(bytes(1 << 20) for _ in range(64))

    much.is_public = True
    server = Server(app, "127.0.0.1", 0)
    with socket.create_connection((server.host, server.port)) as line, warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always")
        line.sendall(b"GET /media/much HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        assert line.recv(100).startswith(b"HTTP/1.1 200")
        server.close()
        gc.collect()
    assert [str(warning.message) for warning in left] == []


def test_a_feed_tells_only_what_is_new_to_each_viewer():
    feed = Feed(lambda: {})
    assert feed.take({"a": "1", "b": "1"}) and not feed.take({"a": "1", "b": "1"})
    feed.take({"a": "2", "b": "1"})
    assert b'"parts":{"a":"2"}' in feed.message(1, 0.0)
    assert b'"parts":{"a":"2","b":"1"}' in feed.message(0, 0.0)


def test_a_stream_that_was_never_begun_gives_its_place_back():
    streams = Streams(FakeSession())
    stream = streams.pictures("live", ANN)
    stream.close()
    stream.close()
    assert open_now(streams) == {"events": 0, "pictures": 0}
    streams.close()


def test_places_are_shared_out_and_some_are_the_referees(monkeypatch):
    monkeypatch.setitem(PLACES, "pictures", Places(5, 3, 2))
    streams = Streams(FakeSession())
    ask = [streams.pictures("live", visitor) for visitor in (ANN, ANN, ANN, BEN, BEN, REFEREE, REFEREE, REFEREE)]
    assert [stream is not None for stream in ask] == [True, True, False, True, False, True, True, False]
    ask[0].close()
    assert streams.pictures("live", BEN) is not None
    streams.close()


def test_a_rendering_that_fails_lets_viewers_go_and_the_next_one_starts_anew(session, monkeypatch):
    monkeypatch.setattr("threading.excepthook", lambda args: None)
    streams = Streams(session)
    broken = [False]

    def render() -> dict[str, str]:
        if broken[0]:
            raise KeyError("a template's fault")
        return {"a": str(session.version)}

    watcher = streams.events("page", render, ANN)
    assert watcher.begin().startswith(b"retry") and b"parts" in watcher.take() and watcher.take() is None
    broken[0] = True
    session.touch()
    wait_until(lambda: watcher.ended)
    with pytest.raises(KeyError):
        streams.events("page", render, BEN)
    watcher.close()
    assert open_now(streams)["events"] == 0
    broken[0] = False
    assert b"parts" in streams.events("page", render, ANN).take()
    streams.close()


def test_who_finds_no_place_gets_the_page_by_asking_again(server, session):
    session.create_match(["Ann", "Ben", "Cem", "Dia"])
    with urllib.request.urlopen(f"{server.url}snapshot?page=board", timeout=60) as answer:
        said, tag = json.load(answer), answer.headers["ETag"]
        assert abs(float(answer.headers["X-Session-Now"]) - session.clock.now_s()) < 5
    assert set(said["parts"]) == {"camera", "duel", "stage", "table", "schedule", "evening"}
    again = urllib.request.Request(f"{server.url}snapshot?page=board", headers={"If-None-Match": tag})
    with pytest.raises(urllib.error.HTTPError) as same:
        urllib.request.urlopen(again, timeout=60)
    assert same.value.code == 304 and same.value.read() == b""
    session.command(DrawCard())
    wait_until(lambda: _changed(again))


def _changed(request) -> bool:
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return "Card drawn" in json.load(answer)["parts"]["duel"]
    except urllib.error.HTTPError as same:
        same.close()
        return False


def test_a_snapshot_is_rendered_once_for_all_who_ask(session):
    streams, rendered = Streams(session), []

    def render() -> dict[str, str]:
        rendered.append(session.version)
        return {"a": str(session.version)}

    tags = {streams.snapshot("page", render).tag for _ in range(200)}
    streams.close()
    assert len(rendered) < 20 and len(tags) == 1


# --- Connections


def test_one_address_cannot_take_every_connection_nor_all_together_the_referees():
    connections = Connections(ConnectionLimits(most=10, kept=2, per_address=4), lambda address: address == "referee")

    def taken(address):
        if admitted := connections.admits(address):
            connections.enter(address)
        return admitted

    assert [taken("a") for _ in range(6)] == [True] * 4 + [False] * 2
    assert [taken("b") for _ in range(4)] == [True] * 4
    assert not taken("c")
    assert [taken("referee") for _ in range(3)] == [True, True, False]
    connections.leave("a")
    connections.leave("referee")
    assert taken("referee") and connections._open.total() == 9


@pytest.fixture
def strict_server(app, monkeypatch):
    """A server with few places and short deadlines."""
    monkeypatch.setattr("referee.web.server.HEAD_S", 0.5)
    running = Server(app, "127.0.0.1", 0, limits=ConnectionLimits(most=40, kept=5, per_address=8, crowded=4))
    yield running
    running.close()


def connected(server, source: str) -> socket.socket:
    line = socket.create_connection((server.host, server.port), source_address=(source, 0))
    line.settimeout(10)
    return line


def ask(server, source: str, path: str = "/api/state") -> bytes:
    """The status line that a visitor from that address gets; empty when he is turned away."""
    with connected(server, source) as line:
        try:
            line.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            return line.recv(12)
        except OSError:
            return b""


def test_who_opens_a_hundred_connections_keeps_nobody_else_out(strict_server):
    lines = [connected(strict_server, "127.0.0.66") for _ in range(100)]
    try:
        assert ask(strict_server, "127.0.0.67") == b"HTTP/1.1 200"
        assert ask(strict_server, "127.0.0.66") == b""
        assert strict_server.connections._open.total() <= 9
    finally:
        for line in lines:
            line.close()
    wait_until(lambda: ask(strict_server, "127.0.0.66") == b"HTTP/1.1 200")


def answers_to(server, sent: bytes) -> list[bytes]:
    """The statuses that come back until the server closes the connection."""
    said = b""
    with connected(server, "127.0.0.68") as line:
        line.sendall(sent)
        while got := line.recv(65536):
            said += got
    return [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]]


HEAD = b"GET /api/schedule HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


def test_who_asks_before_he_was_answered_gets_one_answer_and_no_more(strict_server):
    assert answers_to(strict_server, HEAD * 41) == [b"200"]


def test_a_body_of_two_lengths_is_refused_once(strict_server):
    lengths = b"Content-Length: 4\r\nTransfer-Encoding: chunked"
    post = b"POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\n" + lengths + b"\r\n\r\n0\r\n\r\n"
    assert answers_to(strict_server, post + HEAD) == [b"400"]


def test_a_head_that_comes_a_byte_at_a_time_is_cut_off(strict_server):
    with connected(strict_server, "127.0.0.66") as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ")
        with pytest.raises(OSError):
            for _ in range(100):
                line.sendall(b"a")
                time.sleep(0.1)
    assert ask(strict_server, "127.0.0.66") == b"HTTP/1.1 200"


def test_an_idle_stream_of_events_outlives_the_deadline_of_heads(strict_server, session):
    with urllib.request.urlopen(f"{strict_server.url}events", timeout=60) as answer:
        events(answer, 1)
        time.sleep(1.0)
        session.create_match(["Ann", "Ben"])
        assert events(answer, 1)[0][0] == "parts"


def test_a_crowd_behind_one_address_hands_its_connections_on(strict_server):
    lines = [connected(strict_server, "127.0.0.66") for _ in range(5)]
    wait_until(lambda: strict_server.connections._open.total() == 5)
    lines[0].sendall(b"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    data = b""
    while chunk := lines[0].recv(65536):  # until the server closes it
        data += chunk
    assert data.startswith(b"HTTP/1.1 200") and b"connection: close" in data
    for line in lines:
        line.close()


def test_a_video_is_served_whole_and_in_ranges(server, session, app):
    body = bytes(range(256)) * 4096
    path = session.data_dir / "v.bin"
    path.write_bytes(body)

    @app.get("/media/test-file")
    def file():
        return flask.send_file(path, conditional=True)

    file.is_public = True
    with urllib.request.urlopen(f"{server.url}media/test-file", timeout=60) as answer:
        assert answer.read() == body
    part = urllib.request.Request(f"{server.url}media/test-file", headers={"Range": "bytes=300000-800000"})
    with urllib.request.urlopen(part, timeout=60) as answer:
        assert answer.status == 206 and answer.read() == body[300000:800001]


def test_a_certificate_that_is_none_is_refused_and_the_port_is_free_again(app, tmp_path):
    nonsense = tmp_path / "cert.pem"
    nonsense.write_text("no certificate")
    with pytest.raises(OSError):
        Server(app, "127.0.0.1", 0, tls=(nonsense, nonsense))
