"""Judges an archive again and prints figures: ``python tests/review/bench_rejudge.py [COUNT] [SAMPLE]``.

Makes an archive of COUNT attempts (default 500) from the golden recording's frames after the Stop; SAMPLE of
them (default an eighth) are judged again on one core, all of them on two, killed in the middle and resumed.
A few attempts say something else than what is in the picture: the report must name those and no others. Then
the deck and the rules change, and only they. Rates are taken from the first result to the last: what starting
the program costs comes once, however many attempts there are.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import cv2

from referee.recording import load_attempt
from referee.recording.folder import write_json
from referee.recording.video import read_video
from referee.review.batch import RESULTS, Results
from referee.review.rejudge import judge_frames

GOLDEN = Path(__file__).parents[2] / "referee" / "example" / "duel"
STILL_FROM = 108
"""Frames of the recording from here on show the fallen build at rest."""

SEEDED_EVERY = 16
"""Every so manieth attempt says the opposite of its picture."""


@dataclass(frozen=True)
class Figures:
    """What a run showed: attempts a second, results when killed and in all, what changed by picture and rules."""

    one_core_hz: float
    two_cores_hz: float
    killed_at: int
    results: list[str]
    changed: list[str]
    seeded: list[str]
    rules_s: float
    rules_changed: int


def archive(root: Path, count: int) -> list[str]:
    """COUNT attempts with the golden recording's still frames in turn, hard links; gives the seeded names."""
    pool, seeded = root / "pool", []
    rows = pictures(pool)
    meta = json.loads((GOLDEN / "attempt.json").read_text()) | {"players": {"A": "Ann", "B": "Ben"}}
    for n in range(count):
        name, row = f"B-{n:03d}", rows[n % len(rows)]
        if n % SEEDED_EVERY == SEEDED_EVERY // 2:
            row = {**row, "verdict": "match", "reasons": []}
            seeded.append(name)
        folder = root / "archive" / name
        folder.mkdir(parents=True)
        for file in ("deck.json", "pieces.json", "camera.yaml"):
            os.link(pool / file, folder / file)
        os.link(pool / f"{n % len(rows)}.png", folder / "stop.png")
        write_json(folder / "attempt.json", meta | {"verdicts": {"A": row}, "zones": ["A", "B"]})
    return seeded


def pictures(pool: Path) -> list[dict]:
    """Write the still frames and what goes with them; gives today's verdict on each one's field A."""
    pool.mkdir(parents=True)
    for file in ("deck.json", "pieces.json", "camera.yaml", "attempt.json"):
        shutil.copyfile(GOLDEN / file, pool / file)
    rows = []
    write_json(pool / "attempt.json", json.loads((GOLDEN / "attempt.json").read_text()) | {"zones": ["A"]})
    for n, frame in enumerate(f.image for f in read_video(GOLDEN / "video.mp4", STILL_FROM)):
        cv2.imwrite(str(pool / f"{n}.png"), frame)
        shutil.copyfile(pool / f"{n}.png", pool / "stop.png")
        attempt = load_attempt(pool)
        rows.append(judge_frames(attempt, attempt.card)["A"])
    return rows


def run(*words: object, kill_after: int | None = None) -> tuple[float, int]:
    """``referee rejudge``: seconds from its first result to its last, and how many came after the first. With
    ``kill_after`` it is killed once so many are there."""
    out, times = Path(str(words[-1])), list[float]()
    before = count_in(out)
    command = [sys.executable, "-c", "from referee.cli import main; main()", "rejudge", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as program:
        while program.poll() is None:
            time.sleep(0.02)
            times += [time.monotonic()] * (count_in(out) - before - len(times))
            if kill_after and len(times) >= kill_after:
                program.send_signal(signal.SIGKILL)
                break
    return (times[-1] - times[0], len(times) - 1) if times else (0.0, 0)


def count_in(out: Path) -> int:
    """How many results are on disk; one query, for a measurement that reads everything takes a core itself."""
    if not (out / RESULTS).exists():
        return 0
    with closing(sqlite3.connect(f"file:{out / RESULTS}?mode=ro", uri=True)) as db:
        try:
            return int(db.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.OperationalError:  # the table is being made
            return 0


def results(out: Path) -> list[str]:
    """Names of the attempts whose results are on disk, in the order of time."""
    if not (out / RESULTS).exists():
        return []
    found = Results(out)
    try:
        return [found.get(key)["attempt"] for key in found.done()]
    finally:
        found.close()


def measure(root: Path, count: int, sample: int) -> Figures:
    """Make the archive, judge it again in all ways, and give the figures."""
    seeded = archive(root, count)
    every = root / "archive"
    some = sorted(every.iterdir())[:sample]
    one_s, one = run(*some, "-j", 1, "-o", root / "one")
    first_s, first = run(every, "-j", 2, "-o", root / "two", kill_after=count // 2)
    killed_at = len(results(root / "two"))
    then_s, then = run(every, "-j", 2, "-o", root / "two")
    report = json.loads((root / "two" / "report.json").read_text())
    begun = time.monotonic()
    run(every, "--deck", other_deck(root), "--rules", other_rules(root), "-o", root / "rules")
    rules_s = time.monotonic() - begun
    by_rules = json.loads((root / "rules" / "report.json").read_text())
    return Figures(
        one / one_s,
        (first + then) / (first_s + then_s),
        killed_at,
        results(root / "two"),
        [row["attempt"] for row in report["changes"]],
        seeded,
        rules_s,
        by_rules["changed"],
    )


def other_deck(root: Path) -> Path:
    """A deck whose card asks for a tower of as many pieces as lie about: every fallen build is still wrong,
    every one that the record calls right is not."""
    path = root / "deck.json"
    write_json(path, {"name": "other", "cards": [{"id": "L00", "kind": "height", "value": 2, "count": 9}]})
    return path


def other_rules(root: Path) -> Path:
    """House rules that ask for exactly two pieces on the table."""
    path = root / "rules.toml"
    path.write_text('ground_contacts = "exactly_two"\n')
    return path


def main(count: int, sample: int) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder), count, sample)
    print(
        f"{count} attempts: one core {found.one_core_hz:.2f} a second, two {found.two_cores_hz:.2f}, "
        f"{found.two_cores_hz / found.one_core_hz:.2f} times the rate"
    )
    print(f"killed at {found.killed_at}, resumed to {len(found.results)} results of {len(set(found.results))} attempts")
    print(
        f"{len(found.seeded)} seeded, {len(found.changed)} changed, "
        f"{'the same' if found.changed == found.seeded else 'NOT the same'}"
    )
    print(f"other deck and rules: {found.rules_changed} changed in {found.rules_s:.1f} s")


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    main(number, int(sys.argv[2]) if len(sys.argv) > 2 else max(8, number // 8))
