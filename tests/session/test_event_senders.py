"""Public events on their way out: in order, signed, again after a fault, on from where they were; and a lamp that hears
them by a real broker."""

from __future__ import annotations

import hashlib
import hmac
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from referee.commands.serving import DashboardOptions, events_sent
from referee.journal.journal import Journal
from referee.journal.public_events import EventFeed
from referee.match.card_facts import CardFacts
from referee.match.commands import CameraVerdict, CreateMatch, DrawCard, Go, PressStop, Ready
from referee.match.decide import decide
from referee.match.evolve import fold
from referee.match.verdict import zone_verdict
from referee.session import event_senders
from referee.session.event_senders import BadTarget

LAMP = Path(__file__).parents[2] / ".github/examples/verdict_lamp.py"
CARDS = {f"C{i:02}": CardFacts("height", i % 4 + 1, 4) for i in range(80)}
DUEL = (DrawCard(), Ready(), Go(100.0), PressStop("A", 110.0), CameraVerdict("A", zone_verdict({"verdict": "match"})))


class Table:
    """What is sent from: a record, a feed of it, alarms."""

    def __init__(self, folder: Path) -> None:
        self.data_dir, self.alarms = folder, {}
        self.journal = Journal(folder / "journal.db")
        names = self.journal.matches("")
        self.state = fold(self.journal.events(names[-1])) if names else fold([])
        self.feed = EventFeed(self.journal, "", self.state.match_id)

    def do(self, *commands) -> None:
        for command in commands:
            events = decide(self.state, command, f"2026-01-01T00:00:00.{self.state.seq:06}+00:00")
            self.journal.append("m1", events)
            self.state = fold(self.journal.events("m1"))
            self.feed.follow(self.state, events)

    def alarm(self, code: str, text: str | None) -> None:
        self.alarms.pop(code, None) if text is None else self.alarms.update({code: text})

    def close(self) -> None:
        self.journal.close()


BEGIN = CreateMatch(("Ann", "Ben"), cards=CARDS, match_id="m1")


@contextmanager
def sent(folder: Path, *urls: str, secret: str = "a shared one"):
    """A table whose events go to those addresses."""
    (folder / "secret").write_text(secret + "\n", encoding="utf-8")
    with closing(Table(folder)) as table, (folder / "secret").open(encoding="utf-8") as file:
        more = {name: None for name in ("port", "pin", "tls", "rules_file", "seed")}
        asked = DashboardOptions(
            **more,
            **{"host": "", "no_browser": True, "headless": True, "recordings_gb": 1, "mode": "all"},
            **{"data_dir": folder, "notify": urls, "notify_secret": file},
        )
        with events_sent(table, asked):
            yield table


class Hook(ThreadingHTTPServer):
    """A receiver: keeps (body, signature); refuses so many first, or with ``hangs`` never answers."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Receiver)
        self.taken: list[tuple[bytes, str]] = []
        self.answers: list[int] = []
        self.hangs = threading.Event()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?for=tests"

    def kinds(self) -> list[str]:
        return [json.loads(body)["kind"] for body, _ in self.taken]


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.server.hangs.is_set():
            time.sleep(0.5)
            return
        status = self.server.answers.pop(0) if self.server.answers else 204
        if status == 204:
            self.server.taken.append((body, self.headers[event_senders.SIGNATURE]))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.end_headers()

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_) -> None:
        pass


@pytest.fixture
def hook():
    with Hook() as server:
        yield server
        server.shutdown()


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    monkeypatch.setattr(event_senders, "WAIT_S", 0.02)


def until(true, seconds: float = 10.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_events_come_in_order_signed_and_again_until_they_are_taken(tmp_path, hook):
    hook.answers = [500, 302, 404]
    with sent(tmp_path, hook.url) as table:
        table.do(BEGIN, *DUEL)
        until(lambda: len(hook.taken) == 7)
        assert not table.alarms
    assert hook.kinds() == ["match_created", "card_drawn", "ready", "go", "stop", "verdict", "duel_decided"]
    for body, signature in hook.taken:
        assert signature == "sha256=" + hmac.new(b"a shared one", body, hashlib.sha256).hexdigest()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file() and path.name != "secret")
    assert b"a shared one" not in kept


def test_a_program_that_was_ended_goes_on_where_it_was_and_a_new_target_begins_now(tmp_path, hook):
    with sent(tmp_path, hook.url) as table:
        table.do(BEGIN, *DUEL[:2])
        until(lambda: len(hook.taken) == 3)
        hook.answers = [503] * 1000
        table.do(DUEL[2])
        until(lambda: table.alarms)
        ((_, text),) = table.alarms.items()
        assert "127.0.0.1 does not take the public events" in text and "hook" not in text
    with closing(Table(tmp_path)) as unsent:
        unsent.do(DUEL[3])
    hook.answers = []
    with Hook() as other, sent(tmp_path, hook.url, other.url) as table:
        table.do(DUEL[4])
        until(lambda: len(hook.taken) == 7 and len(other.taken) == 2)
        other.shutdown()
    assert hook.kinds()[3:] == ["go", "stop", "verdict", "duel_decided"] and other.kinds() == [
        "verdict",
        "duel_decided",
    ]


def test_a_target_that_hangs_holds_nobody_up(tmp_path, hook, monkeypatch):
    monkeypatch.setattr(event_senders, "ANSWER_S", 0.3)
    hook.hangs.set()
    with Hook() as other, sent(tmp_path, hook.url, other.url) as table:
        table.do(BEGIN)
        begun = time.monotonic()
        table.do(*DUEL)
        assert time.monotonic() - begun < 1.0
        until(lambda: len(other.taken) == 7)
        until(lambda: len(table.alarms) == 1)
        other.shutdown()
    assert not hook.taken


@pytest.mark.parametrize(
    ("url", "secret", "fault"),
    [
        ("http://club.example/hook", "", "events are signed"),
        ("https://me:word@club.example/hook", "x", "no password"),
        ("ftp://club.example", "x", "is wanted"),
        ("mqtt://broker", "x", "is wanted"),
        ("club.example", "x", "is wanted"),
    ],
)
def test_an_address_that_cannot_be_is_refused_before_anything_is_played(tmp_path, url, secret, fault):
    with pytest.raises(BadTarget, match=fault), sent(tmp_path, url, secret=secret):
        pass


def stop(process: subprocess.Popen) -> None:
    process.terminate()
    process.wait()


def answers(port: int) -> bool:
    with socket.socket() as line:
        return not line.connect_ex(("127.0.0.1", port))


@pytest.fixture
def broker(tmp_path):
    """A real broker on a port of its own."""
    program = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if program is None:
        pytest.skip("mosquitto is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings, kept = tmp_path / "mosquitto.conf", f"persistence true\npersistence_location {tmp_path}/\nuser root\n"
    settings.write_text(f"listener {port} 127.0.0.1\nallow_anonymous true\nlog_type none\n{kept}", encoding="utf-8")
    running = []

    def start() -> None:
        running.append(subprocess.Popen([program, "-c", str(settings)], stderr=subprocess.DEVNULL))
        until(lambda: answers(port))

    start()
    yield port, running, start
    for process in running:
        stop(process)


def test_a_lamp_shows_verdicts_by_a_real_broker_that_was_away(tmp_path, broker):
    port, running, start = broker
    seen, events = [], []
    ear = Client(CallbackAPIVersion.VERSION2, "ear", clean_session=False)
    ear.on_message = lambda _, __, m: (seen if m.topic.startswith("home") else events).append(json.loads(m.payload))
    ear.on_connect = lambda *_: ear.subscribe([("home/lamp/set", 1), ("referee", 1)])
    ear.reconnect_delay_set(0.1, 0.1)
    ear.connect("127.0.0.1", port)
    ear.loop_start()
    lamp = subprocess.Popen([sys.executable, str(LAMP), f"127.0.0.1:{port}"])
    try:
        with sent(tmp_path, f"mqtt://127.0.0.1:{port}/referee") as table:
            table.do(BEGIN)
            until(lambda: events)
            for _ in range(200):  # until the lamp has subscribed
                if seen:
                    break
                ear.publish("referee", json.dumps({"kind": "card_drawn"}), qos=1).wait_for_publish(5)
                time.sleep(0.05)
            stop(running.pop())
            table.do(*DUEL)
            until(lambda: table.alarms)
            start()
            until(lambda: not table.alarms and events and events[-1]["kind"] == "duel_decided")
            until(lambda: seen[-1] == {"state": "ON", "color": {"r": 0, "g": 255, "b": 0}})
    finally:
        stop(lamp)
        ear.disconnect()
        ear.loop_stop()
    numbers = [int(row["id"].split("/")[1]) for row in events if "id" in row]
    assert sorted(set(numbers)) == [1, 2, 3, 4, 5, 6, 7] and numbers == sorted(numbers)
