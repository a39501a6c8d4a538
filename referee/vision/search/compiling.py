"""Kernels compiled by numba, and machine code made of them that runs without it."""

from __future__ import annotations

import copy
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from numba import typeof
from numba.core import sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.np.numpy_support import as_dtype

from referee.vision.search.content import Function
from referee.vision.search.jit import STANDALONE
from referee.vision.search.kernel_store import KernelStore, called_names, compiler_named
from referee.vision.search.machine_code import Description, Form, Machine, Misfit, entry_of, form_of, keep
from referee.vision.search.way_in import RELEASE, RUNTIME, object_of_way_in, target_machine


def compiler_of(function: Function) -> Compiler:
    """Numba's dispatcher of a kernel."""
    return (StandaloneCompiler if function.kind == STANDALONE else Compiler)(function)


class Compiler(CPUDispatcher):
    """Numba's side of a kernel."""

    def __init__(self, function: Function) -> None:
        super().__init__(function.py_func, {}, function.targetoptions)
        self.function = function
        self._cache = KernelStore(function, self)

    def compile(self, sig: Any) -> Any:
        """As numba's; what another process compiles just now is waited for and taken from it.

        Numba's own lock is taken first: kernels call each other in one direction only, so nobody waits in a circle.
        """
        args = tuple(sigutils.normalize_signature(sig)[0])
        if args in self.overloads:
            return super().compile(sig)
        with global_compiler_lock, self._cache.alone(args):
            return super().compile(sig)

    def form(self, args: tuple) -> Form:
        """The machine code for arguments of these types, compiled and kept."""
        return form_of(self.machine(tuple(map(typeof, args))))

    def machine(self, args: tuple[types.Type, ...]) -> Machine:
        """The machine code for these types of arguments, compiled and kept. Raises TypeError."""
        self.compile(args)
        cres = self.overloads[args]
        called = {}
        for name in called_names(cres):
            if name in KernelStore.published:
                callee, its_types = KernelStore.published[name]
                called[name] = compiler_named(callee).machine(its_types).entry
        parameters = [described_type(each) for each in args]
        machine = Machine(
            entry_of(self.function, parameters),
            parameters,
            described_type(cres.signature.return_type),
            called,
            [name for name in called_names(cres) if name not in called and name not in RUNTIME],
            cres.fndesc.llvm_func_name,
            RELEASE,
            (_object_of(cres), object_of_way_in(cres)),
        )
        keep(machine)
        return machine

    def get_call_template(self, args: tuple, kws: dict) -> Any:
        """How a call in another kernel is typed: a literal's value makes no kernel of its own."""
        plain_kws = {name: types.unliteral(given) for name, given in kws.items()}
        return super().get_call_template(tuple(map(types.unliteral, args)), plain_kws)


class StandaloneCompiler(Compiler):
    """Of a kernel that its callers call by address."""

    def add_overload(self, cres: Any) -> None:
        """Take in what was compiled or loaded, under a symbol that is the same in every process."""
        super().add_overload(cres)
        args = tuple(cres.signature.args)
        function = copy.copy(cres.fndesc)
        function.mangled_name = f"referee.{self._cache.entry(args)}"
        KernelStore.published[function.mangled_name] = self.function.name, args
        llvm.add_symbol(function.mangled_name, cres.library.get_pointer_to_function(cres.fndesc.llvm_func_name))
        self.targetctx.remove_user_function(cres.entry_point)
        self.targetctx.insert_user_function(cres.entry_point, function, [])


def _object_of(cres: Any) -> bytes:
    """The machine code of what numba compiled, made again if it came from the disk."""
    library = cres.library
    try:
        return library.serialize_using_object_code()[2][0]
    except RuntimeError:
        return target_machine(cres).emit_object(library._get_module_for_linking())


def described_type(given: types.Type) -> Description:
    """A numba type as ``machine_code.described`` says it. Raises Misfit for one that cannot go in or come out."""
    if isinstance(given, types.Array):
        return ["array", as_dtype(given.dtype).str, given.ndim, given.layout, given.mutable]
    if isinstance(given, types.BaseNamedTuple):
        kind = given.instance_class
        name = f"{kind.__module__}.{kind.__qualname__}"
        return ["tuple", name, list(given.fields), [described_type(each) for each in given.types]]
    if isinstance(given, types.BaseTuple):
        return ["tuple", "", [], [described_type(each) for each in given.types]]
    if isinstance(given, types.NoneType):
        return ["none"]
    if isinstance(given, (types.Integer, types.Float, types.Boolean)):
        return [np.dtype(as_dtype(types.unliteral(given))).str]
    raise Misfit(f"a kernel neither takes nor gives {given}")
