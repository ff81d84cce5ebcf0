"""Encodes a seat's view as the tokens the BERT bot reads (`agents.bert.vocabulary`), compiled.

The state part has the state of the round, the seat's hand and the kinds of actions it may take; the record part has
a token for each event of the round. Position ids are 0 in the state part; [SEP] has 1, the first event 2, and so on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.bert.vocabulary import (
    CLASSES,
    CLS,
    EOS,
    INDEX_OF_TILE,
    N_EVENT_TOKENS,
    OFFSET,
    SEP,
    TILE_ORDER,
    token_name,
)
from engine import events
from engine.actions import (
    ANKAN,
    DAIMINKAN,
    KAKAN,
    KYUSHU_KYUHAI,
    PON,
    PON_RED,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
)
from engine.compiling import inner, kernel
from engine.events import event_actor, event_tile, event_tsumogiri, event_type, require_types
from engine.hand import reds_held
from engine.rules import N_DRAWS, N_SEATS
from engine.table import DORA_AT, MAX_MELDS, TABLE, raw_bytes
from engine.tiles import KIND_OF, N_KINDS, N_TILES, RED_5P, RED_INDEX, is_red

MAX_STATE = 1 + 9 + 5 + 14 + 1 + 8  # [CLS], single values, dora markers, hand, drawn tile, possible actions
# Each draw leads to one event token (a discard, kan or nukidora), a riichi to one more. A pon adds two, itself and its
# discard; a daiminkan adds one, as a draw follows it. A seat calls at most MAX_MELDS times, and never before a riichi,
# so its calls and its riichi add 2 * MAX_MELDS tokens at most.
MAX_RECORD = N_DRAWS + N_SEATS * 2 * MAX_MELDS
MAX_TOKENS = MAX_STATE + MAX_RECORD + 2  # with [SEP] and [EOS]
N_POSITION_IDS = MAX_RECORD + 3  # 0, and those of [SEP], the record and [EOS]

_COUNT = {each.name: each.size for each in CLASSES}
STYLE, PLAYER_ID, BAKAZE, KYOKU = (OFFSET[name] for name in ("style", "player_id", "bakaze", "kyoku"))
HONBA, KYOTAKU = OFFSET["honba"], OFFSET["kyotaku"]
DELTA_BEFORE, DELTA_AFTER = OFFSET["delta_score_before"], OFFSET["delta_score_after"]
NUM_PIPAIS, DORA_MARKER, TEHAI, DRAWN = (OFFSET[name] for name in ("num_pipais", "dora_marker", "tehai", "tsumo"))
CAN_DAHAI, CAN_REACH, CAN_HORA, CAN_RYUKYOKU, CAN_PON, CAN_DAIMINKAN, CAN_ANKAN, CAN_KAKAN = (
    OFFSET[f"can_{name}"] for name in ("dahai", "reach", "hora", "ryukyoku", "pon", "daiminkan", "ankan", "kakan")
)
MAX_HONBA, MAX_KYOTAKU, MAX_PIPAIS = _COUNT["honba"] - 1, _COUNT["kyotaku"] - 1, _COUNT["num_pipais"] - 1
LARGEST_DELTA = _COUNT["delta_score_before"] // 2  # in thousands

# Event type with tokens -> how many `event_token` tells apart: by tile, by tile and tsumogiri, by kind, or one.
N_VALUES = {
    events.DAHAI: 2 * N_TILES, events.PON: N_TILES, events.DAIMINKAN: N_KINDS, events.ANKAN: N_KINDS,
    events.KAKAN: N_KINDS, events.REACH: 1, events.NUKIDORA: 1,
}  # fmt: skip
require_types("N_VALUES of agents/bert/encoding.py", N_VALUES, events.ACTIONS)
# event type -> the first token of such events by player 0; -1: no token
EVENT_TOKEN = np.full(len(events.USED), -1, dtype=np.int64)
for _event, _n in N_VALUES.items():
    _name = f"player0_{events.TYPES[_event].message}"
    if _COUNT.get(_name) != _n:
        raise ImportError(f"agents/bert/vocabulary.py has {_COUNT.get(_name)} tokens {_name}, event_token writes {_n}")
    EVENT_TOKEN[_event] = OFFSET[_name]

# A token can_* is written if one of its actions is legal. CAN_MASKS: these actions as bit masks, two words each.
DISCARDS = range(TSUMOGIRI + 1)
_CAN = (
    (CAN_DAHAI, DISCARDS), (CAN_REACH, [RIICHI]), (CAN_HORA, [TSUMO, RON]), (CAN_RYUKYOKU, [KYUSHU_KYUHAI]),
    (CAN_PON, [PON, PON_RED]), (CAN_DAIMINKAN, [DAIMINKAN]), (CAN_ANKAN, range(ANKAN, ANKAN + N_KINDS)),
    (CAN_KAKAN, range(KAKAN, KAKAN + N_KINDS)),
)  # fmt: skip
CAN_TOKENS = np.array([token for token, _ in _CAN], dtype=np.int64)
CAN_MASKS = np.array(
    [[sum(1 << (a & 63) for a in menu if a >> 6 == word) for word in (0, 1)] for _, menu in _CAN], dtype=np.uint64
)


@inner
def delta_token(first: int, own: int, other: int) -> int:
    """The token of a score difference: in thousands of points, truncated towards zero, at most 48 either way."""
    thousands = np.int64(abs(own - other)) // 1000
    signed = thousands if own >= other else -thousands
    return first + min(max(signed + LARGEST_DELTA, 0), 2 * LARGEST_DELTA)


@inner
def put_hand(p: np.record, out: np.ndarray, n: int) -> int:
    """Write the concealed tiles in TILE_ORDER from out[n] on; returns the next index."""
    for i in range(N_TILES):
        tile = TILE_ORDER[i]
        reds = reds_held(p, KIND_OF[tile])
        for _ in range(reds if is_red(tile) else p.hand[tile] - reds):
            out[n] = TEHAI + i
            n += 1
    return n


@inner
def put_state(t: np.record, out: np.ndarray) -> int:
    """Write [CLS] and the viewer's state part; returns the number of tokens."""
    seat = np.int64(t.viewer)
    own = np.int64(t.seat[seat].score)
    out[0] = CLS
    out[1] = STYLE + np.int64(t.rules.last_wind > 0)
    out[2] = PLAYER_ID + seat
    out[3] = BAKAZE + np.int64(t.round_wind)
    out[4] = KYOKU + np.int64(t.dealer)
    out[5] = HONBA + min(np.int64(t.honba), MAX_HONBA)
    out[6] = KYOTAKU + min(np.int64(t.sticks), MAX_KYOTAKU)
    out[7] = delta_token(np.int64(DELTA_BEFORE), own, np.int64(t.seat[(seat + 2) % N_SEATS].score))
    out[8] = delta_token(np.int64(DELTA_AFTER), own, np.int64(t.seat[(seat + 1) % N_SEATS].score))
    out[9] = NUM_PIPAIS + min(np.int64(t.live_left), MAX_PIPAIS)
    n = np.int64(10)
    for i in range(t.n_indicators):
        out[n] = DORA_MARKER + INDEX_OF_TILE[t.wall[DORA_AT[i]]]
        n += 1
    n = put_hand(t.seat[seat], out, n)
    if t.drawn >= 0:
        out[n] = DRAWN + INDEX_OF_TILE[t.drawn]
        n += 1
    for i in range(len(CAN_TOKENS)):
        if (t.legal[seat, 0] & CAN_MASKS[i, 0]) | (t.legal[seat, 1] & CAN_MASKS[i, 1]) != np.uint64(0):
            out[n] = CAN_TOKENS[i]
            n += 1
    return n


@inner
def event_token(word: int, first_seat: int) -> int:
    """The token of a packed event, players counted from `first_seat`; -1 if the event has none."""
    first = EVENT_TOKEN[event_type(word)]
    if first < 0:
        return first
    token = first + N_EVENT_TOKENS * ((event_actor(word) - first_seat + N_SEATS) % N_SEATS)
    tile = event_tile(word)
    kind = event_type(word)
    if kind == events.DAHAI:
        return token + INDEX_OF_TILE[tile] + (N_TILES if event_tsumogiri(word) else 0)
    if kind == events.PON:
        if np.int64(word) >> np.int64(15) & np.int64(1) != 0:  # a red five among the consumed
            tile = RED_5P + RED_INDEX[KIND_OF[tile]]
        return token + INDEX_OF_TILE[tile]
    if kind == events.REACH or kind == events.NUKIDORA:
        return token
    return token + KIND_OF[tile]


@inner
def put_record(t: np.record, first_seat: int, out: np.ndarray, n: int) -> int:
    """Write the events of the round from out[n] on, players counted from `first_seat`; returns the next index."""
    for i in range(t.n_log):
        token = event_token(t.log[i], first_seat)
        if token >= 0:
            out[n] = token
            n += 1
    return n


@kernel(
    "uint8[::1], uint16[:, ::1], int64[::1], int64[::1]", "const(uint8[::1]), uint16[:, ::1], int64[::1], int64[::1]"
)
def _encode_all(raw: np.ndarray, input_ids: np.ndarray, n_state: np.ndarray, lengths: np.ndarray) -> None:
    views = raw.view(TABLE)
    for k in range(len(input_ids)):
        out = input_ids[k]
        n = put_state(views[k], out)
        n_state[k] = n
        out[n] = SEP
        n = put_record(views[k], np.int64(views[k].viewer), out, n + 1)
        out[n] = EOS
        lengths[k] = n + 1


def attention_mask(lengths: np.ndarray, width: int) -> np.ndarray:
    """bool[n, width] of sequences of `lengths` int64[n]: true for tokens, false for padding."""
    return np.arange(width) < lengths[:, None]


def position_ids(mask: np.ndarray, n_state: np.ndarray) -> np.ndarray:
    """int64[n, width]: 0 in the state part and for padding, 1 for [SEP], 2 for the first event and so on.

    `mask` bool[n, width] is the attention mask, `n_state` int64[n] the number of tokens before [SEP].
    """
    return np.where(mask, np.maximum(np.arange(mask.shape[1]) - n_state[:, None] + 1, 0), 0)


class Encoded(NamedTuple):
    """n sequences of tokens, padded with [PAD] (0)."""

    input_ids: np.ndarray  # uint16[n, MAX_TOKENS]
    n_state: np.ndarray  # int64[n]: number of tokens before [SEP]
    lengths: np.ndarray  # int64[n]: number of tokens

    @property
    def attention_mask(self) -> np.ndarray:
        """bool[n, MAX_TOKENS]: true for tokens, false for padding."""
        return attention_mask(self.lengths, MAX_TOKENS)

    @property
    def position_ids(self) -> np.ndarray:
        """int64[n, MAX_TOKENS], see `position_ids`."""
        return position_ids(self.attention_mask, self.n_state)

    def select(self, rows: slice | np.ndarray) -> Encoded:
        """Some of the sequences, by slice or by indices int64[k]."""
        return Encoded(*(array[rows] for array in self))


def encode(views: np.ndarray) -> Encoded:
    """The sequences of `views` TABLE[n], each from the viewpoint of its `viewer`, who is to act."""
    n = len(views)
    encoded = Encoded(np.zeros((n, MAX_TOKENS), np.uint16), np.empty(n, np.int64), np.empty(n, np.int64))
    _encode_all(raw_bytes(views), *encoded)
    return encoded


def readable(tokens: np.ndarray) -> str:
    """The names of `tokens` integer[L] in one line, without padding, for debugging. Raises ValueError: not a token."""
    return " ".join(token_name(token) for token in tokens.tolist() if token)
