"""The network in torch: a BERT with a policy head over the 46 labels and value heads, all on [CLS].

Needs torch and transformers.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, softmax
from transformers import BertConfig, BertForMaskedLM, BertModel, BertPreTrainedModel
from transformers.models.bert.modeling_bert import BertLayer

from agents.bert.encoding import N_POSITION_IDS
from agents.bert.labels import N_LABELS
from agents.bert.sizes import Preset
from agents.bert.vocabulary import N_TOKENS, PAD
from engine.rules import N_SEATS


class Outputs(NamedTuple):
    """The outputs of the network for n sequences."""

    policy: Tensor  # float[n, N_LABELS]: logits, illegal labels included
    placement: Tensor  # float[n, 3]: logits of finishing first, second and third
    points: Tensor  # float[n]: expected final points in thousands, divided by agents.bert.checkpoint.POINTS_UNIT


def make_config(preset: Preset) -> BertConfig:
    """The transformers configuration of a size. There is no dropout, as self-play never runs out of samples."""
    return BertConfig(
        vocab_size=N_TOKENS,
        hidden_size=preset.width,
        num_hidden_layers=preset.layers,
        num_attention_heads=preset.heads,
        intermediate_size=4 * preset.width,
        hidden_act="relu",  # cheaper than GELU on a CPU, and quantization makes it free
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=N_POSITION_IDS,
        type_vocab_size=1,
        pad_token_id=PAD,
    )


def plain_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Tensor:
    """As scaled_dot_product_attention, but step by step, which trains short sequences faster on a CPU.

    `query` float[n, heads, k, size], `key` and `value` float[n, heads, L, size], `attn_mask` bool[n, 1, 1, L].
    """
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    weights = softmax(scores.masked_fill(~attn_mask, torch.finfo(scores.dtype).min), dim=-1)
    return weights.to(value.dtype) @ value


def run_layer(layer: BertLayer, queries: Tensor, x: Tensor, mask: Tensor) -> Tensor:
    """A BERT layer for the tokens `queries` [n, k, width] of `x` [n, L, width]; `mask` bool[n, 1, 1, L]."""
    attention = layer.attention
    own = attention.self
    heads, size = own.num_attention_heads, own.attention_head_size

    def split(tokens: Tensor) -> Tensor:
        return tokens.view(*tokens.shape[:-1], heads, size).transpose(1, 2)

    attend = scaled_dot_product_attention if x.is_cuda else plain_attention
    context = attend(split(own.query(queries)), split(own.key(x)), split(own.value(x)), attn_mask=mask)
    attended = attention.output(context.transpose(1, 2).reshape(queries.shape), queries)
    return layer.output(layer.intermediate(attended), attended)


def encode_tokens(
    bert: BertModel, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, *, only_first: bool
) -> Tensor:
    """The last hidden state of `bert`: float[n, L, width], or [n, 1, width] for the first token only.

    `input_ids` and `position_ids` are int64[n, L], `attention_mask` bool[n, L]. `only_first` computes the last layer
    for [CLS] only, which saves up to half of all work.
    """
    x = bert.embeddings(input_ids=input_ids, position_ids=position_ids)
    mask = attention_mask[:, None, None, :]
    layers = list(bert.encoder.layer)
    for layer in layers[:-1]:
        x = run_layer(layer, x, x, mask)
    return run_layer(layers[-1], x[:, :1] if only_first else x, x, mask)


class PolicyValue(BertPreTrainedModel):  # type: ignore[misc]
    """Policy and value heads on [CLS]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.policy = nn.Linear(config.hidden_size, N_LABELS)
        self.placement = nn.Linear(config.hidden_size, N_SEATS)
        self.points = nn.Linear(config.hidden_size, 1)
        self.post_init()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor) -> Outputs:
        """The outputs for sequences int64[n, L], bool[n, L], int64[n, L], see `agents.bert.encoding.Encoded`."""
        first = encode_tokens(self.bert, input_ids, attention_mask, position_ids, only_first=True)[:, 0]
        return Outputs(self.policy(first), self.placement(first), self.points(first)[:, 0])


class MaskedTokens(BertForMaskedLM):  # type: ignore[misc]
    """Masked language model for pretraining; PolicyValue.from_pretrained takes the BERT from its checkpoint."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, masked: Tensor) -> Tensor:
        """Logits float[k, N_TOKENS] of the k tokens selected by `masked` bool[n, L]; else as `PolicyValue.forward`."""
        hidden = encode_tokens(self.bert, input_ids, attention_mask, position_ids, only_first=False)
        return self.cls(hidden[masked])
