"""What people are told carries a code and values: both languages are rendered from them, none is parsed."""

from __future__ import annotations

import ast
import json
import pickle
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter

import pytest

from cards.law import because
from cards.sentences import LANGUAGES, Sentence, fill, piece_name, say, sentence, table

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(p for top in ("cards", "calibration", "referee") for p in (ROOT / top).rglob("*.py"))
WORDS = ("color.", "shape.", "piece", "game.card.")


@cache
def _all_calls() -> list[tuple[str, str, ast.Call]]:
    """The name of what is called, where, and the call: every one in the program."""
    trees = [(path.relative_to(ROOT), ast.parse(path.read_text(encoding="utf-8"))) for path in SOURCES]
    calls = [(path, node) for path, tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [(getattr(n.func, "attr", getattr(n.func, "id", "")), f"{path}:{n.lineno}", n) for path, n in calls]


def _calls(names: tuple[str, ...]) -> Iterator[tuple[str, ast.Call]]:
    """Every call of a function of these names, with where it stands."""
    return ((place, call) for name, place, call in _all_calls() if name in names)


def _codes(call: ast.Call) -> list[str]:
    """The codes that a call may name: its first argument, written out."""
    return [c.value for c in ast.walk(call.args[0]) if isinstance(c, ast.Constant) and isinstance(c.value, str)]


def _blanks(template: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _said() -> list[tuple[str, str, set[str] | None]]:
    """Where, code and given values (None: passed on) of every sentence in the program."""
    rows = []
    for place, call in _calls(("sentence", "because", "_of")):
        given = {k.arg for k in call.keywords}
        values = None if None in given else given | ({"piece"} if getattr(call.func, "id", "") == "_of" else set())
        rows += [(place, code, values) for code in _codes(call)]
    return rows


def test_every_sentence_that_the_program_says_is_in_both_tables_with_its_values():
    known = {lang: table(lang) for lang in LANGUAGES}
    rows = [row for row in _said() if row[1] not in ("hand", "not_empty")]
    assert len(rows) > 120
    assert [row for row in rows for lang in LANGUAGES if row[1] not in known[lang]] == []
    lacking = [
        (place, code) for place, code, given in rows if given is not None and not _blanks(known["en"][code]) <= given
    ]
    assert lacking == []


def test_both_tables_have_the_same_sentences_with_the_same_blanks():
    english, german = table("en"), table("de")
    assert english.keys() == german.keys()
    assert [code for code in english if _blanks(english[code]) != _blanks(german[code])] == []


def test_no_table_has_a_sentence_that_nobody_says():
    text = "\n".join(p.read_text(encoding="utf-8") for p in SOURCES)
    assert [code for code in table("en") if not code.startswith(WORDS) and f'"{code}"' not in text] == []


PLAIN = ("referee/web/pages/evening.py",)


@pytest.mark.parametrize("error", ["IllegalCommand", "AsksFirst", "Reason"])
def test_refusals_and_reasons_are_never_written_as_text(error):
    """``Reason`` is made by ``because``; a refusal of the duel is a sentence."""
    written = [
        place
        for place, call in _calls((error,))
        if not place.startswith(PLAIN) and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]
    assert written == []


@pytest.mark.parametrize(
    ("code", "values", "english", "german"),
    [
        ("extra_piece", {"n": 1, "piece": {"color": "green", "shape": "rectangle"}},
         "1 green rectangle too many", "zu viel: 1 × Rechteck, grün"),
        ("missing_piece", {"n": 2, "piece": {"color": "red", "shape": "triangle"}},
         "2 red triangles missing", "es fehlen: 2 × Dreieck, rot"),
        ("missing_piece", {"n": 2, "piece": {"shape": "half_disc"}}, "2 half discs missing",
         "es fehlen: 2 × Halbkreis"),
        ("missing_piece", {"n": 3, "piece": {"color": "mauve", "shape": "wedge"}},
         "3 mauve wedges missing", "es fehlen: 3 × wedge, mauve"),
        ("wrong_count", {"n": 1, "m": 3}, "1 piece stands in the field, the card asks for 3",
         "1 Teil steht im Feld, die Karte verlangt 3"),
        ("wrong_count", {"n": 4, "m": 3}, "4 pieces stand in the field, the card asks for 3",
         "4 Teile stehen im Feld, die Karte verlangt 3"),
        ("signed_already", {"names": ["Ann", "Ben"]}, "Ann and Ben have signed the set-up already",
         "Ann und Ben haben die Einrichtung schon abgezeichnet"),
        ("signed_already", {"names": ["Ann"]}, "Ann has signed the set-up already",
         "Ann hat die Einrichtung schon abgezeichnet"),
        ("limit", {"passed": 3.14159, "limit": 60.0}, "3.1 s have passed, the limit is 60 s",
         "3,1 s sind vergangen, die Grenze ist 60 s"),
        ("zone", {"zone": "C"}, "no zone 'C' plays: A or B", "Es spielt keine Matte 'C': A oder B"),
        ("floating", {"piece": {"color": "blue", "shape": "cube", "x": 14.0}}, "blue cube at 14 mm rests on nothing",
         "Würfel, blau, bei 14 mm liegt auf nichts"),
        ("floating", {"piece": {"color": "blue", "shape": "cube", "x": 14.5}}, "blue cube at 14.5 mm rests on nothing",
         "Würfel, blau, bei 14,5 mm liegt auf nichts"),
        ("game.chip_small", {"n": 1}, "1 storey was added: the chip must be at least 1",
         "1 Stockwerk kam dazu: der Chip muss mindestens 1 sein"),
        ("game.no_card", {"whose": "Ann", "card": "hammer"}, "Ann has no card hammer",
         "Ann hat keine Karte Presslufthammer"),
        ("game.no_card", {"whose": sentence("game.the_market"), "card": "a9"}, "the market has no card a9",
         "der Markt hat keine Karte a9"),
        ("not_saved", {"rest": [sentence("falls"), "what else"]}, "not saved: it falls; what else",
         "nicht gespeichert: es fällt um; what else"),
        ("unproven", {"sight": {"code": "as_card", "text": "the card is built"}},
         "the picture does not show it clearly, something may be in front of the build; "
         "at first sight the card is built",
         "das Bild zeigt es nicht klar, vielleicht ist etwas vor dem Bau; "
         "auf den ersten Blick: die Karte ist gebaut"),
    ],
)  # fmt: skip
def test_a_sentence_in_both_languages(code, values, english, german):
    made = sentence(code, **values)
    assert made == english and (made.code, made.values) == (code, values)
    assert say("en", made) == english and say("de", made) == german


def test_a_record_is_said_from_its_values_and_one_of_before_as_it_was_written():
    row = {"code": "wrong_count", "text": "2 pieces stand in the field"}
    assert say("de", row) == "2 pieces stand in the field"
    assert say("de", row | {"values": {"n": 2, "m": 3}}) == "2 Teile stehen im Feld, die Karte verlangt 3"
    assert say("en", row | {"values": {"n": 2, "m": 3}}) == "2 pieces stand in the field"
    assert say("de", {"code": "empty_field", "text": "nothing stands in the field"}) == "im Feld steht nichts"
    assert say("de", {"code": "brand_new", "text": "something else"}) == "something else"
    assert say("de", "an unheard-of fault") == "an unheard-of fault"
    assert say("de", because("wrong_count", n=2, m=3)) == "2 Teile stehen im Feld, die Karte verlangt 3"


def test_a_sentence_is_its_english_text_in_json_and_comes_whole_out_of_another_process():
    made = sentence("zone", zone="C")
    assert json.dumps({"text": made}) == '{"text": "no zone \'C\' plays: A or B"}'
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, Sentence) and (again, again.code, again.values) == (made, "zone", {"zone": "C"})


def test_a_code_in_no_table_and_a_value_that_is_not_given_are_errors():
    with pytest.raises(KeyError):
        sentence("no_such_sentence")
    with pytest.raises(KeyError):
        sentence("zone")


def test_words_stand_alone_too():
    assert piece_name("de", {"shape": "cube"}, 2) == "Würfel" and piece_name("en", {"shape": "cube"}, 0) == "cubes"
    assert fill("{n} {n:duel|duels}", {"n": 1}) == "1 duel" and fill("{n} {n:duel|duels}", {"n": 0}) == "0 duels"


FAULTY = ("DeviceLost", "JournalUnwritable")


@pytest.mark.parametrize("error", FAULTY)
def test_faults_of_devices_and_of_the_record_that_a_page_shows_are_sentences(error):
    """Commands, twins and the box's programmer speak to a terminal alone, in English as all of it."""
    elsewhere = (
        "referee/commands/",
        "referee/simulator/",
        "referee/devices/firmware/",
        "referee/devices/box.py",
    )
    written = [
        place
        for place, call in _calls((error,))
        if not place.startswith(elsewhere) and isinstance(call.args[0], ast.Constant | ast.JoinedStr)
    ]
    assert written == []


def test_an_alarms_text_is_a_sentence():
    """What is given to an alarm is never an f-string: it would be English on a German page."""
    texts = [(place, call.args[1]) for place, call in _calls(("alarm",)) if len(call.args) > 1]
    assert len(texts) > 20
    assert [place for place, text in texts if isinstance(text, ast.JoinedStr)] == []


def test_a_fault_within_a_fault_is_said_in_the_same_language():
    lost = sentence("camera_lost", name="desk", fault=sentence("camera_ended"))
    assert lost == "camera desk: gives no more pictures"
    assert say("de", lost) == "Kamera desk: liefert keine Bilder mehr"
