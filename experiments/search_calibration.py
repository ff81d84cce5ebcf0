"""Whether what `search` finds between two actions comes true.

    python experiments/search_calibration.py [POSITIONS [SEARCH OPTIONS...]]    # 20000 n=50

From games among `residual`, positions with two actions that it thinks within GAP of each other. For each the gap
between them by its logits; by worlds that `search` samples from what the seat sees, without the prior; and the outcome:
both actions are played out once at the table as it is, hidden hands and wall included, by `residual` in all seats. The
outcome is the most noisy of them, but it is not biased. So the slope of the outcome over a gap is 1 if the gap is what
the action wins on average, lower if it is noise or bias.
Three minutes on two cores; docs/experiments.md has the results.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from agents.base import ActionValues
from agents.playouts.value import round_values
from agents.registry import make
from engine import kernels
from engine.rules import TENHOU
from engine.table import TABLE, raw_bytes
from engine.tables import Tables

BOT = "residual"
GAP = 0.006  # placements
SHARE = 0.05  # of the decisions that become positions
GAMES = 64  # at a time
JOBS = 2


class Position(NamedTuple):
    """A decision between the two best actions of BOT."""

    view: np.record
    table: np.record  # whole
    seat: int
    actions: tuple[int, int]
    gap: float  # placements, by BOT


def action_values(bot: Any, views: np.ndarray) -> np.ndarray:
    """float32[n, N_ACTIONS], in placements."""
    assert isinstance(bot, ActionValues)
    return bot.action_values(views)


def positions(n: int, seed: int) -> list[Position]:
    """`n` positions of games among three of BOT."""
    bot, random = make(BOT, seed), np.random.default_rng(seed)
    found: list[Position] = []
    while len(found) < n:
        tables = Tables(random.integers(1 << 62, size=GAMES, dtype=np.uint64))

        def act(views: np.ndarray, tables: Tables = tables) -> np.ndarray:
            values = action_values(bot, views)
            order = np.argsort(-values, axis=1, kind="stable")[:, :2]
            best, second = np.take_along_axis(values, order, axis=1).T
            for k in np.flatnonzero((best - second < GAP) & (random.random(len(views)) < SHARE)):
                table, seat = tables.asked_tables[k], int(tables.asked_seats[k])
                two = int(order[k, 0]), int(order[k, 1])
                found.append(Position(views[k].copy(), tables.records[table].copy(), seat, two, best[k] - second[k]))
            return order[:, 0]

        for _ in tables.play([act], np.zeros((GAMES, 3), dtype=np.int8)):
            pass
    return [found[i] for i in random.permutation(len(found))[:n]]


def search_gaps(given: list[Position], options: str, seed: int) -> np.ndarray:
    """The gaps by `search`, float64[n], with a prior that counts for nearly nothing."""
    search = make(f"search:k=2,margin=1,prior=0.001,{options}", seed)
    values = action_values(search, np.array([each.view for each in given]))
    return np.array([values[k, each.actions[0]] - values[k, each.actions[1]] for k, each in enumerate(given)])


def outcomes(given: list[Position], seed: int) -> np.ndarray:
    """What the first action brings more than the second if BOT plays the round on, float64[n], in placements."""
    records = np.repeat(np.array([each.table for each in given], dtype=TABLE), 2)
    seats = np.repeat(np.array([each.seat for each in given], dtype=np.int8), 2)
    tried = np.array([each.actions for each in given]).reshape(-1)
    tables = Tables.from_records(records, TENHOU)
    bad = kernels.apply_actions(tables.raw, np.arange(len(tried), dtype=np.int32), seats, tried)
    assert bad < 0
    tables.play_round([make(BOT, seed).act], np.zeros((len(tried), 3), dtype=np.int8))
    values = np.empty(len(tried), dtype=np.float32)
    round_values(raw_bytes(tables.records), seats, values)
    return values[::2] - values[1::2].astype(np.float64)


def measure(n: int, options: str, seed: int) -> np.ndarray:
    """float64[n, 3]: of positions, the gap by the logits, by `search`, and the outcome."""
    given = positions(n, seed)
    logits = np.array([each.gap for each in given])
    return np.stack([logits, search_gaps(given, options, seed), outcomes(given, seed)], axis=1)


def main() -> None:
    """Print slopes, and what it would bring to follow `search`."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    options = ",".join(sys.argv[2:]) or "n=50"
    with ProcessPoolExecutor(JOBS) as pool:
        parts = list(pool.map(measure, [n // JOBS] * JOBS, [options] * JOBS, range(JOBS)))
    logits, search, outcome = np.concatenate(parts).T
    print(f"{len(outcome):,} positions, search:{options}; placements, ± 95 %")
    print(f"standard deviations: logits {logits.std():.4f}, search {search.std():.4f}, outcome {outcome.std():.4f}")
    for name, gap in ("logits", logits), ("search", search):
        spread = gap - gap.mean()
        slope = (spread * outcome).sum() / (spread**2).sum()
        interval = 1.96 * outcome.std() / spread.std() / len(gap) ** 0.5
        print(f"slope of the outcome over the gap by {name}: {slope:.3f} ± {interval:.3f}")
    other = outcome[search < 0]
    print(
        f"search prefers the second action in {(search < 0).mean():.1%}; what it brings more there: "
        f"{-other.mean():.4f} ± {1.96 * other.std() / len(other) ** 0.5:.4f}"
    )


if __name__ == "__main__":
    main()
