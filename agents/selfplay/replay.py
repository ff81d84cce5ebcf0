"""Kept games again: the positions of all choices as the network sees them, and what each round came to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types

from agents.selfplay.features import N_ACTION, N_SITUATION, N_STATE, encode, situation
from agents.selfplay.games import GAME, MAX_CHOICES, SURPRISE_UNIT, start_tables
from agents.selfplay.network import late
from engine import turn
from engine.compiling import array_of, kernel
from engine.game import MAX_MENU
from engine.kernels import bit_count, is_asked, is_legal, nth_action
from engine.rules import TENHOU
from engine.table import GAME_OVER, N_SEATS, ROUND_OVER, TABLE
from engine.view import blank_for

MEAN_MENU = 16  # the actions of a choice, at most on average of many
MAX_ROUNDS = 64  # of a game
CHOICE = np.dtype([("first", "i8"), ("chosen", "i8"), ("round", "i8"), ("seat", "i8"), ("late", "?")])
REPLAY = (
    array_of(np.dtype("u1")),
    array_of(GAME),
    types.int64,
    types.float32[:, ::1],
    types.float32[:, ::1],
    array_of(CHOICE),
    types.float32[:, :, ::1],
    types.int64[::1],
    types.int32[:, ::1],
)


class Choices(NamedTuple):
    """The choices of some games, in the order in which they were made, game by game."""

    states: np.ndarray  # float32[n, N_STATE]
    actions: np.ndarray  # float32[m, N_ACTION]: the legal actions of all choices
    first: np.ndarray  # int64[n + 1]: those of choice i are first[i] to first[i + 1]
    chosen: np.ndarray  # int64[n]: index of the one that was chosen among them
    late: np.ndarray  # bool[n]: whether the first discards of the round were made
    log_probability: np.ndarray  # float32[n]: of what was chosen, when it was
    round: np.ndarray  # int64[n]: index of the round
    seat: np.ndarray  # int64[n]
    situations: np.ndarray  # float32[rounds, 3, N_SITUATION]: each seat at the start of each round
    game: np.ndarray  # int64[rounds]: the game of each round
    results: np.ndarray  # float32[games, 3]: final points of each seat, in thousands


@kernel(REPLAY)
def _replay(
    raw: np.ndarray,
    games: np.ndarray,
    first_turns: int,
    states: np.ndarray,
    actions: np.ndarray,
    choices: np.ndarray,
    situations: np.ndarray,
    game_of: np.ndarray,
    final: np.ndarray,
) -> tuple[int, int, int]:
    """Play `games` on the tables `raw`, which are at their start, and fill the other arrays.

    Returns how many choices, actions and rounds there were; -1 choices if a game cannot be played so, whose index is
    then in place of the rounds.
    """
    tables = raw.view(TABLE)
    seen = np.zeros(1, dtype=TABLE)
    numbers = np.empty(MAX_MENU, dtype=np.int64)
    n = m = rounds = np.int64(0)
    for g in range(len(games)):
        t = tables[g]
        used = np.int64(0)
        new_round = True
        while t.phase != GAME_OVER:
            if t.phase == ROUND_OVER:
                turn.next_round(t)
                new_round = True
                continue
            if new_round:
                for seat in range(N_SEATS):
                    situation(t, np.int64(seat), situations[rounds, seat])
                game_of[rounds] = g
                rounds += 1
                new_round = False
            asked = np.int64(0)
            for seat in range(N_SEATS):
                asked |= np.int64(is_asked(t, np.int64(seat))) << seat
            for seat in range(N_SEATS):
                if (asked >> seat) & 1 == 0:
                    continue
                low, high = t.legal[seat, 0], t.legal[seat, 1]
                if bit_count(low) + bit_count(high) == 1:
                    turn.act(t, np.int64(seat), nth_action(low, high, np.int64(0)))
                    continue
                action = np.int64(games[g].action[used])
                if used == games[g].n or not is_legal(t, np.int64(seat), action):
                    return np.int64(-1), m, np.int64(g)
                seen[0] = t
                blank_for(seen[0], np.int64(seat))
                legal = encode(seen[0], states[n], actions[m:], numbers)
                choice = choices[n]
                choice.first = m
                for a in range(legal):
                    if numbers[a] == action:
                        choice.chosen = a
                choice.round = rounds - 1
                choice.seat = seat
                choice.late = late(seen[0], first_turns)
                n += 1
                m += legal
                used += 1
                turn.act(t, np.int64(seat), action)
        for seat in range(N_SEATS):
            final[g, seat] = t.seat[seat].score
    return n, m, rounds


def replay(games: np.ndarray, first_turns: int) -> Choices:
    """The choices of `games` GAME[k]; `first_turns` as in `Exploration`.

    Raises ValueError if a game was not played by these rules: the engine has changed since.
    """
    n, k = int(games["n"].sum()), len(games)
    states = np.empty((n, N_STATE), dtype=np.float32)
    actions = np.empty((n * MEAN_MENU + MAX_MENU, N_ACTION), dtype=np.float32)
    choices: Any = np.zeros(n, dtype=CHOICE)
    situations = np.empty((k * MAX_ROUNDS, N_SEATS, N_SITUATION), dtype=np.float32)
    game_of = np.empty(k * MAX_ROUNDS, dtype=np.int64)
    final = np.zeros((k, N_SEATS), dtype=np.int32)
    tables = start_tables(games["seed"], games["scores"])
    found, m, rounds = _replay(tables.raw, games, first_turns, states, actions, choices, situations, game_of, final)
    if found != n or (final != games["final"]).any():
        raise ValueError("a kept game cannot be played again: the rules have changed since; begin a new folder")
    mask = np.arange(MAX_CHOICES) < games["n"][:, None]
    return Choices(
        states,
        actions[:m],
        np.append(choices["first"], m),
        choices["chosen"].copy(),
        choices["late"].copy(),
        games["surprise"][mask] * np.float32(-SURPRISE_UNIT),
        choices["round"].copy(),
        choices["seat"].copy(),
        situations[:rounds],
        game_of[:rounds],
        np.array([TENHOU.final_points(scores) for scores in final.tolist()], dtype=np.float32),
    )
