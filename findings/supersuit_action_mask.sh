#!/usr/bin/env bash
# supersuit 3.11.0 with pettingzoo 1.27.0 (PyPI): the observations with an action mask that PettingZoo asks for are refused.
#
# PettingZoo's card and board games give observations as a dict of "observation" and "action_mask", the form that its
# documentation recommends for games with illegal actions. SuperSuit, the companion library of wrappers, takes
# Box or Discrete only. Some of its wrappers say so, others end in an AttributeError of Gymnasium's Dict, which tells
# neither the wrapper nor the reason; wrappers that do not look at observations work.
#
# Surprising: both libraries come from one project and are shown together in tutorials (those of games without masks).
#
# Seen (a game of three players with such observations):
#     flatten_v0: AttributeError 'Dict' object has no attribute 'low'
#     dtype_v0: AttributeError 'Dict' object has no attribute 'low'
#     normalize_obs_v0: AttributeError 'Dict' object has no attribute 'low'
#     frame_stack_v1: AssertionError Stacking is currently only allowed for Box and
#     clip_reward_v0: accepted
#
# What to do: flatten and stack "observation" inside the environment, or put the mask into `infos` and give plain arrays
# as observations where SuperSuit is to be used.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check supersuit==3.11.0 pettingzoo==1.27.0 gymnasium==1.3.0

cat >probe.py <<'PROBE'
import numpy as np
import supersuit
from gymnasium import spaces
from pettingzoo import AECEnv


class Masked(AECEnv):
    metadata = {"name": "masked_v0", "render_modes": []}
    render_mode = None
    possible_agents = ["east", "south", "west"]

    def observation_space(self, agent):
        box, mask = spaces.Box(0, 1, (4, 3), np.float32), spaces.Box(0, 1, (2,), np.int8)
        return spaces.Dict({"observation": box, "action_mask": mask})

    def action_space(self, agent):
        return spaces.Discrete(2)


WRAPPERS = {"flatten_v0": (), "dtype_v0": (np.float32,), "normalize_obs_v0": (), "frame_stack_v1": (), "clip_reward_v0": ()}
for name, arguments in WRAPPERS.items():
    try:
        getattr(supersuit, name)(Masked(), *arguments)
        print(f"{name}: accepted")
    except Exception as error:
        print(f"{name}: {type(error).__name__} {str(error)[:47].strip()}")
PROBE
cat >expected.txt <<'EXPECTED'
flatten_v0: AttributeError 'Dict' object has no attribute 'low'
dtype_v0: AttributeError 'Dict' object has no attribute 'low'
normalize_obs_v0: AttributeError 'Dict' object has no attribute 'low'
frame_stack_v1: AssertionError Stacking is currently only allowed for Box and
clip_reward_v0: accepted
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: supersuit 3.11.0 treats observations with a mask otherwise" >&2
    exit 1
}
