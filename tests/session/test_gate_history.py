"""What the gate's looks around a press mean, as timelines of (hand over the field, moving share)."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from referee.devices.ports import Frame
from referee.vision.live.field_snapshot import FieldSnapshot
from referee.vision.live.gate import GateState
from referee.vision.live.gate_history import GateHistory, StopWatch

PRESS_S = 10.0
STILL, HAND, STIR, NEIGHBOUR = (False, 0.001), (True, 0.05), (False, 0.08), (True, 0.001)

CASES = {  # name: (looks every 0.1 s from 9.0 s on, hand at stop, fell by itself)
    "nothing happens": ([STILL] * 25, False, False),
    "the hand leaves before the press": ([HAND] * 8 + [STILL] * 17, False, False),
    "the hand is there at the press": ([HAND] * 14 + [STILL] * 11, True, False),
    "the hand comes after the press": ([STILL] * 12 + [HAND] * 13, False, False),
    "the neighbour's arm is in the line of sight": ([NEIGHBOUR] * 25, False, False),
    "it falls by itself": ([STILL] * 15 + [STIR] * 3 + [STILL] * 7, False, True),
    "a falling piece looks like a hand for a moment": (
        [STILL] * 15 + [STIR, (True, 0.2), STIR] + [STILL] * 7,
        False,
        True,
    ),
    "it falls while the hand leaves": ([HAND] * 12 + [STIR] * 3 + [STILL] * 10, True, False),
    "it moved before the press only": ([STILL] * 5 + [STIR] * 5 + [STILL] * 15, False, False),
}


@pytest.mark.parametrize("name", CASES)
def test_looks_around_a_press(name):
    rows, hand, fell = CASES[name]
    looks = GateHistory()
    for n, (over, moving) in enumerate(rows):
        gate = SimpleNamespace(hand=over, moving=moving, settled_s=float(moving < 0.01))
        look = GateState({"A": gate})
        looks.add(Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10), look, "stopped")
    assert (looks.hand("A", PRESS_S) != "none", looks.after("A", PRESS_S).after == "nobody") == (hand, fell)
    assert looks.hand("B", PRESS_S) == "none" and looks.after("B", PRESS_S).unseen


@pytest.mark.parametrize(
    "rows, neighbour, own",
    [([HAND] * 25, False, True), ([HAND] * 25, True, False), ([HAND] * 8 + [STILL] * 17, False, False)],
)
def test_a_hand_is_surely_the_callers_only_when_nobody_elses_is_there(rows, neighbour, own):
    looks = GateHistory()
    for n, (over, moving) in enumerate(rows):
        mine = SimpleNamespace(hand=over, moving=moving, settled_s=0.0)
        other = SimpleNamespace(hand=neighbour, moving=0.0, settled_s=9.0)
        looks.add(
            Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10),
            GateState({"A": mine, "B": other}),
            "stopped",
        )
    assert looks.is_callers_own("A", PRESS_S) is own


def test_an_arm_that_is_seen_for_a_moment_is_a_hand_all_the_same():
    looks = GateHistory()
    for n, (over, moving) in enumerate([STILL] * 12 + [STIR, (True, 0.2), STIR] + [STILL] * 7):
        gate = SimpleNamespace(hand=over, moving=moving, settled_s=0.0)
        look = GateState({"A": gate})
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10)
        looks.add(frame, look, "stopped", {"A": "B"} if over else {})
    after = looks.after("A", PRESS_S)
    assert (after.after, after.culprit, after.since_s) == ("neighbour", "B", pytest.approx(10.25))


@pytest.mark.parametrize(
    ("owners", "said"),
    [(("B", "B"), ("neighbour", "B")), (("B", "A"), ("somebody", None)), (("", None), ("somebody", None))],
    ids=["one neighbour's", "either's", "a stranger's"],
)
def test_only_a_hand_that_looks_like_one_players_is_named(owners, said):
    looks = GateHistory()
    for n, (over, moving) in enumerate([STILL] * 12 + [HAND, HAND] + [STILL] * 4):
        gate = SimpleNamespace(hand=over, moving=moving, settled_s=0.0)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10)
        looks.add(frame, GateState({"A": gate}), "stopped", {"A": owners[n - 12]} if over else {})
    after = looks.after("A", PRESS_S)
    assert (after.after, after.culprit) == said


@pytest.mark.parametrize(
    ("short", "since_s"),
    [((), 10.25), ((12, 13), 10.45), ((12, 13, 14, 15), 10.55)],
    ids=["at once", "comes", "always"],
)
def test_a_field_is_touched_when_the_arm_that_comes_is_there_or_comes_no_farther(short, since_s):
    looks = GateHistory()
    for n, moves in enumerate([False] * 12 + [True] * 4 + [False] * 6 + [True] * 2):
        gate = SimpleNamespace(hand=True, moving=0.1 if moves else 0.0, settled_s=0.0)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10)
        looks.add(frame, GateState({"A": gate}), "stopped", {"A": "A"}, ["A"] if n in short else [])
    assert looks.after("A", PRESS_S).since_s == pytest.approx(since_s)


@pytest.mark.parametrize(("elsewhere", "said"), [(False, "own"), (True, "somebody")])
def test_an_own_hand_that_is_over_another_field_too_may_be_the_neighbours_arm(elsewhere, said):
    looks = GateHistory()
    for n, (over, moving) in enumerate([STILL] * 12 + [HAND] * 6 + [STILL] * 4):
        mine = SimpleNamespace(hand=over, moving=moving, settled_s=0.0)
        other = SimpleNamespace(hand=elsewhere, moving=0.0, settled_s=9.0)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10)
        looks.add(frame, GateState({"A": mine, "B": other}), "stopped", {"A": "A"} if over else {})
    assert looks.after("A", PRESS_S).after == said


def test_the_view_at_the_press_is_the_last_frames_before_it():
    looks = GateHistory()
    for n in range(20):
        building = 9.05 + n / 10 < PRESS_S + 0.05
        looks.add(
            Frame(np.zeros((1, 1, 3), np.uint8), n, 9.05 + n / 10),
            GateState({}),
            "building" if building else "stopped",
        )
    assert [f.number for f in looks.frames_at_press(PRESS_S)] == [7, 8, 9]


def history_of(times, moving, phase_at):
    """A history of looks at A's field at those times; ``moving`` share by time, ``phase_at`` the match's phase."""
    history = GateHistory()
    for n, at_s in enumerate(times):
        gate = SimpleNamespace(hand=False, moving=moving(at_s), settled_s=1.0)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, at_s)
        history.add(frame, GateState({"A": gate}), phase_at(at_s))
    return history


def test_a_frame_of_long_before_the_press_does_not_show_what_stood_there_then():
    history = history_of([1.0, 1.1, 1.2, 10.3], lambda t: 0.0, lambda t: "building" if t < 10 else "stopped")
    assert history.frames_at_press(PRESS_S) == [] and history.frames_at_press(PRESS_S, "A") == []


def phase(at_s):
    return "building" if at_s < PRESS_S else "stopped"


@pytest.mark.parametrize(
    ("times", "unseen", "after"),
    [
        ([9.4, 9.7, 10.1, 10.2, 10.3], False, "nobody"),
        ([9.3, 9.6, 10.1, 10.2, 10.3], True, "somebody"),
        ([9.9, 10.4, 10.8, 11.2], False, "somebody"),
        ([9.9, 10.5, 10.6, 10.7], True, "somebody"),
        ([9.9, 10.1, 10.6, 10.7], True, "somebody"),
        ([10.1, 10.2, 10.3], True, "somebody"),
        ([9.7, 10.0, 10.3, 10.6, 10.9], False, "somebody"),
        ([9.8, 10.0, 10.2, 10.4, 10.6], False, "nobody"),
    ],
    ids=["fresh", "old", "slow", "late", "hole", "none before", "3 frames/s", "5 frames/s"],
)
def test_what_moved_while_nobody_looked_somebody_may_have_touched(times, unseen, after):
    looks = history_of(times, lambda t: 0.3 if t == times[-2] else 0.0, phase)
    told = looks.after("A", PRESS_S)
    assert (told.unseen, told.after) == (unseen, after)


def test_where_nothing_moved_a_hole_in_the_looks_still_is_no_stillness():
    assert history_of([8.9, 9.0, 10.2, 10.3, 10.4], lambda t: 0.0, phase).after("A", PRESS_S).after == "somebody"


def held_at_the_press(owner, neighbour=False, moves=0.05, first=None):
    """A hand that rests over A's field from a second before the press and leaves half a second after it, by which so
    much ``moves``; ``first``: whose it seems to be right after the press."""
    looks = GateHistory()
    for n in range(25):
        at_s = 9.05 + n / 10
        gate = SimpleNamespace(hand=at_s < 10.7, moving=moves if 10.5 < at_s < 10.7 else 0.001, settled_s=1.0)
        other = SimpleNamespace(hand=neighbour, moving=0.0, settled_s=9.0)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, at_s)
        whose = first if first and at_s < PRESS_S + 0.1 else owner
        looks.add(frame, GateState({"A": gate, "B": other}), phase(at_s), {"A": whose} if at_s > PRESS_S else {})
    return looks


@pytest.mark.parametrize(
    ("owner", "neighbour", "said"),
    [("A", False, "own"), ("B", False, "none"), (None, False, "none"), ("A", True, "none")],
)
@pytest.mark.parametrize("moves", [0.05, 0.005])
def test_a_hand_at_rest_over_the_field_at_the_press_is_the_callers_where_it_leaves_as_such(
    owner, neighbour, said, moves
):
    assert held_at_the_press(owner, neighbour, moves).hand("A", PRESS_S) == said


@pytest.mark.parametrize(("leaves", "said"), [(True, "own"), (False, "none")])
def test_what_has_not_left_was_no_hand(leaves, said):
    """Seen with a tower that had just been built: its shadow was strange to the gate for a second."""
    looks, bare = held_at_the_press("A"), np.full((20, 20, 3), 200, np.uint8)
    there = bare.copy()
    there[5:15, 5:15] = 60
    none = np.zeros(bare.shape[:2], bool)
    for at_s, image in ((9.95, there), (11.4, bare if leaves else there)):
        looks._snapshots.append((at_s, {"A": FieldSnapshot((0, 0), image, none, 400, at_s < PRESS_S)}))
    assert looks.hand("A", PRESS_S) == said


@pytest.mark.parametrize(
    ("owner", "brings", "said"), [(None, True, "unclear"), (None, False, "none"), ("B", True, "none")]
)
def test_a_hand_at_rest_that_nobody_knows_may_be_the_callers_where_it_brought_a_piece(owner, brings, said):
    looks, bare = held_at_the_press(owner), np.full((20, 20, 3), 200, np.uint8)
    arm, built = bare.copy(), bare.copy()
    arm[:12, 8:12] = 120
    built[5:15, 5:15] = 60 if brings else 200
    none = np.zeros(bare.shape[:2], bool)
    for at_s, image in ((8.9, bare), (9.95, arm), (11.4, built)):
        looks._snapshots.append((at_s, {"A": FieldSnapshot((0, 0), image, none, 400, image is arm)}))
    assert looks.hand("A", PRESS_S) == said


@pytest.mark.parametrize(("owner", "said"), [("A", "unclear"), ("B", "none")])
def test_a_hand_at_rest_that_few_looks_show_is_a_humans_question(owner, said):
    """Three pictures a second."""
    looks = GateHistory()
    for n in range(8):
        at_s = 9.1 + 0.3 * n
        gate = SimpleNamespace(hand=at_s < 10.7, moving=0.005 if at_s < 9.8 else 0.0, settled_s=max(0.0, at_s - 9.7))
        whose = {"A": owner} if at_s > PRESS_S else {}
        looks.add(Frame(np.zeros((1, 1, 3), np.uint8), n, at_s), GateState({"A": gate}), phase(at_s), whose)
    assert looks.hand("A", PRESS_S) == said


@pytest.mark.parametrize(("owner", "first", "said"), [("A", "B", "unclear"), ("B", "A", "none")])
def test_a_hand_at_rest_that_mostly_looks_like_the_callers_is_a_humans_question(owner, first, said):
    assert held_at_the_press(owner, first=first).hand("A", PRESS_S) == said


@pytest.mark.parametrize(("after", "said"), [(None, "none"), ("A", "unclear")])
def test_a_picture_out_of_focus_shows_no_hand_and_nobodys_arm(after, said):
    """From just before the press until 0.9 s after it; an arm that is seen ``after`` that was there."""
    looks, sharp = GateHistory(), np.indices((8, 8, 3)).sum(0).astype(np.uint8) % 2 * 200
    for n in range(25):
        at_s = 9.05 + n / 10
        blurred = 9.8 < at_s < 10.9
        image = np.full_like(sharp, 100) if blurred else sharp
        gate = SimpleNamespace(hand=blurred or (at_s > 10.9 and after is not None), moving=0.0, settled_s=0.1)
        snapshots = {zone: FieldSnapshot((0, 0), image, image[..., 0] > 255, 64) for zone in "AB"}
        owner = "A" if blurred else after
        state = GateState({"A": gate, "B": gate}, snapshots)
        looks.add(Frame(image, n, at_s), state, phase(at_s), {"A": owner} if at_s > PRESS_S else {})
    assert looks.hand("A", PRESS_S) == said


@pytest.mark.parametrize(
    ("until_s", "stands_s", "said"), [(10.9, 0.0, "before"), (10.9, 10.2, "unknown"), (99.0, 0.0, "unknown")]
)
def test_out_of_focus_nobody_sees_when_a_piece_came(until_s, stands_s, said):
    """From just before the press until ``until_s``; the piece is there from ``stands_s`` on."""
    looks, fine = GateHistory(), np.indices((20, 20, 3)).sum(0).astype(np.uint8) % 2 * 100
    built = fine.copy()
    built[5:15, 5:15] += 90
    for n in range(25):
        at_s = 9.05 + n / 10
        image = built if at_s > stands_s else fine
        image = np.full_like(fine, 50) if 9.8 < at_s < until_s else image
        state = GateState({}, {zone: FieldSnapshot((0, 0), image, image[..., 0] > 80, 400) for zone in "AB"})
        looks.add(Frame(image, n, at_s), state, phase(at_s))
    assert looks.placed("A", PRESS_S) == said


def watched(rows) -> list[tuple[list[int], list[int]]]:
    """Of each look every 0.1 s from the press on (hand over the field, moving): numbers of the calm frames so far, and
    of those to judge."""
    watch, found, moved_s = StopWatch(GateHistory(), lambda image: None), [], 0.0
    for n, (hand, moving) in enumerate(rows):
        at_s = PRESS_S + (n + 1) / 10
        moved_s = at_s if moving > 0.01 else moved_s
        gate = SimpleNamespace(mat_seen=True, hand=hand, moving=moving, settled_s=at_s - moved_s)
        frame = Frame(np.zeros((1, 1, 3), np.uint8), n, at_s)
        given = watch.clear_frames(frame, GateState({"A": gate}), ["A"], PRESS_S)
        found.append(([f.number for f in watch.calm], [f.number for f in given]))
    return found


def test_the_first_calm_frames_are_judged_once_the_view_is_settled():
    found = watched([STILL] * 6)
    assert found[2] == ([0, 1, 2], []), "they may be judged early"
    assert found[4] == ([], [0, 1, 2])


@pytest.mark.parametrize("then", [HAND, STIR, NEIGHBOUR])
def test_when_something_comes_before_the_view_is_settled_the_next_calm_frames_are(then):
    found = watched([STILL] * 3 + [then] + [STILL] * 7)
    assert found[2][0] == [0, 1, 2] and found[3] == ([], [])
    assert next(given for _, given in found if given) == [4, 5, 6]
