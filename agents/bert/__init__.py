"""The BERT bot: a transformer encoder that reads a seat's view as tokens and chooses among 46 labels.

- `vocabulary`, `encoding`, `labels`, `symmetries`: what the network reads and what its outputs stand for
- `checkpoint`, `inference`, `bot`, `play`: load and play a network; on a CPU this needs numpy and onnxruntime only
- `export`: makes ``model.onnx``, which is played on a CPU; needs onnx and safetensors
- `model`, `training`, `evaluation`: train and evaluate networks; `model` and `training` need torch and transformers,
  as does playing with ``device=cuda``
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes long enough to press Ctrl-C before the program has started
    from agents.base import Agent


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``bert`` or ``bert:argument``, see `agents.bert.bot.make`."""
    from agents.bert import bot  # training does not import onnxruntime, which playing needs

    return bot.make(argument, seed)
