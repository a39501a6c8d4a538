"""Mutation testing: does a test file notice when one line of a module says something else?

    python tests/mutate.py cards/kinds/layout.py --tests tests/match/test_judge.py
    python tests/mutate.py calibration/palette.py --draw 60 --seed 36
    python tests/mutate.py --draw 60 --at-least 90

The second draws 60 of the mutants of a module and runs its quick tests as ``QUICK_TESTS`` names them, the third does so
for every module there; the seed is printed.

Each mutant is the module with one small change (DeMillo, Lipton and Sayward 1978): a comparison at its boundary or
negated, a condition always or never true, another operator, an operand, a call or a returned value dropped, a constant
or a text changed. The quick tests run against it in a forked child, stopped by the first failure. A mutant that makes
them fail is *killed*; one that lives has *survived*, and is printed with its line. The unchanged module goes the same
way first and last and must pass, else nothing is measured. Survivors may be equivalent (no input tells them from the
original): those are for a person to explain.

Annotations, type variables, decorators and docstrings are left alone, and so are the unit and the source that
``measured`` notes of a number. Exit status: 0, or 1 with fewer killed than ``--at-least`` of a module.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.machinery
import importlib.util
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROJECT = ("referee", "calibration", "cards", "tests")
HEAVY = ("numpy", "scipy", "pydantic", "pytest", "_pytest", "hypothesis", "yaml", "psycopg")
"""Packages that are imported once, before the children are forked."""

PATIENCE = 10.0
"""A mutant may take this many times as long as the unchanged module, then it counts as killed: it hangs."""

VERDICT_TESTS = ("tests/vision/test_doubt_table.py", "tests/vision/test_doubts.py", "tests/vision/test_decide.py")
QUICK_TESTS = {
    "referee/core.py": ("tests/test_core.py",),
    "referee/tournament/pairing.py": (
        "tests/tournament/test_swiss_table.py",
        "tests/tournament/test_swiss_order.py",
        "tests/tournament/test_tournament.py",
    ),
    "referee/tournament/evolve.py": ("tests/tournament/test_tournament.py",),
    "calibration/palette.py": (
        "tests/calibration/test_palette_learning.py",
        "tests/calibration/test_palette_quality.py",
    ),
    "referee/vision/verdict/case.py": VERDICT_TESTS,
    "referee/vision/verdict/doubts.py": VERDICT_TESTS,
    "referee/recording/retention.py": ("tests/review/test_retention.py",),
}
"""Module -> the test files that are there to notice its mutants."""

BOUNDARY = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
NEGATED = {ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
           ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is}  # fmt: skip
OTHER = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
         ast.Mod: ast.FloorDiv, ast.Pow: ast.Mult, ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
         ast.BitXor: ast.BitOr}  # fmt: skip
TWIN = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNWRAPPED = ("abs", "sorted", "reversed", "set", "frozenset")
KEYWORDS_OF = ("sorted", "min", "max", "sum", "round")


@dataclass(frozen=True)
class Mutant:
    """One change: in ``parent`` the field (and, of a list, the place) that becomes ``new``."""

    parent: ast.AST
    field: str
    place: int | None
    new: ast.AST
    line: int
    was: str

    def apply(self) -> None:
        """Change the tree in place."""
        ast.copy_location(self.new, self.old)
        if self.place is None:
            setattr(self.parent, self.field, self.new)
        else:
            getattr(self.parent, self.field)[self.place] = self.new

    @property
    def old(self) -> ast.AST:
        """What stands there before the change."""
        value = getattr(self.parent, self.field)
        return value if self.place is None else value[self.place]

    def __str__(self) -> str:
        return f"line {self.line}: {self.was}  ->  {short(self.new)}"


def short(node: ast.AST) -> str:
    """The node as one line of code, cut to a length that is still read."""
    text = " ".join(ast.unparse(ast.fix_missing_locations(node)).split())
    return text if len(text) <= 110 else text[:107] + "..."


def mutants(tree: ast.Module) -> list[Mutant]:
    """Every mutant of the module, in the order of its lines."""
    found = [
        Mutant(parent, field, place, new, getattr(node, "lineno", 0), short(node))
        for parent, field, place, node in _sites(tree)
        for new in _changed(node, parent, field)
    ]
    return sorted(found, key=lambda m: m.line)


def _sites(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """(parent, field, place in a list or None, child) of everything that may be changed below ``node``."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for place, child in enumerate(value if isinstance(value, list) else [value]):
            if isinstance(child, ast.AST) and not (_is_text(child) or _is_listing(child) or _is_note(child, node)):
                yield node, field, place if isinstance(value, list) else None, child
                yield from _sites(child)


def _is_text(node: ast.AST) -> bool:
    """Whether this is a docstring: a text that stands alone."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_listing(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets)


def _is_note(node: ast.AST, parent: ast.AST) -> bool:
    """Whether this is the name of a type variable, or the unit or the source of a measured number."""
    name = parent.func.id if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) else ""
    return name in ("TypeVar", "measured") and isinstance(node, ast.Constant) and isinstance(node.value, str)


def _changed(node: ast.AST, parent: ast.AST, field: str) -> Iterator[ast.AST]:
    """What may stand in this place instead of the node."""
    if field in ("test", "ifs") and isinstance(parent, ast.If | ast.IfExp | ast.comprehension | ast.While):
        yield from (ast.Constant(value) for value in (True, False))
    if change := _CHANGES.get(type(node)):
        yield from change(node)


def _compare(node: ast.Compare) -> Iterator[ast.AST]:
    for k, op in enumerate(node.ops):
        for table in (BOUNDARY, NEGATED):
            if type(op) in table:
                ops = [*node.ops[:k], table[type(op)](), *node.ops[k + 1 :]]
                yield ast.Compare(node.left, ops, node.comparators)


def _constant(node: ast.Constant) -> Iterator[ast.AST]:
    value = node.value
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int):
        yield ast.Constant(value + 1)
    elif isinstance(value, float):
        yield ast.Constant(value * 1.5 or 1.0)
    elif isinstance(value, str):
        yield ast.Constant(f"XX{value}")


def _binary(node: ast.BinOp) -> Iterator[ast.AST]:
    if type(node.op) in OTHER:
        yield ast.BinOp(node.left, OTHER[type(node.op)](), node.right)
    if isinstance(node.op, ast.Add | ast.BitOr | ast.Sub):
        yield node.left
    if isinstance(node.op, ast.Add | ast.BitOr):
        yield node.right


def _boolean(node: ast.BoolOp) -> Iterator[ast.AST]:
    yield ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)


def _unary(node: ast.UnaryOp) -> Iterator[ast.AST]:
    if isinstance(node.op, ast.Not | ast.USub):
        yield node.operand


def _call(node: ast.Call) -> Iterator[ast.AST]:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in TWIN:
        yield ast.Call(ast.Name(TWIN[name], ast.Load()), node.args, node.keywords)
    if name in UNWRAPPED and node.args:
        yield node.args[0]
    if name in KEYWORDS_OF:
        for k in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, node.keywords[:k] + node.keywords[k + 1 :])


def _return(node: ast.Return) -> Iterator[ast.AST]:
    if node.value is not None and not (isinstance(node.value, ast.Constant) and node.value.value is None):
        yield ast.Return(ast.Constant(None))


def _statement(node: ast.stmt) -> Iterator[ast.AST]:
    yield ast.Pass()


_CHANGES = {
    ast.Compare: _compare,
    ast.Constant: _constant,
    ast.BinOp: _binary,
    ast.BoolOp: _boolean,
    ast.UnaryOp: _unary,
    ast.Call: _call,
    ast.Return: _return,
    ast.Expr: _statement,
    ast.AugAssign: _statement,
    ast.Raise: _statement,
    ast.Continue: lambda node: iter([ast.Break()]),
    ast.Break: lambda node: iter([ast.Continue()]),
}


class _Changed(importlib.machinery.SourceFileLoader):
    """Loads the module from a tree in place of its file."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self.tree = tree

    def get_code(self, fullname):
        """The tree, compiled."""
        return compile(ast.fix_missing_locations(self.tree), self.path, "exec")


@dataclass(frozen=True)
class _Finder:
    """Gives the changed module to whoever imports it; all others come as ever."""

    name: str
    path: Path
    tree: ast.Module

    def find_spec(self, fullname, path=None, target=None):
        """The spec of the changed module, None of any other."""
        if fullname != self.name:
            return None
        loader = _Changed(fullname, str(self.path), self.tree)
        return importlib.util.spec_from_file_location(fullname, self.path, loader=loader)


@dataclass(frozen=True)
class Trial:
    """The tests that a module's mutants are put to."""

    path: Path
    tests: tuple[str, ...]
    seconds: float = 600.0

    @property
    def name(self) -> str:
        """The module's dotted name."""
        return ".".join(self.path.resolve().relative_to(ROOT).with_suffix("").parts)

    def passes(self, number: int | None) -> bool:
        """Whether the tests pass with mutant ``number`` (None: unchanged), tried in a forked child."""
        child = os.fork()
        if not child:
            os._exit(self._child(number))
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

    def _child(self, number: int | None) -> int:
        try:
            signal.setitimer(signal.ITIMER_REAL, self.seconds)
            tree = ast.parse(self.path.read_text(encoding="utf-8"))
            if number is not None:
                mutants(tree)[number].apply()
            sys.meta_path.insert(0, _Finder(self.name, self.path, tree))
            return _run_tests(self.tests)
        except BaseException:
            return 99


def _run_tests(tests: tuple[str, ...]) -> int:
    """pytest's exit status; prints nothing, keeps nothing."""
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # plugins take longer to load than most tests to run
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    import pytest

    return int(pytest.main(["-x", "-q", "-m", "not slow", "-p", "no:cacheprovider", "-p", "no:warnings", *tests]))


def warm_up(tests: tuple[str, ...]) -> None:
    """Import what the tests need beside the project's own code, so that the children need not."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        _run_tests(tests)
        os.write(writing, "\n".join(n for n in sys.modules if n.split(".")[0] not in PROJECT).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        names = pipe.read().split("\n")
    os.waitpid(child, 0)
    for name in names:
        if name.partition(".")[0] in HEAVY:
            try:
                importlib.import_module(name)
            except Exception:  # a module that its own package imports in another way
                continue


@dataclass(frozen=True)
class Sample:
    """How many of a module's mutants are tried, drawn by ``seed``; None: all of them."""

    size: int | None
    seed: int

    def drawn(self, total: int) -> list[int]:
        """The numbers of the mutants that are tried, of so many."""
        if self.size is None or self.size >= total:
            return list(range(total))
        return sorted(random.Random(self.seed).sample(range(total), self.size))


def survivors(trial: Trial, sample: Sample, jobs: int = 1) -> tuple[list[Mutant], int]:
    """The mutants that live, printed as they come, and how many were tried; SystemExit when the unchanged fails."""
    started = time.monotonic()
    if not trial.passes(None):
        raise SystemExit(f"{trial.path}: its tests fail without any change; nothing is measured")
    patient = Trial(trial.path, trial.tests, 5.0 + PATIENCE * (time.monotonic() - started))
    every = mutants(ast.parse(trial.path.read_text(encoding="utf-8")))
    drawn = sample.drawn(len(every))
    with ThreadPoolExecutor(jobs) as pool:
        alive = []
        for number, lives in zip(drawn, pool.map(patient.passes, drawn), strict=True):
            if lives:
                alive.append(every[number])
                print(f"survived {every[number]}", flush=True)
    if not patient.passes(None):
        raise SystemExit(f"{trial.path}: its tests fail at the end without any change; nothing was measured")
    return alive, len(drawn)


def measure(module: str, tests: tuple[str, ...], sample: Sample, jobs: int) -> float:
    """The percentage of the module's mutants that the tests kill, printed."""
    warm_up(tests)
    alive, total = survivors(Trial(Path(module).resolve(), tests), sample, jobs)
    killed = 100.0 * (total - len(alive)) / max(total, 1)
    drawn = "" if sample.size is None else f" drawn by seed {sample.seed}"
    print(f"{module}: {total} mutants{drawn}, {total - len(alive)} killed ({killed:.1f} %), {len(alive)} survived")
    return killed


def main() -> None:
    """The command line; see the module's head."""
    parser = argparse.ArgumentParser(description="Mutation testing of modules.")
    parser.add_argument("module", nargs="*", default=list(QUICK_TESTS))
    parser.add_argument("--tests", action="append", help="a test file; may be given again; default: QUICK_TESTS")
    parser.add_argument("--draw", type=int, help="try so many mutants of a module; default: all")
    parser.add_argument("--seed", type=int, default=36, help="what they are drawn by")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--at-least", type=float, default=0.0, help="percent to be killed of each module")
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT))
    if lost := [module for module in options.module if not options.tests and module not in QUICK_TESTS]:
        parser.error(f"no tests are known for {', '.join(lost)}: name them by --tests")
    sample = Sample(options.draw, options.seed)
    killed = [measure(m, tuple(options.tests or QUICK_TESTS[m]), sample, options.jobs) for m in options.module]
    raise SystemExit(min(killed) < options.at_least)


if __name__ == "__main__":
    main()
