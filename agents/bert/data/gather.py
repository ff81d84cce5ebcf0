"""Collecting positions from games being played or replayed, into a shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.bert.data.shards import GAME, POSITION, Shard, lengths_of
from agents.bert.encoding import MAX_RECORD, MAX_STATE, put_record, put_state
from agents.bert.labels import label_of, legal_labels
from engine.compiling import entry
from engine.entries import bit_count
from engine.rules import Rules
from engine.table import N_SEATS, TABLE

FEWEST = 2  # legal labels; where there is one alone nothing is decided, and nothing can be learned


@entry
def _take(
    raw: np.ndarray, games: np.ndarray, rounds: np.ndarray, actions: np.ndarray, out: np.ndarray, state: np.ndarray,
    records: np.ndarray, n_records: np.ndarray,
) -> tuple[int, int]:  # fmt: skip
    """Write the positions of the views `raw` to `out` and `state`; returns how many, and how many state tokens.

    `record_at` of each is the number of its round for now. The round's record so far, players being seats, is brought
    up to date in the row of the game in `records`, and its length in `n_records`.
    """
    views, positions = raw.view(TABLE), out.view(POSITION)
    n = n_tokens = np.int64(0)
    for k in range(len(actions)):
        t = views[k]
        legal = legal_labels(t)
        if bit_count(legal) < FEWEST:
            continue
        game = games[k]
        n_records[game] = put_record(t, np.int64(0), records[game], np.int64(0))
        p = positions[n]
        p.legal = legal
        p.state_at = n_tokens
        p.record_at = rounds[k]
        p.game = game
        p.n_state = put_state(t, state[n_tokens:])
        p.n_record = n_records[game]
        p.seat = t.viewer
        p.label = label_of(t, actions[k])
        n_tokens += np.int64(p.n_state)
        n += 1
    return n, n_tokens


class Round(NamedTuple):
    """A round that is over."""

    game: int
    start: np.ndarray  # int64[3]: scores
    record: np.ndarray  # uint16[:], players being seats, up to its last position


class Gatherer:
    """The positions of `n_games` games, played side by side or one after the other."""

    def __init__(self, n_games: int) -> None:
        self._round = np.arange(n_games)  # number of the round that each game is in; those of a game ascend
        self._n_rounds = n_games
        self._record = np.zeros((n_games, MAX_RECORD), dtype=np.uint16)  # of that round, as of its latest position
        self._n_record = np.zeros(n_games, dtype=np.int64)
        self._ended: dict[int, Round] = {}
        self._positions = [np.empty(0, dtype=POSITION)]
        self._state = [np.empty(0, dtype=np.uint16)]
        self._n_tokens = 0

    def take(self, views: np.ndarray, games: np.ndarray, actions: np.ndarray) -> None:
        """Views TABLE[n] of `games` int[n], just before they are answered by `actions` int64[n]."""
        positions = np.zeros(len(views) * POSITION.itemsize, dtype=np.uint8)
        state = np.empty(len(views) * MAX_STATE, dtype=np.uint16)
        raw, games = np.ascontiguousarray(views).view(np.uint8), games.astype(np.int64, copy=False)
        n, n_tokens = _take(raw, games, self._round[games], actions, positions, state, self._record, self._n_record)
        taken = positions.view(POSITION)[:n].copy()
        taken["state_at"] += self._n_tokens
        self._positions.append(taken)
        self._state.append(state[:n_tokens].copy())
        self._n_tokens += int(n_tokens)

    def end_round(self, game: int, start: np.ndarray) -> None:
        """The round that `game` was in is over; it began with the scores `start` int[3]."""
        record = self._record[game, : self._n_record[game]].copy()
        self._ended[int(self._round[game])] = Round(game, start, record)
        self._round[game] = self._n_rounds
        self._n_rounds += 1

    def finish(self, games: np.ndarray, scores: np.ndarray, keep: np.ndarray) -> Shard:
        """The shard of all `games` GAME[n], which ended with `scores` int[n, 3].

        `keep` bool[n, 3] tells whose decisions it has; games and rounds without any are left out.
        """
        positions = np.concatenate(self._positions)
        positions = positions[keep[positions["game"], positions["seat"]]]
        positions = positions[np.argsort(positions["game"], kind="stable")]
        rounds, place = np.unique(positions["record_at"], return_inverse=True)  # see _take
        positions["round_points"] = self._results(scores)[rounds[place], positions["seat"]]
        records = [self._ended[number].record for number in rounds.tolist()]
        positions["record_at"] = np.cumsum([0, *map(len, records)])[place]
        n_state = positions["n_state"].astype(np.int64)
        starts = np.cumsum(n_state) - n_state
        moved = np.arange(n_state.sum()) + np.repeat(positions["state_at"] - starts, n_state)
        positions["state_at"] = starts
        kept, positions["game"] = np.unique(positions["game"], return_inverse=True)
        games = games[kept]
        games["n_positions"] = np.bincount(positions["game"], minlength=len(kept))
        games["n_tokens"] = np.bincount(positions["game"], lengths_of(positions), minlength=len(kept))
        record = np.concatenate([np.empty(0, dtype=np.uint16), *records])
        return Shard(np.concatenate(self._state)[moved], record, positions, games)

    def _results(self, scores: np.ndarray) -> np.ndarray:
        """int64[rounds, 3]: what each seat won or lost from the start of a round to the next one's, or to the end."""
        results = np.zeros((self._n_rounds, N_SEATS), dtype=np.int64)
        after = scores.copy()
        for number, (game, start, _) in sorted(self._ended.items(), reverse=True):
            results[number] = after[game] - start
            after[game] = start
        return results


def game_of(identity: int, scores: Sequence[int], rules: Rules, points: Sequence[float] | None = None) -> np.ndarray:
    """GAME[1] of a game that ended with `scores`; `points`: the final points if known, else as the rules give them."""
    game = np.zeros(1, dtype=GAME)
    game["id"] = identity
    game["points"] = rules.final_points(list(scores)) if points is None else points
    game["placement"] = np.array(rules.ranks(list(scores))) - 1
    return game
