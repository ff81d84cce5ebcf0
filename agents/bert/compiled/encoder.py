"""The forward pass of a quantized network, compiled: what its ``model.onnx`` computes, with fewer steps.

Sequences need no padding, what follows a product is computed while its sums are in registers, and of the second layer
of a feed-forward network, whose inputs are mostly 0 after the ReLU, only the rows of other inputs are added up.
Attention multiplies whole numbers of 16 bits, scaled by the largest value of the head in the sequence.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from agents.bert.checkpoint import N_OUTPUTS
from agents.bert.compiled.products import (
    BLOCK,
    add_linear,
    add_projection,
    average_shorts,
    linear,
    linear_relu,
    multiply_shorts,
    project,
    project_to_bytes,
)
from agents.bert.compiled.rows import (
    add_rows,
    add_sparse,
    attend_once,
    copy_row,
    largest_values,
    normalize,
    normalize_to_bytes,
    pack_keys,
    pack_values,
    round_to_shorts,
    softmax_to_shorts,
)
from agents.bert.compiled.vectors import LANES
from agents.bert.compiled.weights import ALIGNMENT, NETWORK, Network
from engine.compiling import inner, kernel

AT_ONCE = 4  # sequences
SPARE = 16  # rows of memory beyond those used: some functions write more
LARGEST_SUM = 2**31 - 1
ONE = np.float32(32767)  # 1.0 as an attention weight, and the largest value
LOG2_E = np.float32(np.log2(np.e))
TINY = np.float32(1e-30)


class Memory(NamedTuple):
    """Addresses of memory for AT_ONCE sequences of T tokens together, of at most L tokens; for W and I see Network."""

    x: int  # float32[T, W]: the activations
    numbers: int  # uint8[T, W]: the same, or the output of attention, quantized
    projected: int  # float32[T, 3 * W]: queries, keys and values
    hidden: int  # uint8[T, I]
    found: int  # int64[I / 4]
    shorts: int  # int16[L, 3 * W]: `projected` of one sequence
    keys: int  # int16[L / 16, W / 2, 16, 2]
    values: int  # int16[W / 16, L / 2, 16, 2]
    scores: int  # int32[L, L]
    weights: int  # int16[L, L]
    exponentials: int  # float32[L]
    cls: int  # float32[AT_ONCE, W]: the first token of each sequence in the last layer, as the following ones
    queries: int  # float32[AT_ONCE, heads * W]
    contexts: int  # float32[AT_ONCE, heads * W]
    inner: int  # float32[AT_ONCE, I]
    outputs: int  # float32[AT_ONCE, 64]
    end: int


@inner
def after(address: int, size: int) -> int:
    """The first multiple of ALIGNMENT after `size` bytes at an address."""
    return (address + size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


@inner
def lay_out(start: int, network: Network, longest: int) -> Memory:
    """Divide memory from `start` on; `longest` is L, a multiple of LANES."""
    width, inner_size = network.tokens.shape[1], 4 * network.inner_rows.shape[1]
    wide = np.int64(network.n_heads) * width
    tokens, rows, firsts = AT_ONCE * longest + SPARE, longest + SPARE, AT_ONCE + SPARE
    x = after(start, 0)
    numbers = after(x, tokens * width * 4)
    projected = after(numbers, tokens * width)
    hidden = after(projected, tokens * 3 * width * 4)
    found = after(hidden, tokens * inner_size)
    shorts = after(found, inner_size // 4 * 8)
    keys = after(shorts, rows * 3 * width * 2)
    values = after(keys, longest * width * 2)
    scores = after(values, longest * width * 2)
    weights = after(scores, rows * longest * 4)
    exponentials = after(weights, rows * longest * 2)
    cls = after(exponentials, longest * 4)
    queries = after(cls, firsts * width * 4)
    contexts = after(queries, firsts * wide * 4)
    last_inner = after(contexts, firsts * wide * 4)
    outputs = after(last_inner, firsts * inner_size * 4)
    end = after(outputs, firsts * network.heads.shape[0] * LANES * 4)
    return Memory(
        x, numbers, projected, hidden, found, shorts, keys, values, scores, weights, exponentials, cls, queries,
        contexts, last_inner, outputs, end,
    )  # fmt: skip


@inner
def first(array: np.ndarray) -> int:
    """The address of the first element."""
    return np.int64(array.ctypes.data)


@inner
def embed(tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, network: Network, x: int, isa: int) -> int:
    """Write the sums of the embeddings of all tokens; returns their number."""
    width = network.tokens.shape[1]
    size = width * 4
    words, positions = first(network.tokens), first(network.positions)
    row = 0
    for n in range(len(lengths)):
        for i in range(lengths[n]):
            position = max(i - n_state[n] + 1, 0)
            add_rows(words + np.int64(tokens[n, i]) * size, positions + position * size, width, x + row * size, isa)
            row += 1
    return row


@inner
def attend(
    start: int, rows: int, longest: int, network: Network, layer: int, m: Memory, factors: np.ndarray, isa: int
) -> None:
    """Attention of all heads in one sequence, `rows` rows from `start` on: `projected` -> `numbers`."""
    width, heads = network.tokens.shape[1], np.int64(network.n_heads)
    size = width // heads
    step = 3 * width * 2  # of `shorts`
    projected = m.projected + start * 3 * width * 4
    largest_values(projected, rows, 3 * width * 4, 3 * heads, size, first(factors), isa)
    limit = np.float32(np.int64(np.sqrt(np.float64(LARGEST_SUM // size))))  # of queries and keys
    for part in range(3 * heads - 1, -1, -1):
        factor = (limit if part < 2 * heads else ONE) / max(factors[part], TINY)
        for k in range(part * size, (part + 1) * size):
            factors[k] = factor
    round_to_shorts(projected, rows, 3 * width, first(factors), m.shorts, isa)
    pack_keys(m.shorts + width * 2, step, rows, width, m.keys, isa)
    values_step = longest // 2 * BLOCK
    pack_values(m.shorts + 2 * width * 2, step, rows, width, m.values, values_step, isa)
    for k in range(width):
        factors[2 * width + k] = network.input_scales[layer, 1, k] / (factors[2 * width + k] * ONE)
    zeros = first(network.zero_points[layer, 1])
    blocks = (rows + LANES - 1) // LANES
    for head in range(heads):
        column = head * size
        multiply_shorts(
            m.shorts + column * 2, step, m.keys + column // 2 * BLOCK, width // 2 * BLOCK, m.scores, longest * 4, rows,
            blocks, size // 2, isa,
        )  # fmt: skip
        unit = network.constants[0] * LOG2_E / (factors[column] * factors[width + column])
        softmax_to_shorts(m.scores, longest * 4, rows, rows, unit, ONE, m.exponentials, m.weights, longest * 2, isa)
        average_shorts(
            m.weights, longest * 2, m.values + column // LANES * values_step, values_step,
            m.numbers + start * width + column, width, rows, size // LANES, (rows + 1) // 2,
            first(factors) + (2 * width + column) * 4, zeros + column * 4, isa,
        )  # fmt: skip


@inner
def last_layer(lengths: np.ndarray, network: Network, m: Memory, out: np.ndarray, isa: int) -> None:
    """The last layer, for the first token of each sequence, and the heads."""
    n, width, heads = len(lengths), network.tokens.shape[1], np.int64(network.n_heads)
    size, wide, inner_size = width * 4, heads * width, network.second.shape[1]
    bias = first(network.last_biases)
    start = 0
    for i in range(n):
        copy_row(m.x + start * size, width, m.cls + i * size, isa)
        start += lengths[i]
    linear(m.cls, size, first(network.queries), width * BLOCK, m.queries, wide * 4, n, wide // LANES, width, bias, isa)
    bias += wide * 4
    start = 0
    for i in range(n):
        for head in range(heads):
            at = (i * wide + head * width) * 4
            attend_once(
                m.x + start * size, lengths[i], width, m.queries + at, LOG2_E, m.exponentials, m.contexts + at, isa
            )
        start += lengths[i]
    add_linear(
        m.contexts, wide * 4, first(network.outputs), wide * BLOCK, m.cls, size, n, width // LANES, wide, bias, isa
    )
    bias += size
    norm, epsilon = first(network.norms[len(network.norms) - 2]), network.constants[1]
    normalize(m.cls, n, width, norm, norm + size, epsilon, isa)
    norm += 2 * size
    linear_relu(
        m.cls,
        size,
        first(network.first),
        width * BLOCK,
        m.inner,
        inner_size * 4,
        n,
        inner_size // LANES,
        width,
        bias,
        isa,
    )
    bias += inner_size * 4
    add_linear(
        m.inner, inner_size * 4, first(network.second), inner_size * BLOCK, m.cls, size, n, width // LANES, inner_size,
        bias, isa,
    )  # fmt: skip
    bias += size
    normalize(m.cls, n, width, norm, norm + size, epsilon, isa)
    blocks = len(network.heads)
    linear(m.cls, size, first(network.heads), width * BLOCK, m.outputs, blocks * BLOCK, n, blocks, width, bias, isa)
    for i in range(n):
        copy_row(m.outputs + i * blocks * BLOCK, blocks * LANES, first(out[i]), isa)


@inner
def predict_some(
    tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, longest: int, network: Network, m: Memory,
    factors: np.ndarray, out: np.ndarray, isa: int,
) -> None:  # fmt: skip
    """The outputs of AT_ONCE sequences, or fewer."""
    width, inner_size, epsilon = network.tokens.shape[1], 4 * network.inner_rows.shape[1], network.constants[1]
    size, step = width * 4, width * LANES  # bytes of a row of float32, and of a block of a matrix
    norm, to_bytes, zeros = first(network.norms), first(network.input_scales), first(network.zero_points)
    rows = embed(tokens, lengths, n_state, network, m.x, isa)
    normalize_to_bytes(m.x, rows, width, norm, norm + size, epsilon, to_bytes, zeros, m.numbers, isa)
    layers = len(network.matrices)
    for layer in range(layers):
        matrix, scale, bias = first(network.matrices[layer]), first(network.scales[layer]), first(network.biases[layer])
        project(
            m.numbers, width, matrix, step, m.projected, 3 * size, rows, 3 * width // LANES, width // 4, scale,
            bias, isa,
        )  # fmt: skip
        start = 0
        for n in range(len(lengths)):
            attend(start, lengths[n], longest, network, layer, m, factors, isa)
            start += lengths[n]
        matrix += 3 * width // LANES * step
        scale += 3 * size
        bias += 3 * size
        add_projection(m.numbers, width, matrix, step, m.x, size, rows, width // LANES, width // 4, scale, bias, isa)
        norm += 2 * size
        normalize_to_bytes(
            m.x, rows, width, norm, norm + size, epsilon, to_bytes + 2 * size, zeros + 2 * size, m.numbers, isa
        )
        matrix += width // LANES * step
        scale += size
        bias += size
        project_to_bytes(
            m.numbers, width, matrix, step, m.hidden, inner_size, rows, inner_size // LANES, width // 4, scale,
            bias, isa,
        )  # fmt: skip
        scale = first(network.inner_scales[layer])
        add_sparse(
            m.hidden, rows, inner_size, first(network.inner_rows[layer]), width, scale, scale + size, m.found, m.x, isa
        )
        norm += 2 * size
        to_bytes += 3 * size
        zeros += 3 * size
        if layer < layers - 1:
            normalize_to_bytes(m.x, rows, width, norm, norm + size, epsilon, to_bytes, zeros, m.numbers, isa)
        else:
            normalize(m.x, rows, width, norm, norm + size, epsilon, isa)
    last_layer(lengths, network, m, out, isa)


@kernel((numba.uint16[:, ::1], numba.int64[::1], numba.int64[::1], NETWORK, numba.float32[:, ::1], numba.int64))
def _predict_all(
    tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, network: Network, out: np.ndarray, isa: int
) -> None:
    longest = np.int64(LANES)
    for length in lengths:
        longest = max(longest, length)
    longest = (longest + LANES - 1) // LANES * LANES
    memory = np.empty(lay_out(0, network, longest).end + ALIGNMENT, dtype=np.uint8)
    factors = np.empty(3 * network.tokens.shape[1], dtype=np.float32)
    for i in range(0, len(lengths), AT_ONCE):
        k = min(i + AT_ONCE, len(lengths))
        m = lay_out(first(memory), network, longest)
        predict_some(tokens[i:k], lengths[i:k], n_state[i:k], longest, network, m, factors, out[i:k], isa)
    out[:0] = memory[0]  # until here the memory is in use, which its address does not tell


def predict(network: Network, isa: int, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> np.ndarray:
    """The outputs of `network`, float32[n, N_OUTPUTS], for n sequences as in `agents.bert.encoding.Encoded`.

    `isa` is the number of one of `agents.bert.compiled.vectors.INSTRUCTION_SETS` that this processor has.
    """
    tokens = np.ascontiguousarray(input_ids, dtype=np.uint16)
    outputs = np.empty((len(tokens), len(network.heads) * LANES), dtype=np.float32)
    _predict_all(tokens, lengths, n_state, network, outputs, isa)
    return outputs[:, :N_OUTPUTS]
