"""Machine code of kernels, run without numba: found on disk by content, loaded, and called from Python.

Every kernel with a way in from Python has one function ``int32 (int64 *slots)``: results and arguments are 8 bytes
each, arrays taken apart into what numba's arrays are made of (see ``_array_slots``). Integers, booleans and addresses
are stored as int64, floating-point numbers as float64, whatever their own width.

What cannot be used here (another processor, another content) is not found, and compiled instead.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import json
import pickle
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import llvmlite.binding as llvm
import numpy as np

from referee.vision.search.content import Function, cache_folder, content, digest, read_entry, write_entry

ENDING = ".machine"
WAY_IN = "referee_way_in"
"""Name of the function that Python calls, in every object."""
MOST_KEPT = 6
"""So many tuples of arrays are remembered by a parameter: catalogues and scenes come again and again."""

Description = list
"""What a value is for a kernel, as JSON has it: [dtype] of a number, ["array", dtype, dimensions, layout, writable],
["tuple", class, fields, descriptions], ["none"]."""


class Misfit(TypeError):
    """A value is not what the machine code was made for."""


class Machine(NamedTuple):
    """Machine code of a kernel for some types of arguments.

    ``called`` entries by the names under which this one calls them by address; ``needed`` names of functions that the
    process must have; ``native`` and ``release`` functions in the ``objects``: of the kernel itself, and to let go of
    an array that it returned.
    """

    entry: str
    parameters: list[Description]
    result: Description
    called: dict[str, str]
    needed: list[str]
    native: str
    release: str
    objects: tuple[bytes, ...]


def described(value: Any) -> Description:
    """What a value is for a kernel. Raises Misfit."""
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return ["array", value.dtype.str, value.ndim, layout, flags.writeable]
    if isinstance(value, tuple):
        fields = list(getattr(value, "_fields", ()))
        return ["tuple", _class_name(type(value)), fields, [described(each) for each in value]]
    for kinds, dtype in _NUMBERS.items():
        if isinstance(value, kinds):
            return [dtype]
    raise Misfit(f"a kernel takes no {type(value).__name__}")


_NUMBERS: dict[tuple[type, ...], str] = {
    (bool, np.bool_): "|b1",
    (float, np.float64): np.dtype(float).str,
    (int, np.int64): np.dtype(np.int64).str,
}


def _class_name(kind: type) -> str:
    return "" if kind is tuple else f"{kind.__module__}.{kind.__qualname__}"


def entry_of(function: Function, parameters: list[Description]) -> str:
    """Name of a kernel's entry for such arguments on this processor."""
    return f"{function.py_func.__name__}-{digest((content(function), json.dumps(parameters), *_processor()))}"


@functools.cache
def _processor() -> tuple[str, str, str]:
    return llvm.get_process_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def _path(entry: str) -> Path | None:
    folder = cache_folder()
    return folder / (entry + ENDING) if folder else None


def kept(function: Function, args: tuple) -> bool:
    """Whether there is machine code of a kernel for arguments of these types."""
    path = _path(entry_of(function, [described(each) for each in args]))
    return path is not None and path.exists()


def found(function: Function, args: tuple) -> Form | None:
    """The machine code of a kernel for arguments of these types, None if there is none that can be used."""
    machine = _read(entry_of(function, [described(each) for each in args]))
    return form_of(machine) if machine and _is_usable(machine) else None


def load_kept(entry: str) -> None:
    """Have the machine code of an entry in memory, if it was kept and can be used here."""
    machine = _read(entry)
    if machine and _is_usable(machine):
        _loaded(machine)


def used() -> list[str]:
    """The entries that were made ready to be called, in the order in which they were; not what was loaded in vain."""
    return list(_used)


_machines: dict[str, Machine] = {}
"""What was read so far."""


def _read(entry: str) -> Machine | None:
    """An entry as it was kept, None if it was not."""
    path = _path(entry)
    if entry not in _machines and path is not None:
        data = read_entry(path)
        if data is not None:
            _machines[entry] = Machine(*pickle.loads(data))
    return _machines.get(entry)


def _is_usable(machine: Machine) -> bool:
    """Whether all is there that a machine calls: to load it without would end the program."""
    callees = [_read(entry) for entry in machine.called.values()]
    there = all(llvm.address_of_symbol(name) for name in machine.needed)
    return there and all(callee is not None and _is_usable(callee) for callee in callees)


def keep(machine: Machine) -> None:
    """Keep it for programs to come, if that is possible, and for this one."""
    path = _path(machine.entry)
    if path is not None:
        with contextlib.suppress(OSError):  # a full disk, say: then it is compiled again next time
            write_entry(path, pickle.dumps(tuple(machine)))
    _loaded_by_entry.setdefault(machine.entry, _load(machine))


_loaded_by_entry: dict[str, _Loaded] = {}


class _Loaded(NamedTuple):
    """Machine code in memory: LLVM's engine, which holds it, and addresses."""

    engine: Any
    way_in: int
    native: int
    release: int


def _loaded(machine: Machine) -> _Loaded:
    if machine.entry not in _loaded_by_entry:
        _loaded_by_entry[machine.entry] = _load(machine)
    return _loaded_by_entry[machine.entry]


def _load(machine: Machine) -> _Loaded:
    for name, entry in machine.called.items():
        if entry not in _loaded_by_entry:
            callee = _read(entry)
            assert callee is not None  # looked for before
            _loaded(callee)
        llvm.add_symbol(name, _loaded_by_entry[entry].native)
    _initialize()
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(""), llvm.Target.from_default_triple().create_target_machine()
    )
    for each in machine.objects:
        engine.add_object_file(llvm.ObjectFileRef.from_data(each))
    engine.finalize_object()
    return _Loaded(engine, *(engine.get_function_address(name) for name in (WAY_IN, machine.native, machine.release)))


@functools.cache
def _initialize() -> None:
    with contextlib.suppress(RuntimeError):  # later versions need no initialising, and say so
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


class Form:
    """One kernel's machine code for some types of arguments, ready to be called."""

    def __init__(self, machine: Machine) -> None:
        loaded = _loaded(machine)
        self.parameters = machine.parameters
        self._function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p)(loaded.way_in)
        self._release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.release)
        self._takers = [_taker(each) for each in machine.parameters]
        self._result = machine.result
        self._out = struct.Struct("".join(_codes(machine.result)))
        self._name = machine.entry.rpartition("-")[0]

    def slots(self, args: tuple) -> bytearray | None:
        """Arguments as the way in takes them, after room for the results; None if they do not fit."""
        if len(args) != len(self._takers):
            return None
        slots = bytearray(self._out.size)
        try:
            for taker, given in zip(self._takers, args, strict=True):
                slots += taker(given)
        except Misfit:
            return None
        return slots

    def run(self, slots: bytearray | None) -> Any:
        """Call it. Raises RuntimeError where the kernel raises anything, TypeError for no slots."""
        if slots is None:
            raise TypeError(f"{self._name}: what was compiled for these arguments does not fit them")
        status = self._function(ctypes.addressof((ctypes.c_char * len(slots)).from_buffer(slots)))
        if status:
            raise RuntimeError(f"{self._name} failed with status {status}")
        return self._given(self._result, iter(self._out.unpack_from(slots)))

    def _given(self, of: Description, values: Iterator) -> Any:
        """A result from its slots."""
        if of[0] == "none":
            return None
        if of[0] == "tuple":
            return tuple(self._given(each, values) for each in of[3])
        if of[0] == "array":
            return self._array(of, values)
        value = next(values)
        return bool(value) if of[0] == "|b1" else value

    def _array(self, of: Description, values: Iterator) -> np.ndarray:
        """An array that a kernel made, as one of numpy's own; the kernel's is let go of."""
        owner, _, _, _, data, *rest = (next(values) for _ in range(5 + 2 * of[2]))
        array = np.empty(rest[: of[2]], of[1])
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, data, array.nbytes)
        self._release(owner)
        return array


def form_of(machine: Machine) -> Form:
    """Machine code made ready to be called."""
    _used[machine.entry] = None
    return Form(machine)


_used: dict[str, None] = {}


def _codes(of: Description) -> Iterator[str]:
    """Of each slot how ``struct`` calls it."""
    if of[0] == "tuple":
        for each in of[3]:
            yield from _codes(each)
    elif of[0] == "array":
        if of[3] != "C":
            raise Misfit("a kernel gives arrays whose numbers are in order")
        yield "q" * (5 + 2 * of[2])
    elif of[0] != "none":
        yield "d" if of[0][1] == "f" else "q"


Taker = Callable[[Any], bytes]


def _taker(of: Description) -> Taker:
    """Function of a value that gives its slots, or raises Misfit."""
    if of[0] == "array":
        return _array_taker(of)
    if of[0] == "tuple":
        return _tuple_taker(of)
    kinds = next(kinds for kinds, dtype in _NUMBERS.items() if dtype == of[0])
    plain, code = (float, "d") if of[0][1] == "f" else (int, "q")
    pack = struct.Struct(code).pack

    def number(value: Any) -> bytes:
        if type(value) not in kinds and described(value) != of:
            raise Misfit
        return pack(plain(value))

    return number


def _array_taker(of: Description) -> Taker:
    """An array's slots: no owner, no parent, how many numbers, bytes of one, address, shape, strides in bytes."""
    _, dtype_name, ndim, layout, writable = of
    dtype, pack = np.dtype(dtype_name), struct.Struct(f"{5 + 2 * ndim}q").pack

    def array(value: Any) -> bytes:
        if type(value) is not np.ndarray or value.dtype != dtype or value.ndim != ndim:
            raise Misfit
        flags = value.flags
        if not (flags.carray if layout == "C" and writable else described(value) == of):
            raise Misfit
        return pack(0, 0, value.size, value.itemsize, _address(value), *value.shape, *value.strides)

    return array


def _address(array: np.ndarray) -> int:
    """Where an array's numbers are. (numpy's own way tells more, and takes four times as long.)"""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))
    except (TypeError, ValueError):  # one that may not be written to, or has none
        return int(array.__array_interface__["data"][0])


def _tuple_taker(of: Description) -> Taker:
    """A tuple's slots. Those with names are remembered, while they are used, for they hold many arrays."""
    _, name, fields, inner = of
    takers = [_taker(each) for each in inner]
    known: dict[int, tuple[Any, bytes]] = {}

    def fields_of(value: Any) -> bytes:
        kind = type(value)
        if not isinstance(value, tuple) or _class_name(kind) != name or len(value) != len(takers):
            raise Misfit
        if list(getattr(kind, "_fields", ())) != fields:
            raise Misfit
        return b"".join([taker(each) for taker, each in zip(takers, value, strict=True)])

    def remembered(value: Any) -> bytes:
        there = known.get(id(value))
        if there is None or there[0] is not value:
            there = (value, fields_of(value))
            if len(known) >= MOST_KEPT:
                known.clear()
            known[id(value)] = there
        return there[1]

    return remembered if name else fields_of
