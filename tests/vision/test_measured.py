"""The numbers of vision say what they are and where they come from, and each is used."""

from __future__ import annotations

import ast
import importlib
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from referee.commands.bench import bench
from referee.vision.measured import MEASURED, STILLS_BENCH, measured
from referee.vision.verdict.trust import FILE

VISION = Path(importlib.import_module("referee.vision").__file__).parent
KERNELS = [p for p in sorted((VISION.parent / "kernels").glob("*.py")) if p.name not in ("sources.py", "triangles.py")]
"""The compiled loops that see; triangles draw the simulated table."""
SEEING = sorted(VISION.rglob("*.py"))
DRAWN = ("annotate.py", "overlay.py", "steps.py")


def is_measured(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "measured"


def test_each_number_says_its_unit_and_its_source():
    names = [".".join(p.relative_to(VISION.parents[1]).with_suffix("").parts) for p in SEEING]
    for name in names:
        importlib.import_module(name.removesuffix(".__init__"))
    written = [ast.walk(ast.parse(p.read_text())) for p in SEEING]
    told = Counter(number.module for number in MEASURED if number.module in names)
    assert told.total() > 0
    assert told == Counter({n: sum(map(is_measured, all_of)) for n, all_of in zip(names, written, strict=True)})
    assert [m for m in MEASURED if not m.unit or len(m.source) < len("as NAME")] == []


def test_a_number_is_noted_and_given_as_it_is():
    try:
        assert measured(45.0, "mm", "by hand") == 45.0
        assert (MEASURED[-1].module, MEASURED[-1].value, MEASURED[-1].unit) == (__name__, 45.0, "mm")
    finally:
        MEASURED.pop()


def test_each_number_is_used():
    text = "\n".join(p.read_text() for p in (*SEEING, *KERNELS))
    rows = [n for p in SEEING for n in ast.parse(p.read_text()).body if isinstance(n, ast.Assign)]
    names = [row.targets[0].id for row in rows if any(map(is_measured, ast.walk(row.value)))]
    words, rules = Counter(re.findall(r"\w+", text)), Counter(re.findall(r"\brules\.(\w+)", text))
    assert [name for name in names if words[name] + rules[name.lower()] < 2] == []


def test_the_commands_that_fit_are_commands():
    """Every option of a command named as trying or fitting a number is one of the bench's."""
    known = {option for parameter in bench.params for option in parameter.opts}
    fitted_by = json.loads(FILE.read_text(encoding="utf-8"))["command"]
    for command in {m.tried_by for m in MEASURED if m.tried_by} | {STILLS_BENCH, fitted_by}:
        assert command.startswith("referee bench ")
        assert set(re.findall(r"--[a-z-]+", command)) <= known


PLAIN = {0.0, 0.5, 1.0, 1.5, 2.0, 1e3, 1e6, 1e9, 1e-3, 1e-9, 1e-12, 1.001}
"""Arithmetic: halves, wholes, a normal density's power of 2 pi, what is more than anything or next to nothing, and
packing two keys into one number."""

COUNTED = {*range(9), 32, 64, 90, 100, 180, 255, 256, 360, 4096}
"""Columns of rows, bits, bytes, per cent, angles, and how many results a cache keeps."""

HASHED = {0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xBF58476D1CE4E5B9, 500, 29, 99}
"""The hash of a beam's state, and a stock that no card can ask for."""


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def unnamed(text: str) -> list[str]:
    """The numbers in a module's functions that are neither arithmetic nor a place in an array."""
    found = []
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            function.decorator_list = []
            for node in ast.walk(function):
                if is_number(node):
                    known = PLAIN if isinstance(node.value, float) else COUNTED | HASHED
                    found += [f"line {node.lineno}: {node.value}"] if node.value not in known else []
    return found


def own(text: str) -> list[str]:
    """The numbers at a module's top, other than whole ones up to 8, that are not ``measured``."""
    rows = [n for n in ast.parse(text).body if isinstance(n, ast.Assign | ast.AnnAssign) and n.value is not None]
    told = {id(n) for row in rows for call in ast.walk(row.value) if is_measured(call) for n in ast.walk(call)}
    numbers = [(row, n) for row in rows for n in ast.walk(row.value) if is_number(n) and id(n) not in told]
    return [f"line {row.lineno}: {n.value}" for row, n in numbers if n.value not in range(9) and n.value != 1.5]


CALIBRATING = [
    p
    for p in sorted(VISION.parents[1].joinpath("calibration").glob("*.py"))
    if not p.name.startswith(("print_", "game_sheets", "picture_size"))
]
"""But for the layout of printed sheets, and the bytes of picture files."""


@pytest.mark.parametrize("path", CALIBRATING, ids=lambda p: p.name)
def test_calibrations_numbers_have_names(path):
    """Nine numbers of a matrix, ten of a quadratic form, and the digits of files beside what is counted."""
    assert [row for row in unnamed(path.read_text()) if row.split()[-1] not in ("9", "10")] == []


@pytest.mark.parametrize(
    "path", [p for p in SEEING + KERNELS if p.name != "steps.py"], ids=lambda p: str(p.relative_to(VISION.parent))
)
def test_there_is_no_number_without_a_name(path):
    assert unnamed(path.read_text()) == []


@pytest.mark.parametrize(
    "path",
    [p for p in SEEING if not p.name.endswith(DRAWN) and p.parent.name not in ("render", "city")],
    ids=lambda p: str(p.relative_to(VISION)),
)
def test_numbers_at_the_top_of_a_module_are_measured(path):
    """What is drawn for people (``render``, ``annotate``, ``overlay``, ``steps``) has sizes of its own; they decide
    nothing. Another game's reading (``city``) names its numbers beside what they are for."""
    assert own(path.read_text()) == []


def test_a_number_without_a_name_is_found():
    found = unnamed("def f(x):\n    return x[3] * 0.5 + 17.5 if x > 12 else 1e9")
    assert sorted(found) == ["line 2: 12", "line 2: 17.5"]


def test_a_number_that_a_module_keeps_is_found():
    kept = "A = 12\nB, C = 0.25, 3\nD = measured(12.5, 'mm', 'by hand')\nE = (A + 1) / 4\nF: float = -0.5\n"
    assert own(kept) == ["line 1: 12", "line 2: 0.25", "line 5: 0.5"]
