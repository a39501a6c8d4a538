"""Live pages without load on the session: one thread renders, any number of viewers wait.

A *feed* is one page in one language as named parts of HTML. One thread waits on the session,
renders each feed that somebody watches once per change and wakes its viewers; a viewer gets the
parts that changed since his last message. Who is slow skips states, nothing queues up for him.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Protocol

from referee.ports import Clock

MAX_EVENT_STREAMS, MAX_PICTURE_STREAMS = 160, 12
"""Streams open at once; each holds a thread of the server. Further ones get 503 and come again."""

BEAT_S = 5.0
"""A viewer hears something at least this often, so that silence means a broken line."""

RENDER_EVERY_S = 0.08
"""Shortest time between two renderings: gates change with every frame, people don't see more."""

PICTURE_EVERY_S = 0.1

Parts = dict[str, str]


class Source(Protocol):
    """What the streams need of a session."""

    clock: Clock
    shift_s: float

    def wait(self, version: int, timeout_s: float) -> int: ...
    def picture(self, name: str) -> bytes | None: ...


@dataclass
class Feed:
    """One page in one language: its parts, and at which serial each last changed."""

    render: Callable[[], Parts]
    serial: int = 0
    parts: Parts = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    viewers: int = 0
    _last: tuple[int, int, bytes] = (-1, -1, b"")

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
            self._last = (since, self.serial, event("parts", {"now": now_s, "parts": news}, self.serial))
        return self._last[2]


def event(kind: str, data: object, serial: int | None = None) -> bytes:
    """One server-sent event (WHATWG HTML, 9.2)."""
    head = f"id: {serial}\n" if serial is not None else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


class Stream:
    """An open stream: iterate it; ``close`` gives its place back, also when it was never begun."""

    def __init__(self, chunks: Generator[bytes], leave: Callable[[], None]) -> None:
        self._chunks, self._leave = chunks, leave

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> bytes:
        return next(self._chunks)

    def close(self) -> None:
        """Called by the server when the viewer has gone or the stream has ended."""
        self._chunks.close()
        leave, self._leave = self._leave, lambda: None
        leave()


class Streams:
    """All feeds of an app, their one rendering thread and the count of open streams.

    ``gone`` of a stream tells whether its viewer has hung up, for times with nothing to send.
    """

    def __init__(self, session: Source) -> None:
        self._session = session
        self._feeds: dict[str, Feed] = {}
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._run_number = 0
        self._open = {"events": 0, "pictures": 0}

    def close(self) -> None:
        """End every stream and the rendering thread."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread:
            thread.join(timeout=5)

    def open_now(self) -> dict[str, int]:
        """How many streams of each kind are open."""
        return dict(self._open)

    def feed(self, name: str) -> Feed | None:
        """The feed of that name, once somebody has watched it."""
        return self._feeds.get(name)

    def events(self, name: str, render: Callable[[], Parts], gone: Callable[[], bool]) -> Stream | None:
        """The events of the feed ``name``, or None when every place is taken."""
        parts = render()
        if not self._enter("events", MAX_EVENT_STREAMS):
            return None
        feed = self._join(name, render, parts)
        return Stream(self._watch(feed, gone), lambda: self._leave("events", feed))

    def pictures(self, name: str, gone: Callable[[], bool]) -> Stream | None:
        """The MJPEG parts of the session's picture ``name``, or None when every place is taken."""
        if not self._enter("pictures", MAX_PICTURE_STREAMS):
            return None
        return Stream(self._film(name, gone), lambda: self._leave("pictures"))

    def _enter(self, kind: str, limit: int) -> bool:
        with self._changed:
            if self._closed or self._open[kind] >= limit:
                return False
            self._open[kind] += 1
            return True

    def _leave(self, kind: str, feed: Feed | None = None) -> None:
        with self._changed:
            self._open[kind] -= 1
            if feed:
                feed.viewers -= 1

    def _join(self, name: str, render: Callable[[], Parts], parts: Parts) -> Feed:
        with self._changed:
            feed = self._feeds.setdefault(name, Feed(render))
            feed.viewers += 1
            if feed.viewers == 1:
                feed.take(parts)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="web-state", daemon=True)
                self._thread.start()
        return feed

    def _watch(self, feed: Feed, gone: Callable[[], bool]) -> Generator[bytes]:
        """Messages of one viewer until he goes (the server then closes the stream)."""
        seen, run_number = 0, self._run_number
        yield b"retry: 1000\n\n"
        while not (self._closed or gone() or run_number != self._run_number):
            with self._changed:
                if feed.serial <= seen and not self._closed:
                    self._changed.wait(BEAT_S)
                now_s = self._session.clock.now_s() + self._session.shift_s
                news = feed.message(seen, now_s) if feed.serial > seen else event("beat", {"now": now_s})
                seen = feed.serial
            yield news

    def _run(self) -> None:
        """Render until closed. Should it end otherwise, every viewer is let go; his return starts it anew."""
        try:
            self._render_on()
        finally:
            with self._changed:
                self._thread = None
                self._run_number += 1
                self._changed.notify_all()

    def _render_on(self) -> None:
        version = -1
        while not self._closed:
            started = time.monotonic()
            with self._changed:
                watched = [feed for feed in self._feeds.values() if feed.viewers > 0]
            for feed in watched:
                self._refresh(feed)
            time.sleep(max(0.0, RENDER_EVERY_S - (time.monotonic() - started)))
            version = self._session.wait(version, 0.5)

    def _refresh(self, feed: Feed) -> None:
        parts = feed.render()
        with self._changed:
            if feed.take(parts):
                self._changed.notify_all()

    def _film(self, name: str, gone: Callable[[], bool]) -> Generator[bytes]:
        last = None
        while not (self._closed or gone()):
            jpeg = self._session.picture(name)
            if jpeg is not None and jpeg is not last:
                yield (
                    b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(jpeg) + jpeg + b"\r\n"
                )
                last = jpeg
            time.sleep(PICTURE_EVERY_S)
