"""One catalogue: both languages say the same things, and pages name no text that is not there."""

from __future__ import annotations

import re
from importlib.resources import files
from string import Formatter

import pytest
import text_list

from cards.build import Piece
from cards.check import check_card
from cards.kinds.layout import LayoutCard
from cards.pieces import Pose, builtin_piece_set
from cards.sentences import say
from cards.stability import check_stability
from referee.match.commands import MODES
from referee.match.duel import PHASES
from referee.match.house_rules import HouseRules
from referee.web.actions import ACTIONS
from referee.web.i18n.texts import LANGUAGES, catalogue, tools, translate
from referee.web.pages.console import REASONS

NAMED = re.compile(r"""\bt\('([\w.]+)'[,)]""")


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_blanks():
    english, german = catalogue("en"), catalogue("de")
    assert english.keys() == german.keys()
    assert [key for key in english if _fields(english[key]) != _fields(german[key])] == []


def _templates() -> list[tuple[str, str]]:
    roots = files("referee.web").joinpath("templates"), files("referee.games")
    folders = [*roots, *(p for root in roots for p in root.iterdir() if p.is_dir())]
    return [(p.name, p.read_text()) for f in folders for p in f.iterdir() if p.name.endswith(".html")]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_that_a_template_names_exists(language):
    missing = {
        (name, key) for name, html in _templates() for key in NAMED.findall(html) if key not in catalogue(language)
    }
    assert not missing


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_phase_mode_rule_and_command_has_a_text(language):
    texts = catalogue(language)
    wanted = [f"phase.{p}" for p in (*PHASES, "new", "finished")] + [f"mode.{m}" for m in MODES]
    wanted += [f"rule.{r}" for r in HouseRules.model_fields] + [f"do.{c}" for c in ACTIONS]
    assert [key for key in wanted if key not in texts] == []


def test_every_text_is_shown_somewhere():
    """``python tests/web/text_list.py`` lists them all with their places."""
    listed = list(text_list.rows())
    assert len(listed) > 1400 and [key for key, places, _, _ in listed if not places] == []
    assert text_list.places("no.such.text", text_list.named()) == set()


ALARM = re.compile(r"""alarm\("([a-z_]+)"|CODES = \(([^)]*)\)""")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_alarm_has_a_text(language):
    sources = [p.read_text() for p in files("referee.session").iterdir() if p.name.endswith(".py")]
    found = [row for text in sources for row in ALARM.findall(text)]
    codes = {code for code, _ in found if code} | {c for _, row in found for c in re.findall(r"\w+", row)}
    assert len(codes) > 8
    assert {code for code in codes if f"alarm.{code}" not in catalogue(language)} == set()


@pytest.mark.parametrize("key", [f"chipwhy.{name}" for name in REASONS] + ["foul.hand"])
def test_an_offered_reason_is_said_in_the_language_of_who_reads_it(key):
    for picked in LANGUAGES:
        for read in LANGUAGES:
            assert tools(read)["say"](translate(picked, key)) == translate(read, key)


def test_a_reason_in_own_words_stays_as_it_was_said():
    assert tools("de")["say"]("it leans") == "it leans"


def test_a_text_in_no_catalogue_comes_back_as_its_key():
    assert translate("de", "no.such.text") == "no.such.text"


def test_what_speaks_against_a_layout_is_said_in_german_with_its_pieces():
    pieces = builtin_piece_set()
    cube = Piece("cube", "blue", Pose(), 0, 0, 15)
    tower = [cube.at(z=15 + 30 * n) for n in range(9)]
    builds = [
        [cube, cube.at(x=10)],
        [cube, cube.at(x=60, z=60)],
        [cube, Piece("rectangle", "green", Pose(), 30, 0, 42.5)],
        [cube, cube.at(x=14, z=45)],
        [cube, Piece("rectangle", "green", Pose(), 13, 0, 42.5)],
        tower,
    ]
    faults = {f for build in builds for f in check_stability(pieces, build).faults}
    faults |= {f for build in builds for f in check_card(LayoutCard("new", 1, tuple(build)), pieces).faults}
    assert len(faults) > 5
    for fault in faults:
        german = say("de", fault)
        assert german != fault and not {"cube", "blue", "falls", "overlap"} & set(re.findall(r"\w+", german)), german
