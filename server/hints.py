"""What a bot is told beside an event: that it is asked, what is possible, what it may not discard."""

from __future__ import annotations

from typing import Any

from engine import mjai
from engine.actions import PASS, TSUMOGIRI
from engine.game import Game
from engine.tiles import MJAI_NAMES

Message = dict[str, Any]

OFFERS = frozenset({"dahai", "kakan", "nukidora"})  # others' events that always carry possible_actions
RESTRICTING = frozenset({"pon", "reach"})  # own events that carry cannot_dahai


def hints(game: Game, seat: int, message: Message, menu: list[int]) -> Message:
    """The keys dialect mjai3p adds to `message` for `seat`, whose legal actions are `menu` if it is asked, else []."""
    own = message.get("actor") == seat
    kind = message["type"]
    if own and kind in RESTRICTING and menu:
        return {"cannot_dahai": forbidden_discards(game, seat, menu)}
    if (kind == "tsumo" and own) or (not own and (kind in OFFERS or (kind == "ankan" and menu))):
        special = (action for action in menu if action > TSUMOGIRI and action != PASS)
        return {"possible_actions": [mjai.action_message(game.table, seat, action) for action in special]}
    return {}


def forbidden_discards(game: Game, seat: int, menu: list[int]) -> list[str]:
    """Names of the tiles in hand that are not to be discarded."""
    table = game.table
    allowed = {MJAI_NAMES[action if action < TSUMOGIRI else int(table.drawn)] for action in menu}
    held = dict.fromkeys(mjai.hand_names(table.seat[seat]))
    return [name for name in held if name not in allowed]
