"""The network as an ONNX graph, written node by node: BERT, of whose last layer only [CLS] is worked out.

Nothing but standard operators. With one query for a whole sequence, the last layer needs no keys and values. A score,
``(Wq c + bq) · (Wk x + bk)`` of [CLS], c, and a token, x, is ``(Wkᵀ Wq c + Wkᵀ bq) · x`` and a part that is the same
for all x, which softmax takes out; what the shares make of ``Wo (Wv x + bv) + bo`` is ``Wo Wv`` of what they make of x,
and ``Wo bv + bo``. So the products with all tokens become products with one, by matrices multiplied beforehand.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from agents.bert.checkpoint import HEADS, Network, layer_name

OPSET = 20  # the first with Gelu
IR_VERSION = 9  # of that opset
NEVER = np.float32(-1e9)  # added to the scores of padding
INPUTS = {"ids": TensorProto.INT64, "mask": TensorProto.BOOL, "positions": TensorProto.INT64}  # [n, L] each
OUTPUT = "heads"  # float32[n, 50]: the outputs of HEADS, side by side

Value = str  # what a node makes or reads, by its name


class Graph:
    """A graph in the making."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def constant(self, value: np.ndarray) -> Value:
        """A weight, or numbers that say how."""
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def node(self, operator: str, *inputs: Value | np.ndarray, output: Value | None = None, **attributes: Any) -> Value:
        """What `operator` makes of values and constants."""
        name = output or f"{operator}{len(self.nodes)}"
        values = [each if isinstance(each, str) else self.constant(each) for each in inputs]
        self.nodes.append(helper.make_node(operator, values, [name], **attributes))
        return name


class Builder:
    """Adds the parts of a BERT to a graph.

    Of n positions with L tokens each, all tokens stand in one list, so that x is [n * L, width] and linear layers are
    single products of matrices.
    """

    def __init__(self, network: Network) -> None:
        self.graph = Graph()
        self.config, self.tensors = network
        self.width, self.heads = self.config.hidden_size, self.config.num_attention_heads
        self.head_size = self.width // self.heads
        self.scale = np.float32(self.head_size**-0.5)
        size = self.graph.node("Shape", "ids")
        self.by_position = self.graph.node("Concat", size, np.array([self.width]), axis=0)
        self.by_head = self.graph.node("Concat", size, np.array([self.heads, self.head_size]), axis=0)

    def weight(self, name: str) -> np.ndarray:
        """The weight of a linear layer, [in, out]."""
        return self.tensors[f"{name}.weight"].T

    def bias(self, name: str) -> np.ndarray:
        """The bias of a layer."""
        return self.tensors[f"{name}.bias"]

    def linear(self, x: Value, name: str) -> Value:
        """What the linear layer of that name makes of `x`."""
        return self.graph.node("Gemm", x, self.weight(name), self.bias(name))

    def norm(self, x: Value, name: str) -> Value:
        """LayerNorm over the last axis."""
        gain, epsilon = self.tensors[f"{name}.weight"], self.config.layer_norm_eps
        return self.graph.node("LayerNormalization", x, gain, self.bias(name), axis=-1, epsilon=epsilon)

    def shaped(self, x: Value, *shape: int) -> Value:
        """`x` in another shape; 0 keeps an axis, -1 is what is left."""
        return self.graph.node("Reshape", x, np.array(shape, dtype=np.int64))

    def embed(self) -> Value:
        """What the sequences begin as; all tokens are of type 0."""
        word, position, token_type = (
            self.tensors[f"bert.embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")
        )
        tokens = self.graph.node("Gather", word + token_type[0], "ids")
        places = self.graph.node("Gather", position, "positions")
        x = self.shaped(self.graph.node("Add", tokens, places), -1, self.width)
        return self.norm(x, "bert.embeddings.LayerNorm")

    def padding(self) -> Value:
        """What is added to the scores of each token, [n, 1, L]: NEVER for padding."""
        masked = self.graph.node("Where", "mask", np.float32(0), NEVER)
        return self.graph.node("Unsqueeze", masked, np.array([1]))

    def attend(self, x: Value, padding: Value, name: str) -> Value:
        """What all tokens get from all tokens of their position, [n * L, width]."""

        def split(part: str, axes: list[int]) -> Value:
            made = self.linear(x, f"{name}.self.{part}")
            return self.graph.node("Transpose", self.graph.node("Reshape", made, self.by_head), perm=axes)

        query, key, value = split("query", [0, 2, 1, 3]), split("key", [0, 2, 3, 1]), split("value", [0, 2, 1, 3])
        scores = self.graph.node("Mul", self.graph.node("MatMul", query, key), self.scale)  # [n, heads, L, L]
        scores = self.graph.node("Add", scores, self.graph.node("Unsqueeze", padding, np.array([1])))
        mixed = self.graph.node("MatMul", self.graph.node("Softmax", scores, axis=-1), value)
        mixed = self.shaped(self.graph.node("Transpose", mixed, perm=[0, 2, 1, 3]), -1, self.width)
        return self.linear(mixed, f"{name}.output.dense")

    def attend_first(self, x: Value, first: Value, padding: Value, name: str) -> Value:
        """What the first token of each position, `first` [n, width], gets from all, `x` [n, L, width]; see above."""
        by_head = (-1, self.heads, self.head_size)
        query, key, value, output = (
            self.weight(f"{name}.{part}").astype(np.float64)
            for part in ("self.query", "self.key", "self.value", "output.dense")
        )
        query_bias, value_bias = self.bias(f"{name}.self.query").reshape(by_head), self.bias(f"{name}.self.value")
        query, key, value = query.reshape(by_head), key.reshape(by_head), value.reshape(by_head)
        # i, o: places of a vector; h: heads; s: places of a head
        ask = np.einsum("ihs,ohs->iho", query, key).reshape(self.width, -1) * self.scale
        ask_bias = np.einsum("ihs,ohs->iho", query_bias, key).reshape(-1) * self.scale
        give = np.einsum("ihs,hso->hio", value, output.reshape(*by_head[1:], -1)).reshape(-1, self.width)
        give_bias = value_bias @ output + self.bias(f"{name}.output.dense")

        asked = self.graph.node("Gemm", first, ask.astype(np.float32), ask_bias.astype(np.float32))
        asked = self.shaped(asked, 0, self.heads, self.width)
        scores = self.graph.node("MatMul", asked, self.graph.node("Transpose", x, perm=[0, 2, 1]))  # [n, heads, L]
        shares = self.graph.node("Softmax", self.graph.node("Add", scores, padding), axis=-1)
        given = self.shaped(self.graph.node("MatMul", shares, x), 0, self.heads * self.width)
        return self.graph.node("Gemm", given, give.astype(np.float32), give_bias.astype(np.float32))

    def layer(self, x: Value, padding: Value, index: int) -> Value:
        """One layer, [n * L, width]; the last one makes [n, width]."""
        name = layer_name(index)
        if index < self.config.num_hidden_layers - 1:
            got = self.attend(x, padding, f"{name}.attention")
        else:
            tokens = self.graph.node("Reshape", x, self.by_position)
            x = self.graph.node("Gather", tokens, np.array(0), axis=1)
            got = self.attend_first(tokens, x, padding, f"{name}.attention")
        x = self.norm(self.graph.node("Add", x, got), f"{name}.attention.output.LayerNorm")
        return self.norm(self.graph.node("Add", x, self.feed_forward(x, name)), f"{name}.output.LayerNorm")

    def feed_forward(self, x: Value, name: str) -> Value:
        """What the two linear layers of a layer, with the activation between them, make of `x`."""
        made = self.graph.node(self.config.hidden_act.capitalize(), self.linear(x, f"{name}.intermediate.dense"))
        return self.linear(made, f"{name}.output.dense")

    def model(self) -> onnx.ModelProto:
        """The whole network, from INPUTS to OUTPUT."""
        x, padding = self.embed(), self.padding()
        for index in range(self.config.num_hidden_layers):
            x = self.layer(x, padding, index)
        weight = np.concatenate([self.weight(head) for head in HEADS], axis=1)
        bias = np.concatenate([self.bias(head) for head in HEADS])
        self.graph.node("Gemm", x, weight, bias, output=OUTPUT)
        inputs = [helper.make_tensor_value_info(name, kind, ["n", "L"]) for name, kind in INPUTS.items()]
        output = helper.make_tensor_value_info(OUTPUT, TensorProto.FLOAT, ["n", len(bias)])
        graph = helper.make_graph(self.graph.nodes, "bert", inputs, [output], self.graph.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR_VERSION)


def build(network: Network) -> onnx.ModelProto:
    """The ONNX model of a network: INPUTS [n, L] for any n and L, OUTPUT float32[n, 50]."""
    return Builder(network).model()
