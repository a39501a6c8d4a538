"""What was mistyped is guessed at; pipes get no progress bars; the rules say which words they know."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from referee.commands.attempts import Bar
from referee.match.house_rules import DEFAULT_RULES, HouseRules, parse_rules, rules_toml

OPENS = """
from referee.devices.camera import open_camera
from referee.devices.ports import SystemClock
from referee.errors import DeviceLost
camera = open_camera("97", SystemClock())
try:
    camera.latest(-1, 5.0)
except DeviceLost as error:
    print(error)
finally:
    camera.close()
"""


@pytest.mark.parametrize(
    ("args", "asked"),
    [
        (("rnu",), "Did you mean 'run'?"),
        (("box", "chekc"), "Did you mean 'check'?"),
        (("demo", "--seating", "acros"), "'acros' is not one of 'across'"),
        (("game", "rules", "city_tower"), "'city_tower' is not one of 'city_towers'"),
    ],
)
def test_a_mistyped_word_is_guessed_at_or_the_words_are_listed(referee, args, asked):
    done = referee(*args)
    assert done.returncode == 2 and asked in done.stderr and "Traceback" not in done.stderr


def test_what_is_near_to_nothing_is_not_guessed_at(referee):
    done = referee("xylophone")
    assert done.returncode == 2 and "No such command" in done.stderr and "Did you mean" not in done.stderr


def test_the_rules_list_the_words_they_know_and_are_read_back():
    text = rules_toml()
    assert parse_rules(tomllib.loads(text)) == DEFAULT_RULES
    assert '# One of "void", "human".\nbumped = "void"' in text and "# From 1 to 9.\nduels_per_round" in text
    words = [name for name in HouseRules.model_fields if isinstance(getattr(DEFAULT_RULES, name), str)]
    assert len(words) > 10
    for name in words:
        assert re.search(rf'# One of .+\n{name} = "', text), name


def test_a_pipe_gets_no_progress_bar(capsys):
    with Bar(total=3, unit="attempt") as bar:
        bar.update(3)
    assert capsys.readouterr().err == ""


def test_a_camera_that_is_not_there_is_said_without_the_librarys_noise():
    done = subprocess.run([sys.executable, "-c", OPENS], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stderr == ""
