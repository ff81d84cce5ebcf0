"""Collecting positions from games being played or replayed, into a shard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.bert.data.shards import GAME, POSITION, Shard
from agents.bert.encoding import MAX_RECORD, MAX_STATE, put_record, put_state
from agents.bert.labels import label_of, legal_labels
from engine.compiling import entry
from engine.entries import bit_count
from engine.rules import Rules
from engine.table import N_SEATS, TABLE

FEWEST = 2  # legal labels; where there is one alone nothing is decided, and nothing can be learned


@entry
def _take(
    raw: np.ndarray, actions: np.ndarray, rounds: np.ndarray, out: np.ndarray, state: np.ndarray
) -> tuple[int, int]:
    """Write the positions of the views `raw` to `out` and `state`; returns how many, and how many state tokens."""
    views, positions = raw.view(TABLE), out.view(POSITION)
    scratch = np.empty(MAX_RECORD, dtype=np.uint16)
    n = n_tokens = np.int64(0)
    for k in range(len(actions)):
        t = views[k]
        legal = legal_labels(t)
        if bit_count(legal) < FEWEST:
            continue
        p = positions[n]
        p.legal = legal
        p.state_at = n_tokens
        p.record_at = rounds[k]
        p.n_state = put_state(t, state[n_tokens:])
        p.n_record = put_record(t, np.int64(0), scratch, np.int64(0))
        p.seat = t.viewer
        p.label = label_of(t, actions[k])
        n_tokens += np.int64(p.n_state)
        n += 1
    return n, n_tokens


@entry
def _record(raw: np.ndarray, i: int, out: np.ndarray) -> int:
    """Write the round's record of table `i`, players being seats; returns how many tokens it has."""
    return put_record(raw.view(TABLE)[i], np.int64(0), out, np.int64(0))


class Gatherer:
    """The positions of `n_games` games, played side by side or one after the other."""

    def __init__(self, n_games: int) -> None:
        self._round = np.zeros(n_games, dtype=np.int64)  # the number of the round that each game is in
        self._games: list[int] = []  # of every round: whose it is, its record, and what each seat won or lost
        self._records: list[np.ndarray] = []
        self._results: list[np.ndarray] = []
        self._positions: list[np.ndarray] = []
        self._state: list[np.ndarray] = []
        self._n_tokens = 0
        for game in range(n_games):
            self._start_round(game)

    def _start_round(self, game: int) -> None:
        self._round[game] = len(self._games)
        self._games.append(game)
        self._records.append(np.empty(0, dtype=np.uint16))
        self._results.append(np.zeros(N_SEATS, dtype=np.int32))

    def take(self, views: np.ndarray, games: np.ndarray, actions: np.ndarray) -> None:
        """Views TABLE[n] of `games` int[n], just before they are answered by `actions` int64[n]."""
        positions = np.zeros(len(views) * POSITION.itemsize, dtype=np.uint8)
        state = np.empty(len(views) * MAX_STATE, dtype=np.uint16)
        raw = np.ascontiguousarray(views).view(np.uint8)
        n, n_tokens = _take(raw, actions, self._round[games], positions, state)
        taken = positions.view(POSITION)[:n]
        taken["state_at"] += self._n_tokens
        self._positions.append(taken)
        self._state.append(state[:n_tokens].copy())
        self._n_tokens += n_tokens

    def end_round(self, raw: np.ndarray, i: int, game: int, result: np.ndarray) -> None:
        """The round of a game is over: its record is read off table `i` of `raw`; `result` int[3] is what each won."""
        tokens = np.empty(MAX_RECORD, dtype=np.uint16)
        self._records[self._round[game]] = tokens[: _record(raw, i, tokens)]
        self._results[self._round[game]] = result
        self._start_round(game)

    def finish(self, games: np.ndarray, keep: np.ndarray) -> Shard:
        """The shard of all `games` GAME[n], with the decisions of the seats that `keep` bool[n, 3] tells."""
        positions = np.concatenate(self._positions)
        number = positions["record_at"].astype(np.int64)
        positions["record_at"] = np.cumsum([0, *map(len, self._records)])[number]
        positions["round_points"] = np.array(self._results)[number, positions["seat"]]
        positions["game"] = np.array(self._games)[number]
        positions = positions[keep[positions["game"], positions["seat"]]]
        lengths = positions["n_state"].astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        places = np.arange(lengths.sum()) + np.repeat(positions["state_at"] - starts, lengths)
        positions["state_at"] = starts
        return Shard(np.concatenate(self._state)[places], np.concatenate(self._records), positions, games)


def game_of(identity: int, scores: Sequence[int], rules: Rules) -> np.ndarray:
    """GAME[1] of a game that ended with `scores`; of equal scores the earlier seat is placed higher."""
    game = np.zeros(1, dtype=GAME)
    game["id"] = identity
    game["points"] = rules.final_points(list(scores))
    game["placement"][0, sorted(range(N_SEATS), key=lambda seat: (-scores[seat], seat))] = range(N_SEATS)
    return game
