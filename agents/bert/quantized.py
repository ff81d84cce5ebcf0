"""The network with products of 8-bit whole numbers, of which a CPU does several in the time of one of float32.

The weights of a linear layer are rounded, and so is what goes into it: each input to one of 256 values, whose distance
follows from what the input is in typical positions. These distances are settled beforehand and the sums are exact, so
that a position's answer depends on nothing beside it. The last layer, of which only [CLS] is worked out, and the heads
are left as they are.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper

from agents.bert.folder import Network, layer_name
from agents.bert.graph import Builder, Value

CONTRIB = "com.microsoft"  # the operators that ONNX Runtime has beside the standard ones
LEVELS = 255  # steps from the least to the most of an input that is never negative
MIDDLE = 128  # stands for 0 where inputs have both signs
# Processors without VNNI add two products in 16 bits: 2 * 255 * 64 still fits.
WEIGHT_LEVELS = 64
MARGIN = 1.2  # an input may be so many times as large as it was in typical positions
LEAST = 1e-3  # and at least so large
TINY = 1e-12  # for weights that are all 0

Reach = dict[str, np.ndarray]  # by a linear layer's name float32[2, in]: the least and the most that each input was


class Watched(Builder):
    """Builds the network as it is, which also tells the least and the most of each input of what will be rounded."""

    def __init__(self, network: Network) -> None:
        super().__init__(network)
        self.told: dict[str, Value] = {}  # by a linear layer's name float32[2, in]

    def linear(self, x: Value, name: str) -> Value:
        """See `Builder.linear`."""
        if not name.startswith(layer_name(self.config.num_hidden_layers - 1)):
            ends = (self.graph.node(operator, x, np.array([0])) for operator in ("ReduceMin", "ReduceMax"))
            self.told[name] = self.graph.node("Concat", *ends, axis=0)
        return super().linear(x, name)

    def model(self) -> onnx.ModelProto:
        """See `Builder.model`; what is told comes out beside OUTPUT."""
        model = super().model()
        for value in self.told.values():
            model.graph.output.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, [2, None]))
        return model


class Quantized(Builder):
    """Builds the network with the linear layers of `reach` rounded."""

    def __init__(self, network: Network, reach: Reach) -> None:
        super().__init__(network)
        self.reach = reach
        self._rounded: dict[Value, tuple[Value, np.ndarray, np.uint8]] = {}  # what goes into more layers than one

    def linear(self, x: Value, name: str) -> Value:
        """See `Builder.linear`."""
        if name not in self.reach:
            return super().linear(x, name)
        if x not in self._rounded:
            self._rounded[x] = self.rounded(x, *self.reach[name])
        numbers, step, zero = self._rounded[x]
        weight = self.weight(name) * step[:, None]
        unit = np.maximum(np.abs(weight).max(axis=0), TINY) / np.float32(WEIGHT_LEVELS)
        whole = np.rint(weight / unit).astype(np.int8)
        none = np.zeros(len(unit), dtype=np.int8)
        scales = np.float32(1), unit, zero, none
        return self.graph.node("MatMulIntegerToFloat", numbers, whole, *scales, self.bias(name), domain=CONTRIB)

    def rounded(self, x: Value, low: np.ndarray, high: np.ndarray) -> tuple[Value, np.ndarray, np.uint8]:
        """`x` in whole numbers, uint8[n, in], with the size of a step of each, float32[in], and what stands for 0."""
        positive = (low >= 0).all()
        steps, zero = (LEVELS, np.uint8(0)) if positive else (LEVELS - MIDDLE, np.uint8(MIDDLE))
        step = np.maximum(np.maximum(-low, high) * np.float32(MARGIN), np.float32(LEAST)) / np.float32(steps)
        return self.graph.node("QuantizeLinear", self.graph.node("Mul", x, 1 / step), np.float32(1), zero), step, zero

    def model(self) -> onnx.ModelProto:
        """See `Builder.model`."""
        model = super().model()
        model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
        return model
