"""Holds two runs of ``referee bench DIR --json`` side by side: are the verdicts the same, and the margins?

    python tests/compare_bench.py OLD.json NEW.json

Prints a hash of each run's verdicts (image, zone, ruling), every verdict that differs and how far margins are apart.
Exit status 0 when all verdicts are the same.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import numpy as np


def rows_of(path: str) -> dict[tuple[str, str], dict]:
    """The scores of a run by (image, zone)."""
    return {(row["image"], row["zone"]): row for row in json.loads(Path(path).read_text(encoding="utf-8"))}


def verdict_hash(rows: dict[tuple[str, str], dict]) -> str:
    """A hash of who was ruled what, and of nothing else."""
    text = "\n".join(f"{image} {zone} {rows[image, zone]['ruling']}" for image, zone in sorted(rows))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def differences(old: dict, new: dict) -> list[str]:
    """One line for each verdict that differs or is in one run only."""
    lines = [f"{' '.join(key)}: only in one run" for key in sorted(old.keys() ^ new.keys())]
    return lines + [
        f"{' '.join(key)}: {old[key]['outcome']} -> {new[key]['outcome']}"
        for key in sorted(old.keys() & new.keys())
        if old[key]["ruling"] != new[key]["ruling"]
    ]


def main(old_path: str, new_path: str) -> int:
    """Print the comparison."""
    old, new = rows_of(old_path), rows_of(new_path)
    print(f"verdicts {verdict_hash(old)} {verdict_hash(new)}")
    changed = differences(old, new)
    print("\n".join(changed) or f"all {len(old)} verdicts are the same")
    off = np.array([abs(old[k]["margin"] - new[k]["margin"]) for k in sorted(old.keys() & new.keys())])
    print(
        f"margins apart, nats: median {np.median(off):.3f}, 95th percentile {np.percentile(off, 95):.3f}, "
        f"most {off.max():.3f}; {int((off > 0.5).sum())} of {len(off)} by more than 0.5"
    )
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
