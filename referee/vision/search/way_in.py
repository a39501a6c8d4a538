"""The way into a compiled kernel from Python, as machine code that needs nothing of numba where it runs.

``int32 referee_way_in(int64 *slots)`` reads the arguments from slots of 8 bytes behind those for the results, calls the
kernel as numba's kernels call each other, and stores what it gives (see ``machine_code``). Beside it stands what
kernels that make arrays or lists call to get and give back memory, as numba's own runtime has it: an owner counts its
references, and knows its data and how to let go of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
from numba.core import types
from numba.core.compiler import CompileResult

from referee.vision.search.machine_code import WAY_IN

WORD, INT, BYTES = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
NOTHING = ir.VoidType()
LET_GO = ir.FunctionType(NOTHING, [BYTES, WORD, BYTES])
OWNER = ir.LiteralStructType([WORD, BYTES, BYTES, BYTES, WORD, BYTES])
"""An owner of memory: references, the function that lets go of its data, what it is told, data, their size, unused."""
COUNT, DTOR, TOLD, DATA, SIZE = range(5)
HEAD = 64
"""Bytes for an owner before data that are made with it."""
RELEASE = "referee_release"
RUNTIME = {
    "NRT_MemInfo_alloc_aligned": ir.FunctionType(BYTES, [WORD, INT]),
    "NRT_MemInfo_alloc_safe_aligned": ir.FunctionType(BYTES, [WORD, INT]),
    "NRT_MemInfo_new_varsize_dtor": ir.FunctionType(BYTES, [WORD, BYTES]),
    "NRT_MemInfo_varsize_alloc": ir.FunctionType(BYTES, [BYTES, WORD]),
    "NRT_MemInfo_varsize_realloc": ir.FunctionType(BYTES, [BYTES, WORD]),
    "NRT_MemInfo_varsize_free": ir.FunctionType(NOTHING, [BYTES, BYTES]),
    "NRT_MemInfo_call_dtor": ir.FunctionType(NOTHING, [BYTES]),
    "NRT_Free": ir.FunctionType(NOTHING, [BYTES]),
    RELEASE: ir.FunctionType(NOTHING, [BYTES]),
}
"""What is defined beside the way in, by its name in numba's runtime."""


def object_of_way_in(cres: CompileResult) -> bytes:
    """Machine code of the way into a compiled kernel, and of the runtime."""
    module = ir.Module("way_in")
    module.triple, *_ = cres.target_context.codegen().magic_tuple()
    module.data_layout = str(cres.target_context.codegen().target_data)
    _define_way_in(module, cres)
    _Runtime(module).define()
    assembled = llvm.parse_assembly(str(module))
    assembled.verify()
    return target_machine(cres).emit_object(assembled)


def target_machine(cres: CompileResult) -> llvm.TargetMachine:
    """What makes machine code for the processor and with the options that numba compiles for."""
    triple, processor, features = cres.target_context.codegen().magic_tuple()
    relocation = "static" if triple.startswith(("x86", "i686")) else "default"
    return llvm.Target.from_triple(triple).create_target_machine(
        cpu=processor, features=features, opt=3, reloc=relocation, codemodel="jitdefault"
    )


def _define_way_in(module: ir.Module, cres: CompileResult) -> None:
    context, kernel = cres.target_context, cres.fndesc
    way_in = ir.Function(module, ir.FunctionType(INT, [WORD.as_pointer()]), WAY_IN)
    builder = ir.IRBuilder(way_in.append_basic_block())
    gives = not isinstance(kernel.restype, types.NoneType)
    first = _width(context.get_value_type(kernel.restype)) if gives else 0
    arguments = context.get_arg_packer(kernel.argtypes)
    flat = [_read(builder, way_in.args[0], i, each) for i, each in enumerate(arguments.argument_types, first)]
    status, result = context.call_conv.call_function(
        builder,
        context.declare_function(module, kernel),
        kernel.restype,
        kernel.argtypes,
        arguments.from_arguments(builder, flat),
    )
    for i, value in enumerate(_leaves(builder, result) if gives else ()):
        builder.store(_as_word(builder, value), builder.gep(way_in.args[0], [WORD(i)]))
    builder.ret(builder.select(status.is_error, status.code, INT(0)))


def _width(kind: ir.Type) -> int:
    """How many slots a value of this type takes."""
    if isinstance(kind, ir.ArrayType):
        return kind.count * _width(kind.element)
    if isinstance(kind, ir.BaseStructType):
        return sum(map(_width, kind.elements))
    return 1


def _leaves(builder: ir.IRBuilder, value: Any) -> Iterator[Any]:
    """The numbers and addresses that a value is made of."""
    if isinstance(value.type, (ir.ArrayType, ir.BaseStructType)):
        for i in range(len(value.type)):
            yield from _leaves(builder, builder.extract_value(value, i))
    else:
        yield value


def _read(builder: ir.IRBuilder, slots: Any, index: int, kind: ir.Type) -> Any:
    """The value of a slot."""
    word = builder.load(builder.gep(slots, [WORD(index)]))
    if isinstance(kind, ir.PointerType):
        return builder.inttoptr(word, kind)
    if isinstance(kind, ir.IntType):
        return builder.trunc(word, kind) if kind.width < WORD.width else word
    number = builder.bitcast(word, ir.DoubleType())
    return builder.fptrunc(number, kind) if isinstance(kind, ir.FloatType) else number


def _as_word(builder: ir.IRBuilder, value: Any) -> Any:
    """A value as a slot has it."""
    if isinstance(value.type, ir.PointerType):
        return builder.ptrtoint(value, WORD)
    if isinstance(value.type, ir.IntType):
        extended = builder.zext if value.type.width == 1 else builder.sext
        return extended(value, WORD) if value.type.width < WORD.width else value
    number = builder.fpext(value, ir.DoubleType()) if isinstance(value.type, ir.FloatType) else value
    return builder.bitcast(number, WORD)


class _Runtime:
    """The functions that kernels get memory from, in a module."""

    def __init__(self, module: ir.Module) -> None:
        self.functions = {name: ir.Function(module, kind, name) for name, kind in RUNTIME.items()}
        self._malloc = ir.Function(module, ir.FunctionType(BYTES, [WORD]), "malloc")
        self._realloc = ir.Function(module, ir.FunctionType(BYTES, [BYTES, WORD]), "realloc")
        self._free = ir.Function(module, ir.FunctionType(NOTHING, [BYTES]), "free")
        self._let_go_of_data = ir.Function(module, LET_GO, "referee_let_go_of_data")
        self._let_go_of_data.linkage = "internal"

    def define(self) -> None:
        """Write all their bodies."""
        for name in ("NRT_MemInfo_alloc_aligned", "NRT_MemInfo_alloc_safe_aligned"):
            self._define_alloc_aligned(*self._begun(self.functions[name]))
        self._define_new_varsize(*self._begun(self.functions["NRT_MemInfo_new_varsize_dtor"]))
        self._define_varsize_alloc(*self._begun(self.functions["NRT_MemInfo_varsize_alloc"]), again=False)
        self._define_varsize_alloc(*self._begun(self.functions["NRT_MemInfo_varsize_realloc"]), again=True)
        self._define_varsize_free(*self._begun(self.functions["NRT_MemInfo_varsize_free"]))
        self._define_let_go_of_data(*self._begun(self._let_go_of_data))
        self._define_call_dtor(*self._begun(self.functions["NRT_MemInfo_call_dtor"]))
        self._define_release(*self._begun(self.functions[RELEASE]))
        builder, data = self._begun(self.functions["NRT_Free"])
        builder.call(self._free, data)
        builder.ret_void()

    @staticmethod
    def _begun(function: ir.Function) -> tuple[ir.IRBuilder, list[Any]]:
        return ir.IRBuilder(function.append_basic_block()), list(function.args)

    @staticmethod
    def _field(builder: ir.IRBuilder, owner: Any, index: int) -> Any:
        """Where a field of an owner stands."""
        return builder.gep(builder.bitcast(owner, OWNER.as_pointer()), [INT(0), INT(index)])

    def _filled(self, builder: ir.IRBuilder, owner: Any, data: Any, size: Any, dtor: Any, told: Any) -> None:
        for index, value in ((COUNT, WORD(1)), (DTOR, dtor), (TOLD, told), (DATA, data), (SIZE, size)):
            builder.store(value, self._field(builder, owner, index))

    @staticmethod
    def _give_up_without(builder: ir.IRBuilder, memory: Any) -> None:
        """Return no address where there is no memory."""
        with builder.if_then(builder.icmp_unsigned("==", memory, BYTES(None)), likely=False):
            builder.ret(BYTES(None))

    def _define_alloc_aligned(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        """An owner and its data in one piece: nothing to let go of but the owner."""
        size, align = args[0], builder.zext(args[1], WORD)
        owner = builder.call(self._malloc, [builder.add(size, builder.add(align, WORD(HEAD)))])
        self._give_up_without(builder, owner)
        least = builder.add(builder.ptrtoint(owner, WORD), WORD(HEAD))
        data = builder.sub(builder.add(least, align), WORD(1))
        data = builder.sub(data, builder.urem(data, align))
        self._filled(builder, owner, builder.inttoptr(data, BYTES), size, BYTES(None), BYTES(None))
        builder.ret(owner)

    def _define_new_varsize(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        """An owner of data of their own; ``args``: their size, the function that lets go of what they refer to."""
        size, dtor = args
        owner, data = builder.call(self._malloc, [WORD(HEAD)]), builder.call(self._malloc, [size])
        self._give_up_without(builder, owner)
        self._give_up_without(builder, data)
        self._filled(builder, owner, data, size, builder.bitcast(self._let_go_of_data, BYTES), dtor)
        builder.ret(owner)

    def _define_varsize_alloc(self, builder: ir.IRBuilder, args: list[Any], again: bool) -> None:
        """Other data for an owner; ``again``: with the same numbers in them."""
        owner, size = args
        if again:
            data = builder.call(self._realloc, [builder.load(self._field(builder, owner, DATA)), size])
        else:
            data = builder.call(self._malloc, [size])
        self._give_up_without(builder, data)
        builder.store(data, self._field(builder, owner, DATA))
        builder.store(size, self._field(builder, owner, SIZE))
        builder.ret(data)

    def _define_varsize_free(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        owner, data = args
        place = self._field(builder, owner, DATA)
        builder.call(self._free, [data])
        with builder.if_then(builder.icmp_unsigned("==", builder.load(place), data)):
            builder.store(BYTES(None), place)
        builder.ret_void()

    def _define_let_go_of_data(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        data, size, told = args
        with builder.if_then(builder.icmp_unsigned("!=", told, BYTES(None))):
            builder.call(builder.bitcast(told, LET_GO.as_pointer()), [data, size, BYTES(None)])
        builder.call(self._free, [data])
        builder.ret_void()

    def _define_call_dtor(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        """What an owner without references is for."""
        (owner,) = args
        dtor, told, data, size = (
            builder.load(self._field(builder, owner, index)) for index in (DTOR, TOLD, DATA, SIZE)
        )
        with builder.if_then(builder.icmp_unsigned("!=", dtor, BYTES(None))):
            builder.call(builder.bitcast(dtor, LET_GO.as_pointer()), [data, size, told])
        builder.call(self._free, [owner])
        builder.ret_void()

    def _define_release(self, builder: ir.IRBuilder, args: list[Any]) -> None:
        """Let go of a result: one reference less."""
        (owner,) = args
        with builder.if_then(builder.icmp_unsigned("==", owner, BYTES(None))):
            builder.ret_void()
        left = builder.sub(builder.load(self._field(builder, owner, COUNT)), WORD(1))
        builder.store(left, self._field(builder, owner, COUNT))
        with builder.if_then(builder.icmp_signed("==", left, WORD(0))):
            builder.call(self.functions["NRT_MemInfo_call_dtor"], [owner])
        builder.ret_void()
