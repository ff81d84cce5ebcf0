"""The table of settings in docs/deploy.md; ``python -m tests.support.settings_table`` writes it anew."""

from __future__ import annotations

from pathlib import Path

from server.settings import PREFIX, Settings

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "deploy.md"
BEGIN, END = "<!-- settings -->\n", "<!-- end of settings -->\n"


def settings_table() -> str:
    """Every setting with its flag, environment variable, default and meaning."""
    rows = ["| flag | variable | default | |", "|---|---|---|---|"]
    for name, field in Settings.model_fields.items():
        flag = "--" + name.replace("_", "-")
        default = ",".join(field.default) if isinstance(field.default, tuple) else field.default
        shown = "" if default in (None, "") else f"`{default}`"
        rows.append(f"| `{flag}` | `{PREFIX}{name.upper()}` | {shown} | {field.description} |")
    return "\n".join(rows) + "\n"


def parts(page: str) -> tuple[str, str, str]:
    """A page before, in and after its table."""
    before, begin, rest = page.partition(BEGIN)
    table, end, after = rest.partition(END)
    return before + begin, table, end + after


if __name__ == "__main__":
    before, _, after = parts(PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(before + settings_table() + after, encoding="utf-8")
