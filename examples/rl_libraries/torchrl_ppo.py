"""torchrl 0.14.1: the vector environment in `GymWrapper`, a masked policy, and one update by PPO's loss.

    pip install "torchrl==0.14.*" -c constraints.txt -e ".[rl]"
    python examples/rl_libraries/torchrl_ppo.py

The environment has the autoreset mode DISABLED, in which torchrl itself begins games anew. With SAME_STEP torchrl
0.14.1 takes an illegal action while it is made, and cannot read last observations that are dicts.
"""

from __future__ import annotations

from math import prod

import gymnasium
import torch
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.envs import GymWrapper
from torchrl.modules import MaskedCategorical
from torchrl.objectives import ClipPPOLoss

import nukidora.envs

SETTINGS = {"opponents": ("random", "random"), "length": "east", "reward": "round_points"}


def network(inputs: int, outputs: int) -> nn.Module:
    """A small network from planes, `inputs` numbers, to `outputs` numbers."""
    return nn.Sequential(nn.Flatten(-2), nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, outputs))


def main() -> None:
    """Play, learn once, and print one line."""
    torch.manual_seed(0)
    envs = gymnasium.make_vec(nukidora.envs.ID, num_envs=8, autoreset_mode="DISABLED", **SETTINGS)
    env = GymWrapper(envs, categorical_action_encoding=True)
    env.set_seed(1)
    n_seen, n_actions = prod(envs.single_observation_space["observation"].shape), int(envs.single_action_space.n)
    logits = TensorDictModule(network(n_seen, n_actions), in_keys=["observation"], out_keys=["logits"])
    mask = TensorDictModule(torch.Tensor.bool, in_keys=["action_mask"], out_keys=["mask"])
    choice = ProbabilisticTensorDictModule(
        in_keys=["logits", "mask"], out_keys=["action"], distribution_class=MaskedCategorical, return_log_prob=True
    )
    policy = ProbabilisticTensorDictSequential(logits, mask, choice)
    critic = TensorDictModule(network(n_seen, 1), in_keys=["observation"], out_keys=["state_value"])
    with torch.no_grad():
        played = env.rollout(300, policy, break_when_any_done=False)
    assert played["action_mask"].gather(-1, played["action"][..., None]).all()
    loss = ClipPPOLoss(policy, critic)
    loss.make_value_estimator(gamma=0.99, lmbda=0.95)
    optimizer = torch.optim.Adam(loss.parameters())
    losses = loss(played)
    (losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]).backward()
    optimizer.step()
    ends = int(played["next", "done"].sum())
    print(f"torchrl: {played.numel()} steps, {ends} games, loss of the critic {losses['loss_critic'].item():.3f}")


if __name__ == "__main__":
    main()
