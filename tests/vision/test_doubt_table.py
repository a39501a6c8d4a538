"""Doubts by tables: where each begins, against which ruling, what it says, and what a case is asked for."""

from __future__ import annotations

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from made_cases import CERTAIN, CLEAR, HIGHER, RED, SHOWN, WHITE, WHITE_BESIDE, cubes, decided, of_a_tower, reading

from cards.build import Piece
from cards.card import Card
from cards.kinds.height import HeightCard
from cards.kinds.layout import LayoutCard
from cards.kinds.organ_pipes import OrganCard
from cards.law import because, worded_piece
from cards.sentences import say
from referee.vision.image.unknown import UnknownThing
from referee.vision.search.canvas import Fit
from referee.vision.verdict.case import Case, SeenEarlier
from referee.vision.verdict.doubts import _alternatives, decide
from referee.vision.verdict.rulings import Rulings
from referee.vision.verdict.visibility import Visibility

TOP = dataclasses.replace(RED, z=75.0)
ASIDE = dataclasses.replace(RED, x=40.0)


def tower(ruling: str, fit: Fit = CERTAIN, proof: float = SHOWN, margin: float = 20_000.0):
    """What is decided of two cubes of which the card asks for two ("match") or one ("mismatch")."""
    two, one = reading(RED, HIGHER, loose=(WHITE_BESIDE,)), reading(RED, loose=(WHITE_BESIDE,), score=30_000.0 - margin)
    return decided(HeightCard("H", 1, 2 if ruling == "match" else 1), [two, one], fit, proof)


@pytest.mark.parametrize(
    ("name", "against", "share", "limit", "beyond"),
    [
        ("out_of_view", "match mismatch", "field_seen", 0.9, 0.899),
        ("build_cut", "match mismatch", "cut_mm", 8.0, 8.01),
        ("no_colour", "match mismatch", "coloured", 0.02, 0.0199),
        ("paper_lighter", "match", "paper_lighter", 0.2, 0.201),
    ],
)
@pytest.mark.parametrize("ruling", ["match", "mismatch"])
def test_what_the_picture_does_not_allow_is_doubted_beyond_the_limit(name, against, share, limit, beyond, ruling):
    at_limit, doubted = (of_a_tower(ruling, dataclasses.replace(CLEAR, **{share: at})).doubts for at in (limit, beyond))
    assert (at_limit, doubted) == ((), (name,) if ruling in against.split() else ())


@pytest.mark.parametrize("sign", [-1, 1])
@pytest.mark.parametrize(("ruling", "name"), [("match", "wrong_heights"), ("mismatch", "wrong_sizes")])
def test_sizes_are_doubted_both_ways(ruling, name, sign):
    within, beyond = (of_a_tower(ruling, size_factor=1 + sign * off) for off in (0.0499, 0.0501))
    assert (within.doubts, beyond.doubts) == ((), (name,))


def test_wrong_sizes_rob_no_card_of_given_pieces():
    """Of a layout no height is counted."""
    card, built = LayoutCard("L", 1, (RED, HIGHER)), reading(RED, HIGHER, loose=(WHITE_BESIDE,))
    other = reading(RED, loose=(WHITE_BESIDE,), score=10_000.0)
    assert decided(card, [built, other], size_factor=1.2).doubts == ()


@pytest.mark.parametrize(
    ("ruling", "fit", "proof", "margin", "name"),
    [
        ("mismatch", CERTAIN, 0.35, 20_000.0, None),
        ("mismatch", CERTAIN, 0.34, 20_000.0, "hardly_shown"),
        ("mismatch", dataclasses.replace(CERTAIN, agreement=0.3), SHOWN, 20_000.0, "hardly_shown"),
        ("mismatch", dataclasses.replace(CERTAIN, instability_nats=120.0), SHOWN, 20_000.0, None),
        ("mismatch", dataclasses.replace(CERTAIN, instability_nats=121.0), SHOWN, 20_000.0, "unstable"),
        ("match", dataclasses.replace(CERTAIN, instability_nats=900.0), SHOWN, 20_000.0, None),
        ("match", dataclasses.replace(CERTAIN, together=0.85), SHOWN, 20_000.0, None),
        ("match", dataclasses.replace(CERTAIN, together=0.84), SHOWN, 20_000.0, "views_disagree"),
        ("mismatch", dataclasses.replace(CERTAIN, together=0.84), SHOWN, 20_000.0, "views_disagree"),
        ("match", CERTAIN, SHOWN, 500.0, None),
        ("match", CERTAIN, SHOWN, 499.0, "close"),
        ("mismatch", CERTAIN, SHOWN, 500.0, None),
        ("mismatch", CERTAIN, SHOWN, 499.0, "close"),
    ],
)  # fmt: skip
def test_where_a_doubt_about_the_reading_begins(ruling, fit, proof, margin, name):
    decision = tower(ruling, fit, proof, margin)
    assert decision.case.compared.ruling == ruling
    assert decision.doubts == ((name,) if name else ())


@pytest.mark.parametrize(
    ("ruling", "share", "shown", "margin", "code"),
    [
        ("mismatch", 0.7, 1.0, 1200.0, "unexplained"),
        ("mismatch", 0.9, 1.0, 250.0, "two_readings"),  # explains enough: hardly ahead is the cause
        ("mismatch", 0.7, 1.0, 250.0, "unexplained"),
        ("match", 0.9, 1.0, 0.5, None),
        ("match", 0.75, 0.0, 50.0, "unproven"),  # explains enough: not shown is the cause
        ("match", 0.7, 0.0, 50.0, "unexplained"),
        ("match", 0.5, 0.0, 1.0, "unexplained"),
    ],
)
def test_what_would_have_made_a_ruling_sure_is_the_reason(ruling, share, shown, margin, code):
    decision = tower(ruling, dataclasses.replace(CERTAIN, share=share), shown, margin)
    assert ("unsure" in decision.doubts) == (code is not None)
    if code:
        assert decision.verdict.reasons[-1].code == code


def said(decision, name: str):
    """The code and values of the one doubt of that name."""
    assert decision.doubts == (name,)
    (reason,) = decision.verdict.reasons
    return reason.code, dict(reason.values)


def sight(decision) -> dict:
    """The first fault of the reading ahead, as a value."""
    return decision.case.best.faults[0].to_json()


def test_a_doubt_says_what_and_where():
    thing = UnknownThing(0.6, -30.4, 55.6, 2.0, np.zeros((3, 2)))
    seen = of_a_tower("match", Visibility(unknown=thing))
    assert said(seen, "unknown_object") == ("unknown_object", {"n": 60, "x": -30, "y": 56})


def test_a_doubt_says_how_far_sizes_are_off():
    assert said(of_a_tower("mismatch", size_factor=1.2), "wrong_sizes")[1]["n"] == "+20"


def test_a_doubt_says_how_much_is_explained():
    decision = tower("mismatch", dataclasses.replace(CERTAIN, share=0.7), margin=1200.0)
    assert said(decision, "unsure") == ("unexplained", {"n": 70})


def test_a_doubt_says_what_both_readings_are_at_first_sight():
    decision = tower("match", margin=100.0)
    code, values = said(decision, "close")
    assert code == "two_readings"
    assert (values["ahead"]["code"], values["behind"]["code"]) == ("as_card", "wrong_count")


def test_a_doubt_says_what_the_reading_is_at_first_sight():
    decision = tower("mismatch", proof=0.1)
    assert said(decision, "hardly_shown") == ("covered", {"sight": sight(decision)})
    assert sight(decision)["code"] == "wrong_count"


def case_of(card: Card, *built: Piece, loose: tuple[Piece, ...] = (), rival: bool = True) -> Case:
    """The case of these pieces, surely ahead of what the card asks for, or of one piece where that is built."""
    ahead = reading(*built, loose=loose)
    rulings = Rulings(cubes(), card)
    others = [reading(RED, HIGHER, WHITE), reading(RED, HIGHER), reading(RED), reading(RED, WHITE)]
    behind = [r for r in others if rulings.is_right(r) != rulings.is_right(ahead)][:1] if rival else []
    behind = [dataclasses.replace(r, score=10_000.0) for r in behind]
    return Case(rulings, rulings.compare([ahead, *behind]), CERTAIN, SHOWN, CLEAR)


H1, H2, H4 = (HeightCard("H", 1, count) for count in (1, 2, 4))
TWO = LayoutCard("L", 1, (RED, HIGHER))


@pytest.mark.parametrize(
    ("card", "built", "too_many"),
    [
        (H2, (RED, HIGHER), False),  # right
        (H2, (), False),
        (H2, (RED,), False),
        (H2, (RED, HIGHER, TOP), True),
        (H2, (RED, dataclasses.replace(RED, x=80.0)), False),  # as many as it has to be, not one structure
        (H4, (RED, HIGHER, TOP), False),
        (H1, (RED, dataclasses.replace(RED, x=80.0)), True),  # and what is too many stands apart
        (H2, tuple(dataclasses.replace(RED, x=x) for x in (0.0, 30.0, 60.0)), True),  # or on the table
        (TWO, (RED, TOP), False),  # held up by what is not seen
        (TWO, (RED,), False),
        (TWO, (RED, HIGHER, WHITE_BESIDE), False),  # beside the field: no part of the build
        (TWO, (RED, HIGHER, ASIDE), True),
        (TWO, (RED, HIGHER, dataclasses.replace(WHITE, x=40.0, z=15.0)), True),
        (TWO, (HIGHER, dataclasses.replace(WHITE, z=15.0)), False),  # another piece for one of the card's
        (TWO, (RED, dataclasses.replace(WHITE, x=40.0, z=15.0)), False),
    ],
)
def test_what_is_too_many(card, built, too_many):
    case = case_of(card, *built)
    assert case.one_too_many == too_many, [r.code for r in case.best.faults]


def test_pipes_that_stand_apart_have_none_too_many():
    """Each is held against its neighbours: without one of them the others are another row."""
    case = case_of(OrganCard("P", 1, 2), *(dataclasses.replace(WHITE, x=x, z=15.0) for x in (-40.0, 0.0, 40.0)))
    assert "wrong_count" in {r.code for r in case.best.faults} and not case.one_too_many


def test_a_case_is_asked_for_the_weaker_of_fit_and_proof():
    case = case_of(H2, RED)
    weak = dataclasses.replace(case, fit=dataclasses.replace(CERTAIN, agreement=0.4))
    assert (case.shown, weak.shown) == (1.0, 0.4)
    assert dataclasses.replace(case, proof=0.2).shown == 0.2
    assert case.features["proof"] > weak.features["proof"]


def test_a_millimetre_or_a_degree_makes_no_other_reading_and_a_piece_does():
    told = [because("out_of_plane", n=n, piece=worded_piece(WHITE)) for n in (8, 9)]
    told += [because("turned_too_far", n=n, m=45) for n in (50, 51)]
    told += [because("wrong_count", n=n, m=2) for n in (1, 3)]
    behind = [reading(RED, score=-float(n)) for n in range(len(told))]
    rulings = SimpleNamespace(of=lambda reading: (None, (told[int(-reading.score)],)))
    offered = _alternatives(SimpleNamespace(best=SimpleNamespace(reading=behind[0]), rulings=rulings), behind[1:])
    assert [other.reasons for other in offered] == [(told[n],) for n in (2, 4, 5)]


def test_a_right_reading_behind_a_wrong_one_is_offered_as_a_match():
    (offered,) = decided(H2, [reading(RED), reading(RED, HIGHER, score=20_000.0)]).verdict.alternatives
    assert (offered.ruling, offered.reasons, len(offered.build.pieces)) == ("match", (), 2)


def test_the_readings_behind_that_differ_are_offered_with_their_rulings():
    scores = [29_000.0, 28_000.0, 27_000.0, 26_000.0]
    builds = [(RED,), (RED, WHITE), (RED, HIGHER, WHITE), (WHITE,)]
    behind = [reading(*built, score=score) for built, score in zip(builds, scores, strict=True)]
    verdict = decided(H2, [reading(RED, HIGHER), *behind]).verdict
    offered = [
        (other.ruling, other.margin, other.confidence, len(other.build.pieces), [r.code for r in other.reasons])
        for other in verdict.alternatives
    ]
    assert offered == [
        ("mismatch", -1000.0, 0.0, 1, ["wrong_count"]),
        ("mismatch", -3000.0, 0.0, 3, ["wrong_count"]),
    ]


def test_a_ruling_says_its_faults_and_its_margin():
    match, mismatch = tower("match").verdict, tower("mismatch").verdict
    assert (match.ruling, match.leaning, match.reasons, match.margin) == ("match", None, (), 20_000.0)
    assert (mismatch.ruling, mismatch.leaning, mismatch.margin) == ("mismatch", None, 20_000.0)
    assert [r.code for r in mismatch.reasons] == ["wrong_count"]
    assert [len(v.build.pieces) for v in (match, mismatch)] == [2, 2]


@pytest.mark.parametrize("ruling", ["match", "mismatch"])
def test_a_piece_out_of_sight_that_could_stand_unseen(ruling):
    case = of_a_tower(ruling).case
    hidden = dataclasses.replace(case, out_of_sight=RED)
    told = dataclasses.replace(hidden, earlier=SeenEarlier(unlike=False, was_right=False))
    decision, seen_earlier = (decide(one, ()) for one in (hidden, told))
    assert seen_earlier.doubts == decision.doubts, "what no earlier picture shows may have come between them"
    assert said(decision, "out_of_sight")[1]["piece"] == worded_piece(RED)
    assert say("de", decision.verdict.reasons[0]).startswith("Würfel, rot: ist nirgends zu sehen")
    assert decide(case, ()).doubts == ()
