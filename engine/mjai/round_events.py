"""The events of a round as canonical mjai messages (dialect mjai3p)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine import events
from engine.common.complete import require_rows
from engine.events import Event
from engine.mjai.kinds import HAND_SIZE, HIDDEN_TILE
from engine.mjai.messages import Message, hand_names, riichi_deltas, start_kyoku, tile_name, tile_names
from engine.mjai.schema import EVENTS
from engine.rules import RIICHI_STICK, TOTAL_POINTS
from engine.ryukyoku import EXHAUSTIVE, KYUSHU_KYUHAI, NAGASHI_MANGAN, RYUKYOKU
from engine.scoring.yaku import BY_NUMBER, IPPATSU, MENZEN_TSUMO, N_YAKU
from engine.table import DEALT, DORA_AT, N_SEATS, URA_AT
from engine.tiles import KIND_OF, NONE

REASONS = {way.number: way.mjai for way in RYUKYOKU}


class RoundReader:
    """Converts the packed events of a round into mjai messages as they are logged.

    `t` is a table or a seat's view; tiles unknown to a view are ``?``. Fields of `t` that do not change during a round
    are read once, as lists, and the log is read through arrays: fields of a NumPy record are slow in Python.
    """

    def __init__(self, t: np.record) -> None:
        """Start before the first event of the round."""
        self.n_read = 0
        self.scores: list[int] = t["seat"]["start_score"].tolist()
        self.look_at(t)

    def look_at(self, t: np.record) -> None:
        """Read on from `t`: a later view of the same round, or a copy of its table."""
        self.t = t
        self.wall: list[int] = t["wall"].tolist()
        shared = np.asarray(t)
        self._log, self._n_log = shared["log"], shared["n_log"]

    def read(self) -> list[Message]:
        """Return the messages since the last call. Read all messages of a round before the next one is dealt."""
        words = self._log[self.n_read : self._n_log.item()].tolist()
        self.n_read += len(words)
        return [READERS[event.type](self, event) for event in map(events.unpack, words)]

    def _start_kyoku(self, event: Event) -> Message:
        oya, t = event.actor, self.t
        hands: list[list[str]] = [[] for _ in range(N_SEATS)]
        for i in range(DEALT):
            hands[(oya + i // HAND_SIZE) % N_SEATS].append(tile_name(self.wall[i]))
        sticks = (TOTAL_POINTS - sum(self.scores)) // RIICHI_STICK
        indicator = tile_name(self.wall[DORA_AT[0]])
        return start_kyoku(4 * int(t.round_wind) + oya, int(t.honba), sticks, indicator, self.scores, hands)

    def _tsumo(self, event: Event) -> Message:
        return {"type": "tsumo", "actor": event.actor, "pai": tile_name(self.wall[event.detail])}

    def _dahai(self, event: Event) -> Message:
        return {"type": "dahai", "actor": event.actor, "pai": tile_name(event.tile), "tsumogiri": event.tsumogiri}

    def _reach(self, event: Event) -> Message:
        return {"type": "reach", "actor": event.actor}

    def _reach_accepted(self, event: Event) -> Message:
        return {"type": "reach_accepted", "actor": event.actor} | self._pay(riichi_deltas(event.actor))

    def _call(self, event: Event) -> Message:
        row = events.TYPES[event.type]
        return {
            "type": row.message,
            "actor": event.actor,
            "target": event.target,
            "pai": tile_name(event.tile),
            "consumed": tile_names(int(KIND_OF[event.tile]), row.used, int(event.red)),
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
        ura = [self.wall[at] for at in URA_AT[: self.t.n_indicators]] if seat.riichi else []
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
        shown = [seat == event.actor and reason == KYUSHU_KYUHAI for seat in range(N_SEATS)]
        if reason in (EXHAUSTIVE, NAGASHI_MANGAN):
            shown = [bool(tenpai) for tenpai in t.ryukyoku_tenpai]
        message = {
            "type": "ryukyoku",
            "reason": REASONS[reason],
            "tehais": [
                hand_names(seat) if show else hidden_hand(seat) for seat, show in zip(t.seat, shown, strict=True)
            ],
            "tenpais": shown,
        }
        return message | self._pay(t.ryukyoku_deltas.tolist())

    def _end_kyoku(self, event: Event) -> Message:
        return {"type": "end_kyoku"}

    def _end_game(self, event: Event) -> Message:
        return {"type": "end_game", "scores": self.t["seat"]["score"].tolist()}

    def _pay(self, deltas: list[int]) -> Message:
        """Return the deltas of an event and the scores after it."""
        self.scores = [score + delta for score, delta in zip(self.scores, deltas, strict=True)]
        return {"deltas": deltas, "scores": self.scores}


def hidden_hand(seat: np.record) -> list[str]:
    """Return the tile names of a concealed hand that is not shown."""
    return [HIDDEN_TILE] * (HAND_SIZE - 3 * int(seat.n_melds))


def yaku_names(win: np.record) -> list[list[Any]]:
    """Return [mjai name, han] of each yaku of a win: riichi and ippatsu first, dora last, as Tenhou lists them."""
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


def round_messages(t: np.record) -> list[Message]:
    """The events of the round so far as mjai messages; see `RoundReader`."""
    return RoundReader(t).read()


events.require_types("READERS of engine/mjai/round_events.py", READERS, events.TYPES)
require_rows(
    "TYPES of engine/events.py",
    (row.message for row in events.TYPES),
    EVENTS.keys() - {"start_game"},  # which is no event of a round
    "EVENTS of engine/mjai/schema.py",
)
