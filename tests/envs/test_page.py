"""docs/environments.md beside the tables of the code."""

from __future__ import annotations

import re
from dataclasses import fields

from nukidora.envs.games import REWARDS, Settings
from nukidora.envs.observations import N_CHANNELS, OBSERVATIONS
from nukidora.envs.showing import RENDERERS
from tests.support.channels_table import PAGE, updated

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_channels_and_shapes_are_those_of_the_code() -> None:
    assert updated(TEXT) == TEXT, "update it: python -m tests.support.channels_table"
    old = TEXT.replace(f"float32[{N_CHANNELS}, 34]", "float32[9, 34]").replace("| 0-3 | `hand`", "| 0 | `hand`")
    assert updated(old) == TEXT


def test_no_example_writes_down_the_number_of_channels() -> None:
    examples = sorted((PAGE.parent.parent / "examples").rglob("*.py"))
    assert len(examples) > 5
    assert [path.name for path in examples if re.search(rf"\b{N_CHANNELS}\b", path.read_text(encoding="utf-8"))] == []


def test_every_observation_stands_there_with_its_shape() -> None:
    for name, row in OBSERVATIONS.items():
        assert f"| `{name}` | {row.dtype.__name__}[{', '.join(map(str, row.shape))}] |" in TEXT


def test_every_setting_stands_there_with_its_default() -> None:
    for field in fields(Settings):
        default = f'"{field.default}"' if isinstance(field.default, str) else str(field.default).replace("'", '"')
        assert f"| `{field.name}` | `{default}` |" in TEXT


def test_every_reward_and_render_mode_stands_there() -> None:
    assert [name for name in REWARDS if f"| `{name}` | at the end" not in TEXT] == []
    assert [mode for mode in RENDERERS if f"`{mode}`" not in TEXT] == []
