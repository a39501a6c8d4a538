"""What a kernel's machine code follows from, as a digest, and the folder where machine code is kept.

A name that holds the digest of all that machine code follows from is never stale: any number of versions and programs
share one folder, and a kernel is compiled again exactly when it or something that it uses has changed. Nothing here
needs numba: where everything was compiled before, that is never loaded.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import inspect
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

FOLDER_VARIABLE = "REFEREE_CACHE_DIR"
"""Environment variable that names another folder for the cache."""

UNUSED_S = 30 * 86400.0


class Function:
    """A Python function that is compiled, and how: ``options`` go to numba, ``kind`` says who calls it."""

    def __init__(self, py_func: Callable, kind: str, options: dict[str, Any]) -> None:
        self.py_func, self.kind, self.targetoptions = py_func, kind, options
        self.__name__, self.__doc__, self.__wrapped__ = py_func.__name__, py_func.__doc__, py_func
        self.name = f"{py_func.__module__}.{py_func.__qualname__}"


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept: a folder of this user's alone. None: nothing can be kept anywhere.

    Where the platform's own place cannot be written, a folder that lasts as long as this program and those it starts.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    folder = Path(named) if named else _usual_folder()
    if _is_ours(folder):
        return folder
    try:
        temporary = Path(tempfile.mkdtemp(prefix="referee-kernels-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ[FOLDER_VARIABLE] = str(temporary)
    return temporary


def _usual_folder() -> Path:
    import platformdirs

    return Path(platformdirs.user_cache_dir("referee", appauthor=False)) / "kernels"


def _is_ours(folder: Path) -> bool:
    """Whether the folder, made if need be, can be written to and is this user's: code is loaded from it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=folder).close()
        return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def read_entry(path: Path) -> bytes | None:
    """What an entry holds, None if it is not there or not whole."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def write_entry(path: Path, data: bytes) -> None:
    """Write an entry whole or not at all: other programs read and write here at the same time. Raises OSError."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(hashlib.sha256(data).digest() + data)
            file.close()
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise
    _remove_unused(path.parent)


@functools.cache
def _remove_unused(folder: Path) -> None:
    """Remove, once in a program, the entries that no program has used for a month."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > UNUSED_S:
                path.unlink()


@functools.cache
def content(function: Function) -> str:
    """Digest of a kernel and of every kernel and constant that it uses, whatever the types of its arguments."""
    return digest((sys.version, *map(_own_digest, with_used(function))))


@functools.cache
def with_used(function: Function) -> list[Function]:
    """A kernel and all that it uses, in an order that its source alone decides."""
    found, waiting = [function], [function]
    while waiting:
        for _, value in _used(waiting.pop().py_func):
            if isinstance(value, Function) and value not in found:
                found.append(value)
                waiting.append(value)
    return found


@functools.cache
def _own_digest(function: Function) -> str:
    """Digest of what a kernel's machine code follows from, but for the kernels it calls."""
    return digest(_own_texts(function))


def _own_texts(function: Function) -> Iterator[str]:
    py_func = function.py_func
    for code in _codes(py_func.__code__):
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        yield repr([c for c in code.co_consts if not isinstance(c, CodeType) and c != py_func.__doc__])
    yield from surroundings(function)


def surroundings(function: Function) -> Iterator[str]:
    """What a kernel's machine code follows from beside its body: how it is compiled, and the values that it uses."""
    py_func = function.py_func
    yield f"{function.kind} {function.name} {sorted(function.targetoptions.items())} {py_func.__defaults__}"
    for name, value in sorted(_used(py_func), key=lambda pair: pair[0]):
        yield f"{name} = {_value_text(value)}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


@functools.cache
def _used(function: Callable) -> list[tuple[str, Any]]:
    """The globals and the outer variables that a function uses, by name."""
    names = dict.fromkeys(name for code in _codes(function.__code__) for name in code.co_names)
    outer = inspect.getclosurevars(function).nonlocals if function.__closure__ else {}
    return [(name, function.__globals__[name]) for name in names if name in function.__globals__] + [*outer.items()]


def _value_text(value: Any) -> str:
    """What of a global's value goes into machine code."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, np.generic):
        return f"{value.dtype} {value.item()!r}"
    if isinstance(value, Function):
        return value.name
    if isinstance(value, (ModuleType, FunctionType, BuiltinFunctionType, type)):
        return f"{getattr(value, '__module__', '')}.{value.__name__} {getattr(value, '_fields', '')}"
    return repr(value)


def digest(texts: Iterable[str]) -> str:
    """32 hexadecimal digits that follow from these texts."""
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
