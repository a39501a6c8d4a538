"""One catalogue: both languages say the same things, and pages name no text that is not there."""

from __future__ import annotations

import ast
import re
from importlib.resources import files
from string import Formatter

import pytest

from cards.build import Piece
from cards.card import LayoutCard
from cards.check import check_card
from cards.pieces import Pose, builtin_piece_set
from cards.stability import stand
from referee.match.duel import PHASES
from referee.match.house_rules import HouseRules
from referee.web.actions import ACTIONS, modes
from referee.web.i18n.faults import say_fault
from referee.web.i18n.reasons import words_of
from referee.web.i18n.texts import LANGUAGES, catalogue, translate

NAMED = re.compile(r"""\bt\('([\w.]+)'[,)]""")


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_the_same_texts_with_the_same_blanks():
    english, german = catalogue("en"), catalogue("de")
    only = {key for key in english.keys() ^ german.keys() if not key.startswith("reason.")}
    assert not only
    assert [key for key in english if _fields(english[key]) != _fields(german[key])] == []


def _templates() -> list[tuple[str, str]]:
    root = files("referee.web").joinpath("templates")
    folders = [root, *(p for p in root.iterdir() if p.is_dir())]
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
    wanted = [f"phase.{p}" for p in (*PHASES, "new", "finished")] + [f"mode.{m}" for m in modes()]
    wanted += [f"rule.{r}" for r in HouseRules.model_fields] + [f"do.{c}" for c in ACTIONS]
    assert [key for key in wanted if key not in texts] == []


ALARM = re.compile(r"""alarm\("([a-z_]+)"|CODES = \(([^)]*)\)""")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_alarm_has_a_text(language):
    sources = [p.read_text() for p in files("referee.session").iterdir() if p.name.endswith(".py")]
    found = [row for text in sources for row in ALARM.findall(text)]
    codes = {code for code, _ in found if code} | {c for _, row in found for c in re.findall(r"\w+", row)}
    assert len(codes) > 8
    assert {code for code in codes if f"alarm.{code}" not in catalogue(language)} == set()


def test_a_text_in_no_catalogue_comes_back_as_its_key():
    assert translate("de", "no.such.text") == "no.such.text"


SAID_BY = (
    "match/decide",
    "match/adjudication",
    "match/piles",
    "match/progress",
    "match/schedule",
    "session/box_listener",
    "session/match_runner",
    "session/rig_setup",
    "web/pages/setup",
    "web/pages/cards",
)
"""Modules whose refusals a person at the dashboard may read."""

ALARM_FAULTS = {
    f"fault.{code}"
    for code in ("wrong_card", "camera_moved", "mat_moved", "lost", "disk", "box_silent", "no_go", "blind", "no_view")
}
REFUSING = ("IllegalCommand", "AsksFirst", "BadCard", "DeviceLost")


def _refusals() -> list[str]:
    """Every refusal in those modules, with 1 in its blanks."""
    found = []
    for name in SAID_BY:
        tree = ast.parse(files("referee").joinpath(f"{name}.py").read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            refused = isinstance(node, ast.Call) and getattr(node.func, "id", "") in REFUSING
            if refused and isinstance(node.args[0], ast.Constant | ast.JoinedStr):
                found.append(_sample(node.args[0]))
    return [text for text in found if text] + _guards()


def _guards() -> list[str]:
    """What the guards of the match answer: sentences that ``match/state`` returns."""
    tree = ast.parse(files("referee").joinpath("match/state.py").read_text(encoding="utf-8"))
    returned = [
        part for node in ast.walk(tree) if isinstance(node, ast.Return) and node.value for part in ast.walk(node)
    ]
    pieces = {id(value) for part in returned if isinstance(part, ast.JoinedStr) for value in part.values}
    whole = [part for part in returned if isinstance(part, ast.JoinedStr | ast.Constant) and id(part) not in pieces]
    said = [_sample(part) for part in whole]
    return [text for text in said if " " in text.strip()]


def _sample(text: ast.expr) -> str:
    if isinstance(text, ast.Constant):
        return text.value if isinstance(text.value, str) else ""
    if not isinstance(text, ast.JoinedStr):
        return ""
    return "".join(part.value if isinstance(part, ast.Constant) else "1" for part in text.values)


@pytest.mark.parametrize("text", sorted(set(_refusals())))
def test_every_refusal_is_said_in_german(text):
    assert say_fault("de", text, {}) != text
    assert say_fault("en", text, {}) == text


def _alarms() -> set[str]:
    """What the session and its eyes say in alarms of their own, with 1 in the blanks."""
    texts = set()
    for path in files("referee.session").iterdir():
        if not path.name.endswith(".py"):
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr | ast.Constant) and " " in (said := _sample(node)):
                texts.add(said)
    return texts


def test_alarms_are_said_in_german():
    alarms = _alarms()
    for key, text in catalogue("en").items():
        if key in ALARM_FAULTS:
            sample = re.sub(r"{\w+}", "1", text)
            assert any(sample.startswith(a) or a in sample for a in alarms), f"nobody says {text!r} any more"
            assert say_fault("de", sample, {}) == re.sub(r"{\w+}", "1", catalogue("de")[key])


def test_what_speaks_against_a_layout_is_said_in_german_with_its_pieces():
    pieces = builtin_piece_set()
    words = words_of("de", tuple(pieces.colors), tuple(pieces.shapes))
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
    faults = {f for build in builds for f in stand(pieces, build).faults}
    faults |= {f for build in builds for f in check_card(LayoutCard("new", 1, tuple(build)), pieces).faults}
    assert len(faults) > 5
    for fault in faults:
        german = say_fault("de", fault, words)
        assert german != fault and not {"cube", "blue", "falls", "overlap"} & set(re.findall(r"\w+", german)), german
    both = say_fault("de", "not saved: it falls; blue cube rests on nothing", words)
    assert both == "nicht gespeichert: es fällt um; Würfel, blau liegt auf nichts"
    assert say_fault("de", "an unheard-of fault", words) == "an unheard-of fault"
