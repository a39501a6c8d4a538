"""Numbers that were measured: each stands beside its use and says its unit and where its value comes from.

What a rig, a room or a piece set could change is relative to the calibrated scale (mm of the mat, a piece's size, the
paper's light), so that one value serves all. Numbers of stills are tried by ``STILLS_BENCH``, and
``tests/compare_bench.py`` holds two such runs side by side; those of film by the tests of ``tests/vision``,
``tests/session`` and ``tests/review`` and by ``tests/review/bench_fouls.py``.
"""

import sys
from dataclasses import dataclass
from typing import Any, TypeVar

Value = TypeVar("Value")

STILLS_BENCH = "referee bench devset devset2 --leave-one-out --json"
"""Try another value by this; it names what is judged otherwise."""


@dataclass(frozen=True)
class Measured:
    """One measured number, or a tuple of them, of a ``module``; ``tried_by`` is the command that shows what another
    value does, where that is another one than ``STILLS_BENCH``."""

    module: str
    value: Any
    unit: str
    source: str
    tried_by: str


MEASURED: list[Measured] = []
"""All of the modules that are imported."""


def measured(value: Value, unit: str, source: str, tried_by: str = "") -> Value:
    """The plain ``value``, noted in ``MEASURED``."""
    MEASURED.append(Measured(sys._getframe(1).f_globals["__name__"], value, unit, source, tried_by))
    return value
