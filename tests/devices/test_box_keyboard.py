"""Without hardware the go comes through the same port as a box's."""

import pytest

from referee.devices.box_keyboard import KeysBox


class Clock:
    """A clock that stands where it is put."""

    at_s = 7.0

    def now_s(self):
        return self.at_s


@pytest.fixture
def keys():
    box, told = KeysBox(Clock()), []
    box.listen(told.append)
    return box, told


def test_keys_are_no_simulation_and_never_lost(keys):
    box, _ = keys
    assert box.name == "keys" and not box.simulated and box.connected
    assert box.status()["version"] == "keys"
    box.close()


def test_hands_at_rest_a_countdown_and_a_false_start_by_keys():
    box, told = KeysBox(Clock(), step_s=0.02), []
    box.listen(told.append)
    box.rest(0, True)
    box.rest(1, True)
    assert box.status()["pads"] == {0: True, 1: True}
    box.arm()
    box.go(countdown=True)
    box.rest(1, False)
    assert [(n.kind, n.player) for n in told] == [("false_start", 1)]
    box.go(countdown=True)
    assert [n.kind for n in told] == ["false_start"] * 2, "the tongs are still away"
    box.rest(1, True)
    box.go(countdown=True)
    box._count.join()
    assert [n.kind for n in told] == ["false_start"] * 2 + ["go"]
    box.close()
