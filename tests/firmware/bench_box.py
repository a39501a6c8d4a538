"""The firmware's order of presses and its bounce trains over a thousand pairs and two hundred trains; about a minute.

    python tests/firmware/bench_box.py [PAIRS [TRAINS]]

The tests of the same names with fewer are part of the suite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def main() -> None:
    """The tests of order and bounce, with what they print."""
    pairs, trains = [*sys.argv[1:], *("1000", "200")[len(sys.argv) - 1 :]]
    env = {**os.environ, "BOX_PAIRS": pairs, "BOX_TRAINS": trains}
    asked = "presses_1_ms_apart or pairs_come_in_their_order or random_bounce_train"
    command = [sys.executable, "-m", "pytest", "-q", "-rP", "-k", asked, str(HERE)]
    raise SystemExit(subprocess.run(command, env=env, check=False).returncode)


if __name__ == "__main__":
    main()
