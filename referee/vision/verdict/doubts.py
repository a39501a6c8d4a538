"""Doubts: why no verdict is given although one reading is ahead, a line each in ``DOUBTS``.

A reading may be far ahead of the next and still not be the truth: a hand stands before the build, a lamp washes its
colours out, a piece of the paper's colour stands there unseen. Each doubt tests a ``Case`` against its limit. One that
applies is enough to leave the ruling to a human; all that apply are told, in the order of the list.
``referee bench --doubts`` prints what each is worth: which wrong rulings it alone withholds, and which right ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cards.card import kinds_of
from cards.law import Reason, because
from referee.match.verdict import Ruling
from referee.vision import parameters as shared
from referee.vision.verdict import parameters as p
from referee.vision.verdict.case import Case, first_of
from referee.vision.verdict.trust import features_of
from referee.vision.verdict.visibility import percent_off

EXPLAINED_HIGH = p.EXPLAINED_HIGH.value


@dataclass(frozen=True)
class Doubt:
    """Why to withhold a ruling. ``test`` gives the reason where the doubt applies to a case by its ``limit`` (0 where
    it is a matter of yes or no), and is asked of the rulings that it is ``against``. ``shown_by`` names the test in
    tests/vision with a picture or a made-up case that it withholds."""

    name: str
    against: frozenset[Ruling]
    test: Callable[[Case, float], Reason | None]
    limit: float
    shown_by: str


def doubts_about(case: Case) -> dict[str, Reason]:
    """Every doubt that applies to the ruling ahead, by name, with its reason."""
    found = {d.name: d.test(case, d.limit) for d in DOUBTS if case.compared.ruling in d.against}
    return {name: reason for name, reason in found.items() if reason}


# -- the picture -------------------------------------------------------------------------------------------------


def _out_of_view(case: Case, least: float) -> Reason | None:
    return because("out_of_view") if case.visibility.field_seen < least else None


def _build_cut(case: Case, most_mm: float) -> Reason | None:
    return because("build_cut") if case.visibility.cut_mm > most_mm else None


def _no_colour(case: Case, least: float) -> Reason | None:
    return because("no_colour") if case.visibility.coloured < least else None


def _unknown_object(case: Case, _: float) -> Reason | None:
    patch = case.visibility.unknown
    if patch is None:
        return None
    return because("unknown_object", n=round(100 * patch.share), x=round(patch.x_mm), y=round(patch.y_mm))


def _wrong_sizes(case: Case, most: float) -> Reason | None:
    """Pieces larger or smaller than their solids look like others, or like none."""
    off = abs(case.size_factor - 1) > most
    return because("wrong_sizes", n=percent_off(case.size_factor)) if off else None


def _wrong_heights(case: Case, most: float) -> Reason | None:
    """Pieces are counted by their heights: a plank that is not there fills what the others' are too low for."""
    return _wrong_sizes(case, most) if case.card.number_alone else None


def _bleached(share: str) -> Callable[[Case, float], Reason | None]:
    """Colours are lost where that ``share`` of ``Visibility`` exceeds the limit."""
    return lambda case, most: because("overexposed") if getattr(case.visibility, share) > most else None


# -- the reading ahead -------------------------------------------------------------------------------------------


def _unseen_colour(case: Case, _: float) -> Reason | None:
    """What lacks may stand there unseen."""
    if not case.may_lack:
        return None
    colors = case.unseen_colors(case.visibility.hidden, case.card.lacking(kinds_of(case.best.build)))
    return _doubted(case, "unseen_colour", colors=list(colors)) if colors else None


def _lacking_covered(case: Case, least: float) -> Reason | None:
    """Something unknown touches the build that may be what lacks."""
    return _doubted(case, "covered") if case.may_lack and case.proof.unexplained_area >= least else None


def _covered(case: Case, least: float) -> Reason | None:
    """Something unknown touches the build that is as large as a piece, whatever the fault."""
    return _doubted(case, "covered") if case.proof.unexplained_area >= least else None


def _hardly_shown(case: Case, least: float) -> Reason | None:
    return _doubted(case, "covered") if case.shown < least else None


def _multicoloured(case: Case, _: float) -> Reason | None:
    piece = case.proof.multicoloured
    return _doubted(case, "motley", piece={"color": piece.color, "shape": piece.shape}) if piece else None


def _beyond_set(case: Case, _: float) -> Reason | None:
    """More pieces of a kind seem to stand there than the set has: some are not of it, or no pieces."""
    build = case.best.build
    more = Counter((p.shape, p.color) for p in build.pieces) - build.piece_set.inventory
    if not more:
        return None
    shape, color = kind = min(more)
    return _doubted(case, "beyond_set", n=build.piece_set.inventory[kind], piece={"color": color, "shape": shape})


def _unstable(case: Case, most: float) -> Reason | None:
    """A build that would be right without a piece with which it would hardly stand, an egg behind it say."""
    return _doubted(case, "hardly_stands") if case.fit.instability_nats > most and case.one_too_many else None


def _on_the_line(case: Case, wider_mm: float) -> Reason | None:
    return _doubted(case, "on_the_line") if case.rulings.turns_on_the_line(case.best.reading, wider_mm) else None


def _unproven(case: Case, least: float) -> Reason | None:
    shown = min(case.fit.agreement, case.proof.shown_beyond_slivers)
    return _doubted(case, "unproven") if shown < least else None


def _unexplained(case: Case, least: float) -> Reason | None:
    return because("unexplained", n=round(100 * case.fit.share)) if case.fit.share < least else None


def _unexplained_shapes(case: Case, least: float) -> Reason | None:
    """A card that asks for no places: none of its builds can be tried beside the reading ahead."""
    return _unexplained(case, least) if case.card.shapes_alone else None


def _close(case: Case, least: float) -> Reason | None:
    return _two_readings(case) if case.compared.rival and case.compared.margin < least else None


def _unsure(case: Case, _: float) -> Reason | None:
    """Past sessions make too little of it; the reason is what would make it sure enough."""
    trust, best = case.trust, features_of(0.0, 1.0, 1.0)

    def enough(name: str) -> bool:
        return trust.confidence({**case.features, name: best[name]}) >= trust.least

    if case.confidence >= trust.least:
        return None
    if case.fit.share < EXPLAINED_HIGH and enough("explained"):
        return because("unexplained", n=round(100 * case.fit.share))
    return _doubted(case, "unproven") if enough("proof") else _two_readings(case)


def _two_readings(case: Case) -> Reason:
    behind = first_of(case.compared.rival)
    return because("two_readings", ahead=case.sight.to_json(), behind=behind.to_json())


def _doubted(case: Case, code: str, **values: Any) -> Reason:
    """The reason of that code, with what the reading ahead says at first sight."""
    return because(code, **values, sight=case.sight.to_json())


MATCH: frozenset[Ruling] = frozenset({"match"})
MISMATCH: frozenset[Ruling] = frozenset({"mismatch"})
BOTH = MATCH | MISMATCH

DOUBTS = (
    Doubt("out_of_view", BOTH, _out_of_view, shared.FIELD_SEEN.value, "test_field_and_build_cut_off_are_named_apart"),
    Doubt("build_cut", BOTH, _build_cut, shared.BUILD_CUT_MM.value, "test_field_and_build_cut_off_are_named_apart"),
    Doubt("no_colour", BOTH, _no_colour, shared.LEAST_COLOUR.value, "test_a_gray_picture_has_no_colour"),
    Doubt("unknown_object", BOTH, _unknown_object, 0.0, "test_a_phone_withholds_a_verdict_and_is_marked"),
    Doubt("unseen_colour", MISMATCH, _unseen_colour, 0.0, "test_a_white_piece_may_stand_unseen_on_the_paper"),
    Doubt("lacking_covered", MISMATCH, _lacking_covered, shared.UNKNOWN_PIECES.value, "test_what_lacks_may_be_covered"),
    Doubt("covered", MISMATCH, _covered, p.COVERING.value, "test_what_lacks_may_be_covered"),
    Doubt("hardly_shown", MISMATCH, _hardly_shown, p.LEAST_SHOWN.value, "test_what_pixels_do_not_show_is_not_ruled"),
    Doubt("multicoloured", MISMATCH, _multicoloured, 0.0, "test_a_piece_with_colours_within_it_is_perhaps_none"),
    Doubt("beyond_set", BOTH, _beyond_set, 0.0, "test_more_pieces_than_the_set_has_are_not_all_pieces"),
    Doubt("unstable", MISMATCH, _unstable, p.INSTABILITY_LIMIT.value, "test_a_piece_too_many_that_hardly_stands"),
    Doubt("on_the_line", BOTH, _on_the_line, p.ON_LINE_MM.value, "test_a_piece_on_the_fields_line_decides_nothing"),
    Doubt("unproven", MATCH, _unproven, p.MATCH_SHOWN.value, "test_no_card_for_what_pixels_do_not_show_at_all"),
    Doubt("unexplained", MISMATCH, _unexplained, p.MISMATCH_EXPLAINED.value, "test_half_explained_is_no_mismatch"),
    Doubt("unexplained_shapes", MISMATCH, _unexplained_shapes, p.SHAPES_EXPLAINED.value, "test_shapes_ask_for_more"),
    Doubt("close_match", MATCH, _close, p.MATCH_AHEAD.value, "test_no_match_that_is_hardly_ahead"),
    Doubt("close_mismatch", MISMATCH, _close, p.MISMATCH_AHEAD.value, "test_no_mismatch_that_is_hardly_ahead"),
    Doubt("unsure", BOTH, _unsure, 0.0, "test_what_past_sessions_make_too_little_of_is_not_ruled"),
    Doubt("wrong_sizes", MISMATCH, _wrong_sizes, shared.SIZES_DOUBTED.value, "test_a_piece_file_that_is_far_off"),
    Doubt("wrong_heights", MATCH, _wrong_heights, shared.SIZES_DOUBTED.value, "test_heights_by_wrong_sizes"),
    Doubt("clipped", MISMATCH, _bleached("clipped"), shared.PIECES_CLIPPED.value, "test_clipped_pieces_rob_nobody"),
    Doubt("tinted", MISMATCH, _bleached("tinted"), shared.PIECES_TINTED.value, "test_clipped_pieces_rob_nobody"),
    Doubt("field_lighter", MISMATCH, _bleached("field_lighter"), shared.CLIPPED_INCREASE.value, "test_clipped_since"),
    Doubt("paper_lighter", MATCH, _bleached("paper_lighter"), shared.CLIPPED_INCREASE.value, "test_clipped_since"),
    Doubt("glare", MISMATCH, _bleached("glare"), shared.GLARE_SHARE.value, "test_colours_that_a_lamp_washes_out"),
)
