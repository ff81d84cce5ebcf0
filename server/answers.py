"""A bot's reply as an action: read liberally where there is no doubt what is meant."""

from __future__ import annotations

from typing import Any

from engine import mjai
from engine.actions import TSUMOGIRI, action_name
from engine.game import Game
from engine.tiles import KIND_OF, MJAI_TILES

Message = dict[str, Any]


def action_of(game: Game, seat: int, message: Message, menu: list[int]) -> int:
    """The action of `menu` that a canonical reply means. Raises ValueError saying what is wrong and what is legal.

    A discard of the drawn tile may leave out that it is tsumogiri, or deny it where the hand holds no other such tile.
    What the reply says beside its action must fit: an answer meant for another question is not taken.
    """
    action = mjai.action_of(game.table, seat, message)
    if action not in menu and TSUMOGIRI in menu and action == int(game.table["drawn"]):
        action = TSUMOGIRI
    if action not in menu:
        raise ValueError(f"may not {action_name(action)}; legal: {', '.join(map(action_name, menu))}")
    meant = mjai.action_message(game.table, seat, action)
    for key, expected in meant.items():
        if key in message and kinds(message[key]) != kinds(expected) and key != "tsumogiri":
            raise ValueError(f"{message['type']}: {key} is {message[key]!r}, but here it can only be {expected!r}")
    return action


def kinds(value: Any) -> Any:
    """A tile or tiles as kinds, red or not: wherever both are held the action says which is meant."""
    if isinstance(value, list):
        return sorted(map(kinds, value))
    return int(KIND_OF[MJAI_TILES[value]]) if value in MJAI_TILES else value
