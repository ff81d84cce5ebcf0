"""The table of settings in docs/deploy.md. ``python -m tests.support.settings_table`` updates it."""

from __future__ import annotations

from dataclasses import fields

from server.setting_values import as_toml
from server.settings import TABLES
from tests.support.documented_table import DOCS, update_page

PAGE, NAME = DOCS / "deploy.md", "settings"


def settings_table() -> str:
    """Every setting with its default and meaning, by table of the settings file, as Markdown."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, table in TABLES.items():
        rows.append(f"| **`[{name}]`** | | **{table.about}** |")
        for setting in fields(table.settings):
            default = "" if setting.default is None else f"`{as_toml(setting.default)}`"
            rows.append(f"| `{setting.name}` | {default} | {setting.metadata['description']} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    update_page(PAGE, NAME, settings_table())
