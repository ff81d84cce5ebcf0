#!/usr/bin/env bash
# torchrl 0.14.1 with pettingzoo 1.27.0 (PyPI): rows chosen by `mask` lose the rewards that a player gets out of turn.
#
# PettingZooWrapper(use_mask=True) writes, for each player, a row at every step of the game: `mask` is true where the player
# was to act, and `reward` is what the step paid, to whomever. A player of a game of turns is paid mostly by what
# others do (a ron, a tsumo, the end), that is in rows whose `mask` is false.
#
# Surprising: the documentation says that `mask` "can be used to mask out non-acting agents", so one keeps the rows where
# it is true to train a player on its own decisions. PettingZoo's own last() adds up what has come since the
# player's last action; here nobody does. The sums over all rows are right, so that logged returns look right too.
#
# Seen (three players in turn, six actions; each action costs 1 and pays 1 to the next player, the last pays 10 to -10):
#     by last(): east 9, south 0, west -9
#     all rows: east 9, south 0, west -9
#     rows of mask: east -2, south -2, west -11
#
# What to do: before rows are filtered, add each reward to the row of the player's latest action (sum up to the next true
# `mask`), or compute returns and advantages over all rows and filter afterwards.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 torchrl==0.14.1 pettingzoo==1.27.0 gymnasium==1.3.0

cat >probe.py <<'PROBE'
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from torchrl.envs.libs.pettingzoo import PettingZooWrapper

SEATS = ["east", "south", "west"]


class Turns(AECEnv):
    metadata = {"name": "turns_v0", "render_modes": []}
    render_mode = None
    possible_agents = SEATS

    def observation_space(self, agent):
        box, mask = spaces.Box(0, 1, (1,), np.float32), spaces.Box(0, 1, (2,), np.int8)
        return spaces.Dict({"observation": box, "action_mask": mask})

    def action_space(self, agent):
        return spaces.Discrete(2)

    def observe(self, agent):
        return {"observation": np.zeros(1, np.float32), "action_mask": np.ones(2, np.int8)}

    def reset(self, seed=None, options=None):
        self.agents, self.agent_selection, self.turn = list(SEATS), "east", 0
        self.rewards, self._cumulative_rewards = dict.fromkeys(SEATS, 0.0), dict.fromkeys(SEATS, 0.0)
        self.terminations, self.truncations = dict.fromkeys(SEATS, False), dict.fromkeys(SEATS, False)
        self.infos = {agent: {} for agent in SEATS}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            return self._was_dead_step(action)
        following = SEATS[(self.turn + 1) % 3]
        self._cumulative_rewards[agent] = 0.0
        self.rewards = dict.fromkeys(SEATS, 0.0) | {agent: -1.0, following: 1.0}
        if self.turn == 5:
            self.rewards = {"east": 10.0, "south": 0.0, "west": -10.0}
            self.terminations = dict.fromkeys(SEATS, True)
        self.turn += 1
        self.agent_selection = following
        self._accumulate_rewards()


def show(name, sums):
    print(f"{name}:", ", ".join(f"{seat} {round(float(sums[seat]))}" for seat in SEATS))


env, sums = Turns(), dict.fromkeys(SEATS, 0.0)
env.reset()
for agent in env.agent_iter():
    _, reward, terminated, _, _ = env.last()
    sums[agent] += reward
    env.step(None if terminated else 0)
show("by last()", sums)

played = PettingZooWrapper(env=Turns(), use_mask=True).rollout(20)
rewards = {seat: played["next", seat, "reward"].flatten() for seat in SEATS}
show("all rows", {seat: rewards[seat].sum() for seat in SEATS})
show("rows of mask", {seat: rewards[seat][played[seat, "mask"].flatten()].sum() for seat in SEATS})
PROBE
cat >expected.txt <<'EXPECTED'
by last(): east 9, south 0, west -9
all rows: east 9, south 0, west -9
rows of mask: east -2, south -2, west -11
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: torchrl 0.14.1 pays the players of a PettingZoo game in other rows" >&2
    exit 1
}
