"""The mutation script's own test: a toy module whose tests see one of its lines and not the other."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mutate import QUICK_TESTS, ROOT, Sample, mutants

SCRIPT = Path(__file__).with_name("mutate.py")

TOY = '''
"""A docstring is not changed."""

LIMIT = 3


def many(things: "list[int]") -> bool:
    """Nor is this one."""
    return len(things) > LIMIT


def unseen(a, b):
    return a + b
'''

TESTS = """
from cards.toy import many


def test_many():
    assert many([1, 2, 3, 4]) and not many([1, 2, 3])
"""


def run(folder: Path, tests: str, *arguments: str) -> subprocess.CompletedProcess:
    """The script, copied with a toy project around it."""
    for name in ("tests", "cards"):
        (folder / name).mkdir()
    shutil.copy(SCRIPT, folder / "tests")
    (folder / "cards/__init__.py").touch()
    (folder / "cards/toy.py").write_text(TOY, encoding="utf-8")
    (folder / "tests/test_toy.py").write_text(tests, encoding="utf-8")
    command = [sys.executable, folder / "tests/mutate.py", "cards/toy.py", "--tests", "tests/test_toy.py", *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env={"PYTHONPATH": str(folder)})


@pytest.mark.slow
def test_what_no_test_sees_survives_and_the_rest_is_killed(tmp_path):
    done = run(tmp_path, TESTS, "--at-least", "60")
    survived = [line for line in done.stdout.splitlines() if line.startswith("survived")]
    assert len(survived) == 4 and all("line 13" in line for line in survived)
    assert "cards/toy.py: 8 mutants, 4 killed (50.0 %), 4 survived" in done.stdout
    assert done.returncode == 1


@pytest.mark.slow
def test_a_sample_says_what_it_was_drawn_by(tmp_path):
    done = run(tmp_path, TESTS, "--draw", "3", "--seed", "5")
    assert "cards/toy.py: 3 mutants drawn by seed 5, " in done.stdout and done.returncode == 0


@pytest.mark.slow
def test_tests_that_fail_by_themselves_measure_nothing(tmp_path):
    done = run(tmp_path, TESTS.replace("not many", "many"))
    assert "fail without any change" in done.stderr and done.returncode


def test_each_kind_of_change_is_made():
    code = """
def f(a, b):
    if a < b and not a:
        b += 1
        log(b)
    return sorted(a, key=b) if a in b else -max(a, b)
"""
    made = [str(m) for m in mutants(ast.parse(code))]
    for change in [
        "a <= b",
        "a >= b",
        "or",
        "True",
        "False",
        "pass",
        "return None",
        "sorted(a)",
        "min(a, b)",
        "not in",
    ]:
        assert any(change in m.split("->")[1] for m in made), change


def test_what_is_noted_of_a_name_is_no_change():
    code = 'T = TypeVar("T")\nLEAST = measured(3.0, "px", "by hand")'
    assert [str(m) for m in mutants(ast.parse(code))] == ["line 2: 3.0  ->  4.5"]


def test_the_same_seed_draws_the_same_mutants():
    some = Sample(5, 36).drawn(100)
    assert some == Sample(5, 36).drawn(100) != Sample(5, 37).drawn(100)
    assert len(set(some)) == 5 and Sample(5, 36).drawn(3) == Sample(None, 36).drawn(3) == [0, 1, 2]


@pytest.mark.parametrize("module", QUICK_TESTS)
def test_the_modules_and_their_quick_tests_are_there(module):
    assert all((ROOT / path).is_file() for path in (module, *QUICK_TESTS[module]))
