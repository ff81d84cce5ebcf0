"""RLlib 2.60.0: an iteration of PPO with masks, by the module of RLlib's own example of action masks.

    pip install "ray[rllib]==2.60.*" "torch==2.13.0" -e ".[rl]"
    python examples/rl_libraries/rllib_ppo.py

It goes without constraints.txt, for RLlib pins Gymnasium 1.2.2. The module wants the array flat and under the name
``observations``.
"""

from __future__ import annotations

from math import prod
from typing import Any

import gymnasium
import numpy as np
import ray
from gymnasium import spaces
from gymnasium.wrappers import TransformObservation
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.default_model_config import DefaultModelConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.tune.registry import register_env

import nukidora.envs


def make(settings: dict[str, Any]) -> gymnasium.Env:
    """The environment of one game, whose observations are as the module wants them."""
    env = gymnasium.make(nukidora.envs.ID, **settings)
    space = env.observation_space
    flat = spaces.Box(-1, 1, (prod(space["observation"].shape),), np.float32)
    mask = spaces.Box(0, 1, space["action_mask"].shape, np.float32)
    return TransformObservation(
        env,
        lambda seen: {
            "observations": seen["observation"].ravel(),
            "action_mask": seen["action_mask"].astype(np.float32),
        },
        spaces.Dict({"observations": flat, "action_mask": mask}),
    )


def main() -> None:
    """Learn once, and print one line."""
    ray.init("local", num_cpus=1, include_dashboard=False, _node_ip_address="127.0.0.1")
    register_env("sanma", make)
    settings = {"opponents": ("random", "random"), "length": "east"}
    config = (
        PPOConfig()
        .environment("sanma", env_config=settings)
        .env_runners(num_env_runners=0, num_envs_per_env_runner=4)
        .training(train_batch_size_per_learner=1_000, minibatch_size=250, num_epochs=1)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=ActionMaskingTorchRLModule, model_config=DefaultModelConfig(fcnet_hiddens=[64])
            )
        )
    )
    algorithm = config.build_algo()
    found = algorithm.train()["env_runners"]
    algorithm.stop()
    ray.shutdown()
    steps, games = int(found["num_env_steps_sampled"]), int(found["num_episodes"])
    print(f"rllib: {steps} steps, {games} games, mean reward {found['episode_return_mean']:.2f}")


if __name__ == "__main__":
    main()
