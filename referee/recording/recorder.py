"""Records duels beside everything else: a ring of frames from before the go, and a thread of its own.

``frame`` only appends to a queue (``Backlog``, which says what is given up when encoding falls behind); every frame
that is lost is written down.
"""

import re
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from av.error import FFmpegError

from cards.sentences import sentence
from referee.devices.ports import Clock, Frame
from referee.errors import BadAttempt
from referee.recording.folder import META, REVIEW, append_line, earlier_names, write_json
from referee.recording.index import Index
from referee.recording.retention import Budget, Removed, Remover, free_bytes, make_room, read_removals
from referee.recording.sweep import sweep, torn_recordings
from referee.recording.writer import RESERVE_BYTES, RESERVED, AttemptWriter, opening_record, write_file

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
    camera: int = 1


class Backlog:
    """A queue of frames and jobs that holds at most ``most_bytes`` of pictures; for one thread at a time.

    Its law: what waits keeps its order, and a frame that is given up leaves its number and time in its place. Frames
    near a Stop go last, and before them the newest ones, since they may turn out to be near one. Of the others goes the
    one whose absence leaves the smallest gap in its camera's film, so that what is left is as even as it can be.

    ``dropped``: frames given up so far. The newest frame of a camera is never given up.
    """

    def __init__(self, most_bytes: int, near_s: float = NEAR_STOP_S) -> None:
        self.most_bytes, self.near_s, self.dropped = most_bytes, near_s, 0
        self._items: deque[Frame | GivenUp | Job] = deque()
        self._bytes = 0
        self._stops: list[float] = []
        self._taken_s: dict[int, float] = {}

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
            self._taken_s[item.camera] = item.at_s
        return item

    def is_hurried(self, frame: Frame) -> bool:
        """Whether this frame, which was just taken, should cost little: much waits, and it is not near a Stop."""
        return self._bytes > HURRIED_FROM_SHARE * self.most_bytes and not self._is_near(frame.at_s)

    def _is_near(self, at_s: float) -> bool:
        return any(abs(at_s - stop) <= self.near_s for stop in self._stops)

    def _victim(self) -> Frame | None:
        gaps = [gap for camera in (1, 2) for gap in self._gaps(camera)]
        now_s = self.frames[-1].at_s
        least = min(gaps, key=lambda gap: (self._worth(gap[0], now_s), gap[1]), default=None)
        return least and least[0]

    def _gaps(self, camera: int) -> list[tuple[Frame, float]]:
        """The frames of a camera that may go, each with the gap in seconds that it would leave."""
        frames = [frame for frame in self.frames if frame.camera == camera]
        before_s = [self._taken_s.get(camera, float("-inf")), *(frame.at_s for frame in frames)]
        return [(frame, after.at_s - s) for frame, after, s in zip(frames, frames[1:], before_s, strict=False)]

    def _worth(self, frame: Frame, now_s: float) -> int:
        return 2 if self._is_near(frame.at_s) else int(now_s - frame.at_s <= self.near_s + EVIDENCE_READY_S)

    def _give_up(self, frame: Frame) -> None:
        place = next(n for n, item in enumerate(self._items) if item is frame)
        self._items[place] = GivenUp(frame.number, frame.at_s, frame.camera)
        self._bytes -= frame.image.nbytes
        self.dropped += 1


BEFORE_S = 2.0
RING_BYTES = 256 << 20
"""Two seconds of 720p at 30 frames a second take 166 MB a camera; larger pictures get a shorter ring."""

PENDING_BYTES = 256 << 20
"""Frames that may wait for the encoder: three seconds of one camera's 720p at 30 frames a second. All that a busy
machine may hold beyond what a quiet one does; longer it would only fall further behind."""


Rows = Mapping[str, dict]
"""Zone -> the contract's row."""


class Recorder:
    """Writes attempt folders under ``root``. ``frame`` may be called from any thread and never blocks."""

    def __init__(
        self,
        root: Path,
        clock: Clock,
        before_s: float = BEFORE_S,
        budget: Budget | None = None,
        pending_bytes: int = PENDING_BYTES,
        reserve_bytes: int = RESERVE_BYTES,
    ):
        self.root, self.clock, self.before_s = Path(root), clock, before_s
        self.problem: str | None = None
        self.removed: list[Removed] = []
        self._remover = Remover()
        self._budget, self._reserve = budget or Budget(), reserve_bytes
        self._wake = threading.Condition()
        self._rings: dict[int, deque[Frame]] = {1: deque(), 2: deque()}
        self._backlog = Backlog(pending_bytes)
        self._kept = self._kept_beside = self._unwritten = 0
        self._folder: Path | None = None
        self._take: AttemptWriter | None = None
        self._busy = self._closed = False
        self.root.mkdir(parents=True, exist_ok=True)
        self._index = Index(self.root)
        sweep(self.root, self._index)
        if names := torn_recordings(self._index):
            self.problem = sentence("recording_torn", names=names)
        self._thread = threading.Thread(target=self._run, name="recorder", daemon=True)
        self._thread.start()

    def frame(self, frame: Frame) -> None:
        """Take a frame in: into the ring, and into the recording if one runs. Never blocks."""
        with self._wake:
            ring, size = self._rings[frame.camera], frame.image.nbytes
            ring.append(frame)
            while frame.at_s - ring[0].at_s > self.before_s or len(ring) * size > RING_BYTES:
                ring.popleft()
            if self._folder is not None:
                self._backlog.put_frame(frame)
                self._wake.notify_all()

    def begin(self, meta: Mapping[str, Any]) -> Path:
        """Start a recording (at the go) with the ring's frames in front; gives its folder.

        ``meta`` is carried into ``attempt.json``: ``card``, ``match_id``, ``players`` (zone -> name),
        ``zones``, ``simulated``, ``rules``, … Two keys are special: ``go_at_s``, host time of the go
        (default now), and ``files``, name -> what to keep beside the video (``deck.json``,
        ``pieces.json``, ``camera.yaml``, ``palette.json``, ``empty.png``): JSON-able, text, bytes, a Path,
        a Palette or a picture; None leaves it out.
        A recording that still runs is finished first, as cut short.
        """
        if self._folder is not None:
            self.finish({"cut_short": sentence("cut_next_duel")})
        go_at_s = meta.get("go_at_s", self.clock.now_s())
        folder = self._new_folder(str(meta.get("match_id") or "duel"), meta)
        said = dict(meta) | {"recorded_at": self.clock.utc().isoformat(timespec="seconds")}
        with self._wake:
            self._folder, self._kept, self._kept_beside = folder, 0, 0
            self._append(partial(self._open, folder, said, go_at_s))
            rings = [ring for ring in self._rings.values() if ring and ring[-1].at_s > go_at_s - self.before_s]
            for frame in chain.from_iterable(rings):
                self._backlog.put_frame(frame)
        return folder

    def mark(self, name: str, at_s: float, **data: Any) -> None:
        """Write down that something happened at host time ``at_s``; the first ``stop`` anchors the attempt.

        Names the review pages know: go, stop (with zone), settled, verdict, hand_in, hand_out (with zone).
        """
        if name == "stop":
            with self._wake:
                self._backlog.stop(at_s)
        self._do(lambda take: take.mark(name, at_s, data))

    def judged(self, frame: Frame | Sequence[Frame], verdicts: Rows, beside: Sequence[Frame] = ()) -> None:
        """Keep the judged frame or frames without loss, those of a second camera ``beside`` them, and the verdicts.

        The frames are on the disk when this returns: a verdict counts by them. Raises OSError when they cannot be.
        """
        frames = [frame] if isinstance(frame, Frame) else list(frame)
        with self._wake:
            first, self._kept = self._kept, self._kept + len(frames)
            first_beside, self._kept_beside = self._kept_beside, self._kept_beside + len(beside)
        files = [f"stop_{n}.png" if n else "stop.png" for n in range(first, first + len(frames))]
        files_beside = [f"second_{n}.png" for n in range(first_beside, first_beside + len(beside))]
        self._keep([*files, *files_beside], [frame.image for frame in (*frames, *beside)])
        looks = [(files, frames), *([(files_beside, beside)] if beside else [])]
        self._do(lambda take: take.judged(looks, verdicts))

    def at_press(
        self, zone: str, frames: Sequence[Frame], said: Mapping[str, Any], beside: Sequence[Frame] = ()
    ) -> None:
        """Keep the frames at a zone's press without loss, and those of the other camera ``beside`` them; ``said``: the
        contract's ``row`` on them, what came ``after`` and who the ``culprit`` is (``referee.match.stop_views``). On
        the disk when this returns, as ``judged``; may raise OSError."""
        shown = [(f"press_{zone}", frames), *([(f"press_{zone}_beside", beside)] if beside else [])]
        looks = [([f"{stem}_{n}.png" for n in range(len(of))], of) for stem, of in shown]
        self._keep([name for files, _ in looks for name in files], [frame.image for frame in (*frames, *beside)])
        self._do(lambda take: take.at_press(zone, looks, said))

    def earlier(self, zone: str, view: str, pictures: Sequence[tuple[np.ndarray | bytes, bool]]) -> None:
        """Keep pictures (h, w, 3), or their files, from while a zone's build grew that the verdict on a ``view`` of it
        rests on, and whether something was lost since, as ``judged`` keeps frames; in the place of those that an
        earlier verdict on that view rested on."""
        files = earlier_names(zone, view, pictures)
        self._keep(files, [picture for picture, _ in pictures])
        self._do(lambda take: take.earlier(zone, files))

    def _keep(self, files: Sequence[str], pictures: Sequence[np.ndarray | bytes]) -> None:
        """Write the pictures into the running recording, on the caller's thread; where the disk is full, in the place
        that was reserved for this."""
        with self._wake:
            folder = self._folder
        if folder is None:
            return
        for name, picture in zip(files, pictures, strict=True):
            try:
                write_file(folder / name, picture)
            except OSError:
                (folder / RESERVED).unlink(missing_ok=True)
                write_file(folder / name, picture)

    def finish(self, final: Mapping[str, Any] | None = None) -> Path | None:
        """End the recording with what is known now; gives the folder at once, ``settle`` waits for it.

        ``final`` is added to ``attempt.json``: ``award``, ``human``, ``fouls``, … and ``cut_short`` (why)
        when something is missing. None when nothing was being recorded.
        """
        with self._wake:
            folder, self._folder = self._folder, None
            if folder is not None:
                now_s = self.clock.now_s()
                self._append(lambda: self._close_take(dict(final or {}), now_s))
        return folder

    def note(self, match_id: str, duel: int, row: Mapping[str, Any]) -> None:
        """Add a line to what people say of that duel's recordings; nothing recorded changes."""
        try:
            for folder in self._index.of_duel(match_id, duel):
                append_line(folder / REVIEW, row)
                self._index.put(folder)
        except OSError as error:
            self.problem = sentence("recording_note", fault=str(error))

    def settle(self, timeout_s: float = 60.0) -> bool:
        """Wait until everything taken in so far is on disk; False when the time runs out."""
        with self._wake:
            return self._wake.wait_for(lambda: not self._backlog and not self._busy, timeout_s)

    @property
    def dropped(self) -> int:
        """Frames that were taken in and are in no video."""
        return self._backlog.dropped + self._unwritten

    def status(self) -> dict:
        """JSON-able figures: recording (folder name or None), waiting frames, dropped, problem, removed."""
        with self._wake:
            waiting = len(self._backlog.frames)
            return {
                "recording": self._folder and self._folder.name,
                "waiting": waiting,
                "dropped": self.dropped,
                "problem": self.problem,
                "removed": [r.name for r in self.removed],
            }

    def close(self) -> None:
        """Finish what is being recorded, as cut short, and end the thread."""
        self.finish({"cut_short": sentence("cut_closed")})
        with self._wake:
            self._closed = True
            self._wake.notify_all()
        self._thread.join()
        self._remover.close()
        self._index.close()

    def _new_folder(self, match_id: str, meta: Mapping) -> Path:
        """A folder that says what it is from its first instant: it gets its name when its record is in it."""
        stem = re.sub(r"[^A-Za-z0-9_-]+", "-", match_id)
        number, removed = self._index.last_number(stem) + 1, {row["removed"] for row in read_removals(self.root)}
        while (folder := self.root / f"{stem}-{number:03d}").exists() or folder.name in removed:
            number += 1
        draft = folder.with_name(f".{folder.name}")
        try:
            draft.mkdir(exist_ok=True)
            write_json(draft / META, opening_record(meta))
            draft.rename(folder)
        except OSError as error:
            self.problem = sentence("recording_refused", fault=str(error.strerror))
        return folder

    def _do(self, action: Callable[[AttemptWriter], None]) -> None:
        with self._wake:
            if self._folder is not None:
                self._append(lambda: None if self._take is None else action(self._take))

    def _tell_thin(self, take: AttemptWriter) -> None:
        """Say at once that a Stop's evidence is thin, while people can still be asked; take it back where what came
        later mends it."""
        said = sentence("recording_thin")
        if take.thin():
            self.problem = said
        elif self.problem == said:
            self.problem = None

    def _append(self, job: Job) -> None:
        self._backlog.put(job)
        self._wake.notify_all()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            try:
                job()
                if (take := self._take) is not None and take.past_stop and not take.broken:
                    self._tell_thin(take)
            except (OSError, FFmpegError, BadAttempt, ValueError) as error:
                self._broken(error)

    def _next(self) -> Job | None:
        """The next thing to be done; None when the recorder is closed."""
        with self._wake:
            self._busy = False
            self._wake.notify_all()
            self._wake.wait_for(lambda: self._backlog or self._closed)
            if not self._backlog:
                return None
            self._busy = True
            item = self._backlog.take()
            if isinstance(item, Frame):
                return partial(self._encode, item, self._backlog.is_hurried(item))
            return partial(self._skip, item) if isinstance(item, GivenUp) else item

    def _open(self, folder: Path, meta: Mapping, go_at_s: float) -> None:
        self._take = None
        self._make_room(folder)
        self._take = AttemptWriter(folder, meta, go_at_s, self._reserve)
        self._index.put(folder)
        self.problem = None

    def _encode(self, frame: Frame, hurried: bool) -> None:
        if self._take is None or self._take.broken:
            self._unwritten += 1
            self._skip(frame)
        else:
            self._take.frame(frame, hurried)

    def _skip(self, frame: Frame | GivenUp) -> None:
        if self._take is not None:
            self._take.skip(frame.camera, frame.number, frame.at_s)

    def _close_take(self, final: Mapping, now_s: float) -> None:
        take, self._take = self._take, None
        if take is not None:
            take.finish(final, now_s)
            self._index.put(take.folder)
            self._tell_thin(take)
            self._make_room(take.folder)

    def _broken(self, error: Exception) -> None:
        self.problem = sentence("recording_stopped", fault=getattr(error, "strerror", None) or str(error))
        if self._take is not None:
            self._take.fail(self.problem)

    def _make_room(self, busy: Path) -> None:
        free = free_bytes(self.root) + self._remover.pending_bytes
        removed, warning = make_room(self.root, self._budget, self.clock.utc(), self._index, free, busy)
        self._remover.delete(removed)
        self.removed += removed
        self.problem = warning or self.problem
