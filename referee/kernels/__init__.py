"""The compiled loops over pixels, places and pieces, and the button box's firmware: Python that Cython compiles.

A module is Python with a law in prose at its head; the types of its functions stand in the ``.pxd`` beside it, so that
arrays of rows are structs: ``piece.x``, not ``piece[1]``. Functions for other kernels take addresses and run without
Python's lock; those that Python calls come last in each module, take arrays, and check their kind. All rules of the
game and all thresholds are given, none is compiled in. The innermost loops go by eight columns (``columns.h``).

The bits are the same on every processor: nothing is fused, no sum is taken in another order. The hottest modules are
built a second time where that pays (``sources.AVX2_MODULES``); which of the two runs is decided here, once.
``why_cython.md`` says why it is Cython; ``.build/backend.py`` builds it.
"""

from pathlib import Path

import cv2

from referee.kernels.sources import built_from, check

AVX2 = 11
"""What OpenCV numbers this as."""

if cv2.checkHardwareSupport(AVX2):
    __path__.insert(0, str(Path(__file__).with_name("avx2")))  # empty but on Linux on x86-64
check(Path(__file__).parent, built_from())
