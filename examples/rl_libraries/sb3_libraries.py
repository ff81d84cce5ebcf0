"""Stable-Baselines3 2.9.2 and sb3-contrib 2.9.2: SB3's checker, MaskablePPO saved and loaded, and PPO without masks.

    pip install "stable-baselines3==2.9.*" "sb3-contrib==2.9.*" -c constraints.txt -e ".[rl]"
    python examples/rl_libraries/sb3_libraries.py

SB3's own algorithms know no masks: PPO plays through a wrapper in which an illegal action stands for a legal one.
examples/maskable_ppo.py learns for longer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

import nukidora.envs

SETTINGS: dict[str, Any] = {"opponents": ("random", "random"), "length": "east"}
QUICK: dict[str, Any] = {"n_steps": 128, "batch_size": 128, "n_epochs": 1, "seed": 0}


class AnyAction(gymnasium.ActionWrapper):
    """Takes every number: an illegal one is the legal action next to it, from above."""

    def action(self, action: int) -> int:
        """The legal action that `action` stands for."""
        legal = np.flatnonzero(self.get_wrapper_attr("action_masks")())
        return int(legal[np.searchsorted(legal, action) % len(legal)])


def main() -> None:
    """Check, learn with both for a few steps, and print one line."""
    check_env(gymnasium.make(nukidora.envs.ID, **SETTINGS))
    envs = make_vec_env(nukidora.envs.ID, 2, seed=0, env_kwargs=SETTINGS, vec_env_cls=SubprocVecEnv)
    model = MaskablePPO("MultiInputPolicy", envs, **QUICK).learn(512)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model"))
        model = MaskablePPO.load(Path(folder, "model"))
    env = gymnasium.make(nukidora.envs.ID, **SETTINGS)
    observation, info = env.reset(seed=7)
    over = False
    while not over:
        action, _ = model.predict(observation, action_masks=info["action_mask"])
        observation, _, over, _, info = env.step(int(action))
    unmasked = make_vec_env(nukidora.envs.ID, 2, seed=0, env_kwargs=SETTINGS, wrapper_class=AnyAction)
    plain = PPO("MultiInputPolicy", unmasked, **QUICK).learn(512)
    steps = f"MaskablePPO {model.num_timesteps} steps, then placement {info['placement']}"
    print(f"stable-baselines3: {steps}; PPO {plain.num_timesteps} steps")
    envs.close()


if __name__ == "__main__":
    main()
