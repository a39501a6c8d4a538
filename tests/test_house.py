"""What holds for every module, however it came to be: sizes, numbers of parameters, and where chance may come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(path for package in ("cards", "calibration", "referee") for path in (ROOT / package).rglob("*.py"))
PURE = [p for p in MODULES if p.parent in (ROOT / "cards", ROOT / "referee" / "match", ROOT / "referee" / "games")]
"""The pure core: what is drawn, dealt or generated there follows from a seed that is given."""

MOST_LINES, MOST_OF_A_FUNCTION = 400, 60
MOST_PARAMETERS, MOST_OF_A_KERNEL = 6, 8
JIT = ROOT / "referee" / "vision" / "search" / "jit.py"
"""Where the decorators of compiled loops are: all that it makes by ``_decorator``."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` of names and attributes, None of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return None


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def made_by(name: str, tree: ast.Module) -> set[str]:
    """The module's names for what the function of that name gives."""
    rows = [n for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Call)]
    return {t.id for n in rows if dotted(n.value.func) == name for t in n.targets if isinstance(t, ast.Name)}


def parameters(function: Function) -> int:
    """How many a caller may give: ``self`` and ``cls`` come by themselves, ``*`` and ``**`` count as one each."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([n for n in names if n not in ("self", "cls")]) + bool(given.vararg) + bool(given.kwarg)


KERNELS = made_by("_decorator", tree_of(JIT))


def is_kernel(function: Function) -> bool:
    return any(isinstance(d, ast.Name) and d.id in KERNELS for d in function.decorator_list)


def too_large(text: str) -> list[str]:
    """What in a module's text is larger than it may be."""
    tree, lines = ast.parse(text), len(text.splitlines())
    found = [f"{lines} lines"] if lines > MOST_LINES else []
    for function in functions(tree):
        length, given = function.end_lineno - function.lineno + 1, parameters(function)
        if length > MOST_OF_A_FUNCTION:
            found.append(f"{function.name}: {length} lines")
        if given > (MOST_OF_A_KERNEL if is_kernel(function) else MOST_PARAMETERS):
            found.append(f"{function.name}: {given} parameters")
    return found


def unseeded(tree: ast.Module) -> list[str]:
    """Where a module takes chance from anything but a seed that is given."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
            found += [f"line {node.lineno}: {n}" for n in names if n in ("secrets", "uuid", "numpy.random")]
            if isinstance(node, ast.ImportFrom) and node.module == "random":
                found += [f"line {node.lineno}: random.{a.name}" for a in node.names if a.name != "Random"]
        elif isinstance(node, ast.Attribute) and (name := dotted(node)):
            seeds = name in ("random.Random", "np.random.default_rng", "np.random.Generator")
            chance = name.startswith(("random.", "np.random.")) or name in ("os.urandom", "np.random")
            if chance and not seeds and name != "np.random":
                found.append(f"line {node.lineno}: {name}")
        elif isinstance(node, ast.Call) and (dotted(node.func) or "").split(".")[-1] in ("default_rng", "Random"):
            none = len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and node.args[0].value is None
            if not node.args or none:
                found.append(f"line {node.lineno}: a generator without a seed")
    return found


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nothing_is_larger_than_one_can_read(path):
    assert not too_large(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", PURE, ids=lambda path: str(path.relative_to(ROOT)))
def test_chance_in_the_pure_core_follows_from_a_seed(path):
    assert not unseeded(tree_of(path))


def test_the_whole_of_the_program_is_looked_at():
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == {"cards", "calibration", "referee"}
    assert len(PURE) > 20 and {"plain", "loop", "lean"} <= KERNELS


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(a, b, c, d, e, *, g): ...", []),
        ("def f(a, b, c, d, e, *, g, h): ...", ["f: 7 parameters"]),
        ("def f(a, b, c, d, e, g, **more): ...", ["f: 7 parameters"]),
        ("class C:\n    def f(self, a, b, c, d, e, g): ...", []),
        ("@lean\ndef f(a, b, c, d, e, g, h, i): ...", []),
        ("@lean\ndef f(a, b, c, d, e, g, h, i, j): ...", ["f: 9 parameters"]),
        ("def f():\n" + "    pass\n" * 59, []),
        ("def f():\n" + "    pass\n" * 60, ["f: 61 lines"]),
        ("x = 1\n" * 400, []),
        ("x = 1\n" * 401, ["401 lines"]),
    ],
)
def test_what_is_too_large_is_found(text, found):
    assert too_large(text) == found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("import numpy as np\nrng = np.random.default_rng(seed)", 0),
        ("def f(rng: np.random.Generator): return rng.random()", 0),
        ("rng = random.Random(7)", 0),
        ("rng = np.random.default_rng()", 1),
        ("rng = np.random.default_rng(None)", 1),
        ("rng = random.Random()", 1),
        ("x = random.choice(cards)", 1),
        ("x = np.random.rand(3)", 1),
        ("from random import shuffle", 1),
        ("import secrets", 1),
        ("x = os.urandom(4)", 1),
    ],
)
def test_chance_without_a_seed_is_found(text, count):
    assert len(unseeded(ast.parse(text))) == count
