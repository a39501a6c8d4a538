"""How the search's loops are compiled.

``lean`` loops count no references: they borrow arrays and may not make or keep any. Numba would otherwise count at
nearly every use of an array, an atomic operation each time: more than half of the time of drawing a small piece, and
worse when two threads count on the same catalogue. What needs a new array makes it in a ``loop`` around.

Mind numba's cache when editing: a compiled loop is rebuilt when its own file changes, not when a
function that it calls from another file does. ``tests/run`` starts without the cache; by hand,
delete ``*.nbi`` and ``*.nbc`` after a change to ``paint`` or ``rest``.
"""

from __future__ import annotations

from numba import njit

_HOW = {"cache": True, "nogil": True, "fastmath": True, "error_model": "numpy"}

loop = njit(**_HOW)
lean = njit(**_HOW, _nrt=False)
inlined = njit(**_HOW, _nrt=False, inline="always")
