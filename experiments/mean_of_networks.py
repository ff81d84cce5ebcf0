"""Write the mean of networks of `residual` or `selfplay` as one network, as wide as all of them together.

    python experiments/mean_of_networks.py OUT FOLDER FOLDER...

Each FOLDER holds a network.npz, as a training leaves it. The layers stand side by side and the logits are the mean, so
that OUT plays what an ensemble would, and can be trained further (`agents.rl train --start OUT/network.npz`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from agents.rl.policy import NAMES, Weights

SIDE_BY_SIDE = ("state", "action", "state_bias", "hidden_bias")


def mean_of(networks: list[Weights]) -> Weights:
    """One network whose logits are the mean of those of `networks`."""
    mean = {name: np.concatenate([network[name] for network in networks], axis=-1) for name in SIDE_BY_SIDE}
    mean["hidden"] = torch.block_diag(*(torch.from_numpy(network["hidden"]) for network in networks)).numpy()
    mean["logit"] = np.concatenate([network["logit"] for network in networks]) / len(networks)
    return {name: np.ascontiguousarray(mean[name], np.float32) for name in NAMES}


def main(out: Path, *folders: Path) -> None:
    """Read the networks of `folders` and write their mean to `out`."""
    networks = []
    for folder in folders:
        with np.load(folder / "network.npz") as file:
            networks.append({name: file[name] for name in NAMES})
    out.mkdir(parents=True)
    np.savez(out / "network.npz", **mean_of(networks))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f"usage: python {sys.argv[0]} OUT FOLDER FOLDER...")
    main(*map(Path, sys.argv[1:]))
