#!/usr/bin/env bash
# torchrl 0.14.1 (PyPI): GymEnv gives every environment an argument that it has not, and reads the error to take it back.
#
# GymEnv(name) calls gymnasium.make(name, frameskip=1, ...). If that raises a TypeError whose text contains
# "__init__() got an unexpected keyword argument 'frameskip'", it tries again without. An environment that checks
# its own keywords and says so in words of its own cannot be made, whatever one passes.
#
# Surprising: frame_skip=None, the default, still sends frameskip=1, and GymWrapper of the same environment works. The
# error that the user sees names a keyword that is nowhere in his program.
#
# Seen (the same environment, which takes only `length`, with two texts of the TypeError):
#     own words: TypeError unknown setting 'frameskip', choose length was raised from the environment creator for own-v0
#         with kwargs ({'frameskip': 1})
#     Python's words: made
#     GymWrapper: made
#
# What to do: in an environment of yours let the text begin as Python's does; with one of others use
# GymWrapper(gymnasium.make(name)).
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install --quiet --disable-pip-version-check torch==2.13.0 torchrl==0.14.1 tensordict==0.14.3 gymnasium==1.4.0

cat >probe.py <<'PROBE'
import gymnasium
import numpy as np
from torchrl.envs import GymEnv, GymWrapper

WORDS = {
    "own-v0": "unknown setting {name!r}, choose length",
    "python-v0": "__init__() got an unexpected keyword argument {name!r}",
}


class Checked(gymnasium.Env):
    words = ""

    def __init__(self, length=3, render_mode=None, **others):
        for name in others:
            raise TypeError(self.words.format(name=name))
        self.length, self.render_mode = length, render_mode
        self.observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return np.zeros(3, np.float32), {}

    def step(self, action):
        return np.zeros(3, np.float32), 0.0, True, False, {}


for name, words in WORDS.items():
    gymnasium.register(name, entry_point=type("Env", (Checked,), {"words": words}))


def show(name, make):
    try:
        make()
        print(f"{name}: made")
    except TypeError as error:
        print(f"{name}: TypeError {str(error).splitlines()[0]}")


show("own words", lambda: GymEnv("own-v0"))
show("Python's words", lambda: GymEnv("python-v0"))
show("GymWrapper", lambda: GymWrapper(gymnasium.make("own-v0")))
PROBE
cat >expected.txt <<'EXPECTED'
own words: TypeError unknown setting 'frameskip', choose length was raised from the environment creator for own-v0 with kwargs ({'frameskip': 1})
Python's words: made
GymWrapper: made
EXPECTED

venv/bin/python probe.py >seen.txt 2>errors.txt || cat errors.txt >&2
cat seen.txt
cmp --silent expected.txt seen.txt || {
    echo "changed: torchrl 0.14.1 makes environments by name in another way" >&2
    exit 1
}
