"""How often the tests of the compiled firmware press: enough to see a fault; ``bench_box.py`` asks for more."""

import os

PAIRS_VARIABLE, TRAINS_VARIABLE = "BOX_PAIRS", "BOX_TRAINS"

PAIRS = int(os.environ.get(PAIRS_VARIABLE, 200))
"""Presses of two players that come one shortly after the other, for each gap: 600 in all."""

TRAINS = int(os.environ.get(TRAINS_VARIABLE, 60))
"""Presses with random bounce and induced pulses."""
