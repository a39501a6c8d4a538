"""How a served command is found, guarded and ended: the address of the QR code, TLS, PINs, files, a polite kill."""

from __future__ import annotations

import errno
import gc
import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from flask import Flask

from referee.cli import cli
from referee.commands import serving
from referee.commands.serving import kept_awake
from referee.devices.ports import SystemClock
from referee.session.notifier import Notifier
from referee.web.base_app import kept_secret
from referee.web.logins import fingerprint


class Line:
    """A datagram socket of a machine whose way out has this address; None: no way out."""

    def __init__(self, own):
        self.own = own

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def connect(self, there):
        if self.own is None:
            raise OSError("Network is unreachable")

    def getsockname(self):
        return self.own, 4711


@pytest.mark.parametrize(
    ("url", "host", "own", "address"),
    [
        ("http://127.0.0.1:8000/", "127.0.0.1", "10.0.0.7", None),
        ("http://127.0.0.1:8000/", "localhost", "10.0.0.7", None),
        ("http://192.168.7.5:8000/", "192.168.7.5", "10.0.0.7", "http://192.168.7.5:8000/"),
        ("http://127.0.0.1:8000/", "0.0.0.0", "10.0.0.7", "http://10.0.0.7:8000/"),
        ("https://127.0.0.1:8443/", "::", "10.0.0.7", "https://10.0.0.7:8443/"),
        ("http://127.0.0.1:8000/", "0.0.0.0", None, None),
        ("http://127.0.0.1:8000/", "0.0.0.0", "127.0.0.1", None),
    ],
)
def test_phones_are_sent_where_they_can_reach_the_board(monkeypatch, url, host, own, address):
    monkeypatch.setattr(serving.socket, "socket", lambda *_: Line(own))
    assert serving.reachable(url, host) == address


@pytest.mark.parametrize(("host", "told"), [("0.0.0.0", "10.0.0.7"), ("127.0.0.1", "127.0.0.1")])
def test_the_address_that_is_told_is_one_that_others_can_open(monkeypatch, host, told):
    monkeypatch.setattr(serving.socket, "socket", lambda *_: Line("10.0.0.7"))
    served = SimpleNamespace(url="http://127.0.0.1:8000/", close=lambda: None)
    monkeypatch.setattr(serving, "Server", lambda *_: served)
    with serving.page_server(Flask("test"), SimpleNamespace(host=host, port=8000, tls=None)) as url:
        assert url == f"http://{told}:8000/"


ENDED_BY_ANOTHER_THREAD = """
import signal, threading
from referee.commands.serving import interrupted

def take():  # as the kernel may: the signal reaches a thread that is not the main one
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

with interrupted() as over:
    threading.Timer(0.3, take).start()
    over.wait()
print("closed in order")
"""


def test_a_polite_kill_that_another_thread_took_ends_the_program():
    ended = subprocess.run(
        [sys.executable, "-c", ENDED_BY_ANOTHER_THREAD], capture_output=True, text=True, timeout=60, check=True
    )
    assert ended.stdout == "closed in order\n"


@pytest.fixture
def served(monkeypatch):
    """What a command would serve, without a server: (certificate and key, whether cookies travel encrypted only)."""
    seen = []

    def serve(app, host, port, tls):
        seen.append((tls, app.config["SESSION_COOKIE_SECURE"]))
        raise OSError(errno.EACCES, "this is a test")

    monkeypatch.setattr(serving, "Server", serve)
    return seen


@pytest.fixture
def commands(tmp_path):
    """The commands that serve pages, by name, in an empty place."""
    (tmp_path / "attempts").mkdir()
    cup = ["-j", str(tmp_path / "cup.db")]
    assert not CliRunner().invoke(cli, ["tournament", "begin", "Cup", *cup]).exit_code
    data = ["--data-dir", str(tmp_path / "data")]
    return {
        "hall": ["tournament", "run", *cup, *data],
        "game": ["game", "play", "city_towers", "--players", "Ann,Ben", *data, "--no-browser"],
        "archive": ["attempts", "show", str(tmp_path / "attempts"), "--no-browser"],
        "demo": ["demo", "--game", "city_towers", *data, "--no-browser"],
        "tables": ["demo", "--tables", "1", *data, "--no-browser"],
    }


@pytest.mark.parametrize("name", ["hall", "game", "archive", "demo", "tables"])
def test_every_server_takes_a_certificate(name, commands, served):
    pair = ("cert.pem", "key.pem")
    CliRunner().invoke(cli, [*commands[name], "--tls", *pair])
    assert [(tuple(map(str, tls)), secure) for tls, secure in served] == [(pair, True)]


def test_when_a_server_says_it_is_there_its_first_page_is_compiled_and_what_is_loaded_is_settled(commands, monkeypatch):
    """Else the first visitor waits for the templates, and every one now and then for a search of all that is loaded."""
    seen, before = [], gc.get_freeze_count()

    def serve(app, *_):
        seen.append(({name for _, name in app.jinja_env.cache}, gc.get_freeze_count() > before))
        raise OSError(errno.EACCES, "this is a test")

    monkeypatch.setattr(serving, "Server", serve)
    CliRunner().invoke(cli, commands["hall"])
    wanted = {"hall_board.html", "parts/board_verdict.html"}
    assert [(wanted <= compiled, settled) for compiled, settled in seen] == [(True, True)], seen


@pytest.mark.parametrize("name", ["hall", "game", "archive"])
def test_a_short_pin_is_refused(name, commands, served):
    said = CliRunner().invoke(cli, [*commands[name], "--pin", "12345"])
    assert said.exit_code == 2 and "6 characters at least" in said.output and not served
    CliRunner().invoke(cli, [*commands[name], "--pin", "123456"])
    assert len(served) == 1


def test_a_short_pin_that_the_data_folder_knows_goes_on_and_is_told(commands, served, tmp_path):
    folder = tmp_path / "data" / "games"
    folder.mkdir(parents=True)
    mark = fingerprint("12345", kept_secret(folder / "web-secret"))
    (folder / "logins.json").write_text(json.dumps({"pin": mark, "last": 1, "logins": []}))
    said = CliRunner().invoke(cli, [*commands["game"], "--pin", "12345"])
    assert len(served) == 1 and "PIN is short" in said.output
    assert CliRunner().invoke(cli, [*commands["game"], "--pin", "54321"]).exit_code == 2


@pytest.mark.parametrize("name", ["hall", "game"])
def test_no_other_user_of_the_machine_reads_what_is_recorded(name, commands, served, tmp_path):
    before = os.umask(0o022)
    try:
        CliRunner().invoke(cli, commands[name])
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    written = [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    assert written and {path.name: oct(path.stat().st_mode & 0o077) for path in written} == dict.fromkeys(
        (path.name for path in written), "0o0"
    )


def test_the_computer_is_kept_awake_as_long_as_the_program_runs(tmp_path, monkeypatch):
    tool, sign = tmp_path / "systemd-inhibit", tmp_path / "held"
    tool.write_text(f"#!/bin/sh\ntouch {sign}\n/bin/cat\nrm {sign}\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with kept_awake():
        for _ in range(500):
            if sign.exists():
                break
            time.sleep(0.01)
        assert sign.exists()
    assert not sign.exists()
    tool.write_text("#!/bin/sh\nexit 1\n")  # it may not
    with kept_awake():
        pass


def test_an_alarm_stands_also_where_the_terminals_log_is_on_the_full_disk(monkeypatch):
    notifier = Notifier(SystemClock())
    notifier.say = serving.say_alarm
    with open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stderr", full)
        notifier.alarm("disk_low", "0 MB left for recordings")
        monkeypatch.undo()
        assert [alarm["code"] for alarm in notifier.alarms()] == ["disk_low"]
        with pytest.raises(OSError):  # what it could not write it still holds
            full.close()
