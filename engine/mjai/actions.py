"""Actions (the numbers of `engine.actions`) as canonical mjai messages, and messages as actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine import actions
from engine.common.complete import require_rows
from engine.mjai.messages import Message, tile_names
from engine.mjai.schema import REPLIES, TYPE_ALIASES
from engine.table import TURN
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, N_KINDS, RED_INDEX, UNKNOWN

# Actions with no data but their type (and N for a north).
PLAIN_TYPES = {
    actions.RIICHI: "reach",
    actions.NUKIDORA: "nukidora",
    actions.KYUSHU_KYUHAI: "ryukyoku",
    actions.PASS: "none",
}


# Actions of which `action_message` names the tiles.
OF_TILES = (actions.PON, actions.PON_RED, actions.DAIMINKAN, actions.TSUMO, actions.RON)
actions.require_actions("action_message of engine/mjai/actions.py", (*PLAIN_TYPES, *OF_TILES))


def action_message(t: np.record, seat: int, action: int) -> Message:
    """The canonical message for `action` of `seat` at table (or view) `t`."""
    if action <= actions.TSUMOGIRI:
        drawn = action == actions.TSUMOGIRI
        tile = int(t["drawn"]) if drawn else action
        return {"type": "dahai", "actor": seat, "pai": MJAI_NAMES[tile], "tsumogiri": drawn}
    if action in PLAIN_TYPES:
        return {"type": PLAIN_TYPES[action], "actor": seat} | ({"pai": "N"} if action == actions.NUKIDORA else {})
    if action >= actions.KAKAN:
        return _kakan(t, seat, action - actions.KAKAN)
    if action >= actions.ANKAN:
        kind = action - actions.ANKAN
        return {"type": "ankan", "actor": seat, "consumed": tile_names(kind, 4, _reds_in_hand(t, seat, kind))}
    if action in (actions.PON, actions.PON_RED, actions.DAIMINKAN):
        return _call(t, seat, action)
    if action == actions.TSUMO:
        return {"type": "hora", "actor": seat, "target": seat, "pai": MJAI_NAMES[t.drawn]}
    return {"type": "hora", "actor": seat, "target": int(t.turn), "pai": MJAI_NAMES[t.offer]}


def _kakan(t: np.record, seat: int, kind: int) -> Message:
    hand = t["seat"][seat]
    pon = list(hand.meld_kind[: hand.n_melds]).index(kind)
    (pai,) = tile_names(kind, 1, min(_reds_in_hand(t, seat, kind), 1))
    return {"type": "kakan", "actor": seat, "pai": pai, "consumed": tile_names(kind, 3, int(hand.meld_red[pon]))}


def _call(t: np.record, seat: int, action: int) -> Message:
    offer = int(t["offer"])
    kind = int(KIND_OF[offer])
    if action == actions.DAIMINKAN:
        name, consumed = "daiminkan", tile_names(kind, 3, _reds_in_hand(t, seat, kind))
    else:
        name, consumed = "pon", tile_names(kind, 2, int(action == actions.PON_RED))
    return {
        "type": name, "actor": seat, "target": int(t.turn), "pai": MJAI_NAMES[offer], "consumed": consumed,
    }  # fmt: skip


def _reds_in_hand(t: np.record, seat: int, kind: int) -> int:
    return int(t["seat"][seat].red[RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else 0


def action_of(t: np.record, seat: int, message: Message) -> int:
    """Return the action that a canonical message stands for, by `seat` at table (or view) `t`; it need not be legal.

    Raises ValueError if the message is not an action or lacks a key.
    """
    name = message.get("type")
    read = READERS.get(TYPE_ALIASES.get(name, name))
    if read is None:
        raise ValueError(f"{name!r} is no action; send one of {', '.join(READERS)}")
    return read(t, seat, message)


def tile_in(message: Message, key: str) -> int:
    """The tile37 under `key` of a message. Raises ValueError if there is none."""
    tile = MJAI_TILES.get(message.get(key, ""), UNKNOWN)
    if tile == UNKNOWN:
        raise ValueError(f"{message['type']} needs {key!r}, a tile like 5p, 5pr or E, not {message.get(key)!r}")
    return tile


def read_consumed(message: Message) -> list[int]:
    """The tile37 under ``consumed`` of a message. Raises ValueError if there are none."""
    tiles = [MJAI_TILES.get(name, UNKNOWN) for name in message.get("consumed") or []]
    if not tiles or UNKNOWN in tiles:
        raise ValueError(f"{message['type']} needs 'consumed', a list of tiles, not {message.get('consumed')!r}")
    return tiles


def _read_dahai(t: np.record, seat: int, message: Message) -> int:
    tile = tile_in(message, "pai")
    return actions.TSUMOGIRI if tile == int(t["drawn"]) and message.get("tsumogiri", True) else tile


def _plain(action: int) -> Callable[[np.record, int, Message], int]:
    return lambda t, seat, message: action


# Type of a reply -> the action it means.
READERS: dict[Any, Callable[[np.record, int, Message], int]] = {
    "dahai": _read_dahai,
    "reach": _plain(actions.RIICHI),
    "pon": lambda t, seat, message: actions.PON_RED if max(read_consumed(message)) >= N_KINDS else actions.PON,
    "daiminkan": _plain(actions.DAIMINKAN),
    "ankan": lambda t, seat, message: actions.ANKAN + int(KIND_OF[read_consumed(message)[0]]),
    "kakan": lambda t, seat, message: actions.KAKAN + int(KIND_OF[tile_in(message, "pai")]),
    "nukidora": _plain(actions.NUKIDORA),
    "hora": lambda t, seat, message: actions.TSUMO if t.phase == TURN and t.turn == seat else actions.RON,
    "ryukyoku": _plain(actions.KYUSHU_KYUHAI),
    "none": _plain(actions.PASS),
}
require_rows("READERS of engine/mjai/actions.py", READERS, REPLIES, "REPLIES of engine/mjai/schema.py")
