"""Write the mean of the weights of networks of `residual` or `selfplay`, of one size (a model soup).

    python experiments/mean_of_weights.py OUT FILE FILE...

Each FILE is the network.npz of a training run; name it twice for twice the weight. The networks must have begun with
the same weights, or their units do not correspond. `mean_of_networks.py` takes any networks. Model
soups: Wortsman et al. 2022, https://arxiv.org/abs/2203.05482
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from agents.rl.policy import NAMES, save_weights


def main(out: Path, *files: Path) -> None:
    """Read the networks and write the mean to `out`."""
    total = {name: np.float32(0) for name in NAMES}
    for path in files:
        with np.load(path) as network:
            total = {name: total[name] + network[name] / np.float32(len(files)) for name in NAMES}
    save_weights(out, total)


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(f"usage: python {sys.argv[0]} OUT FILE FILE...")
    main(*map(Path, sys.argv[1:]))
