"""How well the time line tells when a piece was placed, and whether it sees touches that were none; prints figures.

python tests/review/bench_placements.py [--count N] [--first SEED] [--shared FOLDER]

N simulated duels with truth (default 20), of seeds and cards that no parameter was chosen by, are filmed and read;
with ``--shared`` the recordings in that folder too. Errors are what is told minus what is true. In these duels nobody
acts after the Stop: every touch that is told there is false. Exit status 1 when a piece is missed or invented, the
middle error is more than MIDDLE_S, one in twenty is more than LATE_S off, or a touch is told.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from sim_recording import Plot, record

from cards.deck import builtin_deck
from cards.errors import RefereeError
from referee.recording import load_attempt
from referee.review.stop_ruling import stop_findings
from referee.review.timeline import read_timeline

MIDDLE_S, LATE_S = 0.1, 0.2
SEATINGS = ("across", "facing", "beside")
TOUCHES = ("touched_after_stop", "bumped")


def recordings(asked: argparse.Namespace, scratch: Path) -> Iterator[tuple[str, Path, dict]]:
    """Name, folder and truth (zone -> rows) of every recording."""
    layouts = [card.id for card in builtin_deck().cards if card.kind == "layout"]
    for folder in sorted(asked.shared.iterdir()) if asked.shared else ():
        yield folder.name, folder, json.loads((folder / "truth.json").read_text())["placed"]
    for n in range(asked.count):
        seed = asked.first + n
        plot = Plot(seed, SEATINGS[n % len(SEATINGS)], layouts[seed * 7 % len(layouts)])
        folder = scratch / str(seed)
        yield f"{plot.seating} {plot.card} {seed}", folder, record(plot, folder)["placed"]


def read(folder: Path, truth: dict) -> tuple[list[float], int, int, list[str]]:
    """Errors in seconds of the pieces that were found, how many were missed and invented, touches told."""
    attempt = load_attempt(folder)
    story = read_timeline(attempt)
    errors, missed, invented = list[float](), 0, 0
    for zone, rows in truth.items():
        true = [row for row in rows if row.get("finished", True)]
        found = list(story.placed[zone])
        for row in true:
            same = [p for p in found if (p.shape, p.color) == (row["shape"], row["color"])]
            if not same:
                missed += 1
                continue
            nearest = min(same, key=lambda p: abs(p.seconds - row["seconds"]))
            found.remove(nearest)
            errors.append(nearest.seconds - row["seconds"])
        unfinished = len(rows) - len(true)
        invented += max(0, len(found) - unfinished)
    told = [row["finding"] for row in stop_findings(attempt) if row["finding"] in TOUCHES]
    return errors, missed, invented, told


def main() -> int:
    """Print the figures; gives the exit status."""
    ask = argparse.ArgumentParser()
    ask.add_argument("--count", type=int, default=20)
    ask.add_argument("--first", type=int, default=760)
    ask.add_argument("--shared", type=Path)
    every, missed, invented, touches, count = list[float](), 0, 0, list[str](), 0
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        for name, folder, truth in recordings(ask.parse_args(), Path(scratch)):
            try:
                errors, lost, more, told = read(folder, truth)
            except RefereeError as error:
                errors, lost, more, told = [], sum(map(len, truth.values())), 0, [str(error)]
            every, missed, invented, count = every + errors, missed + lost, invented + more, count + 1
            touches += [f"{name}: {what}" for what in told]
            said = f"{len(errors)} found, {lost} missed, {more} invented"
            each = " ".join(f"{error:+.2f}" for error in errors)
            print(f"{name:24}{said:36} {each} s {' '.join(told)}", flush=True)
    off = np.abs(every)
    middle, late = float(np.median(off)), float(np.quantile(off, 0.95))
    print(f"{count} recordings, {len(every)} pieces: median |error| {middle:.3f} s, p95 {late:.3f} s, ", end="")
    print(f"bias {np.mean(every):+.3f} s, {missed} missed, {invented} invented; touches told: {touches or 'none'}")
    return int(bool(missed or invented or touches) or middle > MIDDLE_S or late > LATE_S)


if __name__ == "__main__":
    sys.exit(main())
