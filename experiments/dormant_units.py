"""How often the units of a network of `residual` are active while it plays against `rule`.

    python experiments/dormant_units.py [NETWORK]        (default: the bundled one)

A unit of a ReLU layer that is never active has no gradient and is lost to training (Sokar et al. 2023,
https://arxiv.org/abs/2302.12902). Half a minute on two cores; docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import numpy as np

from agents.residual.bot import BUNDLED
from agents.residual.features import FEATURES
from agents.rl.policy import load_weights
from agents.rl.rollouts import Actor
from agents.rl.settings import Games

TABLES, ROUNDS = 256, 12  # the actions of the last round count
SHARES = (0, 0.001, 0.01, 0.1, 0.9, 0.99)  # of the actions for which a unit is active


def main() -> None:
    """Play, and print how many units of each layer are active for at most a share of the actions."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else BUNDLED
    weights = load_weights(path, FEATURES)
    actor = Actor(Games("residual", against=1.0), TABLES, 1)
    for _ in range(ROUNDS):
        played = actor.play(weights, [], Event())
    joint = played.states @ weights["state"] + weights["state_bias"]
    first = np.maximum(np.repeat(joint, played.counts, axis=0) + played.actions @ weights["action"], 0)
    second = np.maximum(first @ weights["hidden"] + weights["hidden_bias"], 0)
    print(f"{path}: {len(first):,} actions; units that are active for at most")
    print("layer   units" + "".join(f"{share:>8.1%}" for share in SHARES))
    for name, units in (("first", first), ("second", second)):
        active = (units > 0).mean(0)
        print(f"{name:8}{len(active):5}" + "".join(f"{int((active <= share).sum()):8}" for share in SHARES))


if __name__ == "__main__":
    main()
