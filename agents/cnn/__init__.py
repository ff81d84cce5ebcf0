"""The CNN bot: five convolutional networks over planes of 34 kinds x 4 copies, one for each question of a decision.

It shares data, training, evaluation, checkpoints and play with the BERT bot (`agents.bert`), through the row ``cnn`` of
`agents.bert.families`.

- `planes`: from the tokens that BERT reads to planes, compiled
- `answers`: from the answers of the five networks to the logits of the 46 labels
- `sizes`, `model`: the network in torch
- `export`, `inference`: ``model.onnx``, and playing it
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing it takes long enough to press Ctrl-C before the program has started
    from agents.base import Agent

BUNDLED = Path(__file__).parent / "weights"


def make(argument: str | None, seed: int) -> Agent:
    """The bot ``cnn`` or ``cnn:argument``; arguments are those of `agents.bert.bot.make`."""
    from agents.bert import bot  # training does not import onnxruntime, which playing needs

    return bot.make_named("cnn", BUNDLED, argument, seed)
