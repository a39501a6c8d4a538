"""Compiled kernels on disk: never stale, never in the way."""

import os
import subprocess
import sys
from typing import NamedTuple
from uuid import uuid4

import numpy as np
import pytest
from numba import typeof

from referee.vision.search import content as contents
from referee.vision.search import kernel_store, machine_code
from referee.vision.search.content import FOLDER_VARIABLE, cache_folder, content
from referee.vision.search.jit import lean, loop
from referee.vision.search.machine_code import described, entry_of

TWO_FILES = {
    "callee.py": """
from referee.vision.search.jit import lean, standalone
FACTOR = 2.0
@lean
def scaled(x):
    return x * FACTOR
@standalone
def shifted(x):
    return scaled(x) + 1.0
""",
    "caller.py": """
from referee.vision.search.jit import lean, loop
from callee import shifted
@loop
def total(xs):
    sum = 0.0
    for x in xs:
        sum += shifted(x)
    return sum
""",
    "program.py": """
import sys
import numpy as np
from caller import total
print(total(np.arange(4.0)), "compiled" if "numba" in sys.modules else "kept")
""",
}


@pytest.fixture
def program(tmp_path):
    """Two files with kernels, and a program that prints a sum and whether it had to compile for it."""
    for name, text in TWO_FILES.items():
        (tmp_path / name).write_text(text)

    def run(**replaced):
        for name, (old, new) in replaced.items():
            path = tmp_path / f"{name}.py"
            assert old in path.read_text()
            path.write_text(path.read_text().replace(old, new))
        env = {**os.environ, FOLDER_VARIABLE: str(tmp_path / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
        env["PYTHONPATH"] = os.pathsep.join([os.getcwd(), env.get("PYTHONPATH", "")])
        done = subprocess.run(
            [sys.executable, tmp_path / "program.py"], env=env, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    return run


@pytest.mark.slow
def test_a_kernel_is_compiled_again_exactly_when_something_it_uses_changes(program, tmp_path):
    assert program() == "16.0 compiled"
    assert program() == "16.0 kept"
    assert program(caller=("sum = 0.0", "# starts empty\n    sum = 0.0")) == "16.0 kept"
    assert program(callee=("FACTOR = 2.0", "FACTOR = 3.0")) == "22.0 compiled"
    assert program(callee=("FACTOR = 3.0", "FACTOR = 2.0")) == "16.0 kept"
    assert program(callee=("x * FACTOR", "x / FACTOR")) == "7.0 compiled"
    for entry in (tmp_path / "cache").glob("shifted-*"):
        entry.unlink()
    assert program() == "7.0 compiled"  # what it calls by address was compiled again for it
    assert program() == "7.0 kept"


@pytest.mark.slow
def test_a_damaged_entry_is_compiled_again(program, tmp_path):
    assert program() == "16.0 compiled"
    for entry in (tmp_path / "cache").iterdir():
        entry.write_bytes(entry.read_bytes()[:-100] + bytes(100))
    assert program() == "16.0 compiled"
    assert program() == "16.0 kept"


def test_without_a_place_of_its_own_the_cache_lasts_as_long_as_the_program(tmp_path):
    (tmp_path / "file").write_text("in the way")
    env = {**os.environ, FOLDER_VARIABLE: str(tmp_path / "file" / "cache")}
    shown = "import os, referee.vision.search.content as k; print(k.cache_folder(), k.cache_folder().is_dir())"
    done = subprocess.run([sys.executable, "-c", shown], env=env, capture_output=True, text=True, check=True)
    folder, was_there = done.stdout.split()
    assert was_there == "True" and not os.path.exists(folder)


def test_a_disk_that_is_full_or_gone_costs_nothing_but_time(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    monkeypatch.setattr(kernel_store, "cache_folder", lambda: gone)
    monkeypatch.setattr(machine_code, "cache_folder", lambda: gone)

    @loop
    def doubled(x):
        return 2 * x

    assert doubled(4) == 8 and not gone.exists()


def test_a_folder_of_somebody_else_is_not_trusted(tmp_path, monkeypatch):
    assert contents._is_ours(tmp_path)
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert not contents._is_ours(tmp_path)


def test_entries_that_nobody_used_for_a_month_go(tmp_path):
    old, new = tmp_path / "old.kernel", tmp_path / "new.kernel"
    for path in (old, new):
        path.touch()
    os.utime(old, (0, 0))
    contents._remove_unused(tmp_path)
    assert not old.exists() and new.exists()


class _Point(NamedTuple):
    x: np.ndarray
    y: np.ndarray


class _Swapped(NamedTuple):
    y: np.ndarray
    x: np.ndarray


_Swapped.__qualname__ = _Point.__qualname__


def test_the_order_of_a_tuples_fields_is_part_of_the_entry():
    @loop
    def first(p):
        return p.x[0]

    a, b, c = (_Point(np.zeros(1), np.zeros(1)), _Swapped(np.zeros(1), np.zeros(1)), _Point(np.ones(2), np.ones(3)))
    assert entry_of(first, [described(a)]) != entry_of(first, [described(b)])
    assert entry_of(first, [described(a)]) == entry_of(first, [described(c)])
    kept = first.compiler._cache
    assert kept.entry((typeof(a),)) != kept.entry((typeof(b),))
    assert kept.entry((typeof(a),)) == kept.entry((typeof(c),))


def test_a_docstring_is_no_content():
    def made(doc, step):
        scope = {"__name__": "made_up"}
        exec(f'def f(x):\n    """{doc}"""\n    return x + {step}\n', scope)
        return content(loop(scope["f"]))

    assert made("one", 1) == made("two", 1) != made("one", 2)


def test_a_literal_makes_no_kernel_of_its_own():
    salt = float(uuid4().int % 1_000_003 + 1)  # new content: what an earlier run has kept would not be compiled

    @lean
    def stepped(x, up):
        return x + 1.0 + 0.0 * salt if up else x - 1.0

    @loop
    def steps(x):
        return stepped(x, True) * stepped(x, False) * stepped(x, x > 0)

    assert steps(2.0) == 9.0 and len(stepped.compiler.overloads) == 1


def test_the_cache_lies_outside_the_package_and_the_environment():
    folder = str(cache_folder())
    assert os.path.isdir(folder) and not folder.startswith((os.path.dirname(contents.__file__), sys.prefix))
