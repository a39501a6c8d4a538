"""What holds for every module: how long a function is, what it takes, whom it reaches, and where chance comes from."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from public_names import TWICE_ALIKE, classes_twice  # tests/public_names.py

ROOT = Path(__file__).resolve().parent.parent
MODULES = sorted(path for package in ("cards", "calibration", "referee") for path in (ROOT / package).rglob("*.py"))
PURE_PACKAGES = ("cards", "referee/match", "referee/games", "referee/tournament", "referee/core.py")
PURE = [p for p in MODULES if any(p.is_relative_to(ROOT / name) for name in PURE_PACKAGES)]
"""The pure core: what is drawn, dealt or generated there follows from a seed that is given."""

MOST_OF_A_FUNCTION = 60
MOST_PARAMETERS, MOST_OF_A_KERNEL = 6, 8
KERNELS = ROOT / "referee" / "kernels"
"""Compiled loops take arrays and addresses one by one."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` of names and attributes, None of anything else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (before := dotted(node.value)):
        return f"{before}.{node.attr}"
    return None


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def parameters(function: Function) -> int:
    """How many a caller may give: ``self`` and ``cls`` come by themselves, ``*`` and ``**`` count as one each."""
    given = function.args
    names = [a.arg for a in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([n for n in names if n not in ("self", "cls")]) + bool(given.vararg) + bool(given.kwarg)


def too_large(text: str, most: int = MOST_PARAMETERS) -> list[str]:
    """The functions of a module's text that are longer or take more parameters (``most``) than they may."""
    found = []
    for function in functions(ast.parse(text)):
        length, given = function.end_lineno - function.lineno + 1, parameters(function)
        if length > MOST_OF_A_FUNCTION:
            found.append(f"{function.name}: {length} lines")
        if given > most:
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


OURS = ("referee", "calibration", "cards")
PUBLIC = {"_replace", "_asdict", "_fields", "_make"}
"""Of every named tuple, and meant for all."""

NAMED_ANY = ("session", "observer", "gate", "judgement", "recorder")


def private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def reaches(tree: ast.Module) -> list[str]:
    """Where a module takes a ``_name`` that is not its own: an import, or an attribute of something else.

    Its own are those of ``self``, ``cls`` and its classes, and what a function of the module was given of a class that
    has the attribute (another value of the same class: ``other._rows``). A package of others is not looked into.
    """
    found, others = [], set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in OURS:
            found += [f"line {node.lineno}: {node.module}.{a.name}" for a in node.names if private(a.name)]
        if isinstance(node, ast.Import | ast.ImportFrom) and (
            isinstance(node, ast.Import) or (node.module or "").split(".")[0] not in OURS
        ):
            others |= {(a.asname or a.name).split(".")[0] for a in node.names}
    own = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and dotted(n.value) in ("self", "cls")}
    own |= {n.name for n in ast.walk(tree) if isinstance(n, Function)}
    own |= {n.target.id for n in ast.walk(tree) if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)}
    taken = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and private(n.attr)]
    return found + [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in taken
        if node.attr not in own | PUBLIC and (dotted(node.value) or "").split(".")[0] not in others
    ]


def untyped(tree: ast.Module) -> list[str]:
    """Where a session, its eyes or its recorder is annotated as Any, or a parameter of that name not at all."""
    found = []
    for node in ast.walk(tree):
        for name, hint, line in _hints(node):
            if name.lstrip("_") in NAMED_ANY and (hint is None or dotted(hint) in ("Any", "object", "typing.Any")):
                found.append(f"line {line}: {name}")
    return found


def _hints(node: ast.AST) -> Iterator[tuple[str, ast.expr | None, int]]:
    """Names of parameters and annotated variables, with their annotations."""
    if isinstance(node, Function):
        given = node.args
        yield from ((a.arg, a.annotation, a.lineno) for a in (*given.posonlyargs, *given.args, *given.kwonlyargs))
    elif isinstance(node, ast.AnnAssign):
        yield (dotted(node.target) or "").split(".")[-1], node.annotation, node.lineno


def imports(modules: dict[str, ast.Module]) -> dict[str, set[str]]:
    """Module -> which of the others it imports, wherever in it that stands."""
    taken: dict[str, set[str]] = {name: set() for name in modules}
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                taken[name] |= {a.name for a in node.names} & modules.keys()
            elif isinstance(node, ast.ImportFrom) and node.module:
                each = {f"{node.module}.{a.name}" for a in node.names}
                taken[name] |= {part if part in modules else node.module for part in each} & modules.keys()
    return taken


def circles(taken: dict[str, set[str]]) -> list[list[str]]:
    """A circle among the modules, and one among the parts of each package, where there are any."""
    packages = {name.rsplit(".", n)[0] for name in taken for n in range(1, name.count(".") + 1)}
    parts: dict[str, dict[str, set[str]]] = {package: {} for package in packages}
    for name, others in taken.items():
        for package in packages:
            inside = [other for other in others if other.startswith(f"{package}.")]
            if name.startswith(f"{package}.") and (part := _part(name, package)):
                parts[package].setdefault(part, set()).update({_part(other, package) for other in inside} - {part})
    return [found for graph in (taken, *parts.values()) if (found := _circle(graph))]


def _part(name: str, package: str) -> str:
    """The part of a package that a module inside of it belongs to."""
    return name.removeprefix(f"{package}.").split(".")[0]


def _circle(graph: dict[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_import_goes_in_a_circle():
    names = {path: ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in MODULES}
    assert circles(imports({name.removesuffix(".__init__"): tree_of(path) for path, name in names.items()})) == []


def faulty(paths: list[Path], faults: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """The files with faults, named from the root."""
    return {str(path.relative_to(ROOT)): found for path in paths if (found := faults(path))}


def test_no_class_name_stands_in_two_modules():
    """One word, one thing: ``TWICE_ALIKE`` names those that mean the same in both."""
    twice = classes_twice()
    assert {name: paths for name, paths in twice.items() if name not in TWICE_ALIKE} == {}
    assert set(TWICE_ALIKE) <= twice.keys(), "allowed, and stands in one module alone"


def test_no_module_reaches_into_another():
    assert faulty(MODULES, lambda path: reaches(tree_of(path))) == {}


def test_sessions_and_their_parts_have_types():
    assert faulty(MODULES, lambda path: untyped(tree_of(path))) == {}


def test_no_function_is_larger_than_one_can_read():
    most = {path: MOST_OF_A_KERNEL if path.parent == KERNELS else MOST_PARAMETERS for path in MODULES}
    assert faulty(MODULES, lambda path: too_large(path.read_text(encoding="utf-8"), most[path])) == {}


def test_chance_in_the_pure_core_follows_from_a_seed():
    assert faulty(PURE, lambda path: unseeded(tree_of(path))) == {}


def test_the_whole_of_the_program_is_looked_at():
    assert {path.relative_to(ROOT).parts[0] for path in MODULES} == {"cards", "calibration", "referee"}
    assert len(PURE) > 20 and sum(path.parent == KERNELS for path in MODULES) > 10


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("def f(a, b, c, d, e, *, g): ...", []),
        ("def f(a, b, c, d, e, *, g, h): ...", ["f: 7 parameters"]),
        ("def f(a, b, c, d, e, g, **more): ...", ["f: 7 parameters"]),
        ("class C:\n    def f(self, a, b, c, d, e, g): ...", []),
        ("def f():\n" + "    pass\n" * 59, []),
        ("def f():\n" + "    pass\n" * 60, ["f: 61 lines"]),
        ("x = 1\n" * 1000, []),
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


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("class C:\n    def f(self): return self._x", 0),
        ("class C:\n    _x: int\n    def same(self, other): return other._x == self._x", 0),
        ("import scipy\nscipy.core._thing", 0),
        ("def f(session): session._alarm()", 1),
        ("from referee.web import app\napp._hidden()", 1),
        ("from referee.web.app import _hidden", 1),
    ],
)
def test_a_reach_is_found(text, count):
    assert len(reaches(ast.parse(text))) == count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("def f(session: Session): ...", 0),
        ("def f(session: Any): ...", 1),
        ("def f(session): ...", 1),
        ("observer: Any = 1", 1),
        ("class C:\n    def f(self, *, gate): ...", 1),
        ("self._recorder: Recorder = Recorder()", 0),
    ],
)
def test_what_has_no_type_is_found(text, count):
    assert len(untyped(ast.parse(text))) == count


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({"a": "import b", "b": "import c", "c": ""}, 0),
        ({"a": "import b", "b": "def f():\n    from a import x"}, 1),
        ({"p.x": "from p import y", "p.y": "from p.x import g"}, 2),  # the modules, and the parts of p
        ({"p.q.x": "from p.r import y", "p.r.y": "from p.q.z import g", "p.q.z": ""}, 1),  # q above r above q
        ({"p": "", "p.x": "from p import NAME", "p.y": "import p.x"}, 0),
    ],
)
def test_a_circle_of_imports_is_found(texts, found):
    assert len(circles(imports({name: ast.parse(text) for name, text in texts.items()}))) == found
