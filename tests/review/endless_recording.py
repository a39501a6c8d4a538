"""A program for the crash tests: records noise at 50 frames a second until something ends it.

Arguments: the folder for attempts, and the size in bytes at which every file of it is full (0: none).
Prints a line when the recording runs, and one when it has failed.
"""

import resource
import signal
import sys
import time
from pathlib import Path

import numpy as np

from referee.devices.ports import Frame, SystemClock
from referee.recording import Budget, Recorder


def main() -> None:
    root, limit = Path(sys.argv[1]), int(sys.argv[2])
    if limit:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    clock, rng = SystemClock(), np.random.default_rng(1)
    recorder = Recorder(root, clock, budget=Budget(free_bytes=0), reserve_bytes=limit // 2 or 1 << 20)
    folder = recorder.begin({"match_id": "K", "card": "L00"})
    noise = rng.integers(0, 255, (8, 240, 320, 3), np.uint8)
    for n in range(3000):
        recorder.frame(Frame(noise[n % 8], n, clock.now_s()))
        if n == 10:
            print("recording", folder, flush=True)
        if recorder.problem:
            print("problem:", recorder.problem, flush=True)
            recorder.judged(Frame(noise[0], n, clock.now_s()), {"A": {"verdict": "match"}})
            recorder.finish({"award": {"player": "Ann"}})
            recorder.close()
            return
        time.sleep(0.02)


main()
