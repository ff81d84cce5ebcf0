"""``model.onnx`` of a CNN: five graphs in one, weights of 8 bits, arithmetic of 32 bits.

Batch normalization is folded into the convolutions. The weights of each output channel are stored as 8-bit integers
with a scale; ONNX Runtime expands them once, when it loads the file. Dense layers are convolutions over all that is
left, so that a row's answer is the same to the last bit whatever else is in the batch.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from agents.bert.export.graph import IR_VERSION, OPSET, Graph, Value
from agents.cnn.answers import N_ANSWERS, VALUES
from agents.cnn.inference import FIXED_OUTPUT, VALUE
from agents.cnn.planes import COPIES, N_PLANES
from engine.tiles import N_KINDS

LEVELS = 127


def build(folder: Path) -> onnx.ModelProto:
    """The graph of the checkpoint `folder`. Raises ValueError if that cannot be loaded as a CNN."""
    from agents.bert.training.networks import load_trained  # better error messages than transformers gives
    from agents.cnn.model import REST

    model: Any = load_trained(str(folder))
    model.train(mode=False)
    graph = Graph()
    inputs, outputs = [], []
    for name, n_answers in N_ANSWERS.items():
        x: Value = name
        layers = list(model.networks[name])
        for index in (0, 4, 8):
            x = graph.node("Relu", convolution(graph, x, *fold_normalization(layers[index], layers[index + 1])))
        x = graph.node("Relu", convolution(graph, x, *dense(layers[13], REST)))
        x = graph.node("Flatten", convolution(graph, x, *dense(layers[16], (1, 1))), output=f"{name}_answers")
        inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, [f"n_{name}", N_PLANES, N_KINDS, COPIES]))
        outputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, [f"n_{name}", n_answers]))
    x = graph.node("Relu", convolution(graph, VALUE, *dense(model.value[0], (1, 1))))
    x = graph.node("Flatten", convolution(graph, x, *dense(model.value[2], (1, 1))), output=f"{VALUE}_answers")
    inputs.append(helper.make_tensor_value_info(VALUE, TensorProto.FLOAT, ["n", N_PLANES, 1, 1]))
    outputs.append(helper.make_tensor_value_info(x, TensorProto.FLOAT, ["n", VALUES]))
    graph.node("Identity", model.fixed.detach().numpy(), output=FIXED_OUTPUT)
    outputs.append(helper.make_tensor_value_info(FIXED_OUTPUT, TensorProto.FLOAT, [2]))
    made = helper.make_graph(graph.nodes, "cnn", inputs, outputs, graph.constants)
    result = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)])
    result.ir_version = IR_VERSION
    return result


def fold_normalization(layer: Any, norm: Any) -> tuple[np.ndarray, np.ndarray]:
    """Weight [out, in, 5, 2] and bias [out] of a convolution and the batch normalization after it."""
    weight, bias, gain, shift, mean, variance = (
        each.detach().numpy()
        for each in (layer.weight, layer.bias, norm.weight, norm.bias, norm.running_mean, norm.running_var)
    )
    scale = gain / np.sqrt(variance + norm.eps)
    return weight * scale[:, None, None, None], (bias - mean) * scale + shift


def dense(layer: Any, rest: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """A linear layer as a convolution over all of [n, in, *rest]."""
    weight = layer.weight.detach().numpy()
    return weight.reshape(len(weight), -1, *rest), layer.bias.detach().numpy()


def convolution(graph: Graph, x: Value, weight: np.ndarray, bias: np.ndarray) -> Value:
    """A convolution without padding, its weights stored in 8 bits a number and a scale an output channel."""
    scale = np.maximum(np.abs(weight).max(axis=(1, 2, 3), keepdims=True), np.finfo(np.float32).tiny) / LEVELS
    stored = graph.node("Cast", np.round(weight / scale).astype(np.int8), to=TensorProto.FLOAT)
    expanded = graph.node("Mul", stored, scale.astype(np.float32))
    return graph.node("Conv", x, expanded, bias.astype(np.float32), kernel_shape=list(weight.shape[2:]))
