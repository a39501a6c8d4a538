"""What waits for the encoder, and which frames are given up when it cannot keep up.

Its law: what waits keeps its order, and a frame that is given up leaves its number and time in its place. Frames near
a Stop go last, and before them the newest ones, since they may turn out to be near one. Of the others goes the one
whose absence leaves the smallest gap, so that what is left is as even as it can be.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from referee.devices.ports import Frame

NEAR_STOP_S, EVIDENCE_READY_S = 1.0, 0.5
"""Frames this near a Stop are the evidence; so long after the press it may be told."""

HURRIED_FROM_SHARE = 0.25
"""With so much of the room for waiting frames taken the encoder had better hurry: a stall of half a second is none."""

Job = Callable[[], None]


@dataclass(frozen=True)
class GivenUp:
    """A frame that will not be encoded."""

    number: int
    at_s: float


class Backlog:
    """A queue of frames and jobs that holds at most ``most_bytes`` of pictures; for one thread at a time.

    ``dropped``: frames given up so far. The newest frame is never given up.
    """

    def __init__(self, most_bytes: int, near_s: float = NEAR_STOP_S) -> None:
        self.most_bytes, self.near_s, self.dropped = most_bytes, near_s, 0
        self._items: deque[Frame | GivenUp | Job] = deque()
        self._bytes = 0
        self._stops: list[float] = []
        self._taken_s = float("-inf")

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def frames(self) -> list[Frame]:
        """The frames that wait, oldest first."""
        return [item for item in self._items if isinstance(item, Frame)]

    def put(self, job: Job) -> None:
        """Append something to be done; it is never given up."""
        self._items.append(job)

    def put_frame(self, frame: Frame) -> None:
        """Append a frame; frames are given up until what waits is small enough."""
        self._items.append(frame)
        self._bytes += frame.image.nbytes
        while self._bytes > self.most_bytes and (victim := self._victim()) is not None:
            self._give_up(victim)

    def stop(self, at_s: float) -> None:
        """A Stop was pressed at that host time: frames around it are the evidence, also those that come yet."""
        oldest_s = next((frame.at_s for frame in self.frames), at_s)
        self._stops = [s for s in self._stops if s >= oldest_s - self.near_s] + [at_s]

    def take(self) -> Frame | GivenUp | Job:
        """The oldest that waits. Raises IndexError when nothing does."""
        item = self._items.popleft()
        if isinstance(item, Frame):
            self._bytes -= item.image.nbytes
            self._taken_s = item.at_s
        return item

    def is_hurried(self, frame: Frame) -> bool:
        """Whether this frame, which was just taken, should cost little: much waits, and it is not near a Stop."""
        return self._bytes > HURRIED_FROM_SHARE * self.most_bytes and not self._is_near(frame.at_s)

    def _is_near(self, at_s: float) -> bool:
        return any(abs(at_s - stop) <= self.near_s for stop in self._stops)

    def _victim(self) -> Frame | None:
        frames = self.frames
        if len(frames) < 2:
            return None
        now_s = frames[-1].at_s
        before_s = [self._taken_s, *(frame.at_s for frame in frames[:-2])]
        gaps_s = [after.at_s - s for s, after in zip(before_s, frames[1:], strict=True)]
        return min(zip(frames, gaps_s, strict=False), key=lambda row: (self._worth(row[0], now_s), row[1]))[0]

    def _worth(self, frame: Frame, now_s: float) -> int:
        return 2 if self._is_near(frame.at_s) else int(now_s - frame.at_s <= self.near_s + EVIDENCE_READY_S)

    def _give_up(self, frame: Frame) -> None:
        place = next(n for n, item in enumerate(self._items) if item is frame)
        self._items[place] = GivenUp(frame.number, frame.at_s)
        self._bytes -= frame.image.nbytes
        self.dropped += 1
