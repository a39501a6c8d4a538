"""How the compiled loops (kernels) are compiled, called, and where the machine code is kept.

A kernel is a Python function. Its first call with arguments of some types looks for machine code made for them
(``machine_code``), kept where the platform keeps caches, then for what comes with the program (``shipped``). Only where
there is neither numba is loaded and compiles it (``compiling``): to import numba and to have it load what it compiled
takes longer than to judge a picture. All of it is found by content (see ``content``), so that nothing stale is loaded.

``lean`` kernels count no references: they borrow arrays and may not make or keep any. Numba would otherwise count at
nearly every use of an array, an atomic operation each time: more than half of the time of drawing a small piece, and
worse when two threads count on the same catalogue. What needs a new array makes it in a ``loop`` around. Nor may they
return any: a ``loop`` would take it for a reference of its own. An ``inlined`` one may, as a part of its caller.

Numba links what a kernel calls into it and optimises the whole again, at every level of calls. A ``standalone`` kernel
is compiled once and called by address instead: for large kernels with many callers.

Only what Python calls gets a way in that takes Python's arguments apart. ``lean`` and the ``inner`` ones have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from threading import RLock, Thread
from typing import Any, ClassVar

from referee.vision.search import content, machine_code, shipped
from referee.vision.search.content import Function

INNER, STANDALONE, ROOT = "inner", "standalone", "root"
"""Kinds of kernels: that only other kernels call; that they call by address; that Python calls."""

_FINDING = RLock()
"""Held while a kernel's machine code is looked for or made, so that no two threads do it."""


class Kernel(Function):
    """A function that is compiled for each combination of argument types it meets, and kept on disk."""

    kernels: ClassVar[list[Kernel]] = []
    """Every kernel of the modules loaded, but those that only become part of others."""

    def __init__(self, py_func: Callable, kind: str, options: dict[str, Any]) -> None:
        super().__init__(py_func, kind, options)
        self.forms: list[machine_code.Form] = []
        self._compiler: Any = None
        if options.get("inline") != "always":
            Kernel.kernels.append(self)

    def __call__(self, *args: Any) -> Any:
        """Run the machine code for arguments of these types; made first if need be."""
        for form in self.forms:
            slots = form.slots(args)
            if slots is not None:
                return form.run(slots)
        if self.kind == INNER:
            raise TypeError(f"{self.name} is for other kernels: give it a decorator with a way in from Python")
        with _FINDING:
            form = machine_code.found(self, args) or shipped.found(self, args) or self.compiler.form(args)
            self.forms.append(form)
        return form.run(form.slots(args))

    def prepared(self, args: tuple) -> bool:
        """Whether nothing has to be compiled for arguments of these types; what comes with the program is kept."""
        with _FINDING:
            return machine_code.kept(self, args) or shipped.found(self, args) is not None

    def prepare(self, args: tuple) -> None:
        """Have it compiled and kept for arguments of these types, if it is not."""
        if not self.prepared(args):
            self.compiler.form(args)

    @property
    def compiler(self) -> Any:
        """Numba's dispatcher of this kernel (a ``compiling.Compiler``); loads numba."""
        if self._compiler is None:
            from referee.vision.search.compiling import compiler_of

            with _FINDING:
                self._compiler = self._compiler or compiler_of(self)
        return self._compiler

    @property
    def _numba_type_(self) -> Any:
        """What numba takes a call of this kernel in another for."""
        return self.compiler._numba_type_


@contextmanager
def loaded_ahead(name: str) -> Iterator[None]:
    """While the context lasts, what a program of this name needed last time is loaded beside whatever else it does:
    LLVM leaves Python's lock to others. What it needed this time is remembered for the next."""
    folder = content.cache_folder()
    path = folder / f"{name}.loaded" if folder else None
    last = ((content.read_entry(path) if path else None) or b"").decode().split()
    thread = Thread(target=_load, args=(last,), name="kernels")
    thread.start()
    try:
        yield
    finally:
        thread.join()
        now = machine_code.used()
        if path and now and set(now) != set(last):
            with suppress(OSError):  # a full disk: they are loaded when they are needed
                content.write_entry(path, "\n".join(now).encode())


def _load(entries: list[str]) -> None:
    for entry in entries:
        with _FINDING:
            machine_code.load_kept(entry)


def _decorator(kind: str = ROOT, **options: Any) -> Callable[[Callable], Kernel]:
    plain_options = {"nopython": True, "boundscheck": None, "nogil": True, "no_cfunc_wrapper": True}
    return partial(Kernel, kind=kind, options={**plain_options, "no_cpython_wrapper": True, **options})


_FAST: dict[str, Any] = {"fastmath": True, "error_model": "numpy"}

plain = _decorator()
loop = _decorator(**_FAST)
lean_root = _decorator(**_FAST, _nrt=False)
standalone = _decorator(STANDALONE, **_FAST, _nrt=False)
inner = _decorator(INNER)
inner_loop = _decorator(INNER, **_FAST)
lean = _decorator(INNER, **_FAST, _nrt=False)
inlined = _decorator(INNER, **_FAST, _nrt=False, inline="always")
