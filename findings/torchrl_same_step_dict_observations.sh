#!/usr/bin/env bash
# torchrl 0.14.1 with gymnasium 1.4.0 (PyPI): the last observation of an episode is zeros, if observations are dicts.
#
# GymWrapper of a vector environment in Gymnasium's AutoresetMode.SAME_STEP takes the last observation of an episode
# from info["final_obs"]. With a plain Box it arrives. With a Dict space every entry of ("next", ...) is zero at the end of
# an episode, and if one of the keys is called "observation", the first end raises a RuntimeError instead.
#
# Surprising: all other steps are right, shapes and flags too, and nothing warns. The value of a truncated episode is
# then bootstrapped from an observation that never was. Games with action masks have Dict observations, and
# "observation" with "action_mask" are the names that PettingZoo recommends.
#
# Seen (two environments of five steps, whose observation counts steps; the last one, and what follows it):
#     Box: last 0.5, then 0.0
#     Dict of a and b: last 0.0, then 0.0
#     Dict with observation: RuntimeError
#
# What to do: use AutoresetMode.DISABLED, which torchrl resets by itself, with vector environments that have it.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 torchrl==0.14.1 tensordict==0.14.3 gymnasium==1.4.0

cat >probe.py <<'PROBE'
import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from torchrl._utils import logger
from torchrl.envs import GymWrapper

logger.setLevel("ERROR")
BOX = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
LENGTH = 5


class Counting(gymnasium.Env):
    def __init__(self, keys):
        self.keys = keys
        self.observation_space = gymnasium.spaces.Dict(dict.fromkeys(keys, BOX)) if keys else BOX
        self.action_space = gymnasium.spaces.Discrete(2)

    def observation(self):
        array = np.full(3, self.steps / 10, np.float32)
        return dict.fromkeys(self.keys, array) if self.keys else array

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return self.observation(), {}

    def step(self, action):
        self.steps += 1
        return self.observation(), 1.0, self.steps >= LENGTH, False, {}


for name, keys in (("Box", ()), ("Dict of a and b", ("a", "b")), ("Dict with observation", ("observation", "mask"))):
    envs = SyncVectorEnv([lambda keys=keys: Counting(keys)] * 2, autoreset_mode=AutoresetMode.SAME_STEP)
    try:
        played = GymWrapper(envs).rollout(2 * LENGTH, break_when_any_done=False)
    except RuntimeError as error:
        print(f"{name}: {type(error).__name__}")
        continue
    key = keys[0] if keys else "observation"
    last, following = played["next", key][0, LENGTH - 1], played[key][0, LENGTH]
    print(f"{name}: last {last[0].item():.1f}, then {following[0].item():.1f}")
PROBE
cat >expected.txt <<'EXPECTED'
Box: last 0.5, then 0.0
Dict of a and b: last 0.0, then 0.0
Dict with observation: RuntimeError
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: torchrl 0.14.1 reads the last observations of SAME_STEP in another way" >&2
    exit 1
}
