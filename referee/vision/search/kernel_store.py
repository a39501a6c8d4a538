"""Kernels as numba compiled them, on disk: what other kernels that call them are compiled and linked from.

An entry's name is the digest of all that it follows from: content, argument types, processor, and the versions of the
libraries that compile (see ``content``).
"""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import llvmlite
import numba
import numpy as np
from numba.core import sigutils, types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from referee.vision.search.content import Function, cache_folder, content, digest, read_entry, write_entry
from referee.vision.search.jit import Kernel

try:
    import fcntl
except ImportError:  # Windows: two processes may compile the same, which costs time alone
    fcntl = None  # type: ignore[assignment]

ENDING, LOCK_ENDING = ".kernel", ".lock"

VERSIONS = (numba.__version__, llvmlite.__version__, np.__version__)


class KernelStore(_Cache):
    """The compiled forms of one kernel, as numba's dispatcher asks for them."""

    published: ClassVar[dict[str, tuple[str, tuple]]] = {}
    """Of each name that stands for an address in this process: whose it is, and the types it was compiled for."""

    def __init__(self, function: Function, compiler: Any) -> None:
        self._function, self._compiler = function, compiler
        self.enable()

    @property
    def cache_path(self) -> str | None:
        """The folder of the entries, None where there is none."""
        folder = cache_folder()
        return str(folder) if folder else None

    def entry(self, args: tuple[types.Type, ...]) -> str:
        """Name of the kernel's entry for these types of arguments."""
        codegen = self._compiler.targetctx.codegen()
        texts = (*VERSIONS, content(self._function), *map(type_text, args), *map(str, codegen.magic_tuple()))
        return f"{self._function.py_func.__name__}-{digest(texts)}"

    def load_overload(self, sig: Any, target_context: Any) -> CompileResult | None:
        """The kernel for these types, if it was kept; what it calls by address is there before it."""
        target_context.refresh()
        path = self._path(sig)
        data = read_entry(path) if path else None
        if data is None:
            return None
        called, reduced = pickle.loads(data)
        for name, args in called:
            compiler_named(name).compile(args)
        return CompileResult._rebuild(target_context, *reduced)

    def save_overload(self, sig: Any, cres: CompileResult) -> None:
        """Keep what was compiled, if that is possible."""
        path = self._path(sig)
        if path and not cres.library.has_dynamic_globals:
            data = dumps((self.called(cres), cres._reduce()))
            with contextlib.suppress(OSError):  # a full disk, say: then it is compiled again next time
                write_entry(path, data)

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

    def called(self, cres: CompileResult) -> list[tuple[str, tuple]]:
        """The kernels that compiled code calls by address, and the types of their arguments."""
        return [self.published[name] for name in called_names(cres) if name in self.published]

    def enable(self) -> None:
        """Load and keep."""
        self._enabled = True

    def disable(self) -> None:
        """Neither load nor keep."""
        self._enabled = False

    def flush(self) -> None:
        """Nothing to do: what changes gets another name."""


def compiler_named(name: str) -> Any:
    """Numba's dispatcher of a kernel by the kernel's name."""
    return next(kernel for kernel in Kernel.kernels if kernel.name == name).compiler


def called_names(cres: CompileResult) -> list[str]:
    """Names of the functions that compiled code calls and that are not in it."""
    functions = cres.library._get_module_for_linking().functions
    return [f.name for f in functions if f.is_declaration and not f.name.startswith("llvm.")]


def type_text(given: types.Type) -> str:
    """An argument's type; of a named tuple also where each field stands, which numba's own names leave out."""
    if isinstance(given, types.BaseNamedTuple):
        each = zip(given.fields, given.types, strict=True)
        kind = f"{given.instance_class.__module__}.{given.instance_class.__qualname__}"
        return f"{kind}({', '.join(f'{name}: {type_text(of)}' for name, of in each)})"
    if isinstance(given, types.BaseTuple):
        return f"({', '.join(map(type_text, given.types))})"
    return str(given)
