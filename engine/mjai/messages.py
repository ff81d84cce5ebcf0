"""Canonical mjai messages (dialect mjai3p): their keys, the names of tiles, what each seat may see."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np

from engine.rules import PRESETS, RIICHI_STICK, Rules, preset
from engine.tiles import MJAI_NAMES, MJAI_TILES, N_KINDS, NONE, RED_5P, RED_INDEX, UNKNOWN, WINDS

Message = dict[str, Any]
Event = Message
SEATS = 3
UNKNOWN_HAND = ["?"] * 13

# Keys of every event type in the order they are written; keys not named here follow in the order they came.
KEYS: dict[str, tuple[str, ...]] = {
    "start_game": ("names", "rules", "length", "aka_flag", "wall_seed"),
    "start_kyoku": ("bakaze", "kyoku", "honba", "kyotaku", "oya", "dora_marker", "scores", "tehais"),
    "tsumo": ("actor", "pai"),
    "dahai": ("actor", "pai", "tsumogiri"),
    "reach": ("actor",),
    "reach_accepted": ("actor", "deltas", "scores"),
    "pon": ("actor", "target", "pai", "consumed"),
    "daiminkan": ("actor", "target", "pai", "consumed"),
    "kakan": ("actor", "pai", "consumed"),
    "ankan": ("actor", "consumed"),
    "nukidora": ("actor", "pai"),
    "dora": ("dora_marker",),
    "hora": (
        "actor", "target", "pai", "uradora_markers", "hora_tehais", "yakus", "fu", "fan", "hora_points", "pao",
        "deltas", "scores",
    ),
    "ryukyoku": ("reason", "tehais", "tenpais", "deltas", "scores"),
    "end_kyoku": (),
    "end_game": ("scores", "points"),
}  # fmt: skip


def tile_name(tile: int) -> str:
    """Mjai name of a tile37; ``?`` for one the reader may not know."""
    return "?" if tile == UNKNOWN else MJAI_NAMES[tile]


def tile_names(kind: int, count: int, reds: int) -> list[str]:
    """Names of `count` tiles of a kind, the last `reds` of them red."""
    return [MJAI_NAMES[kind]] * (count - reds) + [MJAI_NAMES[RED_5P + RED_INDEX[kind]]] * reds


def hand_names(seat: np.record, without: int = NONE) -> list[str]:
    """Names of a seat's concealed tiles in order, one tile37 left out."""
    hand, red = seat["hand"].tolist(), seat["red"].tolist()
    names: list[str] = []
    for kind in range(N_KINDS):
        if hand[kind]:
            names += tile_names(kind, hand[kind], red[RED_INDEX[kind]] if RED_INDEX[kind] >= 0 else 0)
    if without != NONE:
        names.remove(MJAI_NAMES[without])
    return names


def for_seat(message: Message, seat: int) -> Message:
    """The message as `seat` may see it: others' dealt and drawn tiles are ``?``."""
    if message["type"] == "tsumo" and message["actor"] != seat:
        return message | {"pai": "?"}
    if message["type"] == "start_kyoku":
        return message | {"tehais": [hand if i == seat else UNKNOWN_HAND for i, hand in enumerate(message["tehais"])]}
    if message["type"] == "start_game":
        return message | {"id": seat}
    return message


def make(kind: str, **fields: Any) -> Event:
    """An event of type `kind` with its keys in the written order; fields that are None are left out."""
    given = {key: value for key, value in fields.items() if value is not None}
    known = {key: given.pop(key) for key in KEYS[kind] if key in given}
    return {"type": kind, **known, **given}


def start_game(names: list[str], rules: Rules | None) -> Event:
    """The ``start_game`` of a game under `rules`; the rules are left out where unknown."""
    if rules is None:
        return make("start_game", names=names)
    no_reds = None if rules.red_fives else False
    return make("start_game", names=names, rules=rules.name, length=rules.length, aka_flag=no_reds)


def rules_of(start: Event) -> Rules | None:
    """The rules a ``start_game`` names, or None. Raises ValueError for a preset or length that does not exist."""
    if start.get("rules") not in PRESETS:
        if "rules" in start:
            preset(start["rules"])  # raises, naming the presets there are
        return None
    rules = preset(start["rules"], start.get("length", "hanchan"))
    return rules if start.get("aka_flag", True) else replace(rules, red_fives=False)


def start_kyoku(
    index: int, honba: int, kyotaku: int, indicator: str, scores: list[int], tehais: list[list[str]]
) -> Event:
    """The ``start_kyoku`` of round `index`, which steps 4 per wind (E1-E3 = 0-2, S1-S3 = 4-6), as Tenhou counts."""
    wind, oya = divmod(index, 4)
    if not (0 <= wind < len(WINDS) and oya < SEATS):
        raise ValueError(f"round index {index} does not exist with three players (0-2, 4-6 or 8-10)")
    if [len(hand) for hand in tehais] != [13] * SEATS:
        raise ValueError(f"the three hands must have 13 tiles each, not {[len(hand) for hand in tehais]}")
    return make(
        "start_kyoku", bakaze=WINDS[wind], kyoku=oya + 1, honba=honba, kyotaku=kyotaku, oya=oya, dora_marker=indicator,
        scores=scores, tehais=tehais,
    )  # fmt: skip


def sort_tiles(tiles: list[str]) -> list[str]:
    """Tile names in kind order, red fives last: the canonical order of ``consumed``."""
    return sorted(tiles, key=lambda name: MJAI_TILES[name])


def complete(events: list[Event]) -> list[Event]:
    """The same events with what is certain filled in: a riichi's deltas, scores after a change, the tile a win took.

    A discard right after a pon is never tsumogiri; some writers compare it with the tile drawn before.
    """
    scores: list[int] | None = None
    tile: str | None = None
    filled: list[Event] = []
    for event in events:
        kind, added = event["type"], Event()
        if kind == "dahai" and filled and filled[-1]["type"] == "pon":
            event = event | {"tsumogiri": False}
        if kind == "hora" and tile is not None:
            added["pai"] = tile
        if kind == "reach_accepted":
            added["deltas"] = [-RIICHI_STICK if seat == event["actor"] else 0 for seat in range(SEATS)]
        deltas = (added | event).get("deltas")
        if deltas is not None and scores is not None:
            added["scores"] = [score + delta for score, delta in zip(scores, deltas, strict=True)]
        event = make(kind, **(added | {key: value for key, value in event.items() if key != "type"}))
        scores = event.get("scores", scores)
        tile = event["consumed"][0] if kind == "ankan" else event.get("pai", tile)
        filled.append(event)
    return filled


def dumps(message: Event) -> str:
    """A message as it is written, without the line's end."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def ordered(event: Event) -> Event:
    """The event with its keys in the written order; what is no event of a game stays as it is."""
    return make(event["type"], **_without_type(event)) if event["type"] in KEYS else event


def _without_type(event: Event) -> Event:
    return {key: value for key, value in event.items() if key != "type"}
