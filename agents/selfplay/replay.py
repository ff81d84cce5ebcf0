"""Kept games again: the positions of all choices as the network sees them, and what each round came to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.compiled.menu import is_legal
from agents.selfplay.features import N_ACTION, N_SITUATION, N_STATE, encode, situation
from agents.selfplay.games import GAME, MAX_CHOICES, SURPRISE_UNIT, start_tables
from agents.selfplay.network import late
from engine import kernels
from engine.actions import N_ACTIONS
from engine.compiling import array_of, kernel
from engine.game import MAX_MENU
from engine.kernels import bit_count, nth_action
from engine.rules import TENHOU
from engine.table import GAME_OVER, N_SEATS, ROUND_OVER, TABLE, raw_bytes
from engine.tables import MAX_ASKED

MEAN_MENU = 16  # more actions than a choice has on average; a menu has up to MAX_MENU
CHOICE = np.dtype(
    [("first", "i8"), ("chosen", "i8"), ("round", "i8"), ("seat", "i8"), ("surprise", "u2"), ("late", "?")]
)


class Choices(NamedTuple):
    """The choices of some games; those of a seat in a round are in the order in which they were made."""

    states: np.ndarray  # float32[n, N_STATE]
    actions: np.ndarray  # float32[m, N_ACTION]: the legal actions of all choices
    first: np.ndarray  # int64[n + 1]: those of choice i are first[i] to first[i + 1]
    chosen: np.ndarray  # int64[n]: index of the one that was chosen among them
    late: np.ndarray  # bool[n]: whether the first discards of the round were made
    log_probability: np.ndarray  # float32[n]: of what was chosen, when it was
    round: np.ndarray  # int64[n]: index of the round
    seat: np.ndarray  # int64[n]
    situations: np.ndarray  # float32[rounds, 3, N_SITUATION]: each seat at the start of each round
    following: np.ndarray  # int64[rounds]: the next round of the same game; -1: the game was over
    game: np.ndarray  # int64[rounds]: the game of each round
    results: np.ndarray  # float32[games, 3]: final points of each seat, in thousands


@kernel("uint8[::1], int64, float32[:, :, ::1]")
def write_situations(raw: np.ndarray, n: int, out: np.ndarray) -> None:
    """Write the situation of each seat of the first `n` tables into `out` float32[n, 3, N_SITUATION]."""
    tables = raw.view(TABLE)
    for i in range(n):
        for seat in range(N_SEATS):
            situation(tables[i], np.int64(seat), out[i, seat])


ENCODE = (
    types.uint8[::1],
    types.int32[::1],
    array_of(GAME),
    types.int64[::1],
    types.int64[::1],
    types.int64,
    types.float32[:, ::1],
    types.float32[:, ::1],
    array_of(CHOICE),
    types.int64[::1],
    types.int64[::1],
)


@kernel(ENCODE)
def encode_choices(
    raw: np.ndarray,
    tables: np.ndarray,
    games: np.ndarray,
    used: np.ndarray,
    rounds: np.ndarray,
    first_turns: int,
    states: np.ndarray,
    actions: np.ndarray,
    choices: np.ndarray,
    counts: np.ndarray,
    played: np.ndarray,
) -> bool:
    """Write the features of views, whose tables are `tables` int32[n], and the actions `played` int64[n] in them.

    `used` int64[games] counts the choices of each game so far, `rounds` int64[games] is its round at hand, `counts`
    int64[2] the choices and the actions that are written: all three are brought up to date. Returns whether all views
    fit their games.
    """
    views = raw.view(TABLE)
    numbers = np.empty(MAX_MENU, dtype=np.int64)
    for k in range(len(tables)):
        t, g = views[k], tables[k]
        low, high = t.legal[t.viewer, 0], t.legal[t.viewer, 1]
        if bit_count(low) + bit_count(high) == 1:
            played[k] = nth_action(low, high, np.int64(0))
            continue
        if used[g] == games[g].n or not is_legal(t, np.int64(games[g].action[used[g]])):
            return False
        played[k] = games[g].action[used[g]]
        n, m = counts[0], counts[1]
        legal = encode(t, states[n], actions[m:], numbers)
        choice = choices[n]
        choice.first = m
        for a in range(legal):
            if numbers[a] == played[k]:
                choice.chosen = a
        choice.round = rounds[g]
        choice.seat = t.viewer
        choice.surprise = games[g].surprise[used[g]]
        choice.late = late(t, first_turns)
        used[g] += 1
        counts[0] += 1
        counts[1] += legal
    return True


def replay(games: np.ndarray, first_turns: int) -> Choices:
    """The choices of `games` GAME[k]; `first_turns` as in `Exploration`.

    Raises ValueError if a game was not played by these rules: the engine has changed since, or the file is damaged.
    """
    if (games["n"] > MAX_CHOICES).any() or (games["action"] >= N_ACTIONS).any():
        raise ValueError("a kept game is damaged; delete games.buffer to go on with an empty buffer")
    n, k = int(games["n"].sum()), len(games)
    states = np.empty((n, N_STATE), dtype=np.float32)
    actions = np.empty((n * MEAN_MENU + MAX_MENU, N_ACTION), dtype=np.float32)
    choices: Any = np.zeros(n, dtype=CHOICE)
    used, rounds, counts = (np.zeros(size, dtype=np.int64) for size in (k, k, 2))
    situations: list[np.ndarray] = []
    started: list[np.ndarray] = []
    tables = start_tables(games["seed"], games["scores"])
    dealt = np.arange(k)  # tables where a round has just been dealt
    views = np.empty(MAX_ASKED * k * TABLE.itemsize, dtype=np.uint8)
    fits = True
    while fits:
        if len(dealt):
            rounds[dealt] = sum(len(each) for each in started) + np.arange(len(dealt))
            situations.append(situations_of(tables.records[dealt]))
            started.append(dealt)
        asked, _ = kernels.collect_views(
            tables.raw, np.zeros((k, N_SEATS), dtype=np.int8), 0, 0, views, tables.asked_tables, tables.asked_seats
        )
        if asked == 0:
            break
        played, of = np.empty(asked, dtype=np.int64), tables.asked_tables[:asked]
        fits = encode_choices(views, of, games, used, rounds, first_turns, states, actions, choices, counts, played)
        if fits:
            kernels.apply_actions(tables.raw, of, tables.asked_seats[:asked], played)
            over = np.flatnonzero(tables.records["phase"] == ROUND_OVER)
            kernels.next_rounds(tables.raw)
            dealt = over[tables.records["phase"][over] != GAME_OVER]
    game, final = np.concatenate(started), tables.records["seat"]["score"]
    if not fits or counts[0] != n or (final != games["final"]).any():
        raise ValueError("a kept game cannot be played again: the rules have changed since; begin a new folder")
    return Choices(
        states,
        actions[: counts[1]],
        np.append(choices["first"], counts[1]),
        choices["chosen"].copy(),
        choices["late"].copy(),
        choices["surprise"] * np.float32(-SURPRISE_UNIT),
        choices["round"].copy(),
        choices["seat"].copy(),
        np.concatenate(situations),
        following(game),
        game,
        np.array([TENHOU.final_points(scores) for scores in final.tolist()], dtype=np.float32),
    )


def situations_of(records: np.ndarray) -> np.ndarray:
    """The situations of `records` TABLE[n] at the start of a round, float32[n, 3, N_SITUATION]."""
    out = np.empty((len(records), N_SEATS, N_SITUATION), dtype=np.float32)
    write_situations(raw_bytes(records), len(records), out)
    return out


def following(game: np.ndarray) -> np.ndarray:
    """For each round, given the `game` int64[n] of each, the index of the next round of its game, or -1."""
    order = np.argsort(game, kind="stable")
    same = game[order[1:]] == game[order[:-1]]
    found = np.full(len(game), -1)
    found[order[:-1][same]] = order[1:][same]
    return found
