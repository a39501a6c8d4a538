"""Measures judging an archive again: ``python tests/attempts/bench_rejudge.py [COUNT] [--eye …]``.

Makes an archive of COUNT attempts (default 500) from the golden recording's frames after the Stop, judges it
with one process and with two, kills the second run in the middle, resumes it, and prints rates and counts.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import cv2

from referee.attempt.folder import write_json
from referee.attempt.video import read_video
from referee.rejudge import EYE

GOLDEN = Path(__file__).parents[1] / "golden" / "attempt_collapse"
HERE = Path(__file__).parent


def burn(attempt, card, palette):
    """A stand-in for vision that keeps a core busy for about a fifth of a second."""
    image, end = attempt.judged_frames()[0], time.process_time() + 0.2
    while time.process_time() < end:
        cv2.GaussianBlur(image, (0, 0), 3)
    return {"A": {"verdict": "match", "confidence": 0.9, "reasons": []}}


def archive(root: Path, count: int) -> None:
    """COUNT attempts with the golden recording's still frames in turn; their files are hard links."""
    frames = [f.image for f in read_video(GOLDEN / "video.mp4", 106)]
    pool = root / "pool"
    pool.mkdir(parents=True)
    for n, image in enumerate(frames):
        cv2.imwrite(str(pool / f"{n}.png"), image)
    row = {"verdict": "mismatch", "confidence": 0.9, "reasons": []}
    meta = json.loads((GOLDEN / "attempt.json").read_text())
    meta |= {"players": {"A": "Ann", "B": "Ben"}, "verdicts": {"A": row}}
    for n in range(count):
        folder = root / "archive" / f"B-{n:03d}"
        folder.mkdir(parents=True)
        for name in ("deck.json", "pieces.json", "camera.yaml"):
            os.link(shutil.copyfile(GOLDEN / name, pool / name), folder / name)
        os.link(pool / f"{n % len(frames)}.png", folder / "stop.png")
        write_json(folder / "attempt.json", meta)


def command(root: Path, out: str, jobs: int, eye: str) -> list[str]:
    """The command line of one run."""
    return [sys.executable, "-c", "from referee.cli import main; main()", "rejudge", str(root / "archive"),
            "-j", str(jobs), "-o", str(root / out), "--eye", eye]


def run(words: list[str], kill_after: int | None = None, cores: tuple[int, ...] = (0, 1)) -> float:
    """Seconds of a run on those cores; with ``kill_after`` it is killed once so many results are there."""
    begun = time.monotonic()
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as program:
        os.sched_setaffinity(program.pid, cores)
        while program.poll() is None:
            time.sleep(0.2)
            if kill_after and results(Path(words[words.index("-o") + 1])) >= kill_after:
                program.send_signal(signal.SIGKILL)
                break
    return time.monotonic() - begun


def results(out: Path) -> int:
    """Lines of results that are on disk."""
    path = out / "results.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def main(count: int, eye: str) -> None:
    """Measure and print."""
    os.environ["PYTHONPATH"] = f"{HERE}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        archive(root, count)
        run(command(root, "warm", 1, eye), 1)  # compiled code is cached on disk from here on
        one = run(command(root, "one", 1, eye), cores=(0,))  # vision has two threads: one core is one core
        two = run(command(root, "two", 2, eye))
        print(f"{count} attempts: one core {one:.1f} s, two {two:.1f} s, {one / two:.2f} times the rate")
        run(command(root, "killed", 2, eye), count // 2)
        before = results(root / "killed")
        run(command(root, "killed", 2, eye))
        names = [json.loads(line)["attempt"] for line in (root / "killed" / "results.jsonl").open()]
        print(f"killed at {before}, resumed to {len(names)} results of {len(set(names))} attempts")
        reports = [json.loads((root / out / "report.json").read_text()) for out in ("one", "two", "killed")]
        print(f"changed verdicts in the three reports: {[r['changed'] for r in reports]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--eye", default=EYE)
    given = parser.parse_args()
    main(given.count, given.eye)
