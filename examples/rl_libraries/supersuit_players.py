"""SuperSuit 3.11.0: its wrappers around three players of PettingZoo, at random by the masks.

    pip install "supersuit==3.11.*" -c constraints.txt -e ".[rl]"
    python examples/rl_libraries/supersuit_players.py

Wrappers of rewards and of the order of calls take the environment as it is. Those of observations want arrays, not
dicts: `observation_lambda_v0` takes the planes out first; then the mask is in ``info``.
"""

from __future__ import annotations

import numpy as np
import supersuit
from gymnasium import spaces

from nukidora.envs import sanma_v0


def planes(observation: dict[str, np.ndarray]) -> np.ndarray:
    """The array alone."""
    return observation["observation"]


def planes_space(space: spaces.Dict) -> spaces.Space:
    """Its space."""
    return space["observation"]


def main() -> None:
    """Play a game, and print one line."""
    env = sanma_v0.env(length="east")
    env = supersuit.clip_reward_v0(env, lower_bound=-0.5, upper_bound=1)
    env = supersuit.observation_lambda_v0(env, lambda seen, space: planes(seen), planes_space)
    env = supersuit.dtype_v0(env, np.float16)
    env = supersuit.flatten_v0(env)
    env = supersuit.frame_stack_v1(env, 2)
    env.reset(seed=7)
    steps, totals = 0, dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, terminated, _, info = env.last()
        assert observation in env.observation_space(agent)
        totals[agent] += reward
        steps += 1
        env.step(None if terminated else env.action_space(agent).sample(info["action_mask"]))
    print(f"supersuit: {steps} steps, observations {observation.dtype}{list(observation.shape)}, rewards {totals}")


if __name__ == "__main__":
    main()
