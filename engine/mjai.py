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
    hand, red = seat["hand"].tolist(), seat["red"].tolist()
    names: list[str] = []
    for kind in range(N_KINDS):
        if hand[kind]:
            names += tile_names(kind, hand[kind], red[RED_INDEX[kind]] if RED_INDEX[kind] >= 0 else 0)
    if without != NONE:
        names.remove(MJAI_NAMES[without])
    return names


class RoundReader:
    """The events of a round as mjai messages, read as they come.

    `t` is a table or a seat's view; what a view does not know is ``?``. Columns that stay the same all round are read
    once and as plain lists: a record's own attributes are slow in plain Python.
    """

    def __init__(self, t: np.record) -> None:
        """Begin at the round's first event."""
        self.t = t
        self.n_read = 0
        self.wall: list[int] = t["wall"].tolist()
        self.scores: list[int] = t["seat"]["start_score"].tolist()

    def read(self) -> list[Message]:
        """The messages since the last call. All of a round is to be read before the next one is dealt."""
        words = self.t["log"][self.n_read : int(self.t["n_log"])].tolist()
        self.n_read += len(words)
        return [READERS[event.type](self, event) for event in map(events.unpack, words)]

    def _start_kyoku(self, event: Event) -> Message:
        oya, t = event.actor, self.t
        hands: list[list[str]] = [[], [], []]
        for i in range(DEALT):
            hands[(oya + i // 13) % 3].append(tile_name(self.wall[i]))
        return {
            "type": "start_kyoku",
            "bakaze": WINDS[t.round_wind],
            "kyoku": oya + 1,
            "honba": int(t.honba),
            "kyotaku": (TOTAL_POINTS - sum(self.scores)) // RIICHI_STICK,
            "oya": oya,
            "dora_marker": tile_name(self.wall[DORA_AT]),
            "scores": self.scores,
            "tehais": hands,
        }

    def _tsumo(self, event: Event) -> Message:
        return {"type": "tsumo", "actor": event.actor, "pai": tile_name(self.wall[event.detail])}

    def _dahai(self, event: Event) -> Message:
        return {"type": "dahai", "actor": event.actor, "pai": tile_name(event.tile), "tsumogiri": event.tsumogiri}

    def _reach(self, event: Event) -> Message:
        return {"type": "reach", "actor": event.actor}

    def _reach_accepted(self, event: Event) -> Message:
        return {"type": "reach_accepted", "actor": event.actor} | self._pay(stick_of(event.actor))

    def _call(self, event: Event) -> Message:
        name, count = ("pon", 2) if event.type == events.PON else ("daiminkan", 3)
        return {
            "type": name,
            "actor": event.actor,
            "target": event.target,
            "pai": tile_name(event.tile),
            "consumed": tile_names(int(KIND_OF[event.tile]), count, int(event.red)),
        }

    def _ankan(self, event: Event) -> Message:
        return {"type": "ankan", "actor": event.actor, "consumed": tile_names(event.tile, 4, int(event.red))}

    def _kakan(self, event: Event) -> Message:
        consumed = tile_names(int(KIND_OF[event.tile]), 3, int(event.red))
        return {"type": "kakan", "actor": event.actor, "pai": tile_name(event.tile), "consumed": consumed}

    def _nukidora(self, event: Event) -> Message:
        return {"type": "nukidora", "actor": event.actor, "pai": "N"}

    def _dora(self, event: Event) -> Message:
        return {"type": "dora", "dora_marker": tile_name(event.tile)}

    def _hora(self, event: Event) -> Message:
        win, seat = self.t.win[event.detail], self.t.seat[event.actor]
        by_tsumo = event.actor == event.target
        ura = self.wall[URA_AT : URA_AT + int(self.t.n_indicators)] if seat.riichi else []
        message = {
            "type": "hora",
            "actor": event.actor,
            "target": event.target,
            "pai": tile_name(event.tile),
            "uradora_markers": [tile_name(tile) for tile in ura],
            "hora_tehais": hand_names(seat, without=event.tile if by_tsumo else NONE),
            "yakus": yaku_names(win),
            "fu": int(win.fu),
            "fan": int(win.han),
            "hora_points": int(win.points),
        }
        if win.pao >= 0:
            message["pao"] = int(win.pao)
        return message | self._pay(win.deltas.tolist())

    def _ryukyoku(self, event: Event) -> Message:
        t, reason = self.t, event.detail
        shown = [seat == event.actor and reason == NINE_KINDS for seat in range(3)]
        if reason in (EXHAUSTIVE, NAGASHI):
            shown = [bool(tenpai) for tenpai in t.draw_tenpai]
        message = {
            "type": "ryukyoku",
            "reason": REASONS[reason],
            "tehais": [
                hand_names(seat) if show else hidden_hand(seat) for seat, show in zip(t.seat, shown, strict=True)
            ],
            "tenpais": shown,
        }
        return message | self._pay(t.draw_deltas.tolist())

    def _end_kyoku(self, event: Event) -> Message:
        return {"type": "end_kyoku"}

    def _end_game(self, event: Event) -> Message:
        return {"type": "end_game", "scores": self.t["seat"]["score"].tolist()}

    def _pay(self, deltas: list[int]) -> Message:
        """The deltas of an event and the scores they lead to."""
        self.scores = [score + delta for score, delta in zip(self.scores, deltas, strict=True)]
        return {"deltas": deltas, "scores": self.scores}


def stick_of(seat: int) -> list[int]:
    """Deltas of a riichi stick paid by `seat`."""
    return [-RIICHI_STICK if payer == seat else 0 for payer in range(3)]


def hidden_hand(seat: np.record) -> list[str]:
    """A concealed hand that is not shown."""
    return ["?"] * (13 - 3 * int(seat.n_melds))


def yaku_names(win: np.record) -> list[list[Any]]:
    """[mjai name, han] of each yaku of a win; riichi and ippatsu come first, dora last, as Tenhou lists them."""
    numbers = [number for number in range(N_YAKU) if win.yaku[number] > 0]
    numbers.sort(key=lambda number: (number == MENZEN_TSUMO or number > IPPATSU, number != 2, number != 18, number))
    return [[BY_NUMBER[number].mjai, int(win.yaku[number])] for number in numbers]


READERS: dict[int, Callable[[RoundReader, Event], Message]] = {
    events.START_KYOKU: RoundReader._start_kyoku,
    events.DRAW: RoundReader._tsumo,
    events.DAHAI: RoundReader._dahai,
    events.REACH: RoundReader._reach,
    events.REACH_ACCEPTED: RoundReader._reach_accepted,
    events.PON: RoundReader._call,
    events.DAIMINKAN: RoundReader._call,
    events.ANKAN: RoundReader._ankan,
    events.KAKAN: RoundReader._kakan,
    events.NUKIDORA: RoundReader._nukidora,
    events.NEW_DORA: RoundReader._dora,
    events.HORA: RoundReader._hora,
    events.RYUKYOKU: RoundReader._ryukyoku,
    events.END_KYOKU: RoundReader._end_kyoku,
    events.END_GAME: RoundReader._end_game,
}


def messages(t: np.record) -> list[Message]:
    """The events of the round so far, as mjai messages; see `RoundReader`."""
    return RoundReader(t).read()


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
