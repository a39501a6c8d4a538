"""How a served command is found and ended: the address that the QR code shows, and a polite kill."""

from __future__ import annotations

import subprocess
import sys

import pytest

from referee.commands import serving


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
