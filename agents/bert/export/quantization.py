"""The graph with its linear layers quantized to 8 bits: a CPU multiplies several int8 in the time of one float32.

Quantization is static: weights are int8 with a scale for each output, activations uint8 with a scale for each input,
which follows from the activation ranges on a calibration set. As scales are constants and integer sums are exact, the
prediction for a sequence depends on nothing else in its batch. The last layer, which is computed for [CLS] only, and
the heads stay float32.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from agents.bert.export.graph import GraphBuilder, Value
from agents.bert.export.weights import Checkpoint, layer_name

CONTRIB_DOMAIN = "com.microsoft"  # ONNX Runtime's operators beyond the standard ones
ACTIVATION_LEVELS = 255
SIGNED_ZERO_POINT = 128  # the zero point of activations of both signs
# Processors without VNNI add two products in 16 bits: 2 * 255 * 64 still fits.
WEIGHT_LEVELS = 64
MARGIN = 1.2  # the largest activation that is not clipped, relative to that of the calibration set
MIN_RANGE = 1e-3  # for activations that are all 0
MIN_SCALE = 1e-12  # for weights that are all 0

ONE = np.float32(1)

ActivationRanges = dict[str, np.ndarray]  # linear layer's name -> float32[2, in]: minimum and maximum of each input


class CalibrationBuilder(GraphBuilder):
    """Builds the float32 graph with more outputs: the activation ranges of the layers that will be quantized."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        super().__init__(checkpoint)
        self.ranges: dict[str, Value] = {}  # linear layer's name -> output float32[2, in]

    def linear(self, x: Value, name: str) -> Value:
        """Add the layer and, unless it is in the last encoder layer, an output with the ranges of its inputs."""
        if not name.startswith(layer_name(self.config.num_hidden_layers - 1)):
            ends = (self.graph.node(operator, x, np.array([0])) for operator in ("ReduceMin", "ReduceMax"))
            self.ranges[name] = self.graph.node("Concat", *ends, axis=0)
        return super().linear(x, name)

    def model(self) -> onnx.ModelProto:
        """The model, with the ranges as outputs in addition to OUTPUT_NAME."""
        model = super().model()
        for value in self.ranges.values():
            model.graph.output.append(helper.make_tensor_value_info(value, TensorProto.FLOAT, [2, None]))
        return model


class QuantizedActivations(NamedTuple):
    """The quantized input of a linear layer: value = scale * (numbers - zero_point)."""

    numbers: Value  # uint8[n * L, in]
    scale: np.ndarray  # float32[in]
    zero_point: np.uint8


class QuantizedBuilder(GraphBuilder):
    """Builds the graph with the linear layers in `ranges` quantized."""

    def __init__(self, checkpoint: Checkpoint, ranges: ActivationRanges) -> None:
        super().__init__(checkpoint)
        self.ranges = ranges
        self._quantized: dict[Value, QuantizedActivations] = {}  # query, key and value share their input

    def linear(self, x: Value, name: str) -> Value:
        """Add the layer, quantized if it is one of `ranges`."""
        return self.matmul(self.quantize(x, name), name) if name in self.ranges else super().linear(x, name)

    def feed_forward(self, x: Value, name: str) -> Value:
        """Quantize both layers. Quantizing with zero point 0 clips negative values: that is the ReLU."""
        inner, outer = f"{name}.intermediate.dense", f"{name}.output.dense"
        if outer not in self.ranges or self.config.hidden_act != "relu":
            return super().feed_forward(x, name)
        scale, zero_point = self.scale_of(outer)
        hidden = self.matmul(self.quantize(x, inner), inner, divisor=scale)
        return self.matmul(QuantizedActivations(self.round(hidden, zero_point), scale, zero_point), outer)

    def scale_of(self, name: str) -> tuple[np.ndarray, np.uint8]:
        """Scale, float32[in], and zero point of the inputs of a linear layer."""
        low, high = self.ranges[name]
        largest = np.maximum(np.maximum(-low, high) * np.float32(MARGIN), np.float32(MIN_RANGE))
        zero_point = SIGNED_ZERO_POINT if low.min() < 0 else 0
        return largest / np.float32(ACTIVATION_LEVELS - zero_point), np.uint8(zero_point)

    def quantize(self, x: Value, name: str) -> QuantizedActivations:
        """`x`, the input of the linear layer `name` and perhaps of others, quantized once."""
        if x not in self._quantized:
            scale, zero_point = self.scale_of(name)
            numbers = self.round(self.graph.node("Mul", x, 1 / scale), zero_point)
            self._quantized[x] = QuantizedActivations(numbers, scale, zero_point)
        return self._quantized[x]

    def round(self, x: Value, zero_point: np.uint8) -> Value:
        """`x` + `zero_point` rounded to the nearest uint8; values out of range are clipped."""
        return self.graph.node("QuantizeLinear", x, ONE, zero_point)

    def matmul(self, x: QuantizedActivations, name: str, divisor: np.ndarray | np.float32 = ONE) -> Value:
        """The linear layer `name` of `x`, divided by `divisor` float32[out]: float32[n * L, out]."""
        weight = self.weight(name) * x.scale[:, None]
        scale = np.maximum(np.abs(weight).max(axis=0), MIN_SCALE) / np.float32(WEIGHT_LEVELS)
        weight_zero_point = np.zeros(len(scale), dtype=np.int8)
        scaled = ONE, scale / divisor, x.zero_point, weight_zero_point, self.bias(name) / divisor
        numbers = np.rint(weight / scale).astype(np.int8)
        return self.graph.node("MatMulIntegerToFloat", x.numbers, numbers, *scaled, domain=CONTRIB_DOMAIN)

    def model(self) -> onnx.ModelProto:
        """The model, which needs ONNX Runtime's own operators."""
        model = super().model()
        model.opset_import.append(helper.make_opsetid(CONTRIB_DOMAIN, 1))
        return model
