"""Rendering: the same table as text, as SVG and as an image."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import gymnasium
import numpy as np
import pytest

from engine.game import Game
from engine.svg import table_svg
from nukidora.envs import sanma_v0
from nukidora.envs.rendering import font_files, render_png, render_rgb, render_svg, render_text
from nukidora.envs.sanma_v0 import AGENTS
from nukidora.envs.showing import RENDERERS, render

ID = "nukidora.envs:nukidora/Sanma-v0"
FELT = (0x2D, 0x65, 0x52)
NAMES = ("Aki", "Ben", "Chi")


@pytest.fixture(scope="module")
def game() -> Game:
    """A round in its middle."""
    game = Game(7, names=NAMES)
    for _ in range(40):
        for seat in game.asked:
            game.act(seat, game.legal(seat)[-1])
    return game


def test_text_and_svg_are_those_of_the_engine(game: Game) -> None:
    assert render_text(game.table, NAMES) == str(game)
    assert render_svg(game.table, NAMES) == table_svg(game.table, NAMES)
    assert render_text(game.view(1)) == str(game.view(1))


def test_an_image_has_the_table_with_its_words(game: Game) -> None:
    image = render_rgb(game.table)
    assert (image.shape, image.dtype) == ((546, 558, 3), np.uint8)
    assert tuple(image[540, 300]) == FELT
    text = image[225:245, 230:325]  # the name of the round on the plate, in light letters
    assert 0.05 < (text.min(axis=2) > 200).mean() < 0.5


def test_an_image_is_as_wide_as_one_says(game: Game) -> None:
    assert render_rgb(game.table, width=279).shape == (273, 279, 3)
    assert render_png(game.table, width=279).startswith(b"\x89PNG")


def test_images_use_no_font_of_the_machine(game: Game) -> None:
    assert [file.rpartition("/")[2] for file in font_files()] == ["DejaVuSans-Bold.ttf", "DejaVuSans.ttf"]
    names = render_rgb(game.table, ("Ae", "Bg", "Cf")), render_rgb(game.table, ("Aa", "Bb", "Cc"))
    assert (names[0] != names[1]).any()


@pytest.mark.parametrize("mode", RENDERERS)
def test_all_environments_render_what_may_be_seen(mode: str) -> None:
    """A learner what it sees, PettingZoo the open table; nothing without a mode."""
    types: dict[str, Any] = {"ansi": str, "svg": str, "rgb_array": np.ndarray}
    settings: dict[str, Any] = {"opponents": ("random", "random"), "render_mode": mode}
    env: Any = gymnasium.make(ID, **settings).unwrapped
    env.reset(seed=1)
    found = env.render()
    assert isinstance(found, types[mode])
    vector = gymnasium.make_vec(ID, num_envs=2, **settings)
    vector.reset(seed=1)
    both: Any = vector.render()
    assert [type(each) for each in both] == [types[mode]] * 2
    assert np.array_equal(both[0], found)
    assert not np.array_equal(both[1], found)
    env.step(env.action_space.sample())
    assert not np.array_equal(env.render(), found)
    players: Any = sanma_v0.env(render_mode=mode)
    players.reset(seed=3)
    assert np.array_equal(players.render(), render(mode, players.unwrapped.game.table, *AGENTS))
    for silent in (gymnasium.make(ID).unwrapped, gymnasium.make_vec(ID, num_envs=2)):
        silent.reset(seed=1)
        assert silent.render() is None


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("gymnasium", "nukidora.envs"),
        ("pettingzoo", "nukidora.envs.sanma_v0"),
        ("resvg_py", "nukidora.envs.rendering"),
    ],
)
def test_without_a_package_one_line_says_what_to_install(package: str, module: str) -> None:
    code = f"import sys; sys.modules['{package}'] = None; import {module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"ModuleNotFoundError: {package} is not installed for ")
    assert told.split("install it with")[1].startswith(" pip install -c constraints.txt -e '.[rl]'")
