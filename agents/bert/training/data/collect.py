"""Collecting samples from games that are played or replayed, into a shard."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from agents.bert.encoding import MAX_RECORD, MAX_STATE, put_record, put_state
from agents.bert.labels import N_LABELS, label_of, legal_labels
from agents.bert.training.data.shards import GAME, MAX_REGRET, N_REGRETS, SAMPLE, Shard, lengths_of
from engine.actions import N_ACTIONS
from engine.compiling import inner, kernel
from engine.kernels import bit_count
from engine.rules import Rules
from engine.table import TABLE, raw_bytes

MIN_LABELS = 2  # legal labels of a sample: from a single one there is nothing to learn


@inner
def put_regrets(t: np.record, action_values: np.ndarray, legal: np.uint64, out: np.ndarray) -> int:
    """Write the regrets of the `legal` labels, as indices into REGRETS, to `out`; returns their number.

    `action_values` is float32[N_ACTIONS], -inf where unknown. A label has the lowest regret of its actions.
    """
    best = action_values.max()
    regrets = np.full(N_LABELS, N_REGRETS - 1, dtype=np.uint8)
    for action in range(N_ACTIONS):
        if action_values[action] > -np.inf:
            label = label_of(t, np.int64(action))
            level = np.int64(np.round(np.cbrt((best - action_values[action]) / MAX_REGRET) * (N_REGRETS - 2)))
            regrets[label] = min(level, np.int64(regrets[label]), np.int64(N_REGRETS - 2))
    n = np.int64(0)
    for label in range(N_LABELS):
        if (legal >> np.uint64(label)) & np.uint64(1):
            out[n] = regrets[label]
            n += 1
    return n


@kernel(
    "uint8[::1], int64[::1], int64[::1], float32[:, ::1], uint8[::1],"
    "uint16[::1], uint8[::1], uint16[:, ::1], int64[::1]"
)
def _add(
    raw: np.ndarray, games: np.ndarray, rounds: np.ndarray, action_values: np.ndarray, out: np.ndarray,
    state: np.ndarray, regret: np.ndarray, records: np.ndarray, n_records: np.ndarray,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the samples of the views `raw` to `out`, `state` and `regret`; returns the number of items in each.

    Until the collector is finished, `record_start` of a sample is the number of its round. The record of the round so
    far, players being seats, is written to the row of its game in `records`, and its length to `n_records`.
    """
    views, samples = raw.view(TABLE), out.view(SAMPLE)
    n = n_tokens = n_regrets = np.int64(0)
    for k in range(len(action_values)):
        t = views[k]
        legal = legal_labels(t)
        if bit_count(legal) < MIN_LABELS:
            continue
        game = games[k]
        n_records[game] = put_record(t, np.int64(0), records[game], np.int64(0))
        p = samples[n]
        p.legal = legal
        p.state_start = n_tokens
        p.record_start = rounds[k]
        p.regret_start = n_regrets
        p.game = game
        p.n_state = put_state(t, state[n_tokens:])
        p.n_record = n_records[game]
        p.seat = t.viewer
        p.label = label_of(t, np.int64(action_values[k].argmax()))
        n_tokens += np.int64(p.n_state)
        n_regrets += put_regrets(t, action_values[k], legal, regret[n_regrets:])
        n += 1
    return n, n_tokens, n_regrets


class SampleCollector:
    """Collects the samples of `n_games` games, played in parallel or one after the other."""

    def __init__(self, n_games: int) -> None:
        self._round = np.arange(n_games)  # number of the current round of each game; ascending within a game
        self._n_rounds = n_games
        self._record = np.zeros((n_games, MAX_RECORD), dtype=np.uint16)  # of that round, up to its latest sample
        self._n_record = np.zeros(n_games, dtype=np.int64)
        self._ended: dict[int, np.ndarray] = {}  # round number -> its record up to its last sample
        self._samples = [np.empty(0, dtype=SAMPLE)]
        self._state = [np.empty(0, dtype=np.uint16)]
        self._regret = [np.empty(0, dtype=np.uint8)]
        self._n_tokens = self._n_regrets = 0

    def add(self, views: np.ndarray, games: np.ndarray, action_values: np.ndarray) -> None:
        """Add decisions: `views` TABLE[n] of `games` int[n], with targets `action_values` float32[n, N_ACTIONS].

        Must be called before the decisions are played, in the order of play. Decisions with one legal label are left
        out.
        """
        samples = np.zeros(len(views) * SAMPLE.itemsize, dtype=np.uint8)
        state = np.empty(len(views) * MAX_STATE, dtype=np.uint16)
        regret = np.empty(len(views) * N_LABELS, dtype=np.uint8)
        raw, games = raw_bytes(views), np.ascontiguousarray(games, dtype=np.int64)
        n, n_tokens, n_regrets = _add(
            raw, games, self._round[games], action_values, samples, state, regret, self._record, self._n_record
        )
        added = samples.view(SAMPLE)[:n].copy()
        added["state_start"] += self._n_tokens
        added["regret_start"] += self._n_regrets
        self._samples.append(added)
        self._state.append(state[:n_tokens].copy())
        self._regret.append(regret[:n_regrets].copy())
        self._n_tokens += int(n_tokens)
        self._n_regrets += int(n_regrets)

    def end_round(self, game: int) -> None:
        """The current round of `game` is over."""
        self._ended[int(self._round[game])] = self._record[game, : self._n_record[game]].copy()
        self._round[game] = self._n_rounds
        self._n_rounds += 1

    def finish(self, games: np.ndarray, keep: np.ndarray) -> Shard:
        """The shard of all `games` GAME[n].

        `keep` bool[n, 3] are the seats whose samples it has; games and rounds without any are left out.
        """
        samples = np.concatenate(self._samples)
        samples = samples[keep[samples["game"], samples["seat"]]]
        samples = samples[np.argsort(samples["game"], kind="stable")]
        rounds, index = np.unique(samples["record_start"], return_inverse=True)  # numbers of rounds, see _add
        records = [self._ended[number] for number in rounds.tolist()]
        samples["record_start"] = np.cumsum([0, *map(len, records)])[index]
        samples["state_start"], state = select_slices(self._state, samples["state_start"], samples["n_state"])
        samples["regret_start"], regret = select_slices(
            self._regret, samples["regret_start"], np.bitwise_count(samples["legal"])
        )
        kept, samples["game"] = np.unique(samples["game"], return_inverse=True)
        games = games[kept]
        games["n_samples"] = np.bincount(samples["game"], minlength=len(kept))
        games["n_tokens"] = np.bincount(samples["game"], lengths_of(samples), minlength=len(kept))
        record = np.concatenate([np.empty(0, dtype=np.uint16), *records])
        return Shard(state, record, regret, samples, games)


def select_slices(
    pieces: Sequence[np.ndarray], starts: np.ndarray, lengths: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate slices of the joined `pieces`: (start of each in the result, the result).

    The slices begin at `starts` int[n] and are `lengths` int[n] long.
    """
    lengths = lengths.astype(np.int64)
    new_starts = np.cumsum(lengths) - lengths
    indices = np.arange(lengths.sum()) + np.repeat(starts - new_starts, lengths)
    return new_starts, np.concatenate(pieces)[indices]


def game_of(game_id: int, scores: Sequence[int], rules: Rules, points: Sequence[float] | None = None) -> np.ndarray:
    """GAME[1] of a game that ended with `scores` (points by seat).

    `points` are the final points in thousands, if recorded; otherwise they follow from the rules.
    """
    game = np.zeros(1, dtype=GAME)
    game["id"] = game_id
    game["points"] = rules.final_points(list(scores)) if points is None else points
    game["placement"] = np.array(rules.ranks(list(scores))) - 1
    return game
