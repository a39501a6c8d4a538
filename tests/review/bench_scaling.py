"""How judging an archive again scales: ``python tests/review/bench_scaling.py [COUNT]``.

Judges COUNT attempts (default 24) by 1, 2 and 4 workers, on one core and on two, each time from nothing, and prints
for each run the attempts a second from its first result to its last, the processor's seconds an attempt and those that
starting takes. A busy machine lowers the rates, hardly the processor's seconds.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from bench_rejudge import archive, run

from referee.recording.folder import bytes_of

WORKERS = (1, 2, 4)


def processor_s() -> float:
    """The processor's seconds of all processes that were started here and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def measured(every: Path, out: Path, workers: int, cores: set[int]) -> tuple[float, float]:
    """Attempts a second, and the processor's seconds of the whole run."""
    before, allowed = processor_s(), os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        seconds, count = run(every, "-j", workers, "-o", out)
    finally:
        os.sched_setaffinity(0, allowed)
    return count / seconds if seconds else 0.0, processor_s() - before


def main(count: int) -> None:
    """Measure and print."""
    allowed = sorted(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="referee-") as scratch:
        root = Path(scratch)
        archive(root, count)
        every, few = root / "archive", root / "few"
        few.mkdir()
        for folder in sorted(every.iterdir())[:2]:
            (few / folder.name).symlink_to(folder)
        size = bytes_of(every) / count
        print(f"{count} attempts of {size / 1e6:.1f} MB without their films; load {os.getloadavg()[0]:.1f}")
        for cores in {1, min(2, len(allowed))}:
            for workers in WORKERS:
                out = root / f"out{cores}-{workers}"
                rate, used = measured(every, out, workers, set(allowed[:cores]))
                _, start = measured(few, root / f"few{cores}-{workers}", workers, set(allowed[:cores]))
                each = (used - start) / (count - 2)
                said = f"{rate:5.2f} attempts/s, {each:5.2f} processor s an attempt, {start:5.1f} s to start"
                print(f"{cores} core{'s' * (cores > 1)}, {workers} worker{'s' * (workers > 1)}: {said}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 24)
