"""How much memory a judgement keeps."""

from __future__ import annotations

import gc
from types import FunctionType, ModuleType

import numpy as np

from cards.kinds.height import HeightCard
from referee.vision.observer import Observer

MOST_BYTES = 25
"""A pixel of a view: its picture, where it lies in the frame, and what it shows take 19."""


def held_bytes(root: object) -> int:
    """Of all arrays that can be reached from there."""
    seen: dict[int, object] = {}
    left = [root]
    while left:
        value = left.pop()
        if id(value) in seen or isinstance(value, type | ModuleType | FunctionType):
            continue
        seen[id(value)] = value
        left += [value.base] if isinstance(value, np.ndarray) and value.base is not None else gc.get_referents(value)
    return sum(a.nbytes for a in seen.values() if isinstance(a, np.ndarray) and a.base is None)


def test_a_judgement_keeps_no_more_than_its_readers_use(rig, tower):
    observer = Observer(rig.piece_set, rig.camera, empty=rig.photograph())
    judgement = observer.judge([rig.photograph({"A": tower})], HeightCard("H", 1, 2, 1))
    pixels = sum(sight.view.image[..., 0].size for sight in judgement.views.values())
    assert pixels < held_bytes(judgement.views) < MOST_BYTES * pixels
