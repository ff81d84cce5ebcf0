"""Canonical mjai messages (dialect mjai3p): building them, the names of tiles, what each seat may see."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from engine.mjai.keys import Message as Message  # defined there, imported from here
from engine.mjai.keys import Scope, Visibility
from engine.mjai.kinds import HAND_SIZE, HIDDEN_HAND, HIDDEN_TILE
from engine.mjai.schema import EVENTS, KEYS
from engine.rules import PRESETS, RIICHI_STICK, TENHOU, Rules, base_of, preset, switches_of, with_switches
from engine.ryukyoku import ABORTIVE
from engine.table import N_SEATS
from engine.tiles import MJAI_NAMES, N_KINDS, NONE, RED_5P, RED_INDEX, UNKNOWN, WINDS

Hide = Callable[[Message, int], Message]  # (message, seat) -> the message as the seat may see it


def tile_name(tile: int) -> str:
    """The mjai name of a tile37; ``?`` for UNKNOWN."""
    return HIDDEN_TILE if tile == UNKNOWN else MJAI_NAMES[tile]


def tile_names(kind: int, count: int, reds: int) -> list[str]:
    """The names of `count` tiles of `kind`, the last `reds` of them red."""
    return [MJAI_NAMES[kind]] * (count - reds) + [MJAI_NAMES[RED_5P + RED_INDEX[kind]]] * reds


def hand_names(seat: np.record, without: int = NONE) -> list[str]:
    """The names of the concealed tiles of a SEAT record in order, without one copy of the tile37 `without`."""
    hand, red = seat["hand"].tolist(), seat["red"].tolist()
    names: list[str] = []
    for kind in range(N_KINDS):
        if hand[kind]:
            names += tile_names(kind, hand[kind], red[RED_INDEX[kind]] if RED_INDEX[kind] >= 0 else 0)
    if without != NONE:
        names.remove(MJAI_NAMES[without])
    return names


def _for_actor(key: str) -> Hide:
    return lambda message, seat: message if message["actor"] == seat else message | {key: HIDDEN_TILE}


def _for_owner(key: str) -> Hide:
    return lambda message, seat: (
        message | {key: [hand if owner == seat else HIDDEN_HAND for owner, hand in enumerate(message[key])]}
    )


def _for_receiver(key: str) -> Hide:
    return lambda message, seat: message | {key: seat}


_HIDERS: dict[Visibility, Callable[[str], Hide]] = {
    Visibility.ACTOR: _for_actor,
    Visibility.OWNER: _for_owner,
    Visibility.RECEIVER: _for_receiver,
}
# Type -> function that hides or fills in the one key that differs from seat to seat.
_HIDE: dict[str, Hide] = {
    row.type: _HIDERS[key.visibility](key.name)
    for row in EVENTS.values()
    for key in row.keys
    if key.visibility is not Visibility.ALL
}
# Types of messages with tiles that only one seat may see.
CONCEALED = frozenset(
    row.type for row in EVENTS.values() for key in row.keys if key.visibility in (Visibility.ACTOR, Visibility.OWNER)
)
# Types of messages that may differ between two seats of which neither is the actor.
OF_EACH_SEAT = frozenset(
    row.type
    for row in EVENTS.values()
    for key in row.keys
    if key.visibility in (Visibility.OWNER, Visibility.RECEIVER) or key.scope is Scope.CONNECTION
)
NOBODY = -1  # a seat that is nobody's


def for_seat(message: Message, seat: int) -> Message:
    """The message as `seat` may see it: tiles dealt to or drawn by others are ``?``; ``start_game`` gets ``id``."""
    hide = _HIDE.get(message["type"])
    return message if hide is None else hide(message, seat)


def for_public(message: Message) -> Message:
    """Return the message as everyone may see it: all tiles dealt or drawn are ``?``."""
    return for_seat(message, NOBODY) if message["type"] in CONCEALED else message


def make(message_type: str, **fields: Any) -> Message:
    """Build an event: keys in the order of the table, unknown keys last, without keys whose value is None."""
    message = {"type": message_type}
    for key in KEYS[message_type]:
        if (value := fields.pop(key, None)) is not None:
            message[key] = value
    message.update((key, value) for key, value in fields.items() if value is not None)
    return message


def start_game(names: list[str], rules: Rules | None) -> Message:
    """Build the ``start_game`` of a game under `rules`, None if unknown; `names` may be empty, if unknown."""
    return make("start_game", names=names or None, **({} if rules is None else rules_keys(rules)))


RULES_KEYS = ("rules", "length", "aka_flag", "switches")  # of start_game


def rules_keys(rules: Rules) -> Message:
    """Return the keys of ``start_game`` that name rules: the preset, its length, and the differences from it."""
    own = switches_of(rules)
    keys: Message = {"rules": rules.name, "length": rules.length}
    if not rules.red_fives:
        keys["aka_flag"] = False
    if own or rules.name not in PRESETS:
        keys["switches"] = {name: list(value) if isinstance(value, tuple) else value for name, value in own.items()}
    return keys


def rules_of(start: Message, unnamed: Rules = TENHOU) -> Rules | None:
    """The rules that a ``start_game`` names; if it only has a length, switches or no red fives, `unnamed` with these.

    None if it has none of them. Raises ValueError for unknown rules, lengths or switches.
    """
    name, base, length = start.get("rules"), unnamed, start.get("length")
    if "rules" in start:
        if not isinstance(name, str):
            raise ValueError(f"rules {name!r}: expected one of {', '.join(PRESETS)}")
        base = base_of(name) if "switches" in start else preset(name)
    else:
        length = length if length in ("east", "hanchan") else None  # other programs have other words for it
        if length is None and "switches" not in start and start.get("aka_flag", True):
            return None
    rules = with_switches(base.with_length(base.length if length is None else length), start.get("switches", {}))
    return rules if start.get("aka_flag", True) else replace(rules, red_fives=False)


def start_kyoku(
    index: int, honba: int, kyotaku: int, indicator: str, scores: list[int], tehais: list[list[str]]
) -> Message:
    """The ``start_kyoku`` of round `index`, counted as Tenhou does: E1-E3 are 0-2, S1-S3 are 4-6.

    Raises ValueError for a round or hands that do not exist with three players.
    """
    wind, oya = divmod(index, 4)
    if not (0 <= wind < len(WINDS) and oya < N_SEATS):
        raise ValueError(f"round index {index} does not exist with three players (0-2, 4-6 or 8-10)")
    if [len(hand) for hand in tehais] != [HAND_SIZE] * N_SEATS:
        raise ValueError(f"the three hands must have 13 tiles each, not {[len(hand) for hand in tehais]}")
    return make(
        "start_kyoku", bakaze=WINDS[wind], kyoku=oya + 1, honba=honba, kyotaku=kyotaku, oya=oya, dora_marker=indicator,
        scores=scores, tehais=tehais,
    )  # fmt: skip


def riichi_deltas(actor: int) -> list[int]:
    """Return the change of each seat's points when `actor` pays a riichi stick."""
    return [-RIICHI_STICK if seat == actor else 0 for seat in range(N_SEATS)]


def complete(events: list[Message]) -> list[Message]:
    """Return the events, with missing keys that follow from others filled in.

    These are the deltas of a riichi and of an abortive draw, scores, the winning tile, and ``tsumogiri``: as in a bot's
    reply, a discard of the tile just drawn is that tile.

    Also sets ``tsumogiri`` of a discard after a pon to false: some writers compare the discard with the previous drawn
    tile.
    """
    scores: list[int] | None = None
    tile: str | None = None  # drawn, discarded or called last
    filled: list[Message] = []
    for event in events:
        kind, added = event["type"], Message()
        if kind == "dahai" and filled and filled[-1]["type"] == "pon":
            event = event | {"tsumogiri": False}
        if kind == "dahai" and tile not in (None, HIDDEN_TILE):
            added["tsumogiri"] = event.get("pai") == tile
        if kind == "hora" and tile is not None:
            added["pai"] = tile
        if kind == "reach_accepted":
            added["deltas"] = riichi_deltas(event["actor"])
        if kind == "ryukyoku" and event.get("reason") in ABORTIVE:
            added["deltas"] = [0] * N_SEATS
        deltas = (added | event).get("deltas")
        if deltas is not None and scores is not None:
            added["scores"] = [score + delta for score, delta in zip(scores, deltas, strict=True)]
        given = added | event
        del given["type"]
        event = make(kind, **given)
        scores = event.get("scores", scores)
        tile = event["consumed"][0] if kind == "ankan" else event.get("pai", tile)
        filled.append(event)
    return filled


def loads(text: str) -> Any:
    """Parse JSON text written by another program; NaN and infinities, which are not JSON, become None.

    Raises json.JSONDecodeError.
    """
    return json.loads(text, parse_constant=lambda name: None, parse_float=_finite)


def _finite(text: str) -> float | None:
    value = float(text)
    return value if math.isfinite(value) else None


def dumps(message: Message) -> str:
    """A message as compact JSON, without a newline."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def order_keys(event: Message) -> Message:
    """An event with its keys in the order of the table; other messages are returned unchanged."""
    if event["type"] not in KEYS:
        return event
    return make(event["type"], **{key: value for key, value in event.items() if key != "type"})
