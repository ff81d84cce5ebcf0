"""The table of channels in docs/environments.md, and the shapes of observations in the text before it.

``python -m tests.support.channels_table`` updates both.
"""

from __future__ import annotations

import re

from agents.blocks import Block
from engine.table import N_SEATS
from nukidora.envs.observations import OBSERVATIONS, PER_SEAT, SEAT_CHANNELS, SEATS_AT, TABLE_CHANNELS
from tests.support.documented_table import DOCS, split_page

PAGE, NAME = DOCS / "environments.md", "channels"


def channels_table() -> str:
    """Every group of channels with its numbers, name and meaning, as Markdown."""
    rows = ["| channels | name | |", "|---|---|---|"]

    def add(groups: tuple[Block, ...], first: int, suffix: str) -> None:
        for group in groups:
            numbers = f"{first}" if group.n == 1 else f"{first}-{first + group.n - 1}"
            rows.append(f"| {numbers} | `{group.name}{suffix}` | {group.text} |")
            first += group.n

    add(TABLE_CHANNELS, 0, "")
    add(SEAT_CHANNELS, SEATS_AT, " 0")
    for player in range(1, N_SEATS):
        first = SEATS_AT + player * PER_SEAT
        rows.append(f"| {first}-{first + PER_SEAT - 1} | | the same of player {player}, such as `pon {player}` |")
    return "\n".join(rows) + "\n"


def updated(page: str) -> str:
    """The page with the table of channels and the shapes that are true now."""
    before, _, after = split_page(page, NAME)
    for name, row in OBSERVATIONS.items():
        shape = f"{row.dtype.__name__}[{', '.join(map(str, row.shape))}]"
        before = re.sub(rf"(?<=^\| `{name}` \| )\w+\[[\d, ]+\](?= \|)", shape, before, flags=re.MULTILINE)
    return before + channels_table() + after


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
