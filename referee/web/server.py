"""The server: uvicorn on one thread of the program that also runs the devices.

It took the place of waitress, which gives every open stream a thread, looks at every socket in turn whenever
one of them stirs, and lets a head come in a byte at a time: a thousand viewers, or one with a thousand sockets,
were too many. Here an event loop holds the connections, and threads only run views:

- ``GuardedConnection``: uvicorn's HTTP connection, with a cap per address (its own is for all together) and deadlines;
- ``Bridge`` runs the app (WSGI) on a few threads; a stream (``referee.web.streaming.streams``) goes on without one.
  PINs are hashed on a thread of their own, so guesses never take more than a core and no thread from the pages.

uvicorn deprecates its own WSGI middleware for a2wsgi, which was tried in place of ``Bridge``: it gives every body that
comes and every answer that is read a thread, so that 40 half-sent bodies held up everybody for 10 s and more.
"""

from __future__ import annotations

import asyncio
import io
import socket
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

import flask
import h11
import uvicorn
from uvicorn.middleware.wsgi import build_environ
from uvicorn.protocols.http.h11_impl import H11Protocol
from werkzeug.wsgi import FileWrapper

from referee.web.logins import Logins
from referee.web.security import PIN_RIGHT, Guess, visitor_of
from referee.web.streaming.crowd import Broadcaster
from referee.web.streaming.streams import EventStream, PictureStream, Stream

try:
    import resource
except ImportError:  # Windows, where sockets are no files
    resource = None  # type: ignore[assignment]

QUEUE = 1024
"""Connections that the system keeps until they are taken in: a hall's that all come at once."""

CONNECTIONS_AT_ONCE = 16
"""So many connections are taken in, or turned away, at a time."""

FILES_KEPT = 200
"""Open files that the rest of the program needs: devices, the record, recordings."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Connections in all, those of them kept for known addresses, and for one address that is not known.

    A hall behind one address is served with fewer connections than viewers: ``crowded`` has them hand each one on.
    """

    most: int = 2000
    kept: int = 100
    per_address: int = 128
    crowded: int = 64


class Connections:
    """The connections that are open. ``knows`` tells the addresses from which a referee has logged in."""

    def __init__(self, limits: ConnectionLimits, known: Callable[[str], bool]) -> None:
        self._limits, self.knows = limits, known
        self._open: Counter[str] = Counter()
        self._lock = threading.Lock()

    def enter(self, address: str) -> None:
        """One more connection of that address; ``leave`` gives its place back."""
        with self._lock:
            self._open[address] += 1

    def admits(self, address: str) -> bool:
        """Whether one more of that address is taken in now."""
        known = self.knows(address)
        with self._lock:
            free = self._limits.most - self._open.total() - (0 if known else self._limits.kept)
            return free > 0 and self._open[address] < self._limits.per_address * (4 if known else 1)

    def leave(self, address: str) -> None:
        """A connection of that address has ended."""
        with self._lock:
            self._open -= Counter([address])

    def crowded(self, address: str) -> bool:
        """Whether that address has so many that each should serve one request and go."""
        return self._open[address] > self._limits.crowded


class GuardedSocket(socket.socket):
    """A listening socket that turns away who is not admitted before a connection is made of it.

    An event loop takes in all who wait at a time; one who knocks a thousand times a second would keep it busy with
    taking in and throwing out. Here at most ``CONNECTIONS_AT_ONCE`` are turned away before others get their turn, and
    ``QUEUE`` may wait, however few the loop asks for.
    """

    admits: Callable[[str], bool] = staticmethod(lambda address: True)

    def listen(self, backlog: int = 0) -> None:
        """Let ``QUEUE`` wait."""
        super().listen(QUEUE)

    def accept(self) -> tuple[socket.socket, tuple]:
        """The next connection that is admitted. Raises BlockingIOError when there is none now."""
        for _ in range(CONNECTIONS_AT_ONCE):
            line, peer = super().accept()
            if self.admits(peer[0]):
                return line, peer
            line.close()
        raise BlockingIOError


def affordable(limits: ConnectionLimits) -> ConnectionLimits:
    """The limits, lowered where the system gives this process fewer files; asks it for enough first."""
    if resource is None:
        return limits
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = limits.most + FILES_KEPT
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return replace(limits, most=min(limits.most, max(soft - FILES_KEPT, 2 * limits.kept)))


THREADS = 12
"""Views that run at once; a request waits for one of them, a stream needs none."""

OWN_THREADS = 4
"""More of them for addresses from which a referee has logged in: no crowd of others is served before him."""

HEAD_S, BODY_S = 10.0, 60.0
"""A request's head must be here so long after its first byte, and its body so long after the head."""

IDLE_S = 15
"""A connection without a request is closed after so long: a browser opens another."""

STALLED_MS = 15_000
"""A reader who takes nothing for so long is cut off by the kernel (TCP_USER_TIMEOUT, RFC 5482)."""

LINE = "referee.line"
"""Under this name a request's state (ASGI) has the connection that it came by."""

HEAD_BYTES = 64 * 1024
BLOCK_BYTES = 256 * 1024

Scope = dict[str, Any]
Send = Callable[[dict[str, Any]], Any]
Receive = Callable[[], Any]


class GuardedConnection(H11Protocol):
    """One connection: counted, and cut off when a request does not arrive."""

    def __init__(self, guard: Connections, **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self.app_state = {**self.app_state, LINE: self}
        self.on_room: Callable[[], None] | None = None
        self._guard, self._address = guard, ""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Count the connection, or close it at once where too many came in together."""
        super().connection_made(transport)
        address = visitor_of(self.client[0] if self.client else "")
        if not self._guard.admits(address):
            return transport.abort()
        self._address = address
        self._guard.enter(address)
        own = transport.get_extra_info("socket")
        if own is not None and hasattr(socket, "TCP_USER_TIMEOUT"):
            own.setsockopt(socket.SOL_TCP, socket.TCP_USER_TIMEOUT, STALLED_MS)
        self._expect(HEAD_S)

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the place back."""
        self._expect(None)
        if self._address:
            self._guard.leave(self._address)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Hand the bytes on, and see how far the request has come."""
        idle = self.conn.their_state is h11.IDLE
        super().data_received(data)
        state = self.conn.their_state
        if state is h11.SEND_BODY:
            self._expect(BODY_S, anew=idle)
        elif state is h11.IDLE and self.conn.trailing_data[0]:
            self._expect(HEAD_S, anew=False)
        else:
            self._expect(None)

    def behind(self) -> bool:
        """Whether its reader has not taken yet what was written, or has gone."""
        return self.flow.write_paused or self.transport.is_closing()

    def write(self, data: bytes) -> None:
        """Send bytes as they are, in the middle of an answer."""
        self.transport.write(data)

    def resume_writing(self) -> None:
        """The reader has taken enough."""
        super().resume_writing()
        if self.on_room:
            self.on_room()

    def _expect(self, within_s: float | None, anew: bool = True) -> None:
        """Close the connection unless the request comes so soon; None: it is here. ``anew``: from now on."""
        if self._deadline and (anew or within_s is None):
            self._deadline.cancel()
            self._deadline = None
        if within_s is not None and self._deadline is None:
            self._deadline = self.loop.call_later(within_s, self.transport.abort)


class Bridge:
    """The app as uvicorn calls it (ASGI): views on threads, streams on the loop."""

    def __init__(self, app: flask.Flask, guard: Connections, pools: Iterable[ThreadPoolExecutor]) -> None:
        self._app, self._guard = app, guard
        self._pool, self._own_pool, self._hashing = pools
        self._most_bytes = app.config["MAX_CONTENT_LENGTH"]
        self.crowd = Broadcaster()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if {b"content-length", b"transfer-encoding"} <= {name for name, _ in scope["headers"]}:
            return await _refuse(send, 400, b"two lengths of one body")
        body = await self._body(scope, receive)
        if body is None:
            return await _refuse(send, 413, b"the body is too large")
        address = visitor_of((scope["client"] or ("",))[0])
        view = await self._called(address, environ(scope, body))
        if isinstance(view.chunks, Guess):
            right = await asyncio.get_running_loop().run_in_executor(self._hashing, view.chunks.look)
            view = await self._called(address, environ(scope, body) | {PIN_RIGHT: right})
        with closing(view):
            status, headers = view.head
            # more before the last request was answered: no browser does that
            if self._guard.crowded(address) or scope["state"][LINE].conn.trailing_data[0]:
                headers = [*headers, (b"connection", b"close")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            if isinstance(view.chunks, Stream):
                await self._go_on(view.chunks, scope, receive, send)
            else:
                await self._write(view, send)

    async def _called(self, address: str, environ: dict[str, Any]) -> _View:
        """The view that the app has for that address, called on a thread."""
        view = _View(self._app, environ)
        pool = self._own_pool if self._guard.knows(address) else self._pool
        await asyncio.get_running_loop().run_in_executor(pool, view.run)
        return view

    async def _go_on(self, stream: Stream, scope: Scope, receive: Receive, send: Send) -> None:
        """An answer without an end, until the viewer or the stream has gone."""
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await send({"type": "http.response.body", "body": stream.begin(), "more_body": True})
            if isinstance(stream, EventStream):
                await self.crowd.watch(stream, scope["state"][LINE], scope["http_version"] == "1.1", gone)
            elif isinstance(stream, PictureStream):
                await self._film(stream, gone, send)
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            gone.cancel()

    async def _body(self, scope: Scope, receive: Receive) -> bytes | None:
        """The request's body, None when it is too large; nothing of it is read then."""
        announced = dict(scope["headers"]).get(b"content-length", b"0")
        if int(announced) > self._most_bytes:
            return None
        body = bytearray()
        while True:
            message = await receive()
            body += message.get("body", b"")
            if len(body) > self._most_bytes:
                return None
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return bytes(body)

    async def _write(self, view: _View, send: Send) -> None:
        """The answer's body; a slow reader keeps a coroutine waiting, no thread."""
        loop, block = asyncio.get_running_loop(), view.first
        while not view.whole:
            await send({"type": "http.response.body", "body": block, "more_body": True})
            block = await loop.run_in_executor(self._pool, view.next_block)
        await send({"type": "http.response.body", "body": block, "more_body": False})

    async def _film(self, stream: PictureStream, gone: asyncio.Future[None], send: Send) -> None:
        """One picture after the other, until the viewer or the stream has gone."""
        loop = asyncio.get_running_loop()
        while not (stream.ended or gone.done()):
            picture = await loop.run_in_executor(self._pool, stream.take)
            if picture:
                await send({"type": "http.response.body", "body": picture, "more_body": True})
            await asyncio.wait({gone}, timeout=stream.wait_s)


class _View:
    """One call of the app on a thread: the head, and the body's blocks."""

    def __init__(self, app: flask.Flask, environ: dict[str, Any]) -> None:
        self._app, self._environ = app, environ
        self.head: tuple[int, list[tuple[bytes, bytes]]] = (500, [])
        self.chunks: Iterable[bytes] = ()
        self.first = b""
        self.whole = False

    def run(self) -> None:
        """Call the app and take the beginning of its answer."""
        self.chunks = self._app(self._environ, self._start)
        if not isinstance(self.chunks, Stream | Guess):
            self._blocks = iter(self.chunks)
            self.first = self.next_block()

    def next_block(self) -> bytes:
        """About BLOCK_BYTES more of the body; ``whole`` says that it was the last."""
        block = bytearray()
        for chunk in self._blocks:
            block += chunk
            if len(block) >= BLOCK_BYTES:
                return bytes(block)
        self.whole = True
        return bytes(block)

    def close(self) -> None:
        """Let go of what the answer came from."""
        if hasattr(self.chunks, "close"):
            self.chunks.close()

    def _start(self, status: str, headers: list[tuple[str, str]], *_: object) -> Callable[[bytes], None]:
        self.head = int(status.split()[0]), [(k.lower().encode("latin-1"), v.encode("latin-1")) for k, v in headers]
        return lambda data: None


def environ(scope: Scope, body: bytes) -> dict[str, Any]:
    """The request as PEP 3333 wants it, where uvicorn's own way would fail on odd bytes, or let a header with an
    underscore pass for another."""
    cookies = [value for name, value in scope["headers"] if name == b"cookie"]
    headers = [row for row in scope["headers"] if b"_" not in row[0] and row[0] != b"cookie"]
    headers += [(b"cookie", b"; ".join(cookies))] if cookies else []
    asked: Any = scope | {"headers": headers, "path": "", "query_string": b""}
    return dict(build_environ(asked, asked, io.BytesIO(body))) | {
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.errors": sys.stderr,
        "wsgi.multiprocess": False,
        PIN_RIGHT: None,
        "wsgi.file_wrapper": lambda file, _=0: FileWrapper(file, BLOCK_BYTES),
    }


async def _gone(receive: Receive) -> None:
    """Until the viewer has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _refuse(send: Send, status: int, why: bytes) -> None:
    """That status, and no more of this connection."""
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": why, "more_body": False})


class Server:
    """A dashboard that is served on a thread; ``port`` is the real one when 0 was asked for. Close it when done.

    ``tls``: the certificate's file and its key's. Raises OSError when the port is taken or the certificate cannot be
    read.
    """

    def __init__(
        self,
        app: flask.Flask,
        host: str,
        port: int,
        tls: tuple[Path, Path] | None = None,
        limits: ConnectionLimits | None = None,
    ) -> None:
        self.host = "127.0.0.1" if host == "localhost" else host
        self._scheme = "https" if tls else "http"
        self._socket = _listening(self.host, port)
        self.port = int(self._socket.getsockname()[1])
        logins: Logins = app.extensions["referee.logins"]
        self.connections = Connections(
            affordable(limits or ConnectionLimits()),
            lambda address: any(visitor_of(row.address) == address for row in logins.rows()),
        )
        self._socket.admits = lambda address: self.connections.admits(visitor_of(address))
        sizes = {"view": THREADS, "referee": OWN_THREADS, "PIN": 1}
        self._pools = [ThreadPoolExecutor(n, thread_name_prefix=f"web {name}") for name, n in sizes.items()]
        self._bridge = Bridge(app, self.connections, self._pools)
        self._streams = app.extensions["referee.streams"]
        certificate, key = tls or (None, None)
        self._server = uvicorn.Server(
            uvicorn.Config(
                self._bridge,
                http=partial(GuardedConnection, self.connections),  # type: ignore[arg-type]
                loop="asyncio",
                ws="none",
                lifespan="off",
                interface="asgi3",
                log_config=None,
                log_level="critical",
                access_log=False,
                proxy_headers=False,
                server_header=False,
                backlog=CONNECTIONS_AT_ONCE,
                timeout_keep_alive=IDLE_S,
                timeout_graceful_shutdown=3,
                h11_max_incomplete_event_size=HEAD_BYTES,
                ssl_certfile=certificate,
                ssl_keyfile=key,
            )
        )
        try:
            self._server.config.load()
        except OSError:  # a certificate that cannot be read
            self._socket.close()
            raise
        self._thread = threading.Thread(target=asyncio.run, args=(self._serve(),), name="web", daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """The address of the public board."""
        shown = "127.0.0.1" if self.host in ("0.0.0.0", "::") else self.host
        return f"{self._scheme}://{shown}:{self.port}/"

    async def _serve(self) -> None:
        loop = asyncio.get_running_loop()

        def publish(topic: str | None) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._bridge.crowd.publish, topic)

        self._streams.listen(publish)
        await self._server.serve(sockets=[self._socket])
        for connection in list(self._server.server_state.connections):  # a reader who took nothing in the time of grace
            connection.transport.abort()
        await asyncio.sleep(0)

    def close(self) -> None:
        """End every stream, stop all threads, free the port."""
        self._server.should_exit = True
        self._streams.close()
        self._thread.join(timeout=10)
        for pool in self._pools:
            pool.shutdown(cancel_futures=True)
        self._socket.close()


def _listening(host: str, port: int) -> GuardedSocket:
    """A socket at that address; ``::`` is every address of IPv4 too. Raises OSError when it is taken."""
    family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][0]
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    made = socket.create_server((host, port), family=family, backlog=QUEUE, dualstack_ipv6=both)
    return GuardedSocket(fileno=made.detach())
