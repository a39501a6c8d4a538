"""The camera proposes fouls where the house asks for it, and nowhere else."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from referee.devices.ports import Frame
from referee.match.house_rules import DEFAULT_RULES, HouseRules
from referee.session.live_judging import LiveJudging
from referee.vision.live.gate import GateState


@pytest.mark.parametrize(("rules", "asked"), [(DEFAULT_RULES, 0), (HouseRules(foul_watch="proposes"), 1)])
def test_fouls_are_watched_for_only_where_the_house_asks(rules, asked):
    looks = []
    session = SimpleNamespace(shift_s=0.0, gate=SimpleNamespace(reduced_frame=lambda: looks.append(1)))
    duel = SimpleNamespace(number=1, go_at_s=0.0, stops=(), seats={"A": "Ann"})
    state = SimpleNamespace(rules=rules, phase="building", duel=duel)
    frame = Frame(np.zeros((2, 2, 3), np.uint8), 1, 1.0)
    LiveJudging(session)._watch_for_fouls(frame, GateState({}), state)
    assert len(looks) == asked
