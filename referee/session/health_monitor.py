"""Once a second: is the clock over, do the devices answer, is there room on the disk?"""

import itertools
import shutil
from collections import deque
from collections.abc import Callable
from typing import Protocol

from cards.sentences import sentence
from referee.devices.camera_settings import CONTROLS
from referee.match.commands import CallTimeout
from referee.match.duel import OTHER_ZONE, PHASES_IN_PLAY
from referee.session import heap
from referee.session.duel_recording import DuelRecording
from referee.session.live_judging import LiveJudging
from referee.session.ports import RunningSession
from referee.workers import Background

CHECK_EVERY_S = 1.0
"""The rig is looked over this often."""

HEAP_EVERY = 5
"""Rounds from one giving back of freed memory to the next."""

DISK_LOW_BYTES = 2 << 30
DROPPED_SHARE = 0.1
"""More frames lost than this, over the last rounds, raise an alarm."""

CLOCK_READINGS = 6

JUMP_S, JUMP_SHOWN_S = 0.5, 600.0
"""The time of day jumps when it gains or loses more than this in a round (slewing is 0.5 ms); shown for so long."""

IDLE_S = 60.0
"""A duel in which both builds are settled for longer than this is not being played."""


class MonitoredSession(RunningSession, Protocol):
    """What the monitor needs of the session."""

    judging: LiveJudging
    recording: DuelRecording | None


class HealthMonitor(Background):
    """Looks the rig over on a thread of its own; ``tick`` is called each time as well."""

    def __init__(self, session: MonitoredSession, tick: Callable[[float], None]) -> None:
        super().__init__("session health")
        self._session, self._tick = session, tick
        self._counts: deque[tuple[int, int]] = deque([(0, 0)], maxlen=CLOCK_READINGS)
        self._ahead_s: float | None = None
        self._jump = (0.0, 0.0)

    def _run(self) -> None:
        for turn in itertools.count(1):
            if self._closing.wait(CHECK_EVERY_S):
                return
            self._tick(self._session.clock.now_s())
            self._call_time()
            for code, text in self._found().items():
                self._session.alarm(code, text)
            if turn % HEAP_EVERY == 0:
                heap.trim_heap()

    def _call_time(self) -> None:
        state = self._session.state
        now_s, limit = self._session.clock.now_s() + self._session.shift_s, state.rules.time_limit_s
        if state.phase == "building" and limit and now_s - (state.duel.go_at_s or now_s) > limit:
            self._session.attempt(CallTimeout(now_s))

    def _found(self) -> dict[str, str | None]:
        """Alarm code -> what is wrong, None for what is well."""
        camera, box, recording = self._session.camera, self._session.box, self._session.recording
        figures = camera.status()
        watched = figures.get("frames") and self._session.state.phase in PHASES_IN_PLAY
        unseen = [zone for zone in OTHER_ZONE if watched and zone not in self._session.gates()]
        free = shutil.disk_usage(self._session.data_dir).free
        return {
            **self._lost_cameras(),
            "box_unplugged": None if box.connected else sentence("box_silent", name=box.name),
            "mats_unseen": sentence("mats_unseen", zones=unseen) if unseen else None,
            "blind": None if self._session.judging.alive else sentence("blind"),
            "frames_dropped": self._dropping(figures),
            "disk_low": sentence("disk", n=free >> 20) if free < DISK_LOW_BYTES else None,
            "recording": recording.recorder.status().get("problem") if recording else None,
            "record": self._session.journal.problem,
            "clock_set": self._clock_set(),
            "duel_idle": self._idle(),
            **dict.fromkeys(CONTROLS),
            **camera.settings.faults(),
        }

    def _lost_cameras(self) -> dict[str, str | None]:
        """Which camera gives no pictures; with two of them, that the other is looked at alone."""
        faults = [(camera.name, camera.status().get("lost")) for camera in self._session.cameras]
        told = [sentence("camera_lost", name=name, fault=fault) for name, fault in faults if fault]
        there = [name for name, fault in faults if not fault]
        alone = sentence("one_camera", lost=told[0], name=there[0]) if told and there else None
        return {"camera_lost": told[0] if told and not there else None, "one_camera": alone}

    def _clock_set(self) -> str | None:
        """Whether the time of day has jumped of late; durations are by another clock and stay right."""
        now_s = self._session.clock.now_s()
        ahead_s = self._session.clock.utc().timestamp() - now_s
        if self._ahead_s is not None and abs(ahead_s - self._ahead_s) > JUMP_S:
            self._jump = (now_s, ahead_s - self._ahead_s)
        self._ahead_s = ahead_s
        at_s, by_s = self._jump
        return sentence("clock_jump", n=by_s) if by_s and now_s - at_s < JUMP_SHOWN_S else None

    def _idle(self) -> str | None:
        """Whether a duel stands still: both builds settled, nobody presses."""
        state, gates = self._session.state, self._session.gates()
        gone_s = state.duel.go_at_s
        now_s = self._session.clock.now_s() + self._session.shift_s
        if state.phase != "building" or gone_s is None or not gates:
            return None
        still_s = min(now_s - gone_s, *(gate.get("settled_s") or 0.0 for gate in gates.values()))
        return sentence("idle", n=int(still_s) // 60 * 60) if still_s > IDLE_S else None

    def _dropping(self, figures: dict) -> str | None:
        self._counts.append((figures.get("frames", 0), figures.get("dropped", 0)))
        new, lost = (now - then for now, then in zip(self._counts[-1], self._counts[0], strict=True))
        if lost <= DROPPED_SHARE * (new + lost):
            return None
        return sentence("lost", n=lost, m=new + lost)
