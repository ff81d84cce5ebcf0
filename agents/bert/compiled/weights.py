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
LARGEST_WEIGHT = 64  # of AVX2's products: see `agents.bert.export.quantization.WEIGHT_LEVELS`
LAST_GEMMS = 5  # of the last layer: see `agents.bert.export.graph`; the heads are the fifth


class Network(NamedTuple):
    """The arrays that `agents.bert.compiled.encoder` reads. W is the width, I that of the feed-forward layers.

    There are n quantized layers with W inputs and I hidden units; I is a multiple of 256, with units that are always 0.
    Their linear layers with W inputs are one matrix of C = 4 * W + I columns: query, key, value, output and the first
    of the feed-forward network. The second of those has rows for groups of inputs, as most inputs are 0. Matrices are
    packed as `agents.bert.compiled.products` needs them.
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
    return np.ascontiguousarray(matrix.reshape(n_in // group, group, n_out // LANES, LANES).transpose(2, 0, 3, 1))


def read_network(model: bytes) -> Network | None:
    """The weights in a ``model.onnx``; None if it is no quantized network, or one that the kernels cannot run."""
    try:
        network = _network(read_graph(model))
    except (ValueError, KeyError, IndexError, StopIteration):
        return None
    return network if numba.typeof(network) == NETWORK else None


def require(holds: bool) -> None:
    """Raise ValueError unless `holds`."""
    if not holds:
        raise ValueError("not the graph of a quantized network that the kernels can run")


def _network(graph: Graph) -> Network:
    """The weights of a graph.

    Raises ValueError, KeyError, IndexError or StopIteration if it is not as `agents.bert.export` makes it.
    """
    of_type, tensor = graph.by_type, graph.constants.__getitem__
    tokens, positions = (tensor(node.inputs[0]) for node in of_type("Gather")[:2])
    norms, gemms, linear = of_type("LayerNormalization"), of_type("Gemm"), of_type("MatMulIntegerToFloat")
    n, width = (len(norms) - 3) // 2, tokens.shape[1]
    require(n > 0 and len(linear) == N_QUANTIZED * n and len(gemms) == LAST_GEMMS)
    require(len(of_type("Relu")) == 1 and not of_type("Gelu"))
    last = [tensor(node.inputs[1]) for node in gemms]
    n_heads, inner = last[0].shape[1] // width, last[2].shape[1]
    shapes = [(width, n_heads * width), (n_heads * width, width), (width, inner), (inner, width), (width, N_OUTPUTS)]
    require([each.shape for each in last] == shapes and tokens.shape[0] == N_TOKENS)
    require(positions.shape[0] >= N_POSITION_IDS and positions.shape[1] == width)
    require(width % n_heads == 0 and (width // n_heads) % LANES == 0)
    require(width % (2 * LANES) == 0 and inner % LANES == 0)
    layers = [_layer(graph, linear[i : i + N_QUANTIZED], width, inner) for i in range(0, len(linear), N_QUANTIZED)]
    scale = next(node.inputs[1] for node in of_type("Mul") if graph.is_scalar(node.inputs[1]))  # of attention scores
    biases = np.concatenate([tensor(node.inputs[2]) for node in gemms])
    arrays = {name: np.stack([layer[name] for layer in layers]) for name in layers[0]} | {
        "tokens": tokens,
        "positions": positions,
        "norms": np.stack([np.stack([tensor(name) for name in node.inputs[1:3]]) for node in norms]),
        "last_biases": np.pad(biases, (0, -N_OUTPUTS % LANES)),
        "constants": np.array([tensor(scale), norms[0].floats["epsilon"]], dtype=np.float32),
    }
    for name, matrix in zip(("queries", "outputs", "first", "second", "heads"), last, strict=True):
        arrays[name] = packed(matrix, 1)[..., 0]
    require(arrays["norms"].shape == (2 * n + 3, 2, width) and len(biases) == sum(shape[1] for shape in shapes))
    return Network(**{name: aligned(array) for name, array in arrays.items()}, n_heads=n_heads)


def _layer(graph: Graph, linear: list[Node], width: int, inner: int) -> dict[str, np.ndarray]:
    """The arrays of a quantized layer, from its linear layers; names as in Network."""
    tensor = graph.constants.__getitem__
    by_output = {node.outputs[0]: node for node in (*graph.by_type("Mul"), *graph.by_type("QuantizeLinear"))}
    query, key, value, output, first, second = linear
    require(query.inputs[0] == key.inputs[0] == value.inputs[0])
    inputs = [by_output[node.inputs[0]] for node in (query, output, first)]
    input_scales = np.stack([tensor(by_output[node.inputs[0]].inputs[1]) for node in inputs])
    zero_points = np.array([tensor(node.inputs[2]) for node in inputs], dtype=np.float32)
    require(tensor(by_output[second.inputs[0]].inputs[2]) == 0)  # so that most inputs are 0
    matrices, scales, biases = (
        [tensor(node.inputs[i]) for node in (query, key, value, output, first)] for i in (1, 3, 6)
    )
    require([each.shape for each in matrices] == [(width, width)] * 4 + [(width, inner)])
    spare = -inner % (4 * MASK)  # units that are always 0
    matrix, scale, bias, of_columns = (
        np.pad(np.concatenate(arrays, axis=-1), [(0, 0)] * (arrays[0].ndim - 1) + [(0, spare)])
        for arrays in (matrices, scales, biases, [np.repeat(zero_points, (3 * width, width, inner))])
    )
    outer = np.pad(tensor(second.inputs[1]), ((0, spare), (0, 0)))
    require(input_scales.shape == (3, width) and scale.shape == bias.shape == (matrix.shape[1],))
    require(outer.shape == (inner + spare, width))
    inner_scales = np.stack([tensor(second.inputs[i]) for i in (3, 6)])
    require(inner_scales.shape == (2, width))
    require(max(np.abs(each.astype(np.int64)).max() for each in (matrix, outer)) <= LARGEST_WEIGHT)
    return {
        "input_scales": input_scales,
        "zero_points": np.repeat(zero_points[:, None], width, axis=1),
        "matrices": packed(matrix, 4),
        "scales": scale,
        "biases": (bias - of_columns * matrix.sum(axis=0, dtype=np.int64) * scale.astype(np.float64)).astype(F),
        "inner_rows": outer.reshape(-1, 4, width).transpose(0, 2, 1),
        "inner_scales": inner_scales,
    }
