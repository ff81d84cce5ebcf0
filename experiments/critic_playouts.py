"""How much a playout over the true wall would add to what the critic of `agents.rl` sees, and what it costs.

    python experiments/critic_playouts.py

`residual` plays itself at 1,024 tables. At each of its choices the round is also played out by `linear` at all seats,
with the true hands and wall. Critics of the size that training uses then learn the value of the round's end, a
placement, from the view, with and without the hidden hands and the playout; the last four rounds are held out. Ten
minutes on a core; docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np
import torch
from torch import nn

from agents.playouts.playouts import play_out
from agents.playouts.policies import POLICIES, SCRATCH, linear_weights
from agents.playouts.value import round_value, round_values
from agents.registry import make
from agents.residual.features import FEATURES
from agents.rl.oracle import N_ORACLE, write_oracle
from agents.rl.rows import encode
from engine.compiling import kernel
from engine.kernels import next_rounds
from engine.table import GAME_OVER, N_SEATS, TABLE
from engine.tables import Tables

N_TABLES = 1024
ROUNDS, HELD_OUT = 20, 4  # at each table; the last ones are held out
N_PLAYOUT = N_SEATS + 1  # features of a playout
BATCH, EPOCHS, RATE = 2048, 3, 1e-3
TABLE_SIZE = TABLE.itemsize
LINEAR = POLICIES["linear"]


@kernel("uint8[::1], int32[::1], int8[::1], int64, float64[::1], uint8[::1], float32[:, ::1]")
def true_playouts(
    raw: np.ndarray,
    tables: np.ndarray,
    seats: np.ndarray,
    policy: int,
    weights: np.ndarray,
    scratch: np.ndarray,
    out: np.ndarray,
) -> None:
    """Play the rounds of `tables` out; write the changes of the scores in 10,000 points, and the value of the end."""
    records = raw.view(TABLE)
    spare = np.zeros(TABLE_SIZE, dtype=np.uint8).view(TABLE)
    for k in range(len(tables)):
        t, seat = records[tables[k]], np.int64(seats[k])
        spare[0] = t
        play_out(spare[0], policy, weights, scratch.view(SCRATCH)[0])
        for step in range(N_SEATS):
            other = (seat + step) % N_SEATS
            out[k, step] = (spare[0].seat[other].score - t.seat[other].score) / 10000
        out[k, N_SEATS] = round_value(spare[0], seat)


class Recorder:
    """A policy that keeps what critics could learn from."""

    def __init__(self, tables: Tables) -> None:
        self._tables, self._bot = tables, make("residual")
        self._weights, self._scratch = linear_weights(), np.zeros(SCRATCH.itemsize, dtype=np.uint8)
        self._players = np.zeros((N_TABLES, N_SEATS), dtype=np.int8)
        self.seconds, self.steps = 0.0, list[tuple[np.ndarray, ...]]()

    def act(self, views: np.ndarray) -> np.ndarray:
        """The actions of `residual`."""
        raw, rows = self._tables.raw, encode(FEATURES, views)[1]
        tables = np.ascontiguousarray(self._tables.asked_tables[rows.view], dtype=np.int32)
        seats = np.ascontiguousarray(self._tables.asked_seats[rows.view], dtype=np.int8)
        oracle = np.empty((len(seats), N_ORACLE), dtype=np.float32)
        write_oracle(raw, self._players, tables, seats, oracle)
        playout = np.empty((len(seats), N_PLAYOUT), dtype=np.float32)
        began = perf_counter()
        true_playouts(raw, tables, seats, LINEAR, self._weights, self._scratch, playout)
        self.seconds += perf_counter() - began
        self.steps.append((rows.states.copy(), oracle, playout, tables, seats))
        return self._bot.act(views)

    def play_round(self) -> tuple[np.ndarray, ...]:
        """The features of the states, the oracle's and the playouts' of a round, and the values of its ends."""
        tables, players = self._tables, self._players
        self.steps.clear()
        tables.play_round([self.act], players)
        states, oracle, playout, which, seats = map(np.concatenate, zip(*self.steps, strict=True))
        ends = np.empty((N_SEATS, N_TABLES), dtype=np.float32)
        for seat in range(N_SEATS):
            round_values(tables.raw, np.full(N_TABLES, seat, dtype=np.int8), ends[seat])
        next_rounds(tables.raw)
        over = np.flatnonzero(tables.records["phase"] == GAME_OVER)
        seeds = tables.records["seed"][over] + np.uint64(N_TABLES)
        tables.records[over] = Tables(seeds).records
        return states, oracle, playout, ends[seats, which]


def unexplained(inputs: torch.Tensor, values: torch.Tensor, n_held_out: int, seed: int) -> float:
    """The variance of `values` that a critic of `inputs` leaves unexplained in the last `n_held_out` rows."""
    torch.manual_seed(seed)
    critic = nn.Sequential(
        nn.Linear(inputs.shape[1], 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 1)
    )
    optimizer = torch.optim.Adam(critic.parameters(), lr=RATE)
    n = len(values) - n_held_out
    n_steps = EPOCHS * n // BATCH
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, n_steps)
    for _ in range(n_steps):
        rows = torch.randint(n, (BATCH,))
        loss = (critic(inputs[rows])[:, 0] - values[rows]).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    with torch.no_grad():
        return float((critic(inputs[n:])[:, 0] - values[n:]).var())


def main() -> None:
    """Play, learn, and print the table."""
    torch.set_num_threads(1)
    recorder = Recorder(Tables(range(N_TABLES)))
    rounds = []
    for number in range(ROUNDS):
        rounds.append(recorder.play_round())
        print(f"\r{number + 1} of {ROUNDS} rounds", end="", file=sys.stderr, flush=True)
    n_held_out = sum(len(each[-1]) for each in rounds[-HELD_OUT:])
    states, oracle, playout, values = (torch.from_numpy(np.concatenate(each)) for each in zip(*rounds, strict=True))
    cost = 1e6 * recorder.seconds / len(values)
    print(file=sys.stderr)
    print(f"{len(values):,} choices, {n_held_out:,} held out; a playout takes {cost:.0f} us")
    print(f"variance of the value: {float(values[-n_held_out:].var()):.4f}; unexplained, for two seeds:")
    inputs = {
        "the view": [states],
        "and the hidden hands": [states, oracle],
        "and a playout": [states, oracle, playout],
        "the view and a playout": [states, playout],
    }
    for name, parts in inputs.items():
        found = [unexplained(torch.cat(parts, dim=1), values, n_held_out, seed) for seed in (0, 1)]
        print(f"{name:24}{found[0]:.4f}  {found[1]:.4f}")


if __name__ == "__main__":
    main()
