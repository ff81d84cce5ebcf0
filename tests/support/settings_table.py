"""The table of settings in docs/deploy.md. ``python -m tests.support.settings_table`` updates it."""

from __future__ import annotations

from pathlib import Path

from server.settings import PREFIX, Settings

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "deploy.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->\n"


def settings_table() -> str:
    """Every setting with its flag, environment variable, default and meaning, as Markdown."""
    rows = ["| flag | variable | default | meaning |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        default = ",".join(map(str, field.default)) if isinstance(field.default, tuple) else field.default
        shown = "" if default in (None, "") else f"`{default}`"
        rows.append(f"| `{flag}` | `{PREFIX}{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(rows) + "\n"


def split_page(page: str) -> tuple[str, str, str]:
    """The text before the table, the table, and the text after it."""
    before, begin, rest = page.partition(BEGIN)
    table, end, after = rest.partition(END)
    return before + begin, table, end + after


if __name__ == "__main__":
    before, _, after = split_page(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + settings_table() + after, encoding="utf-8")
