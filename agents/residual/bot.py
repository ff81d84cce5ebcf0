"""The bot `residual`: `rule`, with a network that adds to its action values.

``residual`` plays the bundled weights, ``residual:FOLDER`` those of a training folder (or of a file), and
``residual:FOLDER?temperature=T`` or ``residual:?temperature=T`` draws actions from softmax(logits / T).
"""

from __future__ import annotations

from pathlib import Path

from agents.residual.features import FEATURES
from agents.rl.bot import NetworkBot, make_network_bot

BUNDLED = Path(__file__).parent / "weights" / "network.npz"


def make(argument: str | None, seed: int) -> NetworkBot:
    """The bot ``residual`` or ``residual:argument``. Raises ValueError, in one line, for a bad folder or option."""
    return make_network_bot("residual", FEATURES, BUNDLED, argument, seed)
