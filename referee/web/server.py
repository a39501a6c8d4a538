"""The production WSGI server, waitress, on one thread of the program that also runs the devices."""

from __future__ import annotations

import socket
import threading

import flask
from waitress import wasyncore
from waitress.server import create_server

from referee.web.streams import MAX_EVENT_STREAMS, MAX_PICTURE_STREAMS

REQUEST_THREADS = 16
"""Threads left for short requests when every stream's place is taken."""

OUTBUF_BYTES = 256 * 1024
"""What waits in memory for one slow reader; beyond it his own thread waits, nobody else's."""

STALLED_MS = 15_000
"""A reader who takes nothing for so long is cut off by the kernel (TCP_USER_TIMEOUT, RFC 5482)."""


def _socket_options() -> list[tuple[int, int, int]]:
    options = [(socket.SOL_TCP, socket.TCP_NODELAY, 1)]
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        options.append((socket.SOL_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS))
    return options


class Server:
    """A running dashboard; ``port`` is the real one when 0 was asked for. Close it when done."""

    def __init__(self, app: flask.Flask, host: str, port: int) -> None:
        self.host = "127.0.0.1" if host == "localhost" else host
        self._app = app
        self._map: dict = {}
        self._closing = False
        self._server = create_server(
            app,
            map=self._map,
            host=self.host,
            port=port,
            ident=None,
            clear_untrusted_proxy_headers=True,
            threads=MAX_EVENT_STREAMS + MAX_PICTURE_STREAMS + REQUEST_THREADS,
            connection_limit=1000,
            channel_timeout=30,
            channel_request_lookahead=1,
            asyncore_use_poll=True,
            backlog=256,
            log_socket_errors=False,
            max_request_body_size=app.config["MAX_CONTENT_LENGTH"],
            outbuf_high_watermark=OUTBUF_BYTES,
        )
        self._server.adj.socket_options = _socket_options()  # no keyword sets it
        self.port = int(self._server.effective_port)
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the public board."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"http://{shown}:{self.port}/"

    def _run(self) -> None:
        while not self._closing:
            wasyncore.loop(timeout=1, use_poll=True, map=self._map, count=1)

    def close(self) -> None:
        """End every stream, stop all threads, free the port."""
        self._app.extensions["referee.streams"].close()
        self._server.task_dispatcher.shutdown(cancel_pending=True, timeout=5)
        self._closing = True
        self._server.pull_trigger()
        self._thread.join(timeout=5)
        wasyncore.close_all(self._map)


def serve(app: flask.Flask, host: str, port: int) -> Server:
    """Start serving in a thread and come back at once. Raises OSError when the port is taken."""
    return Server(app, host, port)
