"""Kills a program in mid-recording at random instants, and looks at what the next one finds.

    python kill_recordings.py FOLDER KILLS SEED

Each life is a fork of this process that records noise. After each kill a recorder is started as a restart would.
Prints one JSON line: kills, folders, how many videos play, how many are listed as lost, and what is wrong: folders
that nobody lists, drafts that are left, videos that end more than a second before what was recorded.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import numpy as np

from referee.devices.ports import Frame, SystemClock
from referee.errors import BadAttempt
from referee.recording import Budget, Recorder, load_attempt
from referee.recording.folder import find_attempts
from referee.recording.sweep import NO_PICTURE_WRITTEN
from referee.recording.video import read_video

LIFE_S = 1.2
FPS = 30
BUDGET = Budget(free_bytes=0)


def life(root: Path) -> None:
    """Record duel after duel, half a second each, until killed."""
    recorder, clock = Recorder(root, SystemClock(), budget=BUDGET), SystemClock()
    noise = np.random.default_rng(1).integers(0, 255, (8, 120, 160, 3), np.uint8)
    for n in range(100_000):
        if n % 15 == 0:
            recorder.begin({"match_id": "K", "card": "L00"})
        recorder.frame(Frame(noise[n % 8], n, clock.now_s()))
        time.sleep(1 / FPS)


def killed_life(root: Path, after_s: float) -> None:
    """Fork a life and kill it after that long."""
    child = os.fork()
    if child == 0:
        try:
            life(root)
        finally:
            os._exit(1)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        raise SystemExit("a life ended by itself")


def last_second(folder: Path) -> float:
    """Video time of the last frame that plays; below zero when none does."""
    try:
        return max((frame.seconds for frame in read_video(folder / "video.mp4")), default=-1.0)
    except BadAttempt:
        return -1.0


def look(root: Path) -> dict:
    """What a restart finds."""
    folders, names = [child for child in root.iterdir() if child.is_dir()], set(find_attempts(root))
    faults = [f"{child.name}: an orphan" for child in folders if child not in names]
    lost = playable = 0
    for folder in sorted(names):
        attempt, left = load_attempt(folder), [p.name for p in folder.glob("*.tmp")]
        faults += [f"{folder.name}: {name} is left" for name in left]
        if attempt.cut_short == NO_PICTURE_WRITTEN:
            lost += 1
            continue
        plays = last_second(folder)
        playable += plays >= 0
        if plays < 0 or (attempt.seconds and attempt.seconds[-1] - plays > 1.0):
            faults.append(f"{folder.name}: plays to {plays:.2f} s")
    return {"folders": len(folders), "playable": playable, "lost": lost, "faults": faults}


def main(root: Path, kills: int, seed: int) -> dict:
    """Kill that often."""
    dice = random.Random(seed)
    for _ in range(kills):
        killed_life(root, dice.uniform(0.0, LIFE_S))
    Recorder(root, SystemClock(), budget=BUDGET).close()
    return {"kills": kills, **look(root)}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
