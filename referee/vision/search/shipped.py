"""Machine code that comes with the program: a first start compiles nothing where it can be used.

``kernels.zip`` holds, for one kind of processor, every way in that judging takes (``python -m
referee.commands.shipping`` makes it, and a test says when that is due). An entry is used only where it says of itself
what is true here: the processor can run it, and the kernel, all that it uses, and the types of its arguments are
those that it was made of. Its sources are told by their text, not by Python's code for it, so that one file serves
every version of Python. What is used is kept in the cache folder as if it had been compiled here: the sources are
read once on a machine.
"""

from __future__ import annotations

import ast
import functools
import inspect
import json
import os
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from referee.vision.search.content import Function, digest, surroundings, with_used
from referee.vision.search.machine_code import Description, Form, Machine, described, entry_of, form_of, keep

PACK = Path(__file__).with_name("kernels.zip")
INDEX = "index.json"
COMPILE_VARIABLE = "REFEREE_COMPILE"
"""Environment variable that, set to anything, has everything compiled for this very processor instead."""

PROCESSOR = "x86-64-v3"
"""What the code is made for: processors with AVX2, sold since 2013 (x86-64 psABI, micro-architecture levels)."""
FEATURES = [
    *("avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma"),
    *("lzcnt", "movbe", "popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"),
]
"""What such a processor has, as LLVM calls it."""

Entry = dict[str, Any]
"""A kernel's machine code as ``index.json`` has it: a ``Machine``'s fields, the kernel's name and its digest."""


def is_there(function: Function, args: tuple) -> bool:
    """Whether machine code of a kernel for arguments of these types comes with the program."""
    return _entry(function, [described(each) for each in args]) is not None


def fits() -> bool:
    """Whether what comes with the program can be used on this machine."""
    return bool(_index())


def found(function: Function, args: tuple) -> Form | None:
    """The machine code of a kernel for arguments of these types, kept from now on; None where none can be used."""
    entry = _entry(function, [described(each) for each in args])
    return form_of(_machine(function, entry)) if entry else None


def _entry(function: Function, parameters: list[Description]) -> Entry | None:
    # Through JSON and back: the index has lists where tuples may be here.
    wanted = json.loads(json.dumps(parameters))
    of_types = (each for each in _index().get(function.name, ()) if each["parameters"] == wanted)
    return next((each for each in of_types if each["digest"] == digest_of(function)), None)


def _machine(function: Function, entry: Entry) -> Machine:
    """An entry as machine code of this program, and before it what it calls."""
    called = {}
    for symbol, (name, parameters) in entry["called"].items():
        callee = next(each for each in with_used(function) if each.name == name)
        its_entry = _entry(callee, parameters)
        assert its_entry is not None  # its sources are among the caller's, which are as they were
        called[symbol] = _machine(callee, its_entry).entry
    with zipfile.ZipFile(PACK) as pack:
        objects = tuple(pack.read(name) for name in entry["objects"])
    parameters, result = entry["parameters"], entry["result"]
    machine = Machine(
        entry_of(function, parameters), parameters, result, called, [], entry["native"], entry["release"], objects
    )
    keep(machine)
    return machine


@functools.cache
def _index() -> dict[str, list[Entry]]:
    """The entries that this processor can run, by the kernel's name."""
    if os.environ.get(COMPILE_VARIABLE) or not _is_fit():
        return {}
    try:
        with zipfile.ZipFile(PACK) as pack:
            entries = json.loads(pack.read(INDEX))
    except (OSError, zipfile.BadZipFile, KeyError, ValueError):  # not there, or broken: then it is compiled
        return {}
    by_name: dict[str, list[Entry]] = {}
    for each in entries:
        by_name.setdefault(each["kernel"], []).append(each)
    return by_name


def _is_fit() -> bool:
    """Whether this machine is of the kind that the code was made for."""
    if not sys.platform.startswith("linux") or not llvm.get_process_triple().startswith("x86_64"):
        return False
    has = llvm.get_host_cpu_features()
    return all(has.get(feature) for feature in FEATURES)


@functools.cache
def digest_of(function: Function) -> str:
    """Digest of a kernel and of all that it uses, the same on every machine and with every version of Python."""
    return digest(text for each in with_used(function) for text in (*surroundings(each), _body(each)))


def _body(function: Function) -> str:
    """The source of a kernel without comments on lines of their own, empty lines and its docstring."""
    module = inspect.getmodule(function.py_func)
    assert module is not None  # kernels are defined in modules
    lines, functions = _parsed(inspect.getsourcefile(module) or "")
    node = functions[function.py_func.__code__.co_firstlineno]
    first, last = node.body[0].lineno, node.end_lineno or 0
    if ast.get_docstring(node, clean=False) is not None:
        first = (node.body[0].end_lineno or first) + 1
    signature = lines[node.lineno - 1 : node.body[0].lineno - 1]
    return "\n".join(line for line in (*signature, *lines[first - 1 : last]) if _counts(line))


def _counts(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


@functools.cache
def _parsed(path: str) -> tuple[list[str], dict[int, ast.FunctionDef]]:
    """Lines of a source file, and its functions by their first line, decorators included."""
    text = Path(path).read_text(encoding="utf-8")
    return text.splitlines(), {_first_line(each): each for each in _functions(ast.parse(text))}


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def _first_line(node: ast.FunctionDef) -> int:
    return min([node.lineno, *(each.lineno for each in node.decorator_list)])
