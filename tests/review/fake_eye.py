"""An eye for tests of archives: reads the number in the picture, and writes down every look it takes.

FAKE_EYE_LOG names the file it writes to, FAKE_EYE_SLEEP the seconds a look takes. FAKE_EYE_GATE names a file without
which it looks at no number from GATED on: what a test does meanwhile is never too late.
"""

import os
import threading
import time

GATED = 12


def look(attempt, card, palette):
    image = attempt.judged_frames()[0]
    number = sum(1 << bit for bit in range(8) if image[10:30, bit * 20 + 5 : bit * 20 + 15].mean() > 140)
    gate = os.environ.get("FAKE_EYE_GATE")
    while gate and number >= GATED and not os.path.exists(gate):
        time.sleep(0.01)
    time.sleep(float(os.environ.get("FAKE_EYE_SLEEP", "0")))
    log = os.open(os.environ["FAKE_EYE_LOG"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{attempt.name} {os.getpid()}\n".encode())
    os.close(log)
    verdict = "mismatch" if number % 10 == 3 else "match"
    reasons = [{"code": "seeded", "text": "a seeded change"}] if verdict == "mismatch" else []
    return {"A": {**attempt.verdicts["A"], "verdict": verdict, "reasons": reasons}}


def look_blind(attempt, card, palette):
    row = {"verdict": "undecided", "confidence": 0.5, "reasons": []}
    return {zone: row for zone in attempt.meta["zones"]}


def look_fallen(attempt, card, palette):
    row = {"verdict": "mismatch", "confidence": 0.9, "reasons": []}
    return {zone: row for zone in attempt.meta["zones"]}


def look_at_cores(attempt, card, palette):
    """Write down the cores that a thread of this process may use."""
    cores = []
    thread = threading.Thread(target=lambda: cores.extend(sorted(os.sched_getaffinity(0))))
    thread.start()
    thread.join()
    with open(os.environ["FAKE_EYE_LOG"], "a", encoding="ascii") as log:
        log.write(" ".join(map(str, [attempt.name, os.getpid(), *cores])) + "\n")
    return look_blind(attempt, card, palette)
