"""Everybody who watches: who hears what when lines are slow, and that nobody is told twice."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from referee.web.server import GuardedSocket
from referee.web.streaming import crowd as module
from referee.web.streaming.crowd import Broadcaster


@dataclass
class Line:
    """A connection whose reader may have stopped reading."""

    slow: bool = False
    sent: list[bytes] = field(default_factory=list)
    on_room: object = None

    def behind(self) -> bool:
        return self.slow

    def write(self, data: bytes) -> None:
        self.sent.append(data)


class Feed:
    """States that are numbered; each viewer's stream says the newest that he has not heard."""

    def __init__(self) -> None:
        self.state, self.closed, self.asked = 1, False, 0

    def stream(self, wait_s: float = 60.0):
        feed, seen = self, [0]

        def take():
            feed.asked += 1
            if seen[0] == feed.state:
                return None
            seen[0] = feed.state
            return b"state %d" % feed.state

        class Stream(SimpleNamespace):
            ended = property(lambda _: feed.closed)

        return Stream(topic="board", wait_s=wait_s, take=take, beat=lambda: b"beat")


async def seated(crowd: Broadcaster, feed: Feed, lines: list[Line], chunked: bool = False, wait_s: float = 60.0):
    """Every line with a viewer of the feed before it."""
    gone = asyncio.get_running_loop().create_future()
    tasks = [asyncio.ensure_future(crowd.watch(feed.stream(wait_s), line, chunked, gone)) for line in lines]
    await turns()
    return gone, tasks


async def turns(count: int = 50) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


def run_apart(play) -> None:
    """Run the coroutine in a thread of its own: a browser that an earlier test has started keeps a loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, play).result()


def test_everybody_hears_every_state_and_those_who_were_slow_only_the_last():
    async def play():
        crowd, feed = Broadcaster(), Feed()
        lines = [Line() for _ in range(3 * module.GROUP)]
        _, tasks = await seated(crowd, feed, lines)
        lines[5].slow = True
        for state in (2, 3, 4):
            feed.state = state
            crowd.publish("board")
            await turns()
        assert lines[5].sent == [b"state 1"]
        lines[5].slow = False
        lines[5].on_room()
        assert lines[5].sent == [b"state 1", b"state 4"]
        assert all(line.sent == [b"state %d" % n for n in (1, 2, 3, 4)] for line in lines if line is not lines[5])
        feed.closed = True
        crowd.publish(None)
        await asyncio.gather(*tasks)
        assert crowd.count() == 0 and all(line.on_room is None for line in lines)

    run_apart(play())


def test_what_comes_while_it_is_told_is_told_in_one_more_pass():
    async def play():
        crowd, feed = Broadcaster(), Feed()
        lines = [Line() for _ in range(4 * module.GROUP)]
        await seated(crowd, feed, lines)
        feed.asked = 0
        for state in range(2, 12):
            feed.state = state
            crowd.publish("board")
        await turns()
        assert all(line.sent[-1] == b"state 11" for line in lines)
        assert feed.asked == 2 * len(lines)

    run_apart(play())


def test_a_message_is_a_chunk_and_silence_is_broken_by_a_beat(monkeypatch):
    monkeypatch.setattr(module, "TICK_S", 0.01)

    async def play():
        crowd, feed, line = Broadcaster(), Feed(), Line()
        gone, tasks = await seated(crowd, feed, [line], chunked=True, wait_s=0.02)
        while len(line.sent) < 2:
            await asyncio.sleep(0.01)
        assert line.sent[:2] == [b"7\r\nstate 1\r\n", b"4\r\nbeat\r\n"]
        gone.set_result(None)
        await asyncio.gather(*tasks)
        assert crowd.count() == 0

    run_apart(play())


def test_who_is_not_admitted_is_turned_away_and_keeps_nobody_else_waiting():
    with GuardedSocket() as door:
        door.bind(("127.0.0.1", 0))
        door.listen()
        door.setblocking(False)
        door.admits = lambda address: address != "127.0.0.66"
        bad = [knock(door, "127.0.0.66") for _ in range(40)]
        good = knock(door, "127.0.0.67")
        taken, turns_taken = None, 0
        while taken is None:
            turns_taken += 1
            try:
                taken, peer = door.accept()
            except BlockingIOError:
                continue
        assert peer[0] == "127.0.0.67" and turns_taken == 3, "others get their turn after every sixteenth"
        for line in (*bad, good, taken):
            line.close()
        with pytest.raises(BlockingIOError):
            door.accept()


def knock(door: GuardedSocket, address: str):
    line = GuardedSocket(door.family, door.type)
    line.bind((address, 0))
    line.connect(door.getsockname())
    return line
