"""The table of settings in docs/deploy.md. ``python -m tests.support.settings_table`` updates it."""

from __future__ import annotations

from server.flags import SETTINGS, as_text
from tests.support.documented_table import DOCS, update_page

PAGE, NAME = DOCS / "deploy.md", "settings"


def settings_table() -> str:
    """Every setting with its flag, default and meaning, as Markdown."""
    rows = ["| flag | default | meaning |", "|---|---|---|"]
    for name, field in SETTINGS.items():
        flag = "--" + name.replace("_", "-")
        default = str(field.default) if isinstance(field.default, float) else as_text(field.default)
        shown = "" if default in (None, "") else f"`{default}`"
        rows.append(f"| `{flag}` | {shown} | {field.metadata['description']} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    update_page(PAGE, NAME, settings_table())
