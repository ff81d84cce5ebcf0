"""Write the mean of networks of `residual` or `selfplay` as one network, as wide as all of them together.

    python experiments/mean_of_networks.py OUT FILE FILE...

Each FILE is the network.npz of a training run. The layers are concatenated and the logits averaged, so that OUT plays
like an ensemble, and can be trained further (`agents.rl train --start OUT`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from agents.rl.policy import NAMES, Weights, save_weights

SIDE_BY_SIDE = ("state", "action", "state_bias", "hidden_bias")


def mean_of(networks: list[Weights]) -> Weights:
    """One network whose logits are the mean of those of `networks`."""
    mean = {name: np.concatenate([network[name] for network in networks], axis=-1) for name in SIDE_BY_SIDE}
    blocks = (torch.from_numpy(network["hidden"]) for network in networks)
    mean["hidden"] = torch.block_diag(*blocks).numpy()  # type: ignore[no-untyped-call]
    mean["logit"] = np.concatenate([network["logit"] for network in networks]) / np.float32(len(networks))
    return mean


def main(out: Path, *files: Path) -> None:
    """Read the networks and write their mean to `out`."""
    networks = []
    for path in files:
        with np.load(path) as file:
            networks.append({name: file[name] for name in NAMES})
    save_weights(out, mean_of(networks))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f"usage: python {sys.argv[0]} OUT FILE FILE...")
    main(*map(Path, sys.argv[1:]))
