"""MaskablePPO of sb3-contrib on the environment of one game: an RL library, used as it is.

    python examples/maskable_ppo.py --steps 20000

The masks of the legal actions come from the environment's ``action_masks()``. It prints the mean placement against the
same opponents before and after; examples/ppo.py learns faster, since it plays hundreds of games at once. It needs the
extra `[rl]`.
"""

from __future__ import annotations

import argparse
import sys

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

import nukidora.envs

OPPONENTS = ("tsumogiri", "random")


def placements(model: MaskablePPO, games: int) -> np.ndarray:
    """The placements of the model's best actions in some games: float[games]."""
    env = gymnasium.make(nukidora.envs.ID, opponents=OPPONENTS, length="east")
    found = []
    for game in range(games):
        observation, info = env.reset(seed=1_000_000 + game)
        over = False
        while not over:
            action, _ = model.predict(observation, action_masks=info["action_mask"], deterministic=True)
            observation, _, over, _, info = env.step(int(action))
        found.append(info["placement"])
    return np.array(found, dtype=float)


def main() -> int:
    """Train, and print the placements before and after."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=20_000, help="decisions to learn from (default: 20000)")
    parser.add_argument("--games", type=int, default=100, help="games of a measurement (default: 100)")
    parser.add_argument("--save", metavar="FILE", help="where to write the model")
    options = parser.parse_args()
    settings = {"opponents": OPPONENTS, "length": "east", "reward": "round_points"}
    envs = make_vec_env(nukidora.envs.ID, n_envs=8, seed=0, env_kwargs=settings)
    model = MaskablePPO("MultiInputPolicy", envs, n_steps=256, batch_size=256, n_epochs=4, gamma=0.99, seed=0)
    before = placements(model, options.games)
    model.learn(options.steps)
    after = placements(model, options.games)
    for when, found in (("before", before), ("after", after)):
        error = 1.96 * found.std() / len(found) ** 0.5
        print(f"{when}: mean placement {found.mean():.2f} ± {error:.2f} in {len(found)} games")
    if options.save:
        model.save(options.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())
