"""Asking a seat in mjai: what is told with the question, what the answer means, and what is played without one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.actions import PASS, TSUMOGIRI, action_name
from engine.mjai.actions import action_message, action_of
from engine.mjai.messages import hand_names
from engine.tiles import KIND_OF, MJAI_NAMES, UNKNOWN

Message = dict[str, Any]

OFFERS = frozenset({"dahai", "kakan", "nukidora"})  # others' events that always carry possible_actions
RESTRICTING = frozenset({"pon", "reach"})  # own events that carry cannot_dahai
KINDS = {name: int(KIND_OF[tile]) for tile, name in enumerate(MJAI_NAMES)} | {"?": UNKNOWN}


def hints(t: np.record, seat: int, message: Message, legal: Sequence[int]) -> Message:
    """The keys that dialect mjai3p adds to `message` for `seat`.

    `legal` are its legal actions at table (or view) `t` if it is asked by this message, else there are none.
    """
    own = message.get("actor") == seat
    kind = message["type"]
    if own and kind in RESTRICTING and legal:
        return {"cannot_dahai": forbidden_discards(t, seat, legal)}
    if (kind == "tsumo" and own) or (not own and (kind in OFFERS or (kind == "ankan" and legal))):
        special = (action for action in legal if action > TSUMOGIRI and action != PASS)
        return {"possible_actions": [action_message(t, seat, action) for action in special]}
    return {}


def forbidden_discards(t: np.record, seat: int, legal: Sequence[int]) -> list[str]:
    """Names of the tiles in hand that are not to be discarded."""
    allowed = {MJAI_NAMES[action if action < TSUMOGIRI else int(t.drawn)] for action in legal}
    return [name for name in dict.fromkeys(hand_names(t.seat[seat])) if name not in allowed]


def legal_action(t: np.record, seat: int, reply: Message, legal: Sequence[int]) -> int:
    """The action of `legal` that a canonical reply means. Raises ValueError saying what is wrong and what is legal.

    A discard of the drawn tile may leave out that it is tsumogiri, or deny it where the hand holds no other such tile.
    What the reply says beside its action must fit: an answer meant for another question is not taken.
    """
    action = action_of(t, seat, reply)
    if action not in legal and TSUMOGIRI in legal and action == int(t["drawn"]):
        action = TSUMOGIRI
    if action not in legal:
        raise ValueError(f"may not {action_name(action)}; legal: {', '.join(map(action_name, legal))}")
    meant = action_message(t, seat, action)
    for key, expected in meant.items():
        if key in reply and key != "tsumogiri" and kinds(reply[key]) != kinds(expected):
            raise ValueError(f"{reply['type']}: {key} is {reply[key]!r}, but here it can only be {expected!r}")
    return action


def kinds(value: Any) -> Any:
    """A tile or tiles as kinds, red or not: wherever both are held the action says which is meant."""
    if isinstance(value, list):
        return sorted(map(kinds, value))
    return KINDS.get(value, value)


def safe_default(legal: Sequence[int]) -> int:
    """What is played for a seat that does not answer: pass, the tile just drawn, or else the first legal discard."""
    return next((action for action in (PASS, TSUMOGIRI) if action in legal), legal[0])
