"""What comes of a recorded duel imported as each of the kinds of video in ``video_kinds``; prints the table.

python tests/review/bench_videos.py [--source FOLDER] [--kinds WORD…] [--part K/N]

``--source`` is a recorded duel whose caller built right, with ``truth.json``; without one a simulated duel is made.
The verdict is the caller's; seconds are the processor's, of the import alone. Exit status 1 when a verdict is wrong, a
fault is no clear line, or more than one in ten is undecided.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from click.testing import CliRunner
from sim_recording import Plot, record
from video_kinds import KINDS, Case, duel

from cards.errors import RefereeError
from referee.cli import cli

MOST_UNDECIDED = 0.1


@dataclass(frozen=True)
class Came:
    """What came of one kind: the verdict, ``refused`` or ``traceback``; whether that is right; details."""

    verdict: str
    good: bool
    said: str
    seconds: float


def bring(source: Path, case: Case, out: Path) -> Came:
    """Import one video as the command does."""
    told = duel(source)
    words = ["import", str(case.video), "--card", told.card.id, "-o", str(out)]
    words += ["--stop", f"{(told.stop_s or 0.0) + case.stop_by_s:.3f}", "--go", f"{told.go_s or 0.0:.3f}"]
    words += ["--zone", told.caller or "A"] if "--zone" not in case.words else []
    for name in case.beside:
        words += [f"--{Path(name).stem}", str(source / name)]
    begun = time.process_time()
    result = CliRunner().invoke(cli, [*words, *case.words])
    seconds = time.process_time() - begun
    if isinstance(result.exception, RefereeError):
        return Came(
            "refused", case.verdict is None and case.says in str(result.exception), str(result.exception), seconds
        )
    if result.exception is not None:
        return Came("traceback", False, repr(result.exception)[:120], seconds)
    meta = json.loads((out / "attempt.json").read_text())
    zone = told.caller or "A"
    row, found = meta["verdicts"].get(zone, {"verdict": "none"}), (meta.get("findings") or {}).get(zone, [])
    right = row["verdict"] == case.verdict and (case.finding in found if case.finding else not found)
    why = "; ".join(r["text"] for r in row.get("reasons", ()))
    others = {z: f for z, f in (meta.get("findings") or {}).items() if z != zone}
    said = f"{row.get('confidence', 0):.2f} {' '.join(found)} {why} {others or ''}"
    return Came(row["verdict"], right or row["verdict"] == "undecided", said, seconds)


def main() -> int:
    """Print the table; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--source", type=Path)
    ask.add_argument("--kinds", nargs="*")
    ask.add_argument("--part", default="0/1", help="K/N: every N-th kind from the K-th on")
    asked = ask.parse_args()
    wanted = [k for k in KINDS if not asked.kinds or any(word.lower() in k.lower() for word in asked.kinds)]
    first, step = map(int, asked.part.split("/"))
    wanted = wanted[first::step]
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        source = asked.source or Path(scratch) / "source"
        if asked.source is None:
            record(Plot(0, "across", "L09"), source)
        found: dict[str, Came] = {}
        for n, kind in enumerate(wanted):
            at = Path(scratch) / str(n)
            at.mkdir()
            found[kind] = came = bring(source, KINDS[kind](source, at), at / "made")
            mark = "" if came.good else "  <- WRONG"
            print(f"{kind:28}{came.verdict:12}{came.seconds:7.1f} s  {came.said[:150]}{mark}", flush=True)
    bad = [kind for kind, came in found.items() if not came.good]
    open_ = [kind for kind, came in found.items() if came.verdict == "undecided"]
    print(f"{len(found)} kinds, {len(open_)} undecided, {len(bad)} wrong: {', '.join(bad) or 'none'}")
    return int(bool(bad) or len(open_) > MOST_UNDECIDED * len(found))


if __name__ == "__main__":
    sys.exit(main())
