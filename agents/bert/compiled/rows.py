"""Functions of rows of vectors: norms, attention weights, other types and orders of elements, sums of a few rows."""

from __future__ import annotations

from llvmlite import ir

from agents.bert.compiled.products import BLOCK
from agents.bert.compiled.vectors import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    LANES,
    LONG,
    ROUND,
    SHORT,
    Writer,
    make_vector_function,
    vector_function,
)

NORMALIZED = 4  # rows that are normalized at once
MASK = 64  # groups of bytes that are compared with 0 at once
# Blocks of a row that are added up at once, the most first: the sums must fit into the registers.
SUMMED = {"vnni": (8, 2), "avx2": (4, 2)}
SMALLEST_EXPONENT = -100.0  # far from where float32 lose precision, and processors time
# A polynomial close to 2 ** x for x from -0.5 to 0.5: the relative error is at most 4e-6. The coefficients are float32.
POWER = (0.9999992847442627, 0.6931217908859253, 0.240247443318367, 0.05591785907745361, 0.009570098482072353)


@vector_function("address", "address", "int", "address")
def add_rows(w: Writer, a: ir.Value, b: ir.Value, width: ir.Value, out: ir.Value) -> None:
    """Write the sum of two rows of float32."""
    with w.loop(w.mul(width, 4), BLOCK) as k:
        w.store(w.builder.fadd(w.load(w.at(a, k), FLOAT), w.load(w.at(b, k), FLOAT)), w.at(out, k))


@vector_function("address", "int", "address")
def copy_row(w: Writer, a: ir.Value, width: ir.Value, out: ir.Value) -> None:
    """Copy a row of float32."""
    with w.loop(w.mul(width, 4), BLOCK) as k:
        w.store(w.load(w.at(a, k), FLOAT), w.at(out, k))


def write_normalized(
    w: Writer, x: ir.Value, rows: ir.Value, width: ir.Value, gain: ir.Value, bias: ir.Value, epsilon: ir.Value,
    scale: ir.Value | None = None, zero_points: ir.Value | None = None, out: ir.Value | None = None,
) -> None:  # fmt: skip
    """LayerNorm of rows of float32 in place; with `scale` and `zero_points` the results are also written as bytes."""
    b, size = w.builder, w.mul(width, 4)
    share = b.fdiv(ir.Constant(FLOAT, 1.0), b.sitofp(width, FLOAT))
    with w.loop(rows, NORMALIZED) as first:
        addresses = [w.at(x, w.mul(w.add(first, i), size)) for i in range(NORMALIZED)]
        with w.fold(size, BLOCK, *[w.splat(0.0)] * NORMALIZED) as (k, sums, following):
            following += [b.fadd(total, w.load(w.at(row, k), FLOAT)) for total, row in zip(sums, addresses)]
        means = [w.splat(b.fmul(w.reduce(total, b.fadd), share)) for total in sums]
        with w.fold(size, BLOCK, *[w.splat(0.0)] * NORMALIZED) as (k, sums, following):
            for total, row, mean in zip(sums, addresses, means):
                difference = b.fsub(w.load(w.at(row, k), FLOAT), mean)
                following.append(b.fadd(total, b.fmul(difference, difference)))
        factors = []
        for total in sums:
            variance = b.fadd(b.fmul(w.reduce(total, b.fadd), share), epsilon)
            deviation = w.call("llvm.sqrt.f32", FLOAT, variance)
            factors.append(w.splat(b.fdiv(ir.Constant(FLOAT, 1.0), deviation)))
        with w.loop(size, BLOCK) as k:
            of_gain, of_bias = (w.load(w.at(each, k), FLOAT) for each in (gain, bias))
            for i, (row, mean, factor) in enumerate(zip(addresses, means, factors)):
                value = b.fmul(b.fsub(w.load(w.at(row, k), FLOAT), mean), factor)
                value = b.fadd(b.fmul(value, of_gain), of_bias)
                w.store(value, w.at(row, k))
                if out is not None:
                    value = b.fadd(b.fmul(value, w.load(w.at(scale, k), FLOAT)), w.load(w.at(zero_points, k), FLOAT))
                    w.store(w.clipped(value), w.at(out, w.mul(w.add(first, i), width), b.udiv(k, w.number(4))))


NORM = ("address", "int", "int", "address", "address", "float")
normalize = make_vector_function("normalize", write_normalized, *NORM)
normalize_to_bytes = make_vector_function(
    "normalize_to_bytes", write_normalized, *NORM, "address", "address", "address"
)


@vector_function("address", "int", "int", "int", "int", "address")
def largest_values(
    w: Writer, x: ir.Value, rows: ir.Value, step: ir.Value, parts: ir.Value, size: ir.Value, out: ir.Value
) -> None:
    """Write the largest absolute value in each of `parts` groups of `size` columns of float32, in some rows."""
    with w.loop(parts) as part:
        with w.fold(rows, 1, w.splat(0.0)) as (row, found, following):
            address = w.at(x, w.mul(row, step), w.mul(w.mul(part, size), 4))
            with w.fold(w.mul(size, 4), BLOCK, *found) as (k, largest, more):
                value = w.call("llvm.fabs.v16f32", FLOATS, w.load(w.at(address, k), FLOAT))
                more.append(w.largest(largest[0], value))
            following += largest
        w.store(w.reduce(found[0], w.largest), w.at(out, w.mul(part, 4)))


@vector_function("address", "int", "int", "address", "address")
def round_to_shorts(w: Writer, x: ir.Value, rows: ir.Value, width: ir.Value, factor: ir.Value, out: ir.Value) -> None:
    """Write rows of float32, times `factor` float32[width], as numbers of 16 bits."""
    with w.loop(rows) as row, w.loop(width, LANES) as k:
        at = w.add(w.mul(row, width), k)
        value = w.builder.fmul(w.load(w.at(x, w.mul(at, 4)), FLOAT), w.load(w.at(factor, w.mul(k, 4)), FLOAT))
        w.store(w.rounded(value, SHORT), w.at(out, w.mul(at, 2)))


@vector_function("address", "int", "int", "int", "address")
def pack_keys(w: Writer, x: ir.Value, step: ir.Value, rows: ir.Value, width: ir.Value, out: ir.Value) -> None:
    """Pack rows of numbers of 16 bits as columns: of each block of LANES rows there are `width` / 2 pairs.

    Up to LANES - 1 more rows are read.
    """
    pairs = w.builder.udiv(width, w.number(2))
    with w.loop(rows, LANES) as row, w.loop(pairs, LANES) as pair:
        addresses = [w.at(x, w.mul(w.add(row, i), step), w.mul(pair, 4)) for i in range(LANES)]
        values = [w.load(address, INT) for address in addresses]
        low = [lane for i in range(LANES // 2) for lane in (i, LANES + i)]
        high = [lane + LANES // 2 for lane in low]
        for _ in range(4):  # the transpose of a matrix of 2 ** 4 rows
            both = list(zip(values[: LANES // 2], values[LANES // 2 :]))
            values = [w.shuffle(*two, lanes) for two in both for lanes in (low, high)]
        base = w.at(out, w.mul(w.mul(row, pairs), 4))
        for i, value in enumerate(values):
            w.store(value, w.at(base, w.mul(w.add(pair, i), BLOCK)))


@vector_function("address", "int", "int", "int", "address", "int")
def pack_values(
    w: Writer, x: ir.Value, step: ir.Value, rows: ir.Value, width: ir.Value, out: ir.Value, out_step: ir.Value
) -> None:
    """Pack rows of numbers of 16 bits for a product over the rows, in blocks of LANES columns, `out_step` bytes apart.

    An even number of rows is read.
    """
    lanes = [lane for i in range(LANES) for lane in (i, LANES + i)]
    with w.loop(rows, 2) as row, w.loop(width, LANES) as column:
        first = w.at(x, w.mul(row, step), w.mul(column, 2))
        value = w.shuffle(w.load(first, SHORT), w.load(w.at(first, step), SHORT), lanes)
        block = w.builder.udiv(column, w.number(LANES))
        w.store(value, w.at(out, w.mul(block, out_step), w.mul(row, BLOCK // 2)))


def exp2(w: Writer, x: ir.Value) -> ir.Value:
    """2 ** x of float32 that are at most 0; at least 2 ** SMALLEST_EXPONENT."""
    b = w.builder
    x = w.largest(x, w.splat(SMALLEST_EXPONENT))
    shifted = w.shifted(x)
    y = b.fsub(x, b.fsub(shifted, w.splat(ROUND)))
    power = w.splat(POWER[-1])
    for coefficient in reversed(POWER[:-1]):
        power = b.fadd(b.fmul(power, y), w.splat(coefficient))
    exponent = b.shl(b.bitcast(shifted, INTS), ir.Constant(INTS, [23] * LANES))
    return b.bitcast(b.add(b.bitcast(power, INTS), exponent), FLOATS)


def write_softmax(
    w: Writer, scores: ir.Value, used: ir.Value, unit: ir.Value, exponentials: ir.Value, element: ir.Type
) -> ir.Value:
    """Write ``exp2(unit * (score - largest score))`` of a row, nearly 0 beyond the `used` ones; returns their sum."""
    b = w.builder

    lowest = w.splat(float("-inf"))
    with w.fold(used, LANES, lowest) as (k, highest, following):
        value = w.load(w.at(scores, w.mul(k, 4)), element)
        lanes = b.add(w.splat(b.trunc(k, INT)), ir.Constant(INTS, list(range(LANES))))
        beyond = b.icmp_signed(">=", lanes, w.splat(b.trunc(used, INT)))
        value = b.select(beyond, lowest, value if element == FLOAT else b.sitofp(value, FLOATS))
        w.store(value, w.at(exponentials, w.mul(k, 4)))
        following.append(w.largest(highest[0], value))
    top = w.splat(w.reduce(highest[0], w.largest))
    with w.fold(used, LANES, w.splat(0.0)) as (k, total, following):
        value = w.load(w.at(exponentials, w.mul(k, 4)), FLOAT)
        value = exp2(w, b.fmul(b.fsub(value, top), w.splat(unit)))
        w.store(value, w.at(exponentials, w.mul(k, 4)))
        following.append(b.fadd(total[0], value))
    return w.reduce(total[0], b.fadd)


@vector_function("address", "int", "int", "int", "float", "float", "address", "address", "int")
def softmax_to_shorts(
    w: Writer, scores: ir.Value, step: ir.Value, rows: ir.Value, used: ir.Value, unit: ir.Value, one: ir.Value,
    exponentials: ir.Value, out: ir.Value, out_step: ir.Value,
) -> None:  # fmt: skip
    """Write the softmax, to the base 2, of `used` int32 of each row, times `unit`, as numbers of 16 bits.

    `one` is the number for 1. Up to a multiple of LANES zeros follow.
    """
    with w.loop(rows) as row:
        total = write_softmax(w, w.at(scores, w.mul(row, step)), used, unit, exponentials, INT)
        factor = w.splat(w.builder.fdiv(one, total))
        with w.loop(used, LANES) as k:
            value = w.builder.fmul(w.load(w.at(exponentials, w.mul(k, 4)), FLOAT), factor)
            w.store(w.rounded(value, SHORT), w.at(out, w.mul(row, out_step), w.mul(k, 2)))


@vector_function("address", "int", "int", "address", "float", "address", "address")
def attend_once(
    w: Writer, x: ir.Value, rows: ir.Value, width: ir.Value, query: ir.Value, unit: ir.Value, exponentials: ir.Value,
    out: ir.Value,
) -> None:  # fmt: skip
    """Write the mean of rows of float32, weighted by the softmax to the base 2 of `unit` * (row · `query`)."""
    b, size = w.builder, w.mul(width, 4)
    with w.loop(rows) as row:
        address = w.at(x, w.mul(row, size))
        with w.fold(size, BLOCK, w.splat(0.0)) as (k, total, following):
            product = b.fmul(w.load(w.at(address, k), FLOAT), w.load(w.at(query, k), FLOAT))
            following.append(b.fadd(total[0], product))
        w.store(w.reduce(total[0], b.fadd), w.at(exponentials, w.mul(row, 4)))
    total_weight = write_softmax(w, exponentials, rows, unit, exponentials, FLOAT)
    share = b.fdiv(ir.Constant(FLOAT, 1.0), total_weight)
    with w.loop(size, 2 * BLOCK) as k:
        with w.fold(rows, 1, w.splat(0.0), w.splat(0.0)) as (row, totals, following):
            weight = w.splat(b.fmul(w.load(w.at(exponentials, w.mul(row, 4)), FLOAT, 1), share))
            address = w.at(x, w.mul(row, size), k)
            for i, total in enumerate(totals):
                following.append(b.fadd(total, b.fmul(weight, w.load(w.at(address, i * BLOCK), FLOAT))))
        for i, total in enumerate(totals):
            w.store(total, w.at(out, k, i * BLOCK))


@vector_function("address", "int", "int", "address", "int", "address", "address", "address", "address")
def add_sparse(
    w: Writer, a: ir.Value, rows: ir.Value, depth: ir.Value, matrix: ir.Value, width: ir.Value, scale: ir.Value,
    bias: ir.Value, found: ir.Value, out: ir.Value,
) -> None:  # fmt: skip
    """Add a linear layer of bytes, most of which are 0, to float32.

    `matrix` int8[depth / 4, width, 4]; `depth` is a multiple of 4 * MASK; `found` int64[depth / 4] is overwritten.
    """
    b = w.builder
    blocks, size = b.udiv(width, w.number(LANES)), w.mul(width, 4)
    with w.loop(rows) as row:
        line = w.at(a, w.mul(row, depth))
        with w.fold(depth, 4 * MASK, w.number(0)) as (k, counts, following):
            zeros = ir.Constant(ir.VectorType(INT, MASK), [0] * MASK)
            differs = b.icmp_unsigned("!=", w.load(w.at(line, k), INT, MASK), zeros)
            with w.repeat(b.bitcast(differs, LONG), counts[0]) as (mask, count, more):
                group = b.cttz(mask, ir.Constant(ir.IntType(1), 1))
                w.store(w.add(k, w.mul(group, 4)), w.at(found, w.mul(count, 8)))
                more += [b.and_(mask, w.add(mask, -1)), w.add(count, 1)]
            following.append(count)
        first: int | ir.Value = 0
        for n in SUMMED[w.instructions]:
            with w.loop(w.add(blocks, 1 - n), n, first) as block:
                column = w.mul(block, BLOCK)
                with w.fold(counts[0], 1, *[ir.Constant(INTS, [0] * LANES)] * n) as (i, sums, following):
                    index = w.load(w.at(found, w.mul(i, 8)), LONG, 1)
                    group = w.splat(w.load(w.at(line, index), INT, 1))
                    address = w.at(matrix, w.mul(index, width), column)
                    for j, total in enumerate(sums):
                        following.append(w.add_products("bytes", total, group, w.load(w.at(address, j * BLOCK), INT)))
                for j, total in enumerate(sums):
                    at = w.add(column, j * BLOCK)
                    factor, term = (w.load(w.at(each, at), FLOAT) for each in (scale, bias))
                    value = b.fadd(b.fmul(b.sitofp(total, FLOATS), factor), term)
                    target = w.at(out, w.mul(row, size), at)
                    w.store(b.fadd(w.load(target, FLOAT), value), target)
            first = block
