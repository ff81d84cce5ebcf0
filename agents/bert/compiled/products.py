"""Products of matrices, of 8 bits, 16 bits or float32."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from llvmlite import ir

from agents.bert.compiled.vectors import FLOAT, FLOATS, INT, INTS, LANES, Writer, make_vector_function

BLOCK = LANES * 4  # bytes of a group of each column of a block, and of a row of sums
# For each number of blocks that are computed at once the number of rows: the sums must fit into the registers. Up to
# eleven rows more than wanted are computed, and written.
TILES = {"vnni": {4: 6, 3: 8, 2: 12, 1: 12}, "avx2": {2: 2, 1: 4}}


def write_product(
    group: str,
    size: int,
    finish: Callable[..., None],
    w: Writer,
    a: ir.Value,
    a_step: ir.Value,
    b: ir.Value,
    b_step: ir.Value,
    out: ir.Value,
    out_step: ir.Value,
    rows: ir.Value,
    blocks: ir.Value,
    depth: ir.Value,
    *more: ir.Value,
) -> None:
    """Multiply `rows` rows of `a` with `blocks` blocks of LANES columns of `b`, and write each LANES sums by `finish`.

    The steps are the bytes from row to row, and from block to block of `b`, in which the columns' elements of the first
    group come first, column by column, then those of the second, and so on up to `depth`. `size`: the bytes of an
    element of the output.
    """
    first: int | ir.Value = 0
    for n_blocks, n_rows in sorted(TILES[w.instructions].items(), reverse=True):  # the widest as often as possible, …
        with w.loop(w.add(blocks, 1 - n_blocks), n_blocks, first) as block:
            panel = [w.at(b, w.mul(w.add(block, i), b_step)) for i in range(n_blocks)]
            with w.loop(rows, n_rows) as row:
                inputs = [w.at(a, w.mul(w.add(row, i), a_step)) for i in range(n_rows)]
                outputs = [w.at(out, w.mul(w.add(row, i), out_step)) for i in range(n_rows)]
                sums = tile(group, w, inputs, panel, depth)
                for i, address in enumerate(outputs):
                    for j in range(n_blocks):
                        column = w.mul(w.add(block, j), LANES)
                        finish(w, sums[i * n_blocks + j], w.at(address, w.mul(column, size)), column, *more)
        first = block  # … then narrower ones


def tile(group: str, w: Writer, inputs: list[ir.Value], panel: list[ir.Value], depth: ir.Value) -> list[ir.Value]:
    """The sums of products of some rows and some blocks, row by row."""
    zero = w.splat(0.0) if group == "floats" else ir.Constant(INTS, [0] * LANES)
    with w.fold(depth, 1, *[zero] * (len(inputs) * len(panel))) as (k, sums, following):
        columns = [w.load(w.at(block, w.mul(k, BLOCK)), INT) for block in panel]
        for i, address in enumerate(inputs):
            element = w.splat(w.load(w.at(address, w.mul(k, 4)), INT, 1))
            for j, block in enumerate(columns):
                following.append(w.add_products(group, sums[i * len(panel) + j], element, block))
    return sums


def store_sums(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value) -> None:
    """Write the sums as they are."""
    w.store(sums, out)


def store_floats(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, bias: ir.Value) -> None:
    """Write sums of float32 plus a bias."""
    w.store(w.builder.fadd(sums, w.load(w.at(bias, w.mul(column, 4)), FLOAT)), out)


def scaled(w: Writer, sums: ir.Value, column: ir.Value, scale: ir.Value, bias: ir.Value) -> ir.Value:
    """Sums of whole numbers, times `scale`, plus `bias`."""
    factor, term = (w.load(w.at(each, w.mul(column, 4)), FLOAT) for each in (scale, bias))
    return w.builder.fadd(w.builder.fmul(w.builder.sitofp(sums, FLOATS), factor), term)


def store_scaled(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, scale: ir.Value, bias: ir.Value) -> None:
    """Write sums of whole numbers as float32, scaled."""
    w.store(scaled(w, sums, column, scale, bias), out)


def add_scaled(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, scale: ir.Value, bias: ir.Value) -> None:
    """Add scaled sums of whole numbers to the float32 that are there."""
    w.store(w.builder.fadd(w.load(out, FLOAT), scaled(w, sums, column, scale, bias)), out)


def store_bytes(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, scale: ir.Value, bias: ir.Value) -> None:
    """Write scaled sums of whole numbers as uint8, clipped."""
    w.store(w.clipped(scaled(w, sums, column, scale, bias)), out)


def add_floats(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, bias: ir.Value) -> None:
    """Add sums of float32 and a bias to the float32 that are there."""
    total = w.builder.fadd(sums, w.load(w.at(bias, w.mul(column, 4)), FLOAT))
    w.store(w.builder.fadd(w.load(out, FLOAT), total), out)


def store_relu(w: Writer, sums: ir.Value, out: ir.Value, column: ir.Value, bias: ir.Value) -> None:
    """Write the ReLU of sums of float32 plus a bias."""
    total = w.builder.fadd(sums, w.load(w.at(bias, w.mul(column, 4)), FLOAT))
    w.store(w.largest(total, w.splat(0.0)), out)


def make_product(name: str, group: str, finish: Callable[..., None], *more: str) -> Callable[..., None]:
    """A product for compiled functions; `more`: the kinds of the arguments that only `finish` takes."""
    size = 1 if finish is store_bytes else 4
    matrices = ("address", "int", "address", "int", "address", "int")
    write = partial(write_product, group, size, finish)
    return make_vector_function(name, write, *matrices, "int", "int", "int", *more)


# Linear layers of bytes, with scale and bias of the sums
project = make_product("project", "bytes", store_scaled, "address", "address")
add_projection = make_product("add_projection", "bytes", add_scaled, "address", "address")
project_to_bytes = make_product("project_to_bytes", "bytes", store_bytes, "address", "address")
# Products of numbers of 16 bits
multiply_shorts = make_product("multiply_shorts", "shorts", store_sums)
average_shorts = make_product("average_shorts", "shorts", store_bytes, "address", "address")
# Linear layers of float32, with a bias
linear = make_product("linear", "floats", store_floats, "address")
add_linear = make_product("add_linear", "floats", add_floats, "address")
linear_relu = make_product("linear_relu", "floats", store_relu, "address")
