"""The network with products of 8-bit whole numbers, of which a CPU does several in the time of one of float32.

The weights of a linear layer are rounded, and so is what goes into it: each input to one of 256 values, whose distance
follows from what the input is in typical positions. These distances are settled beforehand and the sums are exact, so
that a position's answer depends on nothing beside it. The last layer, of which only [CLS] is worked out, and the heads
are left as they are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from agents.bert.checkpoint import Network, layer_name
from agents.bert.export.graph import Builder, Value

CONTRIB = "com.microsoft"  # the operators that ONNX Runtime has beside the standard ones
LEVELS = 255  # steps between the least and the most of what is rounded
MIDDLE = 128  # stands for 0 where inputs have both signs
# Processors without VNNI add two products in 16 bits: 2 * 255 * 64 still fits.
WEIGHT_LEVELS = 64
MARGIN = 1.2  # an input may be so many times as large as it was in typical positions
LEAST = 1e-3  # and at least so large
TINY = 1e-12  # for weights that are all 0

ONE = np.float32(1)

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


class Rounded(NamedTuple):
    """What goes into a linear layer, in whole numbers."""

    numbers: Value  # uint8[n, in]
    step: np.ndarray  # float32[in]: what 1 stands for
    zero: np.uint8  # stands for 0


class Quantized(Builder):
    """Builds the network with the linear layers of `reach` rounded."""

    def __init__(self, network: Network, reach: Reach) -> None:
        super().__init__(network)
        self.reach = reach
        self._rounded: dict[Value, Rounded] = {}  # most go into more layers than one

    def linear(self, x: Value, name: str) -> Value:
        """See `Builder.linear`."""
        return self.product(self.rounded(x, name), name) if name in self.reach else super().linear(x, name)

    def feed_forward(self, x: Value, name: str) -> Value:
        """See `Builder.feed_forward`. After a ReLU nothing is negative, and rounding makes 0 of what was."""
        inner, outer = f"{name}.intermediate.dense", f"{name}.output.dense"
        if outer not in self.reach or self.config.hidden_act != "relu":
            return super().feed_forward(x, name)
        step, zero = self.steps(outer)
        made = self.product(self.rounded(x, inner), inner, per=step)
        return self.product(Rounded(self.whole(made, zero), step, zero), outer)

    def steps(self, name: str) -> tuple[np.ndarray, np.uint8]:
        """What 1 stands for, float32[in], and what stands for 0, where the inputs of a linear layer are rounded."""
        low, high = self.reach[name]
        most = np.maximum(np.maximum(-low, high) * np.float32(MARGIN), np.float32(LEAST))
        zero = MIDDLE if low.min() < 0 else 0
        return most / np.float32(LEVELS - zero), np.uint8(zero)

    def rounded(self, x: Value, name: str) -> Rounded:
        """`x`, which goes into the linear layer of that name and perhaps into more."""
        if x not in self._rounded:
            step, zero = self.steps(name)
            self._rounded[x] = Rounded(self.whole(self.graph.node("Mul", x, 1 / step), zero), step, zero)
        return self._rounded[x]

    def whole(self, x: Value, zero: np.uint8) -> Value:
        """`x` to the nearest whole numbers, uint8; what is beyond their ends becomes one of them."""
        return self.graph.node("QuantizeLinear", x, np.float32(1), zero)

    def product(self, x: Rounded, name: str, per: np.ndarray | np.float32 = ONE) -> Value:
        """What the linear layer of that name makes of `x`, divided by `per`, float32[out]."""
        weight = self.weight(name) * x.step[:, None]
        unit = np.maximum(np.abs(weight).max(axis=0), TINY) / np.float32(WEIGHT_LEVELS)
        scaled = ONE, unit / per, x.zero, np.zeros(len(unit), dtype=np.int8), self.bias(name) / per
        whole = np.rint(weight / unit).astype(np.int8)
        return self.graph.node("MatMulIntegerToFloat", x.numbers, whole, *scaled, domain=CONTRIB)

    def model(self) -> onnx.ModelProto:
        """See `Builder.model`."""
        model = super().model()
        model.opset_import.append(helper.make_opsetid(CONTRIB, 1))
        return model
