"""The bot `selfplay`: takes the action that its network prefers.

``selfplay`` plays the bundled weights, ``selfplay:FOLDER`` those of a training folder (or of a file), and
``selfplay:FOLDER?temperature=T`` or ``selfplay:?temperature=T`` draws actions from softmax(logits / T).
"""

from __future__ import annotations

from pathlib import Path

from agents.rl.bot import NetworkBot, make_network_bot
from agents.selfplay.features import FEATURES

BUNDLED = Path(__file__).parent / "weights" / "network.npz"


def make(argument: str | None, seed: int) -> NetworkBot:
    """The bot ``selfplay`` or ``selfplay:argument``. Raises ValueError, in one line, for a bad folder or option."""
    return make_network_bot("selfplay", FEATURES, BUNDLED, argument, seed)
