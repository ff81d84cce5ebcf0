#!/usr/bin/env bash
# agilerl 2.58.0 (PyPI): DQN acts by the action mask but learns from the values of illegal actions.
#
# DQN.get_action takes action_mask and never plays a masked action. DQN.learn takes (obs, action, reward, next_obs, done), has no
# mask, and bootstraps from the largest value of all actions in next_obs. An action that is never legal is never
# corrected, since nobody plays it: what its output began with stays in the targets of all others. `double` changes
# nothing, and train_off_policy, which reads masks from `info`, does not store them.
#
# Surprising: the agent plays only legal actions, and nothing shows that its targets are wrong. Where a dozen of a hundred
# actions are legal, most targets can be values of actions that could not be played.
#
# Seen (one state, reward 1 a step, gamma 0.5, so that the legal action is worth 2; the masked one begins at 10):
#     double=False: plays [0], legal action worth 6
#     double=True: plays [0], legal action worth 6
#
# What to do: PPO, whose rollout buffer stores masks; or override learn() and take the maximum over the legal actions of next_obs.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
# Importing its algorithms needs peft, which only the extras for language models name.
venv/bin/pip install --quiet --disable-pip-version-check agilerl==2.58.0 torch==2.13.0 peft==0.21.0 transformers==5.14.1

cat >probe.py <<'PROBE'
import numpy as np
import torch
from agilerl.algorithms.dqn import DQN
from gymnasium.spaces import Box, Discrete
from tensordict import TensorDict

LEGAL = np.array([[1, 0]])
torch.manual_seed(1)
state, reward, done = torch.ones(1, 1), torch.ones(1, 1), torch.zeros(1, 1)
step = TensorDict({"obs": state, "action": torch.tensor([[0]]), "reward": reward, "next_obs": state, "done": done}, [1])
for double in (False, True):
    agent = DQN(Box(0, 1, (1,)), Discrete(2), gamma=0.5, lr=0.01, tau=0.1, double=double)
    with torch.no_grad():
        for network in (agent.actor, agent.actor_target):
            network.head_net.model.value_linear_layer_output.bias.copy_(torch.tensor([0.0, 10.0]))
    for _ in range(300):
        agent.learn(step)
    played = sorted({int(agent.get_action(state.numpy(), 0.0, action_mask=LEGAL)[0]) for _ in range(20)})
    print(f"double={double}: plays {played}, legal action worth {float(agent.actor(state)[0, 0]):.0f}")
PROBE
cat >expected.txt <<'EXPECTED'
double=False: plays [0], legal action worth 6
double=True: plays [0], legal action worth 6
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: agilerl 2.58.0's DQN learns other values" >&2
    exit 1
}
