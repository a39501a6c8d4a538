"""Compiled kernels on disk, by content: where the platform keeps caches, or nowhere if that cannot be written to.

An entry's name is the digest of all that its machine code follows from: the kernel's byte code, that of every kernel it
calls, the constants they use, the argument types, the processor, and the versions of Python and the libraries that
compile. So nothing is ever stale, any number of versions and programs share one folder, and a kernel is compiled
again exactly when it or something that it uses has changed. What was not used for a month is removed.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import inspect
import os
import pickle
import platform
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, ClassVar

import llvmlite
import numba
import numpy as np
import platformdirs
from numba.core import sigutils, types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.dispatcher import Dispatcher
from numba.core.serialize import dumps

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same, which costs time alone
    fcntl = None  # type: ignore[assignment]

FOLDER_VARIABLE = "REFEREE_CACHE_DIR"
"""Environment variable that names another folder for the cache."""

UNUSED_S = 30 * 86400.0
ENDING, LOCK_ENDING = ".kernel", ".lock"

VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__, sys.version)


@functools.cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept: a folder of this user's alone. None: nothing can be kept anywhere.

    Where the platform's own place cannot be written, a folder that lasts as long as this program and those it starts.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    folder = Path(named) if named else Path(platformdirs.user_cache_dir("referee", appauthor=False)) / "kernels"
    if _is_ours(folder):
        return folder
    try:
        temporary = Path(tempfile.mkdtemp(prefix="referee-kernels-"))
    except OSError:
        return None
    atexit.register(shutil.rmtree, temporary, ignore_errors=True)
    os.environ[FOLDER_VARIABLE] = str(temporary)
    return temporary


def _is_ours(folder: Path) -> bool:
    """Whether the folder, made if need be, can be written to and is this user's: code is loaded from it."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        tempfile.TemporaryFile(dir=folder).close()
        return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False


class KernelStore(_Cache):
    """The compiled forms of one kernel, as numba's dispatcher asks for them."""

    kernels: ClassVar[list[Dispatcher]] = []
    """Every kernel of the modules loaded, but those that only become part of others."""

    by_address: ClassVar[dict[str, Dispatcher]] = {}
    """Kernels that are called by address, by their names."""

    published: ClassVar[dict[str, tuple[str, tuple]]] = {}
    """Of each name that stands for an address in this process: whose it is, and the types it was compiled for."""

    def __init__(self, kernel: Dispatcher) -> None:
        self._kernel = kernel
        self.enable()

    @property
    def cache_path(self) -> str | None:
        """The folder of the entries, None where there is none."""
        folder = cache_folder()
        return str(folder) if folder else None

    def entry(self, args: tuple[types.Type, ...]) -> str:
        """Name of the kernel's entry for these types of arguments."""
        codegen = self._kernel.targetctx.codegen()
        texts = (content(self._kernel), *map(_type_text, args), *map(str, codegen.magic_tuple()))
        return f"{self._kernel.__name__}-{_digest(texts)}"

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The kernel for these types, if it was kept; what it calls by address is there before it."""
        target_context.refresh()
        path = self._path(sig)
        data = _read(path) if path else None
        if data is None:
            return None
        called, reduced = pickle.loads(data)
        for name, args in called:
            self.by_address[name].compile(args)
        return CompileResult._rebuild(target_context, *reduced)

    def save_overload(self, sig: Any, cres: CompileResult) -> None:
        """Keep what was compiled, if that is possible."""
        path = self._path(sig)
        if path and not cres.library.has_dynamic_globals:
            data = dumps((self._called(cres), cres._reduce()))
            with contextlib.suppress(OSError):  # a full disk, say: then it is compiled again next time
                _write(path, data)
                _remove_unused(path.parent)

    def has(self, args: tuple[types.Type, ...]) -> bool:
        """Whether the kernel is kept for these types."""
        path = self._path(args)
        return path is not None and path.exists()

    @contextlib.contextmanager
    def alone(self, args: tuple[types.Type, ...]) -> Iterator[None]:
        """While the context lasts no other process compiles the kernel for these types; if it is kept, they may."""
        path = self._path(args)
        if fcntl is None or path is None or path.exists():
            yield
            return
        lock = path.with_suffix(LOCK_ENDING)
        try:
            file = open(lock, "w")  # noqa: SIM115 - closed below, which lets the lock go, as the process's end does
        except OSError:  # the disk is full, say: then two may compile the same
            yield
            return
        with file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
            lock.unlink(missing_ok=True)

    def _path(self, sig: Any) -> Path | None:
        folder = cache_folder() if self._enabled else None
        return folder / (self.entry(sigutils.normalize_signature(sig)[0]) + ENDING) if folder else None

    def _called(self, cres: CompileResult) -> list[tuple[str, tuple]]:
        """The kernels that compiled code calls by address, and the types of their arguments."""
        functions = cres.library._final_module.functions
        return [self.published[f.name] for f in functions if f.is_declaration and f.name in self.published]

    def enable(self) -> None:
        """Load and keep."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor keep."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing to do: what changes gets another name."""


def all_compiled() -> Path | None:
    """A file that is there when all kernels loaded so far have been compiled once; None: nothing can be kept."""
    folder = cache_folder()
    texts = [*VERSIONS, platform.machine(), *map(content, KernelStore.kernels)]
    return folder / f"all-{_digest(texts)}{ENDING}" if folder else None


def _read(path: Path) -> bytes | None:
    """An entry, None if it is not there or not whole."""
    try:
        data = path.read_bytes()
        os.utime(path)
    except OSError:
        return None
    return data[32:] if hashlib.sha256(data[32:]).digest() == data[:32] else None


def _write(path: Path, data: bytes) -> None:
    """Write an entry whole or not at all: other programs read and write here at the same time."""
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        try:
            file.write(hashlib.sha256(data).digest() + data)
            file.close()
            os.replace(file.name, path)
        except OSError:
            os.unlink(file.name)
            raise


@functools.cache
def _remove_unused(folder: Path) -> None:
    """Remove, once in a program, the entries that no program has used for a month."""
    for path in folder.iterdir():
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > UNUSED_S:
                path.unlink()


def name_of(kernel: Dispatcher) -> str:
    """A kernel's name in all of the program."""
    return f"{kernel.py_func.__module__}.{kernel.py_func.__qualname__}"


@functools.cache
def content(kernel: Dispatcher) -> str:
    """Digest of a kernel and of every kernel and constant that it uses, whatever the types of its arguments."""
    found, waiting = [kernel], [kernel]
    while waiting:
        for _, value in _used(waiting.pop().py_func):
            if isinstance(value, Dispatcher) and value not in found:
                found.append(value)
                waiting.append(value)
    return _digest((*VERSIONS, *(text for each in found for text in _own_texts(each))))


def _own_texts(kernel: Dispatcher) -> Iterator[str]:
    """What a kernel's machine code follows from, but for the kernels it calls."""
    function = kernel.py_func
    yield f"{type(kernel).__name__} {name_of(kernel)} {sorted(kernel.targetoptions.items())} {function.__defaults__}"
    for code in _codes(function.__code__):
        yield repr((code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        yield repr([c for c in code.co_consts if not isinstance(c, CodeType) and c != function.__doc__])
    for name, value in _used(function):
        yield f"{name} = {_value_text(value)}"


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code of a function and of those defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _used(function: Callable) -> list[tuple[str, Any]]:
    """The globals and the outer variables that a function uses, by name."""
    names = dict.fromkeys(name for code in _codes(function.__code__) for name in code.co_names)
    outer = inspect.getclosurevars(function).nonlocals
    return [(name, function.__globals__[name]) for name in names if name in function.__globals__] + [*outer.items()]


def _value_text(value: Any) -> str:
    """What of a global's value goes into machine code."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes().hex()}"
    if isinstance(value, (ModuleType, FunctionType, BuiltinFunctionType, type, Dispatcher)):
        return f"{getattr(value, '__module__', '')}.{value.__name__} {getattr(value, '_fields', '')}"
    return repr(value)


def _type_text(given: types.Type) -> str:
    """An argument's type; of a named tuple also where each field stands, which numba's own names leave out."""
    if isinstance(given, types.BaseNamedTuple):
        each = zip(given.fields, given.types, strict=True)
        kind = f"{given.instance_class.__module__}.{given.instance_class.__qualname__}"
        return f"{kind}({', '.join(f'{name}: {_type_text(of)}' for name, of in each)})"
    if isinstance(given, types.BaseTuple):
        return f"({', '.join(map(_type_text, given.types))})"
    return str(given)


def _digest(texts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]
