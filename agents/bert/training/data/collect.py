"""Collecting positions from games being played or replayed, into a shard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from agents.base import ActionValues, Agent
from agents.bert.encoding import MAX_RECORD, MAX_STATE, put_record, put_state
from agents.bert.labels import N_LABELS, label_of, legal_labels
from agents.bert.training.data.shards import GAME, N_REGRETS, POSITION, WORST_REGRET, Shard, lengths_of
from engine.actions import N_ACTIONS
from engine.compiling import inner, kernel
from engine.kernels import bit_count
from engine.rules import Rules
from engine.table import TABLE, raw_bytes

FEWEST = 2  # legal labels; where there is one alone nothing is decided, and nothing can be learned


class Lesson(NamedTuple):
    """Decisions to learn from, and what is to be learned of them."""

    rows: np.ndarray  # int64[n]: which of those offered
    worths: np.ndarray  # float32[n, N_ACTIONS]: what each action promises in places, -inf for those not thought of


def worths_of(views: np.ndarray, actions: np.ndarray, teacher: Agent | None) -> np.ndarray:
    """float32[n, N_ACTIONS]: what is to be learned of `views` TABLE[n], answered by `actions` int64[n].

    That is what a teacher that weighs its actions thinks, or what it would have done, or, without any, what was done.
    """
    if isinstance(teacher, ActionValues):
        return teacher.action_values(views)
    done = actions if teacher is None else teacher.act(views)
    worths = np.full((len(views), N_ACTIONS), -np.inf, dtype=np.float32)
    worths[np.arange(len(views)), done] = 0.0
    return worths


@inner
def put_regrets(t: np.record, worths: np.ndarray, legal: np.uint64, out: np.ndarray) -> int:
    """Write the regrets of the `legal` labels to `out`; returns their number. `worths` float32[N_ACTIONS]."""
    best = worths.max()
    regrets = np.full(N_LABELS, N_REGRETS - 1, dtype=np.uint8)
    for action in range(N_ACTIONS):
        if worths[action] > -np.inf:
            label = label_of(t, np.int64(action))
            step = np.int64(np.round(np.cbrt((best - worths[action]) / WORST_REGRET) * (N_REGRETS - 2)))
            regrets[label] = min(step, np.int64(regrets[label]), np.int64(N_REGRETS - 2))
    n = np.int64(0)
    for label in range(N_LABELS):
        if (legal >> np.uint64(label)) & np.uint64(1):
            out[n] = regrets[label]
            n += 1
    return n


@kernel
def _take(
    raw: np.ndarray, games: np.ndarray, rounds: np.ndarray, worths: np.ndarray, out: np.ndarray, state: np.ndarray,
    regret: np.ndarray, records: np.ndarray, n_records: np.ndarray,
) -> tuple[int, int, int]:  # fmt: skip
    """Write the positions of the views `raw` to `out`, `state` and `regret`; returns how much each has then.

    `record_at` of each is the number of its round for now. The round's record so far, players being seats, is brought
    up to date in the row of the game in `records`, and its length in `n_records`.
    """
    views, positions = raw.view(TABLE), out.view(POSITION)
    n = n_tokens = n_regrets = np.int64(0)
    for k in range(len(worths)):
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
        p.regret_at = n_regrets
        p.game = game
        p.n_state = put_state(t, state[n_tokens:])
        p.n_record = n_records[game]
        p.seat = t.viewer
        p.label = label_of(t, np.int64(worths[k].argmax()))
        n_tokens += np.int64(p.n_state)
        n_regrets += put_regrets(t, worths[k], legal, regret[n_regrets:])
        n += 1
    return n, n_tokens, n_regrets


class Gatherer:
    """The positions of `n_games` games, played side by side or one after the other."""

    def __init__(self, n_games: int) -> None:
        self._round = np.arange(n_games)  # number of the round that each game is in; those of a game ascend
        self._n_rounds = n_games
        self._record = np.zeros((n_games, MAX_RECORD), dtype=np.uint16)  # of that round, as of its latest position
        self._n_record = np.zeros(n_games, dtype=np.int64)
        self._ended: dict[int, np.ndarray] = {}  # by number, the records of rounds up to their last position
        self._positions = [np.empty(0, dtype=POSITION)]
        self._state = [np.empty(0, dtype=np.uint16)]
        self._regret = [np.empty(0, dtype=np.uint8)]
        self._n_tokens = self._n_regrets = 0

    def take(self, views: np.ndarray, games: np.ndarray, worths: np.ndarray) -> None:
        """Views TABLE[n] of `games` int[n], before they are answered; `worths` float32[n, N_ACTIONS] is to be learned.

        That is what each action promises in places, -inf for those not thought of.
        """
        positions = np.zeros(len(views) * POSITION.itemsize, dtype=np.uint8)
        state = np.empty(len(views) * MAX_STATE, dtype=np.uint16)
        regret = np.empty(len(views) * N_LABELS, dtype=np.uint8)
        raw, games = raw_bytes(views), games.astype(np.int64, copy=False)
        n, n_tokens, n_regrets = _take(
            raw, games, self._round[games], worths, positions, state, regret, self._record, self._n_record
        )
        taken = positions.view(POSITION)[:n].copy()
        taken["state_at"] += self._n_tokens
        taken["regret_at"] += self._n_regrets
        self._positions.append(taken)
        self._state.append(state[:n_tokens].copy())
        self._regret.append(regret[:n_regrets].copy())
        self._n_tokens += int(n_tokens)
        self._n_regrets += int(n_regrets)

    def end_round(self, game: int) -> None:
        """The round that `game` was in is over."""
        self._ended[int(self._round[game])] = self._record[game, : self._n_record[game]].copy()
        self._round[game] = self._n_rounds
        self._n_rounds += 1

    def finish(self, games: np.ndarray, keep: np.ndarray) -> Shard:
        """The shard of all `games` GAME[n].

        `keep` bool[n, 3] tells whose decisions it has; games and rounds without any are left out.
        """
        positions = np.concatenate(self._positions)
        positions = positions[keep[positions["game"], positions["seat"]]]
        positions = positions[np.argsort(positions["game"], kind="stable")]
        rounds, place = np.unique(positions["record_at"], return_inverse=True)  # see _take
        records = [self._ended[number] for number in rounds.tolist()]
        positions["record_at"] = np.cumsum([0, *map(len, records)])[place]
        positions["state_at"], state = gathered(self._state, positions["state_at"], positions["n_state"])
        positions["regret_at"], regret = gathered(
            self._regret, positions["regret_at"], np.bitwise_count(positions["legal"])
        )
        kept, positions["game"] = np.unique(positions["game"], return_inverse=True)
        games = games[kept]
        games["n_positions"] = np.bincount(positions["game"], minlength=len(kept))
        games["n_tokens"] = np.bincount(positions["game"], lengths_of(positions), minlength=len(kept))
        record = np.concatenate([np.empty(0, dtype=np.uint16), *records])
        return Shard(state, record, regret, positions, games)


def gathered(pieces: Sequence[np.ndarray], starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The stretches of all `pieces` from `starts` int[n] on, `lengths` int[n] long, put together: (new starts, all)."""
    lengths = lengths.astype(np.int64)
    new_starts = np.cumsum(lengths) - lengths
    places = np.arange(lengths.sum()) + np.repeat(starts - new_starts, lengths)
    return new_starts, np.concatenate(pieces)[places]


def game_of(identity: int, scores: Sequence[int], rules: Rules, points: Sequence[float] | None = None) -> np.ndarray:
    """GAME[1] of a game that ended with `scores`; `points`: the final points if known, else as the rules give them."""
    game = np.zeros(1, dtype=GAME)
    game["id"] = identity
    game["points"] = rules.final_points(list(scores)) if points is None else points
    game["placement"] = np.array(rules.ranks(list(scores))) - 1
    return game
