"""Staged duels that come over a real line: a phone on this machine sends them as MJPEG over http, the referee's own
camera reads them, and they are judged by the times that it gives them.

A duel takes as long as it is played. Frames whose time is known too little to judge by are none, as at a table.
"""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "devices"))

from phone_stream import CLOCK, PROMPT_S, Phone, jpeg_of
from staged import PRESS_S, Happens, Stage, StagedSession, at_once

from referee.devices.camera import open_camera
from referee.devices.ports import Frame
from referee.match.commands import PressStop
from referee.match.state import MatchState
from referee.session.live_judging import LiveJudging
from referee.vision.live.gate_history import FRESH_S

RATES = (5, 8, 10, 15)
"""Pictures a second of a slow stream."""

JITTER_S = 0.06
"""By so much a line of wireless LAN holds pictures up, on average, when it is in use by others as well."""

TRIES, ARRIVES_S = 3, 1.0


def received(pictures: list[bytes], fps: float, seed: int) -> list[tuple[Frame, float]]:
    """What the referee's camera makes of pictures taken ``1 / fps`` seconds apart, the last again and again: frames,
    their times since the first would have been taken, with the time at which each came. Received again where this
    machine was too busy to send."""
    for _ in range(TRIES):
        frames, late_s = _received(pictures, fps, random.Random(seed))
        if late_s < PROMPT_S:
            break
    return frames


def _received(pictures: list[bytes], fps: float, rng: random.Random) -> tuple[list[tuple[Frame, float]], float]:
    """The same, received once, and by how much this machine was late at most."""
    frames: list[tuple[Frame, float]] = []
    held_up_s = [min(rng.expovariate(1 / JITTER_S), 0.25) for _ in pictures]
    numbers = range(len(pictures))
    phone = Phone(
        fps=fps,
        held_up_s=lambda n: held_up_s[n % len(held_up_s)],
        picture=lambda n: pictures[n - 1 if n in numbers else -1],
    )
    camera = open_camera(f"http://127.0.0.1:{phone.port}/video", CLOCK)

    def keep(frame: Frame) -> None:
        if camera.frame_error_s <= FRESH_S:
            frames.append((frame, CLOCK.now_s()))

    camera.listen(keep)
    time.sleep(len(pictures) / fps + ARRIVES_S)
    camera.close()
    phone.hang_up()
    begun_s = phone.begun_s
    return [(replace(f, at_s=f.at_s - begun_s), came_s - begun_s) for f, came_s in frames], max(phone.late_s)


def played_over_stream(stage: Stage, happens: Happens, until_s: float, fps: float) -> MatchState:
    """The match after a Stop at ``PRESS_S``, told by the box as it is pressed."""
    shown = [stage.rig.picture(happens(n / fps), n) for n in range(1, round(until_s * fps))]
    session = StagedSession(stage.rig, stage.card.id)
    eyes = LiveJudging(session, at_once)
    for frame, came_s in received([jpeg_of(image) for image in shown], fps, stage.rig.table.seed):
        if session.state.phase == "building" and came_s > PRESS_S:
            session.command(PressStop(stage.caller, PRESS_S))
        eyes._see(frame)
        if session.state.duel.ended or session.state.phase == "undecided":
            break
    return session.state
