"""The network: a BERT whose [CLS] feeds a policy over the 46 labels and a value of the decision."""

from __future__ import annotations

from typing import NamedTuple, cast

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention, softmax
from transformers import BertConfig, BertForMaskedLM, BertModel, BertPreTrainedModel
from transformers.models.bert.modeling_bert import BertLayer

from agents.bert.encoding import N_POSITION_IDS
from agents.bert.labels import N_LABELS
from agents.bert.vocabulary import N_PLAYERS, N_TOKENS, PAD


class Preset(NamedTuple):
    """The size of a network."""

    layers: int
    width: int
    heads: int


# The names are those of the published BERT sizes; micro and laptop are ours.
PRESETS: dict[str, Preset] = {
    "micro": Preset(2, 64, 2),
    "tiny": Preset(2, 128, 4),
    "laptop": Preset(3, 128, 4),
    "mini": Preset(4, 256, 4),
    "small": Preset(4, 512, 8),
    "medium": Preset(8, 512, 8),
    "base": Preset(12, 768, 12),
}


class Outputs(NamedTuple):
    """What the network says of n positions."""

    policy: Tensor  # [n, N_LABELS] logits, illegal labels included
    placement: Tensor  # [n, 3] logits of finishing first, second and third
    points: Tensor  # [n] expected final points in thousands, by agents.bert.checkpoint.POINTS_UNIT


def make_config(preset: Preset) -> BertConfig:
    """The transformers configuration of a size. There is no dropout: self-play never runs out of fresh positions."""
    return BertConfig(
        vocab_size=N_TOKENS,
        hidden_size=preset.width,
        num_hidden_layers=preset.layers,
        num_attention_heads=preset.heads,
        intermediate_size=4 * preset.width,
        hidden_act="relu",  # cheaper than GELU, which shows on a CPU
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        max_position_embeddings=N_POSITION_IDS,
        type_vocab_size=1,
        pad_token_id=PAD,
    )


def plain_attention(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor) -> Tensor:
    """What scaled_dot_product_attention computes, in steps: training short sequences on a CPU is faster so."""
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    weights = softmax(scores.masked_fill(~attn_mask, torch.finfo(scores.dtype).min), dim=-1)
    return weights.to(value.dtype) @ value


def attend(layer: BertLayer, asking: Tensor, x: Tensor, mask: Tensor) -> Tensor:
    """One layer of BERT for the tokens `asking` [n, k, width] among all, `x` [n, L, width]; `mask` bool[n, 1, 1, L]."""
    attention = layer.attention
    heads, size = attention.self.num_attention_heads, attention.self.attention_head_size

    def split(tokens: Tensor) -> Tensor:
        return tokens.view(*tokens.shape[:-1], heads, size).transpose(1, 2)

    mixing = scaled_dot_product_attention if x.is_cuda else plain_attention
    own = attention.self
    mixed = mixing(split(own.query(asking)), split(own.key(x)), split(own.value(x)), attn_mask=mask)
    mixed = attention.output(mixed.transpose(1, 2).reshape(asking.shape), asking)
    return layer.output(layer.intermediate(mixed), mixed)


def encode_tokens(bert: BertModel, ids: Tensor, mask: Tensor, positions: Tensor, *, only_first: bool) -> Tensor:
    """What `bert` makes of sequences int64[n, L]: [n, L, width], or [n, 1, width] for the first token only.

    The last layer is then worked out for that token alone, which saves up to half of all work.
    """
    x = bert.embeddings(input_ids=ids, position_ids=positions)
    mask = mask[:, None, None, :]
    layers = cast(list[BertLayer], list(bert.encoder.layer))
    for layer in layers[:-1]:
        x = attend(layer, x, x, mask)
    return attend(layers[-1], x[:, :1] if only_first else x, x, mask)


class PolicyValue(BertPreTrainedModel):  # type: ignore[no-untyped-call]
    """Policy and value of a decision, read off [CLS]."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.bert = BertModel(config, add_pooling_layer=False)
        self.policy = nn.Linear(config.hidden_size, N_LABELS)
        self.placement = nn.Linear(config.hidden_size, N_PLAYERS)
        self.points = nn.Linear(config.hidden_size, 1)
        self.post_init()  # type: ignore[no-untyped-call]

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor) -> Outputs:
        """Sequences int64[n, L], bool[n, L], int64[n, L] as `agents.bert.encoding` makes them."""
        first = encode_tokens(self.bert, input_ids, attention_mask, position_ids, only_first=True)[:, 0]
        return Outputs(self.policy(first), self.placement(first), self.points(first)[:, 0])


class MaskedTokens(BertForMaskedLM):  # type: ignore[no-untyped-call]
    """Guesses masked tokens; its folder is a BertForMaskedLM's, and PolicyValue takes the BERT out of it."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, position_ids: Tensor, masked: Tensor) -> Tensor:
        """Logits [k, N_TOKENS] of the tokens where `masked` bool[n, L]; the rest as in `PolicyValue.forward`."""
        seen = encode_tokens(self.bert, input_ids, attention_mask, position_ids, only_first=False)
        return self.cls(seen[masked])
