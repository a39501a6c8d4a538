"""How the compiled loops (kernels) are compiled, and where the machine code is kept.

``lean`` kernels count no references: they borrow arrays and may not make or keep any. Numba would otherwise count at
nearly every use of an array, an atomic operation each time: more than half of the time of drawing a small piece, and
worse when two threads count on the same catalogue. What needs a new array makes it in a ``loop`` around. Nor may they
return any: a ``loop`` would take it for a reference of its own. An ``inlined`` one may, as a part of its caller.

Numba links what a kernel calls into it and optimises the whole again, at every level of calls. A ``standalone`` kernel
is compiled once and called by address instead: for large kernels with many callers.

Only what Python calls gets a wrapper that unpacks Python's arguments: of the thirty arrays that a scene and a catalogue
are, it takes as long to compile as the kernel. So ``lean`` and the ``inner`` ones are for other kernels alone.

Machine code is kept by content (see ``KernelStore``), so that nothing stale is ever loaded.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import Any

import llvmlite.binding as llvm
from numba.core import sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from referee.vision.search.kernel_store import KernelStore, name_of


class Kernel(CPUDispatcher):
    """A function that is compiled for each combination of argument types it meets, and kept on disk."""

    def __init__(
        self, py_func: Callable, locals: dict | None = None, targetoptions: dict | None = None, **rest: Any
    ) -> None:
        super().__init__(py_func, locals or {}, targetoptions or {}, **rest)
        self._cache = KernelStore(self)
        if self.targetoptions.get("inline") != "always":
            KernelStore.kernels.append(self)

    def compile(self, sig: Any) -> Any:
        """As numba's; what another process compiles just now is waited for and taken from it.

        Numba's own lock is taken first: kernels call each other in one direction only, so nobody waits in a circle.
        """
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args in self.overloads:
            return super().compile(sig)
        with global_compiler_lock, self._cache.alone(args):
            return super().compile(sig)

    def prepare(self, args: tuple) -> None:
        """Have it compiled and kept for these types of arguments, if it is not."""
        if not self._cache.has(args):
            self.compile(args)

    def get_call_template(self, args: tuple, kws: dict) -> Any:
        """How a call in another kernel is typed: a literal's value makes no kernel of its own."""
        plain_kws = {name: types.unliteral(given) for name, given in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), plain_kws)


class InnerKernel(Kernel):
    """A kernel that only other kernels call."""

    def __call__(self, *_args: Any) -> Any:
        """There is no way in from Python."""
        raise TypeError(f"{name_of(self)} is for other kernels: give it a decorator with a way in from Python")


class StandaloneKernel(Kernel):
    """A kernel that its callers call by address."""

    def __init__(self, *args: Any, **rest: Any) -> None:
        super().__init__(*args, **rest)
        KernelStore.by_address[name_of(self)] = self

    def add_overload(self, cres: Any) -> None:
        """Take in what was compiled or loaded, under a symbol that is the same in every process."""
        super().add_overload(cres)
        args = tuple(cres.signature.args)
        function = copy.copy(cres.fndesc)
        function.mangled_name = f"referee.{self._cache.entry(args)}"
        KernelStore.published[function.mangled_name] = name_of(self), args
        llvm.add_symbol(function.mangled_name, cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name))
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, function, [])


def _decorator(kind: type[Kernel] = Kernel, **options: Any) -> Callable[[Callable], Kernel]:
    targetoptions = {"nopython": True, "boundscheck": None, "nogil": True, "no_cfunc_wrapper": True, **options}
    return partial(kind, targetoptions=targetoptions)


_FAST: dict[str, Any] = {"fastmath": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {"kind": InnerKernel, "no_cpython_wrapper": True}

plain = _decorator()
loop = _decorator(**_FAST)
lean_root = _decorator(**_FAST, _nrt=False)
standalone = _decorator(StandaloneKernel, **_FAST, _nrt=False)
inner = _decorator(**_INNER)
inner_loop = _decorator(**_INNER, **_FAST)
lean = _decorator(**_INNER, **_FAST, _nrt=False)
inlined = _decorator(**_INNER, **_FAST, _nrt=False, inline="always")
