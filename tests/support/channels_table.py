"""The table of channels in docs/environments.md. ``python -m tests.support.channels_table`` updates it."""

from __future__ import annotations

from engine.table import N_SEATS
from nukidora.envs.observations import PER_SEAT, SEAT_CHANNELS, SEATS_AT, TABLE_CHANNELS, Channels
from tests.support.documented_table import DOCS, update_page

PAGE, NAME = DOCS / "environments.md", "channels"


def channels_table() -> str:
    """Every group of channels with its numbers, name and meaning, as Markdown."""
    rows = ["| channels | name | |", "|---|---|---|"]

    def add(groups: tuple[Channels, ...], first: int, suffix: str) -> None:
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


if __name__ == "__main__":
    update_page(PAGE, NAME, channels_table())
