"""Planes of 34 kinds x 4 copies from the tokens of a decision (`agents.bert.encoding`), compiled.

A plane counts: row k has its first c columns set where c tiles of kind k are counted. There are PER_MOMENT planes for
the decision (moment 0) and for each of the last six own turns (moments 1 … 6, the latest first; a turn is the position
before an own discard): the own hand, then melds, rivers and nukidora of each player (0: who decides), and the dora.
PER_MOMENT * N_MOMENTS planes are followed by those in `EXTRA`, which are about the decision alone.

The tokens contain no draws. Therefore the hand of an earlier turn also has the tiles drawn since, except those
discarded as drawn.
"""

from __future__ import annotations

import numpy as np

from agents.bert.encoding import (
    BAKAZE,
    CAN_ANKAN,
    CAN_DAHAI,
    CAN_DAIMINKAN,
    CAN_KAKAN,
    CAN_PON,
    CAN_REACH,
    DELTA_AFTER,
    DELTA_BEFORE,
    DORA_MARKER,
    DRAWN,
    KYOKU,
    LARGEST_DELTA,
    MAX_PIPAIS,
    NUM_PIPAIS,
    PLAYER_ID,
    TEHAI,
)
from agents.bert.vocabulary import FIRST_EVENT_TOKEN, N_EVENT_TOKENS, OFFSET, SEP, TILE_ORDER
from agents.cnn.answers import (
    ASK_DISCARD,
    ASK_KAN,
    ASK_NUKIDORA,
    ASK_PON,
    ASK_RIICHI,
    MAY_ANKAN,
    MAY_DAIMINKAN,
    MAY_DISCARD,
    MAY_KAKAN,
    N_ASKED,
)
from engine.compiling import inner, kernel
from engine.rules import N_SEATS
from engine.tiles import DORA_OF, EAST, KIND_OF, N_KINDS, N_TILES, NORTH

COPIES = 4
N_TURNS = 6
N_MOMENTS = N_TURNS + 1
MAX_DORAS = 5
HAND, MELDS, RIVERS, NUKIDORA, DORA = 0, 1, 4, 7, 10  # planes of a moment
PER_MOMENT = 11
# own red fives, tile drawn or on offer, own wind, round wind, riichi of each player; constant: draws left (of the last
# 11), own points minus those of the player before and after, in units of 48,000
EXTRA = REDS, TILE, OWN_WIND, ROUND_WIND, RIICHI, _, _, DRAWS_LEFT, LEAD_BEFORE, LEAD_AFTER = tuple(
    range(PER_MOMENT * N_MOMENTS, PER_MOMENT * N_MOMENTS + 10)
)
N_PLANES = PER_MOMENT * N_MOMENTS + len(EXTRA)

_PLAYER = OFFSET["player0_dahai"]
E_REACH, E_PON, E_DAIMINKAN, E_ANKAN, E_KAKAN, E_NUKIDORA = (
    OFFSET[f"player0_{name}"] - _PLAYER for name in ("reach", "pon", "daiminkan", "ankan", "kakan", "nukidora")
)
KIND_AT = KIND_OF[TILE_ORDER].astype(np.int64)  # index in TILE_ORDER -> kind
IS_RED_AT = TILE_ORDER >= N_KINDS


@inner
def count_plane(plane: np.ndarray, kind: int, n: int) -> None:
    """Set the first `n` columns of a row, COPIES at most."""
    for column in range(min(np.int64(n), np.int64(COPIES))):
        plane[kind, column] = 1.0


@inner
def fill(plane: np.ndarray, value: float) -> None:
    """A constant plane."""
    for kind in range(N_KINDS):
        for column in range(COPIES):
            plane[kind, column] = value


@inner
def put_counts(planes: np.ndarray, moment: int, counts: np.ndarray) -> None:
    """Write the planes of a moment from their counts int64[PER_MOMENT, N_KINDS]."""
    for plane in range(PER_MOMENT):
        for kind in range(N_KINDS):
            count_plane(planes[moment * PER_MOMENT + plane], kind, counts[plane, kind])


@inner
def read_state(ids: np.ndarray, hand: np.ndarray, doras: np.ndarray, planes: np.ndarray, asked: np.ndarray) -> int:
    """Read the state tokens; returns the index of [SEP]. `doras` gets the kinds of the dora, then -1."""
    n = np.int64(0)
    n_doras = np.int64(0)
    seat = np.int64(0)
    while ids[n] != SEP:
        token = np.int64(ids[n])
        n += 1
        if PLAYER_ID <= token < PLAYER_ID + N_SEATS:
            seat = token - PLAYER_ID
        elif BAKAZE <= token < BAKAZE + N_SEATS:
            count_plane(planes[ROUND_WIND], EAST + token - BAKAZE, COPIES)
        elif KYOKU <= token < KYOKU + N_SEATS:
            count_plane(planes[OWN_WIND], EAST + (seat - (token - KYOKU) + N_SEATS) % N_SEATS, COPIES)
        elif DELTA_BEFORE <= token <= DELTA_BEFORE + 2 * LARGEST_DELTA:
            fill(planes[LEAD_BEFORE], (token - DELTA_BEFORE) / LARGEST_DELTA - 1.0)
        elif DELTA_AFTER <= token <= DELTA_AFTER + 2 * LARGEST_DELTA:
            fill(planes[LEAD_AFTER], (token - DELTA_AFTER) / LARGEST_DELTA - 1.0)
        elif NUM_PIPAIS <= token <= NUM_PIPAIS + MAX_PIPAIS:
            fill(planes[DRAWS_LEFT], (token - NUM_PIPAIS) / MAX_PIPAIS)
        elif DORA_MARKER <= token < DORA_MARKER + N_TILES:
            doras[n_doras] = DORA_OF[KIND_AT[token - DORA_MARKER]]
            n_doras += 1
        elif TEHAI <= token < TEHAI + N_TILES:
            kind = KIND_AT[token - TEHAI]
            hand[kind] += 1
            asked[MAY_DISCARD + token - TEHAI] = True
            if IS_RED_AT[token - TEHAI]:
                count_plane(planes[REDS], kind, 1)
        elif DRAWN <= token < DRAWN + N_TILES:
            count_plane(planes[TILE], KIND_AT[token - DRAWN], 1)
        elif token == CAN_DAHAI:
            asked[ASK_DISCARD] = True
        elif token == CAN_PON:
            asked[ASK_PON] = True
        elif token == CAN_REACH:
            asked[ASK_RIICHI] = True
        elif token == CAN_DAIMINKAN:
            asked[MAY_DAIMINKAN] = True
        elif token == CAN_ANKAN:
            asked[MAY_ANKAN] = True
        elif token == CAN_KAKAN:
            asked[MAY_KAKAN] = True
    asked[ASK_KAN] = asked[MAY_DAIMINKAN] or asked[MAY_ANKAN] or asked[MAY_KAKAN]
    asked[ASK_NUKIDORA] = asked[ASK_DISCARD] and hand[NORTH] > 0  # no token says so
    return n


@inner
def count_call(event: int, player: int, counts: np.ndarray) -> tuple[int, int]:
    """Count a call or nukidora; returns the kind of its tile, and how many tiles leave the hand."""
    if event < E_DAIMINKAN:
        kind, shown, taken = KIND_AT[event - E_PON], 3, 2
    elif event < E_ANKAN:
        kind, shown, taken = np.int64(event - E_DAIMINKAN), 4, 3
    elif event < E_KAKAN:
        kind, shown, taken = np.int64(event - E_ANKAN), 4, 4
    elif event < E_NUKIDORA:
        kind, shown, taken = np.int64(event - E_KAKAN), 1, 1
    else:
        counts[NUKIDORA + player, NORTH] += 1
        return np.int64(NORTH), np.int64(1)
    counts[MELDS + player, kind] += shown
    return kind, np.int64(taken)


@inner
def begin_turn(counts: np.ndarray, left: np.ndarray, shown: np.ndarray, turn: np.ndarray) -> None:
    """Write the counts of an own turn; those of its hand lack what `finish_turn` adds. `shown`: the dora."""
    turn[:] = counts
    for kind in range(N_KINDS):
        turn[HAND, kind] = -left[kind]
        turn[DORA, kind] = 0
    count_doras(turn, shown)


@inner
def finish_turn(counts: np.ndarray, left: np.ndarray, turn: np.ndarray) -> None:
    """Add the hand of now, and what has left it."""
    for kind in range(N_KINDS):
        turn[HAND, kind] += counts[HAND, kind] + left[kind]


@inner
def count_doras(counts: np.ndarray, doras: np.ndarray) -> None:
    """Count the kinds of the dora; -1 is none."""
    for dora in doras:
        if dora >= 0:
            counts[DORA, dora] += 1


@inner
def count_indicators(event: int, n_shown: int, n_pending: int) -> tuple[int, int]:
    """How many dora indicators are shown after an event, and how many are yet to be turned.

    The indicator of an ankan is turned at once, that of other kans before the next discard, kan or nukidora.
    """
    if event < E_REACH or event >= E_ANKAN:
        n_shown, n_pending = n_shown + n_pending, np.int64(0)
    n_shown += np.int64(E_ANKAN <= event < E_KAKAN)
    n_pending += np.int64(E_DAIMINKAN <= event < E_ANKAN or E_KAKAN <= event < E_NUKIDORA)
    return min(n_shown, np.int64(MAX_DORAS)), n_pending


@inner
def read_events(
    ids: np.ndarray, start: int, planes: np.ndarray, counts: np.ndarray, turns: np.ndarray, left: np.ndarray,
    doras: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Read the event tokens from `start` on, as `put_planes` does.

    Returns the number of own turns, and the kind of the tile of the last event if it is another player's, else -1.
    """
    n = np.int64(start)
    n_shown, n_pending, n_turns, last = np.int64(1), np.int64(0), np.int64(0), np.int64(-1)
    while n < len(ids) and ids[n] >= FIRST_EVENT_TOKEN:
        player = (np.int64(ids[n]) - FIRST_EVENT_TOKEN) // N_EVENT_TOKENS
        event = (np.int64(ids[n]) - FIRST_EVENT_TOKEN) % N_EVENT_TOKENS
        n += 1
        if event == E_REACH:
            fill(planes[RIICHI + player], 1.0)
            continue
        if event < E_REACH:
            kind, taken = KIND_AT[event % N_TILES], np.int64(event < N_TILES)
            if player == 0:
                turn = turns[n_turns % N_TURNS]
                begin_turn(counts, left, doras[:n_shown], turn)
                turn[HAND, kind] += 1 - taken
                n_turns += 1
            counts[RIVERS + player, kind] += 1
        else:
            kind, taken = count_call(event, player, counts)
        if player == 0:
            left[kind] += taken
        n_shown, n_pending = count_indicators(event, n_shown, n_pending)
        last = kind if player > 0 else np.int64(-1)
    return n_turns, last


@inner
def put_planes(
    ids: np.ndarray, planes: np.ndarray, asked: np.ndarray, counts: np.ndarray, turns: np.ndarray, left: np.ndarray,
    doras: np.ndarray,
) -> None:  # fmt: skip
    """Write the planes of one sequence; `counts`, `turns`, `left` and `doras` are working memory.

    `left` counts the own tiles that have left the hand, except those discarded as drawn. The hand of a turn is that of
    now, plus what has left it since, plus its own discard if that was the drawn tile.
    """
    counts[:] = 0
    left[:] = 0
    doras[:] = -1
    separator = read_state(ids, counts[HAND], doras, planes, asked)
    n_turns, last = read_events(ids, separator + 1, planes, counts, turns, left, doras)
    if last >= 0 and not asked[ASK_DISCARD]:
        count_plane(planes[TILE], last, 1)
    count_doras(counts, doras)
    put_counts(planes, 0, counts)
    for back in range(min(n_turns, np.int64(N_TURNS))):
        turn = turns[(n_turns - 1 - back) % N_TURNS]
        finish_turn(counts, left, turn)
        put_counts(planes, back + 1, turn)


@kernel("int64[:, ::1], float32[:, :, :, ::1], boolean[:, ::1]")
def _put_all(ids: np.ndarray, planes: np.ndarray, asked: np.ndarray) -> None:
    counts = np.zeros((PER_MOMENT, N_KINDS), dtype=np.int64)
    turns = np.zeros((N_TURNS, PER_MOMENT, N_KINDS), dtype=np.int64)
    left, doras = np.zeros(N_KINDS, dtype=np.int64), np.zeros(MAX_DORAS, dtype=np.int64)
    for k in range(len(ids)):
        put_planes(ids[k], planes[k], asked[k], counts, turns, left, doras)


def planes_of(input_ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The planes float32[n, N_PLANES, 34, 4] of sequences integer[n, L], and what is asked, bool[n, N_ASKED].

    Each sequence must have a [SEP], as those of `agents.bert.encoding.encode` and of data folders have.
    """
    n = len(input_ids)
    planes = np.zeros((n, N_PLANES, N_KINDS, COPIES), dtype=np.float32)
    asked = np.zeros((n, N_ASKED), dtype=bool)
    _put_all(np.ascontiguousarray(input_ids, dtype=np.int64), planes, asked)
    return planes, asked
