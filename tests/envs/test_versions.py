"""The environments with the lowest version of Gymnasium that pyproject.toml allows; all other tests use the newest."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

REPOSITORY = Path(__file__).resolve().parents[2]

PROGRAM = """
import gymnasium
import numpy as np
from gymnasium.utils.env_checker import check_env

import nukidora.envs
from nukidora.envs import sanma_v0

env = gymnasium.make("nukidora/Sanma-v0", opponents=("tsumogiri", "tsumogiri"))
check_env(env.unwrapped, skip_render_check=True)
for mode in ("NEXT_STEP", "SAME_STEP", "DISABLED"):
    settings = {"opponents": ("tsumogiri", "tsumogiri"), "length": "east", "autoreset_mode": mode}
    games = gymnasium.make_vec("nukidora/Sanma-v0", num_envs=3, **settings)
    games.reset(seed=1)
    ended = 0
    while ended < 3:
        over = games.step(games.action_space.sample())[2]
        ended += int(over.sum())
        if mode == "DISABLED" and over.any():
            games.reset(options={"reset_mask": over})
players = sanma_v0.env()
players.reset(seed=1)
print(gymnasium.__version__, players.action_space("player_0").n)
"""


@pytest.mark.slow
def test_the_lowest_version_of_gymnasium_plays(tmp_path: Path) -> None:
    extras = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {each.name: each for each in map(Requirement, extras["optional-dependencies"]["rl"])}
    (lowest,) = needed["gymnasium"].specifier
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(tmp_path)]
    subprocess.run([*install, f"gymnasium=={lowest.version}"], check=True, capture_output=True, timeout=300)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(REPOSITORY)])}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.split()[0].startswith(lowest.version)
