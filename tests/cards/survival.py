"""How many builds of a deck's layouts survive a hand that is a little off, by rigid bodies (MuJoCo).

`python tests/cards/survival.py challenge80b` tells it for each value, with its 95 % interval, and which layouts fall.
"""

import sys
from collections import defaultdict

import mujoco
import numpy as np
from scipy.stats import binomtest
from test_rigid_body import PIECES, model_of

from cards.deck import builtin_deck
from cards.kinds.layout import LayoutCard
from cards.stability import settle

OFF_MM, OFF_DEG = 2.0, 3.0
"""Standard deviations of each piece's place, in x and y, and of its turn about the vertical."""

BLOCKED_MM = 3.0
"""A piece that its neighbour would lift by more cannot be put there: another draw is taken."""

SECONDS, FALLEN_MM = 1.0, 12.0
"""A build has fallen when some piece is lower by this after so long; a cylinder rolls into its hollow by less."""


def survives(card, rng):
    """Whether the layout, put up a little off, still stands."""
    model = mujoco.MjModel.from_xml_string(model_of(_misplaced(card, rng)))
    data = mujoco.MjData(model)
    for n, turn in enumerate(np.radians(rng.normal(0, OFF_DEG, len(card.pieces))) / 2):
        spin = np.array([np.cos(turn), 0, 0, np.sin(turn)])
        mujoco.mju_mulQuat(data.qpos[7 * n + 3 : 7 * n + 7], spin, data.qpos[7 * n + 3 : 7 * n + 7].copy())
    mujoco.mj_forward(model, data)
    before = data.xpos[:, 2].copy()
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
    return 1000 * (before - data.xpos[:, 2]).max() < FALLEN_MM


def _misplaced(card, rng):
    for _ in range(1000):
        moved = settle(PIECES, [p.at(x=p.x + rng.normal(0, OFF_MM)) for p in card.pieces])
        if max(m.z - p.z for m, p in zip(moved, card.pieces, strict=True)) < BLOCKED_MM:
            break
    return [p.at(y=rng.normal(0, OFF_MM)) for p in moved]


def main():
    trials, standing = int(sys.argv[2]) if len(sys.argv) > 2 else 20, defaultdict(list)
    for n, card in enumerate(builtin_deck(sys.argv[1]).cards):
        if isinstance(card, LayoutCard):
            rng = np.random.default_rng([1, n])
            standing[card.value].append((sum(survives(card, rng) for _ in range(trials)), card.id))
    for value, rows in sorted(standing.items()):
        good, of = sum(n for n, _ in rows), trials * len(rows)
        low, high = binomtest(good, of).proportion_ci(method="wilson")
        weak = ", ".join(f"{name} {n / trials:.0%}" for n, name in rows if n < 0.9 * trials)
        print(f"value {value}: {good} of {of} stand, {good / of:.1%} ({low:.1%} to {high:.1%}); under 90 %: {weak}")


if __name__ == "__main__":
    main()
