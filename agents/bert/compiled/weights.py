"""The weights of a quantized network as the kernels read them, from its ``model.onnx``."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numba
import numpy as np

from agents.bert.checkpoint import N_OUTPUTS
from agents.bert.compiled.onnx_file import Graph, Node, read_graph
from agents.bert.compiled.rows import MASK
from agents.bert.compiled.vectors import LANES
from agents.bert.encoding import N_POSITION_IDS
from agents.bert.vocabulary import N_TOKENS

ALIGNMENT = 64  # bytes: a vector of the largest size then lies in one line of a cache
N_QUANTIZED = 6  # linear layers of a quantized layer: query, key, value, output, and two of the feed-forward network
LAST_GEMMS = 5  # of the last layer: see `agents.bert.export.graph`; the heads are the fifth


class Network(NamedTuple):
    """The arrays that `agents.bert.compiled.encoder` reads. W is the width, I that of the feed-forward layers.

    There are n quantized layers. I is a multiple of 256 in them, with units that are always 0. Their linear layers with W inputs are one matrix of C = 4 * W + I columns: query, key,
    value, output and the first of the feed-forward network. The second of those has rows for its inputs, as most inputs
    are 0. Matrices are packed as `agents.bert.compiled.products` needs them.
    """

    tokens: np.ndarray  # float32[N_TOKENS, W]: embeddings, those of the token type included
    positions: np.ndarray  # float32[positions, W]
    norms: np.ndarray  # float32[1 + 2 * (n + 1), 2, W]: gain and bias of each LayerNorm
    input_scales: np.ndarray  # float32[n, 3, W]: quantized = scale * value, of query, output and feed-forward network
    zero_points: np.ndarray  # float32[n, 3, W]
    matrices: np.ndarray  # int8[n, C / 16, W / 4, 16, 4]
    scales: np.ndarray  # float32[n, C]
    biases: np.ndarray  # float32[n, C]
    inner_rows: np.ndarray  # int8[n, I / 4, W, 4]
    inner_scales: np.ndarray  # float32[n, 2, W]: scale and bias
    queries: np.ndarray  # float32[heads * W / 16, W, 16], of the last layer
    outputs: np.ndarray  # float32[W / 16, heads * W, 16]
    first: np.ndarray  # float32[I / 16, W, 16]
    second: np.ndarray  # float32[W / 16, I, 16]
    heads: np.ndarray  # float32[4, W, 16]
    last_biases: np.ndarray  # float32[heads * W + W + I + W + 64], of these five
    constants: np.ndarray  # float32[2]: scale of attention scores, epsilon of the norms
    n_heads: int


def arrays(*of: tuple[type, int]) -> list[numba.types.Type]:
    """The types of arrays, each given by the type of its elements and its number of axes."""
    return [numba.types.Array(numba.from_dtype(np.dtype(dtype)), axes, "C") for dtype, axes in of]


F = np.float32
NETWORK = numba.types.NamedTuple(  # the type of Network in compiled functions
    [
        *arrays((F, 2), (F, 2), (F, 3), (F, 3), (F, 3), (np.int8, 5), (F, 2), (F, 2), (np.int8, 4), (F, 3)),
        *arrays((F, 3), (F, 3), (F, 3), (F, 3), (F, 3), (F, 1), (F, 1)),
        numba.int64,
    ],
    Network,
)


def empty_aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array, not initialized, at an address that is a multiple of ALIGNMENT."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    buffer = np.empty(size + ALIGNMENT, dtype=np.uint8)
    first = -buffer.ctypes.data % ALIGNMENT
    return buffer[first : first + size].view(dtype).reshape(shape)


def aligned(array: np.ndarray) -> np.ndarray:
    """A copy of `array` at such an address."""
    copy = empty_aligned(array.shape, array.dtype)
    copy[...] = array
    return copy


def packed(matrix: np.ndarray, group: int) -> np.ndarray:
    """A matrix [in, out] as [out / LANES, in / group, LANES, group]; columns are added up to a multiple of LANES."""
    matrix = np.pad(matrix, ((0, 0), (0, -matrix.shape[1] % LANES)))
    n_in, n_out = matrix.shape
    return np.ascontiguousarray(
        matrix.reshape(n_in // group, group, n_out // LANES, LANES).transpose(2, 0, 3, 1)
    )


def read_network(model: bytes) -> Network | None:
    """The weights in a ``model.onnx``; None if it is no quantized network, or one that the kernels cannot run."""
    try:
        return _network(read_graph(model))
    except (ValueError, KeyError, IndexError):
        return None


def _network(graph: Graph) -> Network:
    """The weights of a graph. Raises ValueError, KeyError or IndexError if it is not as `export` makes it."""
    of_type = graph.by_type
    tokens, positions = (graph.tensor(node.inputs[0]) for node in of_type("Gather")[:2])
    norms = of_type("LayerNormalization")
    n, width = (len(norms) - 3) // 2, tokens.shape[1]
    gemms, linear, rounding = of_type("Gemm"), of_type("MatMulIntegerToFloat"), of_type("QuantizeLinear")
    require(len(gemms) == LAST_GEMMS and len(linear) == N_QUANTIZED * n and len(rounding) == 4 * n and n > 0)
    require(len(of_type("Relu")) == 1 and not of_type("Gelu"))
    last = [graph.tensor(node.inputs[1]) for node in gemms]
    n_heads, inner = last[0].shape[1] // width, last[2].shape[1]
    shapes = [(width, n_heads * width), (n_heads * width, width), (width, inner), (inner, width), (width, N_OUTPUTS)]
    require([each.shape for each in last] == shapes and tokens.shape[0] == N_TOKENS)
    require(positions.shape[0] >= N_POSITION_IDS and positions.shape[1] == width)
    require(width % n_heads == 0 and (width // n_heads) % LANES == 0 and width % (2 * LANES) == 0 and inner % LANES == 0)
    layers = [_layer(graph, linear[6 * i : 6 * i + 6], rounding[4 * i : 4 * i + 4]) for i in range(n)]
    stacked = {name: np.stack([layer[name] for layer in layers]) for name in layers[0]}
    score_scale = graph.tensor(next(node for node in of_type("Mul") if graph.is_scalar(node.inputs[1])).inputs[1])
    biases = [graph.tensor(node.inputs[2]) for node in gemms]
    biases[-1] = np.pad(biases[-1], (0, -N_OUTPUTS % LANES))
    padded = -(-inner // (4 * MASK)) * 4 * MASK
    arrays: dict[str, Any] = stacked | {
        "tokens": tokens,
        "positions": positions,
        "norms": np.stack([np.stack([graph.tensor(name) for name in node.inputs[1:3]]) for node in norms]),
        **{
            name: packed(matrix, 1)[..., 0]
            for name, matrix in zip(("queries", "outputs", "first", "second", "heads"), last, strict=True)
        },
        "last_biases": np.concatenate(biases),
        "constants": np.array([score_scale, norms[0].floats["epsilon"]], dtype=np.float32),
    }
    require(arrays["norms"].shape == (2 * n + 3, 2, width) and arrays["inner_rows"].shape[1:] == (padded // 4, width, 4))
    require(arrays["matrices"].shape == (n, (4 * width + padded) // LANES, width // 4, LANES, 4))
    return Network(**{name: aligned(array) for name, array in arrays.items()}, n_heads=n_heads)


def require(holds: bool) -> None:
    """Raise ValueError unless `holds`."""
    if not holds:
        raise ValueError("not the graph of a quantized network that the kernels can run")


def _layer(graph: Graph, linear: list[Node], rounding: list[Node]) -> dict[str, np.ndarray]:
    """The arrays of a quantized layer; names as in Network."""
    query, key, value, output, first, second = linear
    require(query.inputs[0] == key.inputs[0] == value.inputs[0])
    by_output = {node.outputs[0]: node for node in (*graph.by_type("Mul"), *rounding)}
    scales, zero_points = [], []
    for node in (query, output, first):
        quantize = by_output[node.inputs[0]]
        scales.append(graph.tensor(by_output[quantize.inputs[0]].inputs[1]))
        zero_points.append(float(graph.tensor(quantize.inputs[2])))
    require(graph.tensor(by_output[second.inputs[0]].inputs[2]) == 0)
    matrices = [graph.tensor(node.inputs[1]) for node in (query, key, value, output, first)]
    zeros = np.repeat([zero_points[0]] * 3 + zero_points[1:], [matrix.shape[1] for matrix in matrices])
    matrix = np.concatenate(matrices, axis=1)
    scale, bias = (
        np.concatenate([graph.tensor(node.inputs[i]) for node in (query, key, value, output, first)]) for i in (3, 6)
    )
    spare = -len(graph.tensor(second.inputs[1])) % (4 * MASK)  # units that are always 0
    matrix, scale, bias, zeros = (np.pad(each, [(0, 0)] * (each.ndim - 1) + [(0, spare)]) for each in (matrix, scale, bias, zeros))
    require(all(each.shape == (len(matrix),) for each in scales))
    return {
        "input_scales": np.stack(scales),
        "zero_points": np.repeat(np.array(zero_points, dtype=np.float32)[:, None], len(matrix), axis=1),
        "matrices": packed(matrix, 4),
        "scales": scale,
        "biases": (bias - zeros * matrix.sum(axis=0, dtype=np.int64) * scale.astype(np.float64)).astype(np.float32),
        "inner_rows": np.pad(graph.tensor(second.inputs[1]), ((0, spare), (0, 0)))
        .reshape(-1, 4, len(matrix))
        .transpose(0, 2, 1),
        "inner_scales": np.stack([graph.tensor(second.inputs[3]), graph.tensor(second.inputs[6])]),
    }
