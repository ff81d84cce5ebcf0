"""The forward pass of a quantized network, compiled: what its ``model.onnx`` computes, with fewer steps.

Sequences need no padding, what follows a product is computed while its sums are in registers, and of the second layer of
a feed-forward network, whose inputs are mostly 0 after the ReLU, only the rows of other inputs are added up. Attention
multiplies whole numbers of 16 bits, scaled by the largest value of the head in the sequence.
"""

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from agents.bert.checkpoint import N_OUTPUTS
from agents.bert.compiled.products import (
    BLOCK,
    ROWS,
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
    largest_values,
    normalize,
    normalize_to_bytes,
    pack_keys,
    pack_values,
    round_to_shorts,
    softmax_to_shorts,
)
from agents.bert.compiled.vectors import LANES, instruction_set
from agents.bert.compiled.weights import Network, empty_aligned
from engine.compiling import inner, kernel

SPARE = 16  # rows of arrays beyond those used: functions compute some more
AT_ONCE = 4  # sequences
LARGEST_SUM = 2**31 - 1
ONE = np.float32(32767)  # 1.0 as an attention weight, and the largest value
LOG2_E = np.float32(np.log2(np.e))


class Scratch(NamedTuple):
    """Memory for AT_ONCE sequences of T tokens together, the longest of L tokens; for W and I see Network."""

    x: np.ndarray  # float32[T, W]: the activations
    bytes: np.ndarray  # uint8[T, W]: the same, or the output of attention, quantized
    projected: np.ndarray  # float32[T, 3 * W]: queries, keys and values
    hidden: np.ndarray  # uint8[T, I]
    found: np.ndarray  # int64[I]
    largest: np.ndarray  # float32[3 * heads], of one sequence, as the following ones
    factors: np.ndarray  # float32[3 * W]
    shorts: np.ndarray  # int16[L, 3 * W]: `projected`
    keys: np.ndarray  # int16[L / 16, W / 2, 16, 2]
    values: np.ndarray  # int16[W / 16, L / 2, 16, 2]
    scores: np.ndarray  # int32[L, L]
    weights: np.ndarray  # int16[L, L]
    exponentials: np.ndarray  # float32[L]
    cls: np.ndarray  # float32[AT_ONCE, W]: the first token of each sequence in the last layer, as the following ones
    queries: np.ndarray  # float32[AT_ONCE, heads * W]
    contexts: np.ndarray  # float32[AT_ONCE, heads * W]
    inner: np.ndarray  # float32[AT_ONCE, I]
    outputs: np.ndarray  # float32[AT_ONCE, 64]


def make_scratch(network: Network, lengths: np.ndarray) -> Scratch:
    """Memory for sequences of these `lengths`."""
    width, inner_size, heads = network.tokens.shape[1], network.inner_rows.shape[1], network.n_heads
    longest = -(-int(lengths.max(initial=1)) // LANES) * LANES
    tokens = min(len(lengths), AT_ONCE) * longest + SPARE
    sequences = AT_ONCE + SPARE
    return Scratch(
        empty_aligned((tokens, width), np.float32),
        empty_aligned((tokens, width), np.uint8),
        empty_aligned((tokens, 3 * width), np.float32),
        empty_aligned((tokens, inner_size), np.uint8),
        empty_aligned((inner_size,), np.int64),
        empty_aligned((3 * heads,), np.float32),
        empty_aligned((3 * width,), np.float32),
        empty_aligned((longest + SPARE, 3 * width), np.int16),
        empty_aligned((longest // LANES, width // 2, LANES, 2), np.int16),
        empty_aligned((width // LANES, longest // 2, LANES, 2), np.int16),
        empty_aligned((longest + SPARE, longest), np.int32),
        empty_aligned((longest + SPARE, longest), np.int16),
        empty_aligned((longest,), np.float32),
        empty_aligned((sequences, width), np.float32),
        empty_aligned((sequences, heads * width), np.float32),
        empty_aligned((sequences, heads * width), np.float32),
        empty_aligned((sequences, inner_size), np.float32),
        empty_aligned((sequences, network.heads.shape[0] * LANES), np.float32),
    )


@inner
def address(array: np.ndarray) -> int:
    """The address of the first element."""
    return np.int64(array.ctypes.data)


@inner
def embed(tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, network: Network, x: np.ndarray, isa: int) -> int:
    """Write the sums of the embeddings of all tokens; returns their number."""
    width = x.shape[1]
    words, positions, out = address(network.tokens), address(network.positions), address(x)
    row = 0
    for n in range(len(lengths)):
        for i in range(lengths[n]):
            position = max(i - n_state[n] + 1, 0)
            add_rows(
                words + np.int64(tokens[n, i]) * width * 4, positions + position * width * 4, width,
                out + row * width * 4, isa,
            )  # fmt: skip
            row += 1
    return row


@inner
def attend(start: int, rows: int, network: Network, layer: int, s: Scratch, isa: int) -> None:
    """Attention of all heads in one sequence, `rows` rows from `start` on: `projected` -> `bytes`."""
    width, heads = s.x.shape[1], np.int64(network.n_heads)
    size = width // heads
    step = 3 * width * 2  # of `shorts`
    projected = address(s.projected) + start * 3 * width * 4
    largest_values(projected, rows, 3 * width * 4, 3 * heads, size, address(s.largest), isa)
    limit = np.float32(np.int64(np.sqrt(np.float64(LARGEST_SUM // size))))  # of queries and keys
    for part in range(3 * heads):
        factor = (limit if part < 2 * heads else ONE) / max(s.largest[part], np.float32(1e-30))
        for k in range(part * size, (part + 1) * size):
            s.factors[k] = factor
    shorts, keys, values = address(s.shorts), address(s.keys), address(s.values)
    round_to_shorts(projected, rows, 3 * width, address(s.factors), shorts, isa)
    pack_keys(shorts + width * 2, step, rows, width, keys, isa)
    values_step = s.values.shape[1] * BLOCK
    pack_values(shorts + 2 * width * 2, step, rows, width, values, values_step, isa)
    for k in range(2 * width, 3 * width):
        s.factors[k] = network.input_scales[layer, 1, k - 2 * width] / (s.factors[k] * ONE)
    scores, weights, columns = address(s.scores), address(s.weights), s.scores.shape[1]
    blocks = (rows + LANES - 1) // LANES
    for head in range(heads):
        column = head * size
        multiply_shorts(
            shorts + column * 2, step, keys + column // 2 * BLOCK, width // 2 * BLOCK, scores, columns * 4, rows, blocks,
            size // 2, isa,
        )  # fmt: skip
        unit = network.constants[0] * LOG2_E / (s.factors[column] * s.factors[width + column])
        softmax_to_shorts(scores, columns * 4, rows, rows, unit, ONE, address(s.exponentials), weights, columns * 2, isa)
        average_shorts(
            weights, columns * 2, values + column // LANES * values_step, values_step,
            address(s.bytes) + start * width + column, width, rows, size // LANES, (rows + 1) // 2,
            address(s.factors) + (2 * width + column) * 4, address(network.zero_points[layer, 1]) + column * 4, isa,
        )  # fmt: skip


@inner
def last_layer(lengths: np.ndarray, network: Network, s: Scratch, out: np.ndarray, isa: int) -> None:
    """The last layer, for the first token of each sequence, and the heads."""
    n, width, inner_size = len(lengths), s.x.shape[1], s.inner.shape[1]
    heads = np.int64(network.n_heads)
    wide = heads * width
    x, cls, queries, contexts = address(s.x), address(s.cls), address(s.queries), address(s.contexts)
    start = 0
    for i in range(n):
        for k in range(width):
            s.cls[i, k] = s.x[start, k]
        start += lengths[i]
    bias = address(network.last_biases)
    linear(cls, width * 4, address(network.queries), width * BLOCK, queries, wide * 4, n, wide // LANES, width, bias, isa)
    start = 0
    for i in range(n):
        for head in range(heads):
            at = (i * wide + head * width) * 4
            attend_once(
                x + start * width * 4, lengths[i], width, queries + at, LOG2_E, address(s.exponentials), contexts + at, isa
            )
        start += lengths[i]
    bias += wide * 4
    add_linear(
        contexts, wide * 4, address(network.outputs), wide * BLOCK, cls, width * 4, n, width // LANES, wide, bias, isa
    )
    norm, epsilon = address(network.norms[len(network.norms) - 2]), network.constants[1]
    normalize(cls, n, width, norm, norm + width * 4, epsilon, isa)
    bias += width * 4
    linear_relu(
        cls, width * 4, address(network.first), width * BLOCK, address(s.inner), inner_size * 4, n, inner_size // LANES,
        width, bias, isa,
    )  # fmt: skip
    bias += inner_size * 4
    add_linear(
        address(s.inner), inner_size * 4, address(network.second), inner_size * BLOCK, cls, width * 4, n, width // LANES,
        inner_size, bias, isa,
    )  # fmt: skip
    norm += 2 * width * 4
    normalize(cls, n, width, norm, norm + width * 4, epsilon, isa)
    bias += width * 4
    blocks = network.heads.shape[0]
    linear(cls, width * 4, address(network.heads), width * BLOCK, address(s.outputs), blocks * BLOCK, n, blocks, width, bias, isa)
    for i in range(n):
        for k in range(N_OUTPUTS):
            out[i, k] = s.outputs[i, k]


@inner
def predict_some(
    tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, network: Network, s: Scratch, out: np.ndarray, isa: int
) -> None:
    """The outputs of AT_ONCE sequences, or fewer."""
    width, inner_size, epsilon = s.x.shape[1], s.hidden.shape[1], network.constants[1]
    x, numbers, hidden = address(s.x), address(s.bytes), address(s.hidden)
    step = width * LANES  # bytes of a block of 8 bits
    rows = embed(tokens, lengths, n_state, network, s.x, isa)
    norm = address(network.norms)
    quantizing, zeros = address(network.input_scales), address(network.zero_points)
    normalize_to_bytes(x, rows, width, norm, norm + width * 4, epsilon, quantizing, zeros, numbers, isa)
    layers = len(network.matrices)
    for layer in range(layers):
        matrix = address(network.matrices[layer])
        scale, bias = address(network.scales[layer]), address(network.biases[layer])
        project(
            numbers, width, matrix, step, address(s.projected), 3 * width * 4, rows, 3 * width // LANES, width // 4,
            scale, bias, isa,
        )  # fmt: skip
        start = 0
        for n in range(len(lengths)):
            attend(start, lengths[n], network, layer, s, isa)
            start += lengths[n]
        matrix += 3 * width // LANES * step
        scale += 3 * width * 4
        bias += 3 * width * 4
        add_projection(
            numbers, width, matrix, step, x, width * 4, rows, width // LANES, width // 4, scale, bias, isa
        )
        norm += 2 * width * 4
        normalize_to_bytes(
            x, rows, width, norm, norm + width * 4, epsilon, quantizing + 2 * width * 4, zeros + 2 * width * 4, numbers, isa
        )
        matrix += width // LANES * step
        scale += width * 4
        bias += width * 4
        project_to_bytes(
            numbers, width, matrix, step, hidden, inner_size, rows, inner_size // LANES, width // 4, scale, bias, isa
        )
        rows_of_inner, inner_scale = address(network.inner_rows[layer]), address(network.inner_scales[layer])
        add_sparse(
            hidden, rows, inner_size, rows_of_inner, width, inner_scale, inner_scale + width * 4, address(s.found), x, isa
        )
        norm += 2 * width * 4
        if layer < layers - 1:
            quantizing += 3 * width * 4
            zeros += 3 * width * 4
            normalize_to_bytes(x, rows, width, norm, norm + width * 4, epsilon, quantizing, zeros, numbers, isa)
        else:
            normalize(x, rows, width, norm, norm + width * 4, epsilon, isa)
    last_layer(lengths, network, s, out, isa)


def arrays(*of: tuple[type, int]) -> tuple[numba.types.Type, ...]:
    """The types of arrays, each given by the type of its elements and its number of axes."""
    return tuple(numba.types.Array(numba.from_dtype(np.dtype(dtype)), axes, "C") for dtype, axes in of)


F, U, B, S, I, L = np.float32, np.uint8, np.int8, np.int16, np.int32, np.int64
NETWORK = numba.types.NamedTuple(
    [
        *arrays(
            (F, 2), (F, 2), (F, 3), (F, 3), (F, 3), (B, 5), (F, 2), (F, 2), (B, 3), (F, 3), (F, 3), (F, 3), (F, 3),
            (F, 3), (F, 3), (F, 1), (F, 1),
        ),
        numba.int64,
    ],
    Network,
)  # fmt: skip
SCRATCH = numba.types.NamedTuple(
    arrays(
        (F, 2), (U, 2), (F, 2), (U, 2), (L, 1), (F, 1), (F, 1), (S, 2), (S, 4), (S, 4), (I, 2), (S, 2), (F, 1), (F, 2),
        (F, 2), (F, 2), (F, 2), (F, 2),
    ),
    Scratch,
)  # fmt: skip
TOKENS, LENGTHS, OUTPUTS = numba.uint16[:, ::1], numba.int64[::1], numba.float32[:, ::1]


@kernel((TOKENS, LENGTHS, LENGTHS, NETWORK, SCRATCH, OUTPUTS, numba.int64))
def _predict_all(
    tokens: np.ndarray, lengths: np.ndarray, n_state: np.ndarray, network: Network, s: Scratch, out: np.ndarray, isa: int
) -> None:
    for i in range(0, len(lengths), AT_ONCE):
        k = min(i + AT_ONCE, len(lengths))
        predict_some(tokens[i:k], lengths[i:k], n_state[i:k], network, s, out[i:k], isa)


def predict(network: Network, input_ids: np.ndarray, lengths: np.ndarray, n_state: np.ndarray) -> np.ndarray:
    """The outputs of `network`, float32[n, N_OUTPUTS], for n sequences as in `agents.bert.encoding.Encoded`."""
    outputs = np.empty((len(input_ids), N_OUTPUTS), dtype=np.float32)
    scratch = make_scratch(network, lengths)
    tokens = np.ascontiguousarray(input_ids, dtype=np.uint16)
    _predict_all(tokens, lengths, n_state, network, scratch, outputs, instruction_set())
    return outputs
