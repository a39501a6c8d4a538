"""The compiled loops over pixels, places and pieces: Python that Cython compiles, and nothing else.

A module is Python with a law in prose at its head; the types of its functions stand in the ``.pxd`` beside it, so that
arrays of rows are structs: ``piece.x``, not ``piece[1]``. Functions for other kernels take addresses and run without
Python's lock; those that Python calls come last in each module, take arrays, and check their kind. All rules of the
game and all thresholds are given, none is compiled in. The innermost loops go by eight columns (``columns.h``).

The bits are the same on every processor: nothing is fused, no sum is taken in another order. ``why_cython.md`` says
why it is Cython; ``.build/backend.py`` builds it.
"""

from pathlib import Path

from referee.kernels.sources import built_from, check

check(Path(__file__).parent, built_from())
