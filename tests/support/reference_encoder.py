"""A second, independent encoder: wahaha's table of tokens written out, and `reference`, which encodes mjai messages.

`reference` reads only the mjai messages that a seat has received and its legal actions, no table and no packed event.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import encode
from engine.actions import ACTION_NAMES
from engine.mjai.messages import Message


class Row(NamedTuple):
    """One row: `size` tokens, numbered from `first` on."""

    name: str
    size: int
    first: int


EVENT_SIZES = {"dahai": 74, "reach": 1, "pon": 37, "daiminkan": 34, "ankan": 34, "kakan": 34, "nukidora": 1}
SIZES = {
    "[PAD]": 1, "[CLS]": 1, "[SEP]": 1, "[EOS]": 1, "[MASK]": 1, "[UNK]": 1, "style": 2, "player_id": 3, "bakaze": 3,
    "kyoku": 3, "honba": 4, "kyotaku": 3, "delta_score_before": 97, "delta_score_after": 97, "num_pipais": 12,
    "dora_marker": 37, "tehai": 37, "tsumo": 37, "can_dahai": 1, "can_reach": 1, "can_hora": 1, "can_ryukyoku": 1,
    "can_pon": 1, "can_daiminkan": 1, "can_ankan": 1, "can_kakan": 1,
    **{f"player{player}_{event}": size for player in range(3) for event, size in EVENT_SIZES.items()},
}  # fmt: skip
ROWS = [
    Row(name, size, last - size) for (name, size), last in zip(SIZES.items(), accumulate(SIZES.values()), strict=True)
]
FIRST = {row.name: row.first for row in ROWS}
CLS, SEP, EOS = 1, 2, 3

# mjai names of tile37 and tile34 in wahaha's order
TILES = [
    "5mr", "1m", "2m", "3m", "4m", "5m", "6m", "7m", "8m", "9m",
    "5pr", "1p", "2p", "3p", "4p", "5p", "6p", "7p", "8p", "9p",
    "5sr", "1s", "2s", "3s", "4s", "5s", "6s", "7s", "8s", "9s", "E", "S", "W", "N", "P", "F", "C",
]  # fmt: skip
KINDS = [tile for tile in TILES if not tile.endswith("r")]
LABELS = [
    *(f"dahai {tile}" for tile in TILES),
    *("reach", "pon", "daiminkan", "ankan", "kakan", "nukidora", "hora", "ryukyoku", "none"),
]
# engine action name -> label; dahai have the label of their tile
LABEL_OF_ACTION = {
    "riichi": "reach", "pon": "pon", "pon with red": "pon", "daiminkan": "daiminkan", "nukidora": "nukidora",
    "tsumo": "hora", "ron": "hora", "kyushu kyuhai": "ryukyoku", "pass": "none",
}  # fmt: skip


def label_name(action: int, drawn: str) -> str:
    """The name of an action's label; `drawn` is the mjai name of the drawn tile."""
    name = ACTION_NAMES[action]
    if name in LABEL_OF_ACTION:
        return LABEL_OF_ACTION[name]
    kind, _, tile = name.partition(" ")
    return f"dahai {tile or drawn}" if kind in ("discard", "tsumogiri") else kind


def row_of(token: int) -> Row:
    """The row of a token."""
    (row,) = (row for row in ROWS if 0 <= token - row.first < row.size)
    return row


def values(tokens: Sequence[int]) -> dict[str, list[int]]:
    """Row -> the values of its tokens in a sequence, in order: token minus the row's first."""
    found: dict[str, list[int]] = {}
    for token in tokens:
        row = row_of(token)
        found.setdefault(row.name, []).append(token - row.first)
    return found


def sequences(views: np.ndarray) -> list[list[int]]:
    """The sequences of `encode` for views TABLE[n], without padding."""
    encoded = encode(views)
    return [ids[:length].tolist() for ids, length in zip(encoded.input_ids, encoded.lengths, strict=True)]


# Encoding mjai messages -----------------------------------------------------------------------------------------------


def delta(own: int, other: int) -> int:
    return min(max(int((own - other) / 1000) + 48, 0), 96)


def event_token(message: Message, seat: int) -> int:
    """The token of an event, players relative to `seat`."""
    name = message["type"]
    first = FIRST[f"player{(message['actor'] - seat) % 3}_{name}"]
    tiles = [message.get("pai"), *message.get("consumed", [])]
    if name == "dahai":
        return first + TILES.index(message["pai"]) + 37 * message["tsumogiri"]
    if name == "pon":
        return first + TILES.index(next((tile for tile in tiles if tile.endswith("r")), message["pai"]))
    return first if name in ("reach", "nukidora") else first + KINDS.index(tiles[-1].removesuffix("r"))


EVENT_TYPES = tuple(EVENT_SIZES)
CAN = {
    "tsumogiri": "dahai", "riichi": "reach", "tsumo": "hora", "ron": "hora", "kyushu kyuhai": "ryukyoku",
    "pon": "pon", "pon with red": "pon", "daiminkan": "daiminkan",
}  # fmt: skip


def hand_of(messages: Sequence[Message], seat: int) -> tuple[Counter[str], str]:
    """The concealed tiles of a seat and its drawn tile, "" if it has none, from the round's messages."""
    hand, drawn = Counter(messages[0]["tehais"][seat]), ""
    for message in messages:
        name = message["type"]
        if message.get("actor") != seat or name not in ("tsumo", *EVENT_TYPES) or name == "reach":
            continue
        if name == "tsumo":
            drawn = message["pai"]
            hand[drawn] += 1
        else:
            drawn = ""
            removed = message["consumed"] if name in ("pon", "daiminkan", "ankan") else [message["pai"]]
            hand.subtract(removed)
    return hand, drawn


def reference(received: Sequence[Message], seat: int, legal: Sequence[int]) -> list[int]:
    """The sequence of a seat from ``start_game``, the round's messages and its legal actions."""
    game, *messages = received
    start = messages[0]
    accepted = [message for message in messages if message["type"] == "reach_accepted"]
    scores = (accepted or [start])[-1]["scores"]
    drawn_so_far = sum(message["type"] == "tsumo" for message in messages)
    hand, drawn = hand_of(messages, seat)
    names = [ACTION_NAMES[action] for action in legal]
    can = {CAN.get(name) or ("dahai" if name.startswith("discard") else name.split()[0]) for name in names}
    single = {
        "style": game["length"] == "hanchan",
        "player_id": seat,
        "bakaze": "ESW".index(start["bakaze"]),
        "kyoku": start["kyoku"] - 1,
        "honba": min(start["honba"], 3),
        "kyotaku": min(start["kyotaku"] + len(accepted), 2),
        "delta_score_before": delta(scores[seat], scores[(seat - 1) % 3]),
        "delta_score_after": delta(scores[seat], scores[(seat + 1) % 3]),
        "num_pipais": min(55 - drawn_so_far, 11),
    }
    return [
        CLS,
        *(FIRST[name] + value for name, value in single.items()),
        *(FIRST["dora_marker"] + TILES.index(m["dora_marker"]) for m in messages if "dora_marker" in m),
        *(FIRST["tehai"] + index for index, tile in enumerate(TILES) for _ in range(hand[tile])),
        *([FIRST["tsumo"] + TILES.index(drawn)] if drawn else []),
        *(row.first for row in ROWS if row.name.startswith("can_") and row.name.removeprefix("can_") in can),
        SEP,
        *(event_token(message, seat) for message in messages if message["type"] in EVENT_TYPES),
        EOS,
    ]
