"""Events and actions of a table as canonical mjai messages (dialect mjai3p), and messages back as actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine import actions, events
from engine.events import Event
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.scoring.yaku import BY_NUMBER, IPPATSU, MENZEN_TSUMO, N_YAKU
from engine.table import DEALT, DORA_AT, EXHAUSTIVE, FOUR_KANS, NAGASHI, NINE_KINDS, TURN, URA_AT
from engine.tiles import KIND_OF, MJAI_NAMES, MJAI_TILES, N_KINDS, NONE, RED_5P, RED_INDEX, UNKNOWN

Message = dict[str, Any]
WINDS = "ESW"
UNKNOWN_HAND = ["?"] * 13
REASONS = {EXHAUSTIVE: "fanpai", NINE_KINDS: "kyushukyuhai", FOUR_KANS: "sukaikan", NAGASHI: "nagashimangan"}


def tile_name(tile: int) -> str:
    """Mjai name of a tile37; ``?`` for one the reader may not know."""
    return "?" if tile == UNKNOWN else MJAI_NAMES[tile]


def tile_names(kind: int, count: int, reds: int) -> list[str]:
    """Names of `count` tiles of a kind, the last `reds` of them red."""
    return [MJAI_NAMES[kind]] * (count - reds) + [MJAI_NAMES[RED_5P + RED_INDEX[kind]]] * reds


def hand_names(seat: np.record, without: int = NONE) -> list[str]:
    """Names of a seat's concealed tiles in order, one tile37 left out."""
    names: list[str] = []
    for kind in range(N_KINDS):
        reds = int(seat.red[RED_INDEX[kind]]) if RED_INDEX[kind] >= 0 else 0
        names += tile_names(kind, int(seat.hand[kind]), reds)
    if without != NONE:
        names.remove(MJAI_NAMES[without])
    return names


def scores_at(t: np.record, place: int) -> list[int]:
    """Scores when the event at `place` of the log has happened: riichi sticks paid, wins and draw settled."""
    scores = [int(seat.start_score) for seat in t.seat]
    for word in t.log[: place + 1]:
        event = events.unpack(int(word))
        if event.type == events.REACH_ACCEPTED:
            scores[event.actor] -= RIICHI_STICK
        elif event.type == events.HORA:
            scores = [score + int(delta) for score, delta in zip(scores, t.win[event.detail].deltas, strict=True)]
        elif event.type == events.RYUKYOKU:
            scores = [score + int(delta) for score, delta in zip(scores, t.draw_deltas, strict=True)]
    return scores


def _start_kyoku(t: np.record, place: int, event: Event) -> Message:
    oya = event.actor
    hands: list[list[str]] = [[], [], []]
    for i in range(DEALT):
        hands[(oya + i // 13) % 3].append(tile_name(int(t.wall[i])))
    return {
        "type": "start_kyoku",
        "bakaze": WINDS[t.round_wind],
        "kyoku": oya + 1,
        "honba": int(t.honba),
        "kyotaku": (TOTAL_POINTS - sum(int(seat.start_score) for seat in t.seat)) // RIICHI_STICK,
        "oya": oya,
        "dora_marker": tile_name(int(t.wall[DORA_AT])),
        "scores": scores_at(t, place),
        "tehais": hands,
    }


def _tsumo(t: np.record, place: int, event: Event) -> Message:
    return {"type": "tsumo", "actor": event.actor, "pai": tile_name(int(t.wall[event.detail]))}


def _dahai(t: np.record, place: int, event: Event) -> Message:
    return {"type": "dahai", "actor": event.actor, "pai": tile_name(event.tile), "tsumogiri": event.tsumogiri}


def _reach(t: np.record, place: int, event: Event) -> Message:
    return {"type": "reach", "actor": event.actor}


def _reach_accepted(t: np.record, place: int, event: Event) -> Message:
    deltas = [-RIICHI_STICK if seat == event.actor else 0 for seat in range(3)]
    return {"type": "reach_accepted", "actor": event.actor, "deltas": deltas, "scores": scores_at(t, place)}


def _call(t: np.record, place: int, event: Event) -> Message:
    name, count = ("pon", 2) if event.type == events.PON else ("daiminkan", 3)
    return {
        "type": name,
        "actor": event.actor,
        "target": event.target,
        "pai": tile_name(event.tile),
        "consumed": tile_names(int(KIND_OF[event.tile]), count, int(event.red)),
    }


def _ankan(t: np.record, place: int, event: Event) -> Message:
    return {"type": "ankan", "actor": event.actor, "consumed": tile_names(event.tile, 4, int(event.red))}


def _kakan(t: np.record, place: int, event: Event) -> Message:
    consumed = tile_names(int(KIND_OF[event.tile]), 3, int(event.red))
    return {"type": "kakan", "actor": event.actor, "pai": tile_name(event.tile), "consumed": consumed}


def _nukidora(t: np.record, place: int, event: Event) -> Message:
    return {"type": "nukidora", "actor": event.actor, "pai": "N"}


def _dora(t: np.record, place: int, event: Event) -> Message:
    return {"type": "dora", "dora_marker": tile_name(event.tile)}


def _hora(t: np.record, place: int, event: Event) -> Message:
    win, seat = t.win[event.detail], t.seat[event.actor]
    by_tsumo = event.actor == event.target
    ura = t.wall[URA_AT : URA_AT + int(t.n_indicators)] if seat.riichi else []
    message = {
        "type": "hora",
        "actor": event.actor,
        "target": event.target,
        "pai": tile_name(event.tile),
        "uradora_markers": [tile_name(int(tile)) for tile in ura],
        "hora_tehais": hand_names(seat, without=event.tile if by_tsumo else NONE),
        "yakus": yaku_names(win),
        "fu": int(win.fu),
        "fan": int(win.han),
        "hora_points": int(win.points),
        "deltas": [int(delta) for delta in win.deltas],
        "scores": scores_at(t, place),
    }
    if win.pao >= 0:
        message["pao"] = int(win.pao)
    return message


def yaku_names(win: np.record) -> list[list[Any]]:
    """[mjai name, han] of each yaku of a win; riichi and ippatsu come first, dora last, as Tenhou lists them."""
    numbers = [number for number in range(N_YAKU) if win.yaku[number] > 0]
    numbers.sort(key=lambda number: (number == MENZEN_TSUMO or number > IPPATSU, number != 2, number != 18, number))
    return [[BY_NUMBER[number].mjai, int(win.yaku[number])] for number in numbers]


def _ryukyoku(t: np.record, place: int, event: Event) -> Message:
    reason = event.detail
    exhaustive = reason in (EXHAUSTIVE, NAGASHI)
    shown = [
        bool(t.draw_tenpai[seat]) if exhaustive else seat == event.actor and reason == NINE_KINDS for seat in range(3)
    ]
    hidden = [["?"] * int(sum(seat.hand)) for seat in t.seat]
    return {
        "type": "ryukyoku",
        "reason": REASONS[reason],
        "tehais": [hand_names(t.seat[seat]) if shown[seat] else hidden[seat] for seat in range(3)],
        "tenpais": shown,
        "deltas": [int(delta) for delta in t.draw_deltas],
        "scores": scores_at(t, place),
    }


def _end_kyoku(t: np.record, place: int, event: Event) -> Message:
    return {"type": "end_kyoku"}


def _end_game(t: np.record, place: int, event: Event) -> Message:
    return {"type": "end_game", "scores": [int(seat.score) for seat in t.seat]}


BUILDERS: dict[int, Callable[[np.record, int, Event], Message]] = {
    events.START_KYOKU: _start_kyoku,
    events.DRAW: _tsumo,
    events.DAHAI: _dahai,
    events.REACH: _reach,
    events.REACH_ACCEPTED: _reach_accepted,
    events.PON: _call,
    events.DAIMINKAN: _call,
    events.ANKAN: _ankan,
    events.KAKAN: _kakan,
    events.NUKIDORA: _nukidora,
    events.NEW_DORA: _dora,
    events.HORA: _hora,
    events.RYUKYOKU: _ryukyoku,
    events.END_KYOKU: _end_kyoku,
    events.END_GAME: _end_game,
}


def messages(t: np.record, first: int = 0) -> list[Message]:
    """The events of the round from place `first` of the log on, as mjai messages.

    `t` is a table or a seat's view; what a view does not know is ``?``. Read a round before the next one is dealt.
    """
    found = []
    for place in range(first, int(t.n_log)):
        event = events.unpack(int(t.log[place]))
        found.append(BUILDERS[event.type](t, place, event))
    return found


def for_seat(message: Message, seat: int) -> Message:
    """The message as `seat` may see it: others' dealt and drawn tiles are ``?``."""
    if message["type"] == "tsumo" and message["actor"] != seat:
        return message | {"pai": "?"}
    if message["type"] == "start_kyoku":
        return message | {"tehais": [hand if i == seat else UNKNOWN_HAND for i, hand in enumerate(message["tehais"])]}
    if message["type"] == "start_game":
        return message | {"id": seat}
    return message


def action_message(t: np.record, seat: int, action: int) -> Message:
    """The message with which `seat` says `action` at table (or view) `t`."""
    hand, offer = t.seat[seat], int(t.offer)
    if action <= actions.TSUMOGIRI:
        tile = int(t.drawn) if action == actions.TSUMOGIRI else action
        drawn = action == actions.TSUMOGIRI
        return {"type": "dahai", "actor": seat, "pai": MJAI_NAMES[tile], "tsumogiri": drawn}
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
    if action == actions.RON:
        return {"type": "hora", "actor": seat, "target": int(t.turn), "pai": MJAI_NAMES[offer]}
    return {"type": PLAIN_NAMES[action], "actor": seat} | ({"pai": "N"} if action == actions.NUKIDORA else {})


PLAIN_NAMES = {
    actions.RIICHI: "reach",
    actions.NUKIDORA: "nukidora",
    actions.NINE_TERMINALS: "ryukyoku",
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
        tile = _tile(message, "pai")
        drawn = message.get("tsumogiri", tile == t.drawn)
        return actions.TSUMOGIRI if drawn and tile == t.drawn else tile
    if name == "pon":
        return actions.PON_RED if any(tile >= N_KINDS for tile in _consumed(message)) else actions.PON
    if name == "ankan":
        return actions.ANKAN + int(KIND_OF[_consumed(message)[0]])
    if name == "kakan":
        return actions.KAKAN + int(KIND_OF[_tile(message, "pai")])
    raise ValueError(
        f"{name!r} is no action; send dahai, reach, pon, daiminkan, ankan, kakan, nukidora, hora, ryukyoku or none"
    )


def _tile(message: Message, key: str) -> int:
    tile = MJAI_TILES.get(message.get(key, ""), UNKNOWN)
    if tile == UNKNOWN:
        raise ValueError(f"{message['type']} needs {key!r}, a tile like 5p, 5pr or E, not {message.get(key)!r}")
    return tile


def _consumed(message: Message) -> list[int]:
    tiles = [MJAI_TILES.get(name, UNKNOWN) for name in message.get("consumed") or []]
    if not tiles or UNKNOWN in tiles:
        raise ValueError(f"{message['type']} needs 'consumed', a list of tiles, not {message.get('consumed')!r}")
    return tiles
