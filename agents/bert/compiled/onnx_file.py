"""Reads nodes and constants from an ONNX file, without the package onnx, which is only needed to write one.

The format is that of Protocol Buffers (https://protobuf.dev/programming-guides/encoding/); the numbers of the fields
are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
GRAPH = 7  # of ModelProto
NODES, CONSTANTS = 1, 5  # of GraphProto
INPUTS, OUTPUTS, OPERATOR, ATTRIBUTES = 1, 2, 4, 5  # of NodeProto
ATTRIBUTE_NAME, ATTRIBUTE_FLOAT = 1, 2  # of AttributeProto
SHAPE, DTYPE, TENSOR_NAME, CONTENTS = 1, 2, 8, 9  # of TensorProto
DTYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 7: np.int64}


class Node(NamedTuple):
    """An operator of a graph."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    floats: dict[str, float]  # its attributes that are floats


class Graph(NamedTuple):
    """The nodes of a graph in order, and its constants."""

    nodes: list[Node]
    constants: dict[str, np.ndarray]

    def by_type(self, operator: str) -> list[Node]:
        """The nodes with this operator."""
        return [node for node in self.nodes if node.operator == operator]

    def is_scalar(self, name: str) -> bool:
        """Whether `name` is a constant without axes."""
        return name in self.constants and self.constants[name].shape == ()


def read_graph(model: bytes) -> Graph:
    """The graph of a serialized ONNX model. Raises ValueError if it cannot be read."""
    try:
        graph = next(value for number, value in _fields(memoryview(model)) if number == GRAPH)
        fields = list(_fields(graph))
        nodes = [_node(value) for number, value in fields if number == NODES]
        return Graph(nodes, dict(_tensor(value) for number, value in fields if number == CONSTANTS))
    except (StopIteration, IndexError, KeyError, TypeError, struct.error) as error:
        raise ValueError(f"not an ONNX model that can be read ({error!r})") from None


def _fields(message: memoryview) -> Iterator[tuple[int, Any]]:
    """Number and value of each field of a message, an int or a memoryview. Raises IndexError or ValueError: damaged."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        number, wire = tag >> 3, tag & 7
        if wire == VARINT:
            value, at = _varint(message, at)
            yield number, value
            continue
        if wire == BYTES:
            size, at = _varint(message, at)
        elif wire in (FIXED32, FIXED64):
            size = 4 if wire == FIXED32 else 8
        else:
            raise ValueError(f"wire type {wire}")
        yield number, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """The number at `at` and the index after it."""
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def _node(message: memoryview) -> Node:
    fields = list(_fields(message))
    texts = {wanted: tuple(str(value, "utf-8") for number, value in fields if number == wanted) for wanted in (1, 2, 4)}
    floats = {}
    for number, value in fields:
        if number == ATTRIBUTES:
            attribute = dict(_fields(value))
            if ATTRIBUTE_FLOAT in attribute:
                floats[str(attribute[ATTRIBUTE_NAME], "utf-8")] = struct.unpack("<f", attribute[ATTRIBUTE_FLOAT])[0]
    return Node(texts[OPERATOR][0], texts[INPUTS], texts[OUTPUTS], floats)


def _tensor(message: memoryview) -> tuple[str, np.ndarray]:
    fields = list(_fields(message))
    single = dict(fields)
    shape: list[int] = []
    for number, value in fields:
        if number == SHAPE:
            shape += [value] if isinstance(value, int) else _varints(value)
    array = np.frombuffer(single.get(CONTENTS, b""), dtype=DTYPES[single[DTYPE]])
    return str(single[TENSOR_NAME], "utf-8"), array.reshape(shape)


def _varints(message: memoryview) -> list[int]:
    """The numbers of a packed field."""
    numbers, at = [], 0
    while at < len(message):
        number, at = _varint(message, at)
        numbers.append(number)
    return numbers
