"""Live pages without load on the session: one thread renders, any number of viewers wait.

A *feed* is one page in one language as named parts of HTML. One thread waits on the session,
renders each feed that somebody watches once per change and tells the server; a viewer gets the
parts that changed since his last message. Who is slow skips states, nothing queues up for him.

A viewer holds no thread: a stream only says what is new (``take``), and the server asks it when its feed
has news. Places are shared out so that no address and not all viewers together take the referee's. Who
finds none asks for the whole page's parts again and again (``snapshot``), which are rendered once for all.
"""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from referee.journal.public_events import PublicEvent
from referee.session.ports import PageSession


@dataclass(frozen=True)
class Places:
    """How many streams of a kind may be open: in all, of them for anybody, and for one address of the public."""

    most: int
    public: int
    per_address: int


PLACES = {"events": Places(1240, 1200, 24), "pictures": Places(16, 4, 2)}
"""A stream of events costs a socket and a few kilobytes, one of pictures some megabits a second."""

REFEREE = "referee"
"""Under this name the streams of those who are logged in are counted, wherever they sit."""

HEARTBEAT_S = 5.0
"""A viewer hears something at least this often, so that silence means a broken line."""

RENDER_EVERY_S = 0.08
"""Shortest time between two renderings: gates change with every frame, people don't see more."""

PICTURE_EVERY_S = 0.1

ASKED_S = 5.0
"""A feed whose snapshot was asked for so lately is kept up to date."""

MATCHES = "matches"
"""The name of the feed of public events, beside those of pages."""

Parts = dict[str, str]
News = Callable[[int], tuple[bytes | None, int]]


@dataclass
class Feed:
    """One page in one language: its parts, and at which serial each last changed."""

    render: Callable[[], Parts]
    serial: int = 0
    parts: Parts = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    viewers: int = 0
    asked_s: float = -ASKED_S
    _last: tuple[int, int, bytes] = (-1, -1, b"")

    def watched(self, now_s: float) -> bool:
        """Whether somebody has it before him, or asked for its snapshot of late."""
        return self.viewers > 0 or now_s - self.asked_s < ASKED_S

    def take(self, parts: Parts) -> bool:
        """Make these the feed's parts; whether anything changed."""
        news = [name for name, html in parts.items() if self.parts.get(name) != html]
        if not news:
            return False
        self.serial += 1
        self.parts = parts
        self.changed |= dict.fromkeys(news, self.serial)
        return True

    def message(self, since: int, now_s: float) -> bytes:
        """The event with all that changed after serial ``since``; made once for all viewers alike.

        ``now_s`` is the session's time of making it, from which the viewers' clocks run.
        """
        if self._last[:2] != (since, self.serial):
            news = {n: h for n, h in self.parts.items() if self.changed[n] > since}
            self._last = (since, self.serial, server_sent_event("parts", {"now": now_s, "parts": news}, self.serial))
        return self._last[2]


def server_sent_event(kind: str, data: object, serial: int | None = None) -> bytes:
    """One server-sent event (WHATWG HTML, 9.2)."""
    head = f"id: {serial}\n" if serial is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


@dataclass(frozen=True)
class Visitor:
    """Who asks for a stream."""

    address: str
    referee: bool = False


class Stream:
    """One viewer's place. ``leave`` gives it back."""

    def __init__(self, streams: Streams, leave: Callable[[], None]) -> None:
        self._streams, self._leave = streams, leave
        self._run_number = streams.run_number

    @property
    def ended(self) -> bool:
        """Whether the viewer is to be let go."""
        return self._streams.closed or self._run_number != self._streams.run_number

    def begin(self) -> bytes:
        """What opens the stream."""
        return b""

    def close(self) -> None:
        """Give the place back; also when the stream was never begun, and more than once."""
        leave, self._leave = self._leave, lambda: None
        leave()


class EventStream(Stream):
    """Server-sent events to one listener; ``topic`` names what he waits for. ``news`` gives what came behind a place,
    None for nothing, and the place behind that."""

    wait_s = HEARTBEAT_S

    def __init__(self, streams: Streams, topic: str, news: News, place: int, leave: Callable[[], None]) -> None:
        super().__init__(streams, leave)
        self.topic, self._news, self._place = topic, news, place

    def begin(self) -> bytes:
        """How long a browser waits before it comes again."""
        return b"retry: 1000\n\n"

    def take(self) -> bytes | None:
        """What has come since the last call, None for nothing."""
        message, self._place = self._news(self._place)
        return message

    def beat(self) -> bytes:
        """A sign of life with the session's time."""
        return server_sent_event("beat", {"now": self._streams.now_s()})


class PictureStream(Stream):
    """A film as a row of JPEGs, ``multipart/x-mixed-replace``. ``take`` may wait for a picture."""

    wait_s = PICTURE_EVERY_S

    def __init__(self, streams: Streams, picture: Callable[[], bytes | None], leave: Callable[[], None]) -> None:
        super().__init__(streams, leave)
        self._picture = picture
        self._last: bytes | None = None

    def take(self) -> bytes | None:
        """The newest picture, None when it has been sent."""
        jpeg = self._picture()
        if jpeg is None or jpeg is self._last:
            return None
        self._last = jpeg
        return b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg + b"\r\n"


@dataclass(frozen=True)
class Snapshot:
    """All parts of a page at one moment. ``tag`` is another whenever a part is."""

    tag: str
    parts: Parts
    now_s: float


class Streams:
    """All feeds of an app, their one rendering thread, and who has which place."""

    def __init__(self, session: PageSession) -> None:
        self._session = session
        self._feeds: dict[str, Feed] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._listeners: list[Callable[[str | None], None]] = []
        self._open: dict[str, Counter[str]] = {kind: Counter() for kind in PLACES}
        self._name = secrets.token_hex(4)
        self.closed = False
        self.run_number = 0

    def close(self) -> None:
        """End every stream and the rendering thread."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
            thread = self._thread
        self.tell(None)
        if thread:
            thread.join(timeout=5)

    def listen(self, callback: Callable[[str | None], None]) -> None:
        """Call back with the name of a feed that has news, None for all, on any thread: be quick."""
        self._listeners.append(callback)

    def now_s(self) -> float:
        """The session's time, from which the viewers' clocks run."""
        return self._session.clock.now_s() + self._session.shift_s

    def news(self, feed: Feed, since: int) -> tuple[bytes | None, int]:
        """The message with all that changed after serial ``since`` or None, and the serial now."""
        with self._changed:
            return (feed.message(since, self.now_s()) if feed.serial > since else None), feed.serial

    def matches(self, events: Sequence[PublicEvent], place: int, visitor: Visitor) -> EventStream | None:
        """The public events of matches from that place on, or None when this visitor finds no place."""

        def news(place: int) -> tuple[bytes | None, int]:
            more = events[place:]
            rows = (b"id: %b\ndata: %b\n\n" % (event.id.encode(), event.body) for event in more)
            return b"".join(rows) or None, place + len(more)

        leave = partial(self._leave, "events", visitor)
        return EventStream(self, MATCHES, news, place, leave) if self._enter("events", visitor) else None

    def events(self, name: str, render: Callable[[], Parts], visitor: Visitor) -> EventStream | None:
        """The events of the feed ``name``, or None when this visitor finds no place."""
        if not self._enter("events", visitor):
            return None
        try:
            feed = self._join(name, render, viewers=1)
        except BaseException:
            self._leave("events", visitor)
            raise
        return EventStream(self, name, partial(self.news, feed), 0, partial(self._leave, "events", visitor, feed))

    def pictures(self, name: str, visitor: Visitor) -> PictureStream | None:
        """The film of the session's picture ``name``, or None when this visitor finds no place."""
        if not self._enter("pictures", visitor):
            return None
        return PictureStream(self, lambda: self._session.picture(name), lambda: self._leave("pictures", visitor))

    def snapshot(self, name: str, render: Callable[[], Parts]) -> Snapshot:
        """The whole feed ``name`` as it is now, rendered once for all who ask."""
        feed = self._join(name, render, viewers=0)
        with self._changed:
            return Snapshot(f"{self._name}-{self.run_number}-{feed.serial}", feed.parts, self.now_s())

    def _enter(self, kind: str, visitor: Visitor) -> bool:
        """Take a place. The referee's own do not count for his address: others may sit behind the same one."""
        places, seat = PLACES[kind], _seat(visitor)
        with self._changed:
            taken = self._open[kind]
            full = taken.total() >= places.most
            if not visitor.referee:
                public = taken.total() - taken[REFEREE]
                full = full or public >= places.public or taken[seat] >= places.per_address
            if self.closed or full:
                return False
            taken[seat] += 1
            return True

    def _leave(self, kind: str, visitor: Visitor, feed: Feed | None = None) -> None:
        with self._changed:
            self._open[kind] -= Counter([_seat(visitor)])
            if feed:
                feed.viewers -= 1

    def _join(self, name: str, render: Callable[[], Parts], viewers: int) -> Feed:
        """The feed, brought up to date when nobody has watched it of late."""
        now_s = time.monotonic()
        with self._changed:
            feed = self._feeds.get(name)
            fresh = feed is not None and feed.watched(now_s) and self._thread is not None
        parts = None if fresh else render()
        with self._changed:
            feed = self._feeds.setdefault(name, Feed(render))
            feed.viewers += viewers
            feed.asked_s = now_s if not viewers else feed.asked_s
            if parts is not None:
                feed.take(parts)
            if self._thread is None and not self.closed:
                self._thread = threading.Thread(target=self._run, name="web-state", daemon=True)
                self._thread.start()
        return feed

    def _run(self) -> None:
        """Render until closed. Should it end otherwise, every viewer is let go; his return starts it anew."""
        version = -1
        try:
            while not self.closed:
                started = time.monotonic()
                with self._changed:
                    watched = [(name, feed) for name, feed in self._feeds.items() if feed.watched(started)]
                for name, feed in watched:
                    self._refresh(name, feed)
                time.sleep(max(0.0, RENDER_EVERY_S - (time.monotonic() - started)))
                version = self._session.wait(version, 0.5)
        finally:
            with self._changed:
                self._thread = None
                self.run_number += 1
            self.tell(None)

    def _refresh(self, name: str, feed: Feed) -> None:
        parts = feed.render()
        with self._changed:
            news = feed.take(parts)
        if news:
            self.tell(name)

    def tell(self, name: str | None) -> None:
        """The feed of that name has news, None for all."""
        for callback in self._listeners:
            callback(name)


def _seat(visitor: Visitor) -> str:
    return REFEREE if visitor.referee else visitor.address
