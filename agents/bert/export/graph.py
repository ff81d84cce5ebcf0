"""A checkpoint as an ONNX graph of standard operators: BERT, whose last layer is computed for [CLS] only.

In the last layer one query attends to the whole sequence, so keys and values need not be computed for every token.
The score of [CLS], c, for a token, x, is ``(Wq c + bq) · (Wk x + bk)``, which is ``(Wkᵀ Wq c + Wkᵀ bq) · x`` plus a
term that is the same for all x and cancels in the softmax. The output ``Wo (Σ p (Wv x + bv)) + bo`` is
``Wo Wv (Σ p x) + Wo bv + bo``, as the attention weights p sum to 1. The products of matrices are computed beforehand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from agents.bert.checkpoint import HEADS, N_OUTPUTS
from agents.bert.export.weights import Checkpoint, layer_name
from agents.bert.inference import INPUT_NAMES, OUTPUT_NAME

OPSET = 20  # the first with Gelu
IR_VERSION = 9  # of that opset
MASKED_SCORE = np.float32(-1e9)  # added to the attention scores of padding
INPUT_TYPES = (TensorProto.INT64, TensorProto.BOOL, TensorProto.INT64)  # of INPUT_NAMES, [n, L] each

Value = str  # the name of a node's input or output


class Graph:
    """Nodes and constants of a graph being built."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> Value:
        """Add a constant, such as a weight or a shape."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, operator: str, *inputs: Value | np.ndarray, output: Value | None = None, **attributes: Any) -> Value:
        """Add a node that applies `operator` to values and constants; returns its output."""
        name = output or f"{operator}{len(self.nodes)}"
        values = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(operator, values, [name], **attributes))
        return name


class GraphBuilder:
    """Adds the parts of a BERT to a graph.

    The tokens of n sequences of length L are one axis, so that activations x are float32[n * L, width] and a linear
    layer is a single matrix product.
    """

    def __init__(self, checkpoint: Checkpoint) -> None:
        self.graph = Graph()
        self.config, self.tensors = checkpoint
        self.width, self.heads = self.config.hidden_size, self.config.num_attention_heads
        self.head_size = self.width // self.heads
        self.scale = np.float32(self.head_size**-0.5)
        size = self.graph.node("Shape", "input_ids")
        self.by_sequence = self.graph.node("Concat", size, np.array([self.width]), axis=0)
        self.by_head = self.graph.node("Concat", size, np.array([self.heads, self.head_size]), axis=0)

    def weight(self, name: str) -> np.ndarray:
        """The weight of a linear layer, float32[in, out]."""
        return self.tensors[f"{name}.weight"].T

    def bias(self, name: str) -> np.ndarray:
        """The bias of a layer, float32[out]."""
        return self.tensors[f"{name}.bias"]

    def linear(self, x: Value, name: str) -> Value:
        """The linear layer `name`, [n * L, in] -> [n * L, out]."""
        return self.graph.node("Gemm", x, self.weight(name), self.bias(name))

    def norm(self, x: Value, name: str) -> Value:
        """LayerNorm over the last axis."""
        gain, epsilon = self.tensors[f"{name}.weight"], self.config.layer_norm_eps
        return self.graph.node("LayerNormalization", x, gain, self.bias(name), axis=-1, epsilon=epsilon)

    def reshape(self, x: Value, *shape: int) -> Value:
        """`x` in another shape; 0 keeps an axis, -1 is inferred."""
        return self.graph.node("Reshape", x, np.array(shape, dtype=np.int64))

    def embeddings(self) -> Value:
        """The sum of the embeddings of token, position and token type 0, normalized: [n * L, width]."""
        word, position, token_type = (
            self.tensors[f"bert.embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        tokens = self.graph.node("Gather", word + token_type[0], "input_ids")
        positions = self.graph.node("Gather", position, "position_ids")
        x = self.reshape(self.graph.node("Add", tokens, positions), -1, self.width)
        return self.norm(x, "bert.embeddings.LayerNorm")

    def padding(self) -> Value:
        """What is added to the attention scores of each token, [n, 1, L]: MASKED_SCORE for padding, else 0."""
        scores = self.graph.node("Where", "attention_mask", np.float32(0), MASKED_SCORE)
        return self.graph.node("Unsqueeze", scores, np.array([1]))

    def attention(self, x: Value, padding: Value, name: str) -> Value:
        """Self-attention of all tokens, [n * L, width]."""

        def split(part: str, axes: list[int]) -> Value:
            projected = self.linear(x, f"{name}.self.{part}")
            return self.graph.node("Transpose", self.graph.node("Reshape", projected, self.by_head), perm=axes)

        query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
        scores = self.graph.node("Mul", self.graph.node("MatMul", query, key), self.scale)  # [n, heads, L, L]
        scores = self.graph.node("Add", scores, self.graph.node("Unsqueeze", padding, np.array([1])))
        context = self.graph.node("MatMul", self.graph.node("Softmax", scores, axis=-1), value)
        context = self.reshape(self.graph.node("Transpose", context, perm=[0, 2, 1, 3]), -1, self.width)
        return self.linear(context, f"{name}.output.dense")

    def cls_attention(self, x: Value, cls: Value, padding: Value, name: str) -> Value:
        """Attention of the first tokens `cls` [n, width] to all, `x` [n, L, width]: [n, width]; see the module."""
        by_head = (-1, self.heads, self.head_size)
        query, key, value, output = (
            self.weight(f"{name}.{part}").astype(np.float64)
            for part in ("self.query", "self.key", "self.value", "output.dense")
        )
        query_bias, value_bias = self.bias(f"{name}.self.query").reshape(by_head), self.bias(f"{name}.self.value")
        query, key, value = query.reshape(by_head), key.reshape(by_head), value.reshape(by_head)
        # axes: i in, o out, h head, s in a head
        query_key = np.einsum("ihs,ohs->iho", query, key).reshape(self.width, -1) * self.scale
        query_key_bias = np.einsum("ihs,ohs->iho", query_bias, key).reshape(-1) * self.scale
        value_output = np.einsum("ihs,hso->hio", value, output.reshape(*by_head[1:], -1)).reshape(-1, self.width)
        value_output_bias = value_bias @ output + self.bias(f"{name}.output.dense")

        queries = self.graph.node("Gemm", cls, query_key.astype(np.float32), query_key_bias.astype(np.float32))
        queries = self.reshape(queries, 0, self.heads, self.width)
        scores = self.graph.node("MatMul", queries, self.graph.node("Transpose", x, perm=[0, 2, 1]))  # [n, heads, L]
        weights = self.graph.node("Softmax", self.graph.node("Add", scores, padding), axis=-1)
        context = self.reshape(self.graph.node("MatMul", weights, x), 0, self.heads * self.width)
        return self.graph.node("Gemm", context, value_output.astype(np.float32), value_output_bias.astype(np.float32))

    def layer(self, x: Value, padding: Value, index: int) -> Value:
        """A layer, [n * L, width]; the last one returns [n, width]."""
        name = layer_name(index)
        if index < self.config.num_hidden_layers - 1:
            attended = self.attention(x, padding, f"{name}.attention")
        else:
            tokens = self.graph.node("Reshape", x, self.by_sequence)
            x = self.graph.node("Gather", tokens, np.array(0), axis=1)
            attended = self.cls_attention(tokens, x, padding, f"{name}.attention")
        x = self.norm(self.graph.node("Add", x, attended), f"{name}.attention.output.LayerNorm")
        return self.norm(self.graph.node("Add", x, self.feed_forward(x, name)), f"{name}.output.LayerNorm")

    def feed_forward(self, x: Value, name: str) -> Value:
        """The two linear layers of layer `name` with the activation between them."""
        hidden = self.graph.node(self.config.hidden_act.capitalize(), self.linear(x, f"{name}.intermediate.dense"))
        return self.linear(hidden, f"{name}.output.dense")

    def model(self) -> onnx.ModelProto:
        """The whole network: INPUT_NAMES [n, L] for any n and L -> OUTPUT_NAME float32[n, N_OUTPUTS]."""
        x, padding = self.embeddings(), self.padding()
        for index in range(self.config.num_hidden_layers):
            x = self.layer(x, padding, index)
        weight = np.concatenate([self.weight(head) for head in HEADS], axis=1)
        bias = np.concatenate([self.bias(head) for head in HEADS])
        self.graph.node("Gemm", x, weight, bias, output=OUTPUT_NAME)
        inputs = [helper.make_tensor_value_info(*each, ["n", "L"]) for each in zip(INPUT_NAMES, INPUT_TYPES)]
        output = helper.make_tensor_value_info(OUTPUT_NAME, TensorProto.FLOAT, ["n", N_OUTPUTS])
        graph = helper.make_graph(self.graph.nodes, "bert", inputs, [output], self.graph.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)
