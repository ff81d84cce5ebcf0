"""The loop of CleanRL's ppo.py, which is a script and no library: make_vec, torch, and Gymnasium's wrapper of results.

    pip install -c constraints.txt -e ".[rl]"
    python examples/rl_libraries/cleanrl_loop.py

With NEXT_STEP, Gymnasium's default, the step after the end of a game is no decision: `began` leaves it out.
examples/ppo.py is such a loop in whole.
"""

from __future__ import annotations

from math import prod

import gymnasium
import torch
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from torch import nn
from torch.distributions import Categorical

import nukidora.envs

SETTINGS = {"opponents": ("random", "random"), "length": "east", "reward": "round_points"}


def main() -> None:
    """Play 400 steps of 16 games, learn at the end of each 50, and print one line."""
    torch.manual_seed(0)
    envs = RecordEpisodeStatistics(gymnasium.make_vec(nukidora.envs.ID, num_envs=16, **SETTINGS))
    n_seen, n_actions = prod(envs.single_observation_space["observation"].shape), int(envs.single_action_space.n)
    network = nn.Sequential(nn.Flatten(), nn.Linear(n_seen, 64), nn.ReLU(), nn.Linear(64, n_actions))
    optimizer = torch.optim.Adam(network.parameters())
    observations, _ = envs.reset(seed=1)
    ended = torch.zeros(16, dtype=torch.bool)
    games, decisions, terms = 0, 0, []
    for step in range(400):
        mask = torch.as_tensor(observations["action_mask"]).bool()
        logits = network(torch.as_tensor(observations["observation"])).masked_fill(~mask, -torch.inf)
        actions = Categorical(logits=logits).sample()
        began = ended
        observations, rewards, terminations, _, info = envs.step(actions.numpy())
        ended = torch.as_tensor(terminations)
        terms.append((Categorical(logits=logits).log_prob(actions) * torch.as_tensor(rewards))[~began])
        decisions += int((~began).sum())
        games += int(info["_episode"].sum()) if "episode" in info else 0
        if step % 50 == 49:
            optimizer.zero_grad()
            (-torch.cat(terms).mean()).backward()
            optimizer.step()
            terms.clear()
    print(f"cleanrl loop: {decisions} decisions, {games} games")


if __name__ == "__main__":
    main()
