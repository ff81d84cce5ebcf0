"""Actions as canonical mjai messages, and messages back as actions."""

from __future__ import annotations

import numpy as np

from engine import actions
from engine.mjai.messages import Message, tile_names
from engine.table import TURN
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, N_KINDS, RED_INDEX, UNKNOWN


def action_message(t: np.record, seat: int, action: int) -> Message:
    """The message with which `seat` says `action` at table (or view) `t`."""
    if action <= actions.TSUMOGIRI:
        drawn = action == actions.TSUMOGIRI
        tile = int(t["drawn"]) if drawn else action
        return {"type": "dahai", "actor": seat, "pai": MJAI_NAMES[tile], "tsumogiri": drawn}
    if action in PLAIN_NAMES:
        return {"type": PLAIN_NAMES[action], "actor": seat} | ({"pai": "N"} if action == actions.NUKIDORA else {})
    hand, offer = t["seat"][seat], int(t["offer"])
    if action >= actions.KAKAN:
        kind = action - actions.KAKAN
        red = RED_INDEX[kind] >= 0 and hand.red[RED_INDEX[kind]] > 0
        pon = list(hand.meld_kind[: hand.n_melds]).index(kind)
        consumed = tile_names(kind, 3, int(hand.meld_red[pon]))
        return {"type": "kakan", "actor": seat, "pai": tile_names(kind, 1, int(red))[0], "consumed": consumed}
    if action >= actions.ANKAN:
        kind = action - actions.ANKAN
        reds = int(hand.red[RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else 0
        return {"type": "ankan", "actor": seat, "consumed": tile_names(kind, 4, reds)}
    if action in (actions.PON, actions.PON_RED, actions.DAIMINKAN):
        kind = int(KIND_OF[offer])
        count = 3 if action == actions.DAIMINKAN else 2
        reds = 1 if action == actions.PON_RED else 0
        if action == actions.DAIMINKAN and RED_INDEX[kind] >= 0:
            reds = int(hand.red[RED_INDEX[kind]])
        name = "daiminkan" if action == actions.DAIMINKAN else "pon"
        call = {"type": name, "actor": seat, "target": int(t.turn), "pai": MJAI_NAMES[offer]}
        return call | {"consumed": tile_names(kind, count, reds)}
    if action == actions.TSUMO:
        return {"type": "hora", "actor": seat, "target": seat, "pai": MJAI_NAMES[t.drawn]}
    return {"type": "hora", "actor": seat, "target": int(t.turn), "pai": MJAI_NAMES[offer]}


PLAIN_NAMES = {
    actions.RIICHI: "reach",
    actions.NUKIDORA: "nukidora",
    actions.KYUSHU_KYUHAI: "ryukyoku",
    actions.PASS: "none",
}
PLAIN_ACTIONS = {name: action for action, name in PLAIN_NAMES.items()} | {"kita": actions.NUKIDORA}


def action_of(t: np.record, seat: int, message: Message) -> int:
    """The action a bot's message means for `seat` at table (or view) `t`; whether it is legal is not checked here.

    Raises ValueError for a message that is no action, with what is wrong with it.
    """
    name = message.get("type")
    if name in PLAIN_ACTIONS:
        return PLAIN_ACTIONS[name]
    if name == "hora":
        return actions.TSUMO if t.phase == TURN and t.turn == seat else actions.RON
    if name == "daiminkan":
        return actions.DAIMINKAN
    if name == "dahai":
        tile = tile_in(message, "pai")
        is_drawn = tile == int(t["drawn"])
        return actions.TSUMOGIRI if is_drawn and message.get("tsumogiri", True) else tile
    if name == "pon":
        return actions.PON_RED if any(tile >= N_KINDS for tile in consumed_in(message)) else actions.PON
    if name == "ankan":
        return actions.ANKAN + int(KIND_OF[consumed_in(message)[0]])
    if name == "kakan":
        return actions.KAKAN + int(KIND_OF[tile_in(message, "pai")])
    raise ValueError(
        f"{name!r} is no action; send dahai, reach, pon, daiminkan, ankan, kakan, nukidora, hora, ryukyoku or none"
    )


def tile_in(message: Message, key: str) -> int:
    """The tile37 under `key` of a message. Raises ValueError, saying what is needed, where it is none."""
    tile = MJAI_TILES.get(message.get(key, ""), UNKNOWN)
    if tile == UNKNOWN:
        raise ValueError(f"{message['type']} needs {key!r}, a tile like 5p, 5pr or E, not {message.get(key)!r}")
    return tile


def consumed_in(message: Message) -> list[int]:
    """The tile37 under ``consumed`` of a message. Raises ValueError, saying what is needed, where they are none."""
    tiles = [MJAI_TILES.get(name, UNKNOWN) for name in message.get("consumed") or []]
    if not tiles or UNKNOWN in tiles:
        raise ValueError(f"{message['type']} needs 'consumed', a list of tiles, not {message.get('consumed')!r}")
    return tiles
