"""Functions of vectors for kernels, written as LLVM IR, because numba has no vectors and does not generate VNNI.

Each is generated once for every one of INSTRUCTION_SETS, and the kernel chooses one when it runs, so that the same
machine code serves all processors. Sums of whole numbers are exact, and every sum of float32 has one order and no fused
operations, so that the results are the same on all of them.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from inspect import Parameter, Signature
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

LANES = 16  # elements of a vector
# The instruction sets that functions are generated for, the best first, and what LLVM calls their parts: on other
# processors than those of x86-64 there are none, and the functions do nothing.
INSTRUCTION_SETS = {"vnni": ("avx512f", "avx512bw", "avx512vl", "avx512vnni"), "avx2": ("avx2",)}
if platform.machine().lower() not in ("x86_64", "amd64"):
    INSTRUCTION_SETS.clear()

BYTE, SHORT, INT, LONG, FLOAT = ir.IntType(8), ir.IntType(16), ir.IntType(32), ir.IntType(64), ir.FloatType()
POINTER = BYTE.as_pointer()
SIZE = {BYTE: 1, SHORT: 2, INT: 4, LONG: 8, FLOAT: 4}
INTS, FLOATS = ir.VectorType(INT, LANES), ir.VectorType(FLOAT, LANES)
ROUND = float(3 * 2**22)  # the whole numbers around it are neighbours among float32: adding it rounds, ties to even
binding.initialize_native_asmparser()  # for instructions that are written as text
ARGUMENTS = {"address": POINTER, "int": LONG, "float": FLOAT}
NUMBA_TYPES = {"address": types.int64, "int": types.int64, "float": types.float32}


@cache
def instruction_set() -> int | None:
    """The number of the best of INSTRUCTION_SETS that this processor has, None if it has none of them."""
    found = binding.get_host_cpu_features()
    sets = enumerate(INSTRUCTION_SETS.values())
    return next((number for number, features in sets if all(found.get(each) for each in features)), None)


def vector_function(*kinds: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Decorate a function that writes a function by a Writer: the result is what compiled functions call.

    `kinds` are those of its arguments, of ARGUMENTS: addresses and whole numbers are int64 for numba. One more argument
    is the number of the instruction set.
    """
    return lambda write: make_vector_function(write.__name__, write, *kinds)


def make_vector_function(name: str, write: Callable[..., None], *kinds: str) -> Callable[..., None]:
    """What `vector_function` makes of `write`."""

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        *given, isa = arguments
        given = [builder.inttoptr(each, POINTER) if kind == "address" else each for each, kind in zip(given, kinds)]
        for number, instructions in enumerate(INSTRUCTION_SETS):
            with builder.if_then(builder.icmp_signed("==", isa, ir.Constant(LONG, number))):
                builder.call(written(builder.module, f"{__name__}.{name}", write, kinds, instructions), given)
        return context.get_dummy_value()

    def define(context: Any, *arguments: Any) -> Any:
        return types.void(*(NUMBA_TYPES[kind] for kind in kinds), types.int64), generate

    names = ["context", *(f"{kind}{number}" for number, kind in enumerate(kinds)), "isa"]
    define.__signature__ = Signature([Parameter(each, Parameter.POSITIONAL_ONLY) for each in names])  # type: ignore[attr-defined]
    define.__name__ = name
    return intrinsic(define)


def written(
    module: ir.Module, name: str, write: Callable[..., None], kinds: Sequence[str], instructions: str
) -> ir.Function:
    """The function in a module; it is written unless the module has it."""
    name = f"{name}.{instructions}"
    if name in module.globals:
        return module.globals[name]
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [ARGUMENTS[kind] for kind in kinds]), name)
    function.linkage = "internal"
    features = ",".join(f"+{each}" for each in INSTRUCTION_SETS[instructions])
    set.add(function.attributes, f'"target-features"="{features}"')  # its own `add` knows no attributes with values
    writer = Writer(function, instructions)
    write(writer, *function.args)
    writer.builder.ret_void()
    return function


class Writer:
    """Writes the body of a function."""

    def __init__(self, function: ir.Function, instructions: str) -> None:
        self.function, self.instructions = function, instructions
        self.builder = ir.IRBuilder(function.append_basic_block())

    def number(self, value: int | ir.Value) -> ir.Value:
        """An int64."""
        return ir.Constant(LONG, value) if isinstance(value, int) else value

    def add(self, a: int | ir.Value, b: int | ir.Value) -> ir.Value:
        """The sum of two int64."""
        return self.builder.add(self.number(a), self.number(b))

    def mul(self, a: int | ir.Value, b: int | ir.Value) -> ir.Value:
        """The product of two int64."""
        return self.builder.mul(self.number(a), self.number(b))

    @contextmanager
    def loop(self, end: int | ir.Value, step: int = 1, start: int | ir.Value = 0) -> Iterator[ir.Value]:
        """Write the body of ``for index in range(start, end, step)``; afterwards the index has reached the end."""
        with self.fold(end, step, start=start) as (index, _, _):
            yield index

    @contextmanager
    def fold(
        self, end: int | ir.Value, step: int, *first: ir.Value, start: int | ir.Value = 0
    ) -> Iterator[tuple[ir.Value, list[ir.Value], list[ir.Value]]]:
        """Write the body of a loop that carries values.

        Yields the index, the values, which are `first` at the beginning and of which the final ones are valid after the
        loop, and a list to which the body appends those for the next repetition.
        """
        builder, before = self.builder, self.builder.block
        head, body, done = (self.function.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        index, values = builder.phi(LONG), [builder.phi(value.type) for value in first]
        following: list[ir.Value] = []
        builder.cbranch(builder.icmp_signed("<", index, self.number(end)), body, done)
        builder.position_at_end(body)
        yield index, values, following
        after = self.add(index, step)
        starts, ends = (self.number(start), *first), (after, *following)
        for phi, at_start, at_end in zip((index, *values), starts, ends, strict=True):
            phi.add_incoming(at_start, before)
            phi.add_incoming(at_end, builder.block)
        builder.branch(head)
        builder.position_at_end(done)

    @contextmanager
    def repeat(self, mask: ir.Value, count: ir.Value) -> Iterator[tuple[ir.Value, ir.Value, list[ir.Value]]]:
        """Write the body of a loop that carries two int64 and ends when the first is 0; see `fold`."""
        builder, before = self.builder, self.builder.block
        head, body, done = (self.function.append_basic_block() for _ in range(3))
        builder.branch(head)
        builder.position_at_end(head)
        phis = builder.phi(LONG), builder.phi(LONG)
        following: list[ir.Value] = []
        builder.cbranch(builder.icmp_signed("!=", phis[0], self.number(0)), body, done)
        builder.position_at_end(body)
        yield *phis, following
        for phi, at_start, at_end in zip(phis, (mask, count), following, strict=True):
            phi.add_incoming(at_start, before)
            phi.add_incoming(at_end, builder.block)
        builder.branch(head)
        builder.position_at_end(done)

    def at(self, address: ir.Value, *offsets: int | ir.Value) -> ir.Value:
        """An address so many bytes further."""
        for offset in offsets:
            address = self.builder.gep(address, [self.number(offset)])
        return address

    def load(self, address: ir.Value, element: ir.Type, count: int = LANES) -> ir.Value:
        """A vector of `count` elements, or one element."""
        kind = element if count == 1 else ir.VectorType(element, count)
        return self.builder.load(self.builder.bitcast(address, kind.as_pointer()), align=SIZE[element])

    def store(self, value: ir.Value, address: ir.Value) -> None:
        """Store a vector or an element."""
        element = getattr(value.type, "element", value.type)
        self.builder.store(value, self.builder.bitcast(address, value.type.as_pointer()), align=SIZE[element])

    def splat(self, value: ir.Value | float, count: int = LANES) -> ir.Value:
        """A vector of `count` times the same value; a number becomes a float32."""
        if isinstance(value, float):
            return ir.Constant(ir.VectorType(FLOAT, count), [value] * count)
        empty = ir.Constant(ir.VectorType(value.type, count), ir.Undefined)
        first = self.builder.insert_element(empty, value, ir.Constant(INT, 0))
        return self.shuffle(first, empty, [0] * count)

    def shuffle(self, a: ir.Value, b: ir.Value, lanes: Sequence[int]) -> ir.Value:
        """The elements with these numbers of `a` and `b`, put end to end."""
        return self.builder.shuffle_vector(a, b, ir.Constant(ir.VectorType(INT, len(lanes)), list(lanes)))

    def halves(self, value: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The two halves of a vector."""
        count = value.type.count
        first, second = range(count // 2), range(count // 2, count)
        return self.shuffle(value, value, first), self.shuffle(value, value, second)

    def reduce(self, value: ir.Value, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
        """All elements of a vector combined to one: halves, then halves of these, and so on."""
        while value.type.count > 1:
            value = combine(*self.halves(value))
        return self.builder.extract_element(value, ir.Constant(INT, 0))

    def largest(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """The larger of two float32, or of two int32, element by element."""
        return self.builder.select(self._compare(">", a, b), a, b)

    def smallest(self, a: ir.Value, b: ir.Value) -> ir.Value:
        """The smaller of two float32, or of two int32, element by element."""
        return self.builder.select(self._compare("<", a, b), a, b)

    def _compare(self, relation: str, a: ir.Value, b: ir.Value) -> ir.Value:
        of_floats = getattr(a.type, "element", a.type) == FLOAT
        return (self.builder.fcmp_ordered if of_floats else self.builder.icmp_signed)(relation, a, b)

    def shifted(self, value: ir.Value) -> ir.Value:
        """A vector of float32 plus ROUND: its bits end with those of the nearest whole numbers, 22 with their signs."""
        return self.builder.fadd(value, self.splat(ROUND))

    def rounded(self, value: ir.Value, size: ir.Type) -> ir.Value:
        """A vector of float32 rounded to the nearest whole numbers of the type `size`, which can hold them."""
        bits = self.builder.bitcast(self.shifted(value), INTS)
        return self.builder.trunc(bits, ir.VectorType(size, LANES))

    def clipped(self, value: ir.Value) -> ir.Value:
        """A vector of float32 rounded to uint8; values out of range are clipped."""
        value = self.smallest(self.largest(value, self.splat(0.0)), self.splat(255.0))
        return self.rounded(value, BYTE)

    def call(self, name: str, result: ir.Type, *arguments: ir.Value) -> ir.Value:
        """Call an instruction of the processor, or another of LLVM's own functions."""
        module = self.function.module
        called = module.globals.get(name)
        if called is None:
            called = ir.Function(module, ir.FunctionType(result, [each.type for each in arguments]), name)
        return self.builder.call(called, arguments)

    def add_products(self, group: str, total: ir.Value, a: ir.Value, b: ir.Value) -> ir.Value:
        """`total` plus in each lane the products of the elements of a group of `a` with those of `b`, see GROUPS."""
        builder = self.builder
        element, count = GROUPS[group]
        a, b = (builder.bitcast(each, ir.VectorType(element, LANES * count)) for each in (a, b))
        if group == "floats":
            return builder.fadd(total, builder.fmul(a, b))
        if self.instructions == "vnni":  # as text, because LLVM replaces the instruction for shorts by two slower ones
            kind = ir.FunctionType(INTS, [INTS, INTS, INTS])
            instruction = ir.InlineAsm(kind, f"{VNNI[group]} $3, $2, $0", "=v,0,v,v")
            return builder.call(instruction, [total, *(builder.bitcast(each, INTS) for each in (a, b))])
        first, second = (self._add_groups(group, *both) for both in zip(self.halves(a), self.halves(b), strict=True))
        return builder.add(total, self.shuffle(first, second, range(LANES)))

    def _add_groups(self, group: str, a: ir.Value, b: ir.Value) -> ir.Value:
        """The sums of products of groups, int32[LANES / 2], with the instructions of AVX2.

        Products of bytes are first added in pairs with 16 bits, in which two of them fit: see
        `agents.bert.export.quantization.WEIGHT_LEVELS`.
        """
        shorts = ir.VectorType(SHORT, LANES)
        if group == "bytes":
            a = self.call("llvm.x86.avx2.pmadd.ub.sw", shorts, a, b)
            b = ir.Constant(shorts, [1] * LANES)
        return self.call("llvm.x86.avx2.pmadd.wd", ir.VectorType(INT, LANES // 2), a, b)


# Elements that are multiplied together: four bytes, unsigned in the first factor and signed in the second, two signed
# numbers of 16 bits, or one float32. The groups of a vector fill one INTS.
GROUPS = {"bytes": (BYTE, 4), "shorts": (SHORT, 2), "floats": (FLOAT, 1)}
VNNI = {"bytes": "vpdpbusd", "shorts": "vpdpwssd"}
