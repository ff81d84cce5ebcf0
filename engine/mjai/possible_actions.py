"""Decisions of a seat in mjai: its possible actions, the action that a reply means, and the safe default."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.actions import PASS, TSUMOGIRI, action_name
from engine.common.error_text import error_text
from engine.mjai.actions import action_message, action_of
from engine.mjai.messages import Message, hand_names
from engine.mjai.schema import BARRED, EVENTS, OFFERS
from engine.tiles import KIND_OF, MJAI_NAMES, UNKNOWN

KINDS = {name: int(KIND_OF[tile]) for tile, name in enumerate(MJAI_NAMES)} | {"?": UNKNOWN}
WITH_POSSIBLE_ACTIONS = frozenset(row.type for row in EVENTS.values() if OFFERS in row.keys)
WITH_CANNOT_DAHAI = frozenset(row.type for row in EVENTS.values() if BARRED in row.keys)


def possible_actions(t: np.record, seat: int, message: Message, legal: Sequence[int]) -> Message:
    """Return the ``possible_actions`` or ``cannot_dahai`` that dialect mjai3p adds to `message` for `seat`, if any.

    `t` is the table (or view) after the event; `legal` are the actions the seat may answer with, empty if it is not
    asked. ``possible_actions`` comes with the seat's own draw and with others' discards, kakans and norths, even if it
    is empty; with others' ankans only if the seat may rob the kan.
    """
    own = message.get("actor") == seat
    kind = message["type"]
    if kind in WITH_CANNOT_DAHAI:
        return {"cannot_dahai": forbidden_discards(t, seat, legal)} if own and legal else {}
    if kind not in WITH_POSSIBLE_ACTIONS or own != (kind == "tsumo") or (kind == "ankan" and not legal):
        return {}
    special = [action_message(t, seat, action) for action in legal if action > TSUMOGIRI and action != PASS]
    return {"possible_actions": special}


def forbidden_discards(t: np.record, seat: int, legal: Sequence[int]) -> list[str]:
    """Names of the tiles in hand that may not be discarded."""
    allowed = {MJAI_NAMES[action if action < TSUMOGIRI else int(t.drawn)] for action in legal}
    return [name for name in dict.fromkeys(hand_names(t.seat[seat])) if name not in allowed]


def legal_action(t: np.record, seat: int, reply: Message, legal: Sequence[int]) -> int:
    """Return the action of `legal` that a canonical reply stands for.

    A discard of the drawn tile may omit ``tsumogiri``, or set it to false if the hand holds no other such tile. The
    other keys of the reply must fit the action, so that a reply to an earlier question is not mistaken for one to this.

    Raises ValueError, which says what is wrong and what is legal.
    """
    action = action_of(t, seat, reply)
    if action not in legal and TSUMOGIRI in legal and action == int(t["drawn"]):
        action = TSUMOGIRI
    if action not in legal:
        name, names = action_name(action), ", ".join(map(action_name, legal))
        raise ValueError(error_text("may_not", "may not {action}; legal: {legal}", action=name, legal=names))
    meant = action_message(t, seat, action)
    for key, expected in meant.items():
        given = reply.get(key, expected)
        if given != expected and key != "tsumogiri" and kinds(given) != kinds(expected):
            text, kind = "{message}: {key} is {given}, but here it can only be {expected}", reply["type"]
            line = error_text("key_other", text, message=kind, key=key, given=repr(given), expected=repr(expected))
            raise ValueError(line)
    return action


def kinds(value: Any) -> Any:
    """Return tile names without red; if both are held, the action says which is meant. Other values are unchanged."""
    if isinstance(value, list):
        return sorted(map(kinds, value))
    return KINDS.get(value, value)


def safe_default(legal: Sequence[int]) -> int:
    """Return the action played for a seat that does not answer: pass, else tsumogiri, else the first legal action."""
    return next((action for action in (PASS, TSUMOGIRI) if action in legal), legal[0])
