"""What the watch makes of sights: a proposal when one lasts, once, and nothing of what is only a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from referee.devices.ports import Frame
from referee.vision.hands.field_hands import FieldHands
from referee.vision.hands.fists import ReducedFrame
from referee.vision.hands.geometry import STRANGER
from referee.vision.live.field_snapshot import Arrival, FieldSnapshot, arrival, came_together
from referee.vision.live.fouls import FoulWatch
from referee.vision.live.gate import GateState, ZoneGate, reduced_frame
from referee.vision.live.mat_motion import MatMotion

HZ = 10
CALM = ZoneGate(True, 0.0, False, 1.0, 0.1)
PICTURE = ReducedFrame(np.zeros((4, 4), np.int8), np.zeros((4, 4), bool), np.zeros((4, 4), bool))


class NoMats:
    """One mat, somewhere."""

    def __init__(self) -> None:
        self.mats, self.poses = self, {"A": None}


@pytest.fixture
def watch(monkeypatch):
    """Runs a watch over looks: ``watch(arms, gates, stop_s, moved)``, one of each a frame."""

    def run(arms, gates=None, stop_s=None, moved=None, every_s=1 / HZ, alone=()):
        now = {}
        monkeypatch.setattr(FoulWatch, "_hands", lambda self, picture, geometry: {"A": now["arms"]})
        monkeypatch.setattr(MatMotion, "update", lambda self, image, mats: now["moved"])
        watch, found = FoulWatch(), []
        watch._alone = alone
        for n, over in enumerate(arms):
            now["arms"], now["moved"] = over, moved[n] if moved else {}
            at_s = n * every_s
            gate = gates[n] if gates else GateState({"A": CALM})
            stopped = stop_s if stop_s is not None and at_s >= stop_s else None
            found += watch.look(Frame(np.zeros((8, 8, 3), np.uint8), n, at_s), (PICTURE, NoMats()), gate, stopped)
        return [(seen.kind, seen.culprit, round(seen.seconds, 2)) for seen in found]

    return run


LOST = FieldHands(unseen=frozenset({"B"}))
NOBODY, OWN, TWO = FieldHands(), FieldHands(("A",), 1), FieldHands(("A",), 2)
OTHERS, BARE, UNKNOWN = FieldHands(("B",)), FieldHands(("A",), 1, True), FieldHands((None,))


def test_a_second_hand_that_stays_is_proposed_once_from_when_it_came(watch):
    assert watch([OWN] * 5 + [TWO] * 30 + [OWN] * 5) == [("second_hand", "A", 0.5)]


@pytest.mark.parametrize(("patterned", "shown", "fouls"), [(False, 40, 1), (False, 10, 0), (True, 40, 1)])
def test_nothing_is_proposed_out_of_focus_and_a_patterned_sleeve_does_not_seem_so(watch, patterned, shown, fouls):
    """Stripes of so much contrast show in the field: 40 in focus, 10 out of it, a sleeve's 250."""

    def seen(contrast: int, hand: bool = False) -> GateState:
        image = np.zeros((20, 20, 3), np.uint8)
        image[:, ::2] = contrast
        return GateState({"A": CALM}, {"A": replace(field(0, hand), image=image)})

    gates = [seen(40)] * 5 + [seen(250, hand=True)] * (5 * patterned) + [seen(shown)] * 30
    found = watch([OWN] * (len(gates) - 30) + [TWO] * 30, gates)
    assert [kind for kind, *_ in found if kind == "second_hand"] == ["second_hand"] * fouls


def test_a_moment_is_no_foul(watch):
    assert watch(([OWN] * 6 + [TWO] * 3) * 4) == []


def test_a_sight_with_gaps_counts_as_one(watch):
    assert watch([OWN] * 5 + [TWO, TWO, TWO, OWN, TWO, TWO, OWN, TWO, TWO, TWO] * 2)[0][0] == "second_hand"
    assert len(watch([OWN] * 5 + [TWO] * 8 + [OWN] * 5 + [TWO] * 8)) == 1


def test_what_comes_back_after_a_while_is_another_one(watch):
    assert watch([TWO] * 8 + [OWN] * 15 + [TWO] * 8) == [("second_hand", "A", 0.0), ("second_hand", "A", 2.3)]


def test_the_neighbours_hand_names_its_player_and_one_that_nobody_knows_is_none(watch):
    assert watch([NOBODY] * 3 + [OTHERS] * 8) == [("neighbours_hand", "B", 0.3)]
    assert watch([UNKNOWN] * 20) == []


@pytest.mark.parametrize(
    ("looks", "begins"),
    [
        ([OTHERS, OTHERS, OTHERS, *[LOST] * 6, OTHERS, OTHERS], [0.3]),  # behind a build, or one large patch
        ([OTHERS, *[LOST] * 2, OTHERS, OTHERS, *[LOST] * 5, OTHERS, OTHERS], [0.3]),
        ([OTHERS, OTHERS, OTHERS, *[NOBODY] * 6, OTHERS, OTHERS], []),  # it was elsewhere
        *(([OTHERS, OTHERS, OTHERS, *[LOST] * n, OTHERS, OTHERS], []) for n in (11, 12, 14)),  # it had gone
        ([OTHERS, OTHERS, *[LOST] * 6], []),  # nobody saw it there again
        ([LOST] * 6 + [OTHERS] * 3, []),
    ],
)
def test_a_neighbours_hand_that_is_seen_nowhere_between_two_sights_of_it_was_there(watch, looks, begins):
    assert watch([NOBODY] * 3 + looks + [NOBODY] * 3) == [("neighbours_hand", "B", at) for at in begins]


def test_a_hand_from_neither_seat_is_proposed_and_names_nobody(watch):
    assert watch([NOBODY] * 3 + [FieldHands((STRANGER,))] * 8) == [("strangers_hand", None, 0.3)]


@pytest.mark.parametrize(("looks", "seen"), [([OTHERS] * 2, [("neighbours_hand", "B", 0.9)]), ([OTHERS], [])])
def test_in_a_slow_stream_two_looks_in_a_row_have_lasted(watch, looks, seen):
    assert watch([NOBODY] * 3 + looks + [NOBODY] * 3, every_s=0.3) == seen


def test_a_bare_hand_is_the_own_one(watch):
    assert watch([OWN] * 3 + [BARE] * 8) == [("bare_hand", "A", 0.3)]


def test_a_mat_that_moves_is_proposed_at_once_and_of_nobody(watch):
    moved = [{}] * 5 + [{"A": 4.0}, {}, {"A": 3.0}] + [{}] * 5
    assert watch([NOBODY] * 13, moved=moved) == [("shaken", None, 0.5)]


PAPER, BLUE, SKIN, RED = 200, 60, 150, 100


def field(shows: int, hand: bool) -> FieldSnapshot:
    """A field of 10 x 20 pixels with a place in it that shows paper, a piece or a hand."""
    image = np.full((10, 20, 3), PAPER, np.uint8)
    image[3:8, 3:8] = shows
    return FieldSnapshot((0, 0), image, image[..., 0] == BLUE, 200, hand)


def brought(own_from: int, own_to: int, there_from: int, stays: int = BLUE) -> list[GateState]:
    """Forty looks with a Stop at 1 s: a hand before the place from one look to another, and what it holds since."""
    rows = []
    for n in range(40):
        hand = own_from <= n < own_to
        shows = SKIN if hand else stays if n >= there_from else PAPER
        gate = ZoneGate(True, 0.0, hand, 0.0 if hand else 1.0, 0.1)
        rows.append(GateState({"A": gate}, {"A": field(shows, hand)}))
    return rows


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        (brought(14, 22, 18), [("brought_after_stop", "A", 1.3)]),  # the last look at the bare place
        (brought(14, 22, 18, stays=PAPER), []),  # a hand that only came and went
        (brought(50, 50, 18), []),  # it fell: nobody was there
        (brought(5, 22, 18), []),  # hidden from before the Stop: that is another question
        (brought(4, 8, 6), []),  # before the Stop pieces are brought
    ],
)
def test_a_piece_brought_after_the_stop_needs_a_place_that_was_bare_and_a_hand_that_came(watch, looks, said):
    assert watch([NOBODY] * 40, looks, stop_s=1.0) == said


@pytest.mark.parametrize(
    ("hands", "stands", "said"),
    [
        ([NOBODY, OTHERS, OTHERS], BLUE, [("neighbours_hand", "B", 1.1)]),
        ([FieldHands((STRANGER,))] * 3, BLUE, [("strangers_hand", None, 1.0)]),
        ([NOBODY, OTHERS, NOBODY], BLUE, []),  # at times an own arm seems to come from elsewhere
        ([NOBODY, FieldHands((STRANGER,)), NOBODY], BLUE, [("strangers_hand", None, 1.1)]),
        ([NOBODY, FieldHands((STRANGER,)), FieldHands((STRANGER,))], BLUE, [("strangers_hand", None, 1.1)]),
        ([OWN, FieldHands((STRANGER,)), FieldHands((STRANGER,))], BLUE, [("strangers_hand", None, 1.0)]),
        ([OWN, FieldHands((STRANGER,)), OWN], BLUE, []),
        ([OWN, OWN, FieldHands((STRANGER,))], BLUE, [("strangers_hand", None, 1.0)]),  # the last look knows most
        ([*[UNKNOWN] * 9, FieldHands((STRANGER,))], BLUE, []),  # of a long visit one look tells nothing
        ([NOBODY, OTHERS, OTHERS], PAPER, []),  # it came and went, and all is as it was
        ([OWN, OTHERS, OWN], BLUE, []),
        ([NOBODY, UNKNOWN, NOBODY], BLUE, []),
        ([OTHERS] * 5, BLUE, [("neighbours_hand", "B", 1.0)]),  # once, though it lasted too
    ],
)
def test_anothers_hand_is_proposed_however_short_where_the_field_has_changed(watch, hands, stands, said):
    assert watch(*visited(hands, stands)) == said


def visited(hands: Sequence[FieldHands], stands: int) -> tuple[list[FieldHands], list[GateState]]:
    """Looks at a field with these hands after a second, and nobody before and after, and what stands there then."""
    over = [NOBODY] * 10 + hands + [NOBODY] * 10
    gates = [
        GateState({"A": CALM}, {"A": field(PAPER if n < 11 else stands, hand is not NOBODY or 10 <= n < 13)})
        for n, hand in enumerate(over)
    ]
    return over, gates


def test_a_strangers_hand_that_is_alone_in_the_picture_is_what_the_gate_sees(watch):
    over, gates = visited([NOBODY] * 3, BLUE)
    assert watch(over, gates, alone=(STRANGER,)) == [("strangers_hand", None, 1.0)]
    assert watch(over, gates) == []


@pytest.mark.parametrize(
    ("hands", "said"),
    [
        (range(15, 21), [("brought_after_stop", "A", 1.7)]),
        (range(22, 30), []),  # it stood when the hand came: the neighbour's, or its shadow
        (range(18, 19), []),  # strange for a look as it turns
        (range(5, 12), []),  # one that had gone before
    ],
)
def test_a_piece_that_falls_while_no_hand_is_there_was_not_brought(watch, hands, said):
    """It comes at 1.8 s to a place that nothing hides, and the Stop was at 1 s."""
    looks = []
    for n in range(40):
        gate = ZoneGate(True, 0.0, n in hands, 0.0 if 17 <= n < 20 else 1.0, 0.1)
        looks.append(GateState({"A": gate}, {"A": field(BLUE if n >= 18 else PAPER, n in hands)}))
    assert watch([NOBODY] * 40, looks, stop_s=1.0) == said


def table_with(*rows_of_pieces: slice) -> FieldSnapshot:
    """A window of 10 x 20 pixels whose lower four rows are the field, with a piece in each of these rows."""
    image = np.full((10, 20, 3), PAPER, np.uint8)
    for rows in rows_of_pieces:
        image[rows, 3:8] = BLUE
    ground = np.zeros((10, 20), bool)
    ground[6:] = True
    return snapshot(image, ground)


def snapshot(image: np.ndarray, ground: np.ndarray) -> FieldSnapshot:
    """A window in which blue and red are pieces."""
    labels = np.select([image[..., 0] == BLUE, image[..., 0] == RED], [0, 1], -1).astype(np.int8)
    return FieldSnapshot((0, 0), image, labels >= 0, 80, False, ground, labels)


BEHIND, IN_FIELD, ON_IT = slice(0, 4), slice(4, 8), slice(1, 4)


@pytest.mark.parametrize(
    ("stands", "comes", "seen"),
    [
        ((), IN_FIELD, True),
        ((), BEHIND, False),  # over the field in the picture, behind it on the table: put back to the loose ones
        ((IN_FIELD,), ON_IT, True),  # a build is finished
    ],
)
def test_a_piece_is_brought_where_it_stands_in_the_field_or_on_what_stood_there(stands, comes, seen):
    bare, done = table_with(*stands), table_with(*stands, comes)
    assert (arrival([bare], [bare, bare, done]) is not None) == seen


@pytest.mark.parametrize(("columns", "seen"), [(slice(3, 13), True), (slice(8, 18), False)])
def test_a_long_piece_whose_corner_is_beside_the_field_stands_in_it_when_most_of_it_does(columns, seen):
    """The field is the left half; the piece's lowest pixels are at its right end, as it lies askew."""
    bare, image = table_with(), np.full((10, 20, 3), PAPER, np.uint8)
    image[3:6, columns] = BLUE
    image[6:9, columns.stop - 3 : columns.stop] = BLUE
    ground = np.zeros((10, 20), bool)
    ground[4:, :10] = True
    bare, done = replace(bare, ground=ground), snapshot(image, ground)
    assert (arrival([bare], [bare, bare, done]) is not None) == seen


def test_a_field_that_is_clear_at_the_stop_tells_more_than_one_that_was_clear_long_ago():
    old, built, done = table_with(), table_with(slice(7, 10)), table_with(slice(7, 10), slice(4, 7))
    hidden = replace(built, hand=True)
    assert arrival([old, hidden], [built, built, hidden, done]) == Arrival(2, 3)


def test_what_stood_before_the_stop_was_not_brought_after_it_though_a_sleeve_like_paper_hid_it():
    done, sleeve = table_with(IN_FIELD), table_with()
    assert arrival([sleeve, done, done, sleeve], [sleeve, sleeve, done]) is None
    assert arrival([sleeve, sleeve, done, sleeve], [sleeve, sleeve, done]) == Arrival(1, 2)  # once is chance


def build_of(*columns: tuple[int, int]) -> FieldSnapshot:
    """Pieces that stand side by side in the field, blue and red, from a column each."""
    image, ground = np.full((10, 20, 3), PAPER, np.uint8), np.zeros((10, 20), bool)
    ground[6:] = True
    for color, left in columns:
        image[4:8, left : left + 4] = color
    return snapshot(image, ground)


BARE_FIELD, BOTH = build_of(), build_of((BLUE, 3), (RED, 8))


@pytest.mark.parametrize(
    ("sights", "since"),
    [
        ([BARE_FIELD, BARE_FIELD, BOTH, BOTH], 0.1),
        ([BARE_FIELD, build_of((BLUE, 3)), *[build_of((BLUE, 3))] * 8, BOTH], None),  # one after the other
        ([BARE_FIELD, BARE_FIELD, build_of((BLUE, 3), (BLUE, 8))], None),  # of one colour it may be one piece
        ([build_of((BLUE, 12), (RED, 16)), BOTH], None),  # what stood has moved, or fallen
        ([BARE_FIELD, build_of((BLUE, 12), (RED, 16)), BOTH], 0.1),
        ([BARE_FIELD], None),
        ([build_of(((150, 145, 145), 3), ((150, 145, 145), 8)), BOTH], None),  # a grey sleeve hid them
    ],
)
def test_pieces_that_come_at_once_came_together(sights, since):
    looks = [(n / HZ, replace(s, hand=0 < n < len(sights) - 1)) for n, s in enumerate(sights)]
    assert came_together(looks, BARE_FIELD) == since


def test_a_build_that_is_pushed_to_where_it_was_seen_over_the_field_came_together():
    """A red piece on a blue one, tall, behind the field at the go: in the end red is to be seen where blue was."""
    image, ground = np.full((14, 20, 3), PAPER, np.uint8), np.zeros((14, 20), bool)
    ground[8:] = True
    bare, done = image.copy(), image.copy()
    bare[:3, 3:9], bare[3:7, 3:9] = RED, BLUE
    done[4:7, 3:9], done[7:11, 3:9] = RED, BLUE
    bare, built = snapshot(bare, ground), snapshot(done, ground)
    looks = [(n / HZ, replace(s, hand=0 < n < 3)) for n, s in enumerate([bare, bare, built, built])]
    assert came_together(looks, bare) == 0.1


@pytest.mark.parametrize(("looks", "since"), [(3, 0.2), (4, None)])
def test_a_slow_push_is_seen_at_five_looks_a_second(looks, since):
    """Pushed over their places for so many looks, 0.2 s apart, and bare in the one before."""
    on_their_way = [replace(build_of((RED, 3), (BLUE, 8)), hand=True)] * looks
    sights = [BARE_FIELD, BARE_FIELD, *on_their_way, BOTH, BOTH]
    assert came_together([(n / 5, sight) for n, sight in enumerate(sights)], BARE_FIELD) == since


def test_pieces_placed_one_after_the_other_at_three_looks_a_second_did_not_come_together():
    """The red one stands 0.9 s after the field was bare, the blue one two looks before it."""
    sights = [BARE_FIELD, replace(build_of((BLUE, 3)), hand=True), replace(build_of((BLUE, 3)), hand=True), BOTH]
    assert came_together([(0.3 * n, sight) for n, sight in enumerate(sights)], BARE_FIELD) is None


def test_what_came_while_nobody_looked_did_not_come_together():
    assert came_together([(0.0, BARE_FIELD), (1.1, BOTH)], BARE_FIELD) is None


def test_what_lay_behind_a_piece_that_was_taken_did_not_come():
    """Seen over the field, on top of what was brought there: a red piece in the place of a blue one before it."""
    image, ground = np.full((10, 20, 3), PAPER, np.uint8), np.zeros((10, 20), bool)
    ground[8:] = True
    image[1:4, 3:7] = BLUE
    bare = snapshot(image.copy(), ground)
    image[4:, 3:7], image[1:4, 3:7] = BLUE, RED
    built = snapshot(image, ground)
    looks = [(n / HZ, replace(s, hand=0 < n < 3)) for n, s in enumerate([bare, bare, built, built])]
    assert came_together(looks, bare) is None


def test_a_build_that_moves_before_its_hand_is_seen_is_still_on_its_way(watch):
    on_its_way = build_of((BLUE, 12))
    sights = [*[BARE_FIELD] * 5, on_its_way, *[replace(on_its_way, hand=True)] * 2, *[BOTH] * 3]
    gates = [
        GateState({"A": ZoneGate(True, 0.1, s.hand, 0.0 if s is on_its_way or s.hand else 1.0, 0.1)}, {"A": s})
        for s in sights
    ]
    assert watch([NOBODY] * len(sights), gates) == [("came_together", "A", 0.7)]


@pytest.mark.parametrize(("gap", "since"), [(1, 0.1), (2, 0.1), (3, None)])
def test_what_stands_on_what_came_came_too(gap, since):
    """A red piece on a blue one in the field, but for the dark line between them; or seen over it, far behind."""
    image, ground = np.full((10, 20, 3), PAPER, np.uint8), np.zeros((10, 20), bool)
    ground[8:] = True
    bare = snapshot(image.copy(), ground)
    image[7:, 3:7], image[4 - gap : 7 - gap, 3:7] = BLUE, RED
    both = snapshot(image, ground)
    looks = [(n / HZ, replace(s, hand=0 < n < 3)) for n, s in enumerate([bare, bare, both, both])]
    assert came_together(looks, bare) == since


def test_skin_before_wood_is_new_and_a_shadow_on_it_is_not():
    wood, skin = np.array([92, 139, 174], np.uint8), np.array([58, 80, 117], np.uint8)  # as a webcam shows them, BGR
    bare = np.tile(wood, (2, 3, 1))
    now = bare.copy()
    now[0, 1], now[1, 1] = skin, wood * 0.65
    warm = np.ones((32, 32, 32), bool)
    seen = reduced_frame(now, bare, np.full((2, 3), -2, np.int8), warm)
    assert seen.skin.tolist() == seen.new.tolist() == [[False, True, False], [False, False, False]]
