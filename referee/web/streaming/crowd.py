"""Everybody who watches a page: news is written to all of them in one pass over their connections.

A viewer's stream begins as any answer of the server does. From then on it costs no thread and no coroutine that would
have to be woken: each message is written as one more chunk (RFC 9112, 7.1) of the answer that runs. Through uvicorn
and h11 a message took ten times as long, and with a thousand viewers a referee's command waited behind it.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Protocol

from referee.web.streaming.streams import EventStream

GROUP = 25
"""So many viewers are sent news at once, some milliseconds of work, before anything else gets its turn."""

TICK_S = 0.25
"""How often it is looked who has heard nothing for long, and who is to be let go."""


class ViewerConnection(Protocol):
    """A viewer's connection."""

    on_room: Callable[[], None] | None

    def behind(self) -> bool:
        """Whether its reader has not taken yet what was written, or has gone."""

    def write(self, data: bytes) -> None:
        """Send bytes as they are."""


class Viewer:
    """One viewer. ``over`` is done when he is to be let go. ``chunked``: how HTTP/1.1 frames an endless answer."""

    def __init__(self, stream: EventStream, line: ViewerConnection, chunked: bool) -> None:
        self._loop = asyncio.get_running_loop()
        self.over: asyncio.Future[None] = self._loop.create_future()
        self.stream, self._line, self._chunked = stream, line, chunked
        self._heard_s = self._loop.time()
        line.on_room = self.send

    def due(self) -> bool:
        """Whether he is to hear something though there is no news, or to be let go."""
        return self.stream.ended or self._loop.time() - self._heard_s >= self.stream.wait_s

    def send(self) -> None:
        """Send what is new, or a sign of life when it is due. Who is behind skips states and hears when he has room."""
        if self.stream.ended or self.over.done():
            self.leave()
        elif not self._line.behind():
            message = self.stream.take() or (self.stream.beat() if self.due() else None)
            if message:
                self._heard_s = self._loop.time()
                self._line.write(b"%x\r\n%b\r\n" % (len(message), message) if self._chunked else message)

    def leave(self) -> None:
        """He hears no more."""
        self._line.on_room = None
        if not self.over.done():
            self.over.set_result(None)


class Broadcaster:
    """All viewers, by the feed that they watch. To be used on the server's loop."""

    def __init__(self) -> None:
        self._viewers: dict[str, dict[Viewer, None]] = {}
        self._passing: set[str] = set()
        self._again: set[str] = set()
        self._ticking = False

    def count(self) -> int:
        """How many there are."""
        return sum(map(len, self._viewers.values()))

    async def watch(
        self, stream: EventStream, line: ViewerConnection, chunked: bool, gone: asyncio.Future[None]
    ) -> None:
        """Send the stream's news until it ends or ``gone`` is done."""
        viewer = Viewer(stream, line, chunked)
        self._viewers.setdefault(stream.topic, {})[viewer] = None
        try:
            viewer.send()
            self._tick_on()
            await asyncio.wait({viewer.over, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            viewer.leave()
            del self._viewers[stream.topic][viewer]

    def publish(self, topic: str | None) -> None:
        """That feed (None: every one) has news. What comes while it is being told is told in one more pass."""
        for name in [topic] if topic else list(self._viewers):
            if name in self._passing:
                self._again.add(name)
            else:
                self._passing.add(name)
                self._pass(name, list(self._viewers.get(name, ())))

    def _pass(self, name: str, viewers: list[Viewer]) -> None:
        """Tell one group after another: between them the loop looks at its sockets, and serves a command."""
        _send_to_all(viewers[:GROUP])
        if viewers[GROUP:]:
            asyncio.get_running_loop().call_soon(self._pass, name, viewers[GROUP:])
            return
        self._passing.discard(name)
        if name in self._again:
            self._again.discard(name)
            asyncio.get_running_loop().call_soon(self.publish, name)

    def _tick_on(self) -> None:
        if not self._ticking:
            self._ticking = True
            asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _tick(self) -> None:
        """Tell those who are due, a group of them at a time; not again when nobody is left."""
        self._ticking = False
        due = [viewer for viewers in self._viewers.values() for viewer in viewers if viewer.due()]
        for at in range(0, len(due), GROUP):
            asyncio.get_running_loop().call_soon(_send_to_all, due[at : at + GROUP])
        if self.count():
            self._tick_on()


def _send_to_all(viewers: Iterable[Viewer]) -> None:
    for viewer in viewers:
        viewer.send()
