"""docs/environments.md beside the tables of the code."""

from __future__ import annotations

from dataclasses import fields

from nukidora.envs.games import REWARDS, Settings
from nukidora.envs.observations import OBSERVATIONS
from nukidora.envs.showing import RENDERERS
from tests.support.channels_table import NAME, PAGE, channels_table
from tests.support.documented_table import split_page

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_table_of_channels_is_that_of_the_code() -> None:
    _, table, _ = split_page(TEXT, NAME)
    assert table == channels_table(), "update it: python -m tests.support.channels_table"


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
