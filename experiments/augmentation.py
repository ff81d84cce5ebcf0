"""What test-time augmentation changes in the play of `bert`, and what it costs.

    python experiments/augmentation.py [GAMES]    # 60, a minute on one core

Every decision of `bert` in GAMES hanchan against two `rule` is predicted twice: as it is, and with pinzu and souzu
swapped. For several limits the second prediction is used only where the second label has at least that fraction of the
first one's probability (`agents.bert.bot.CLOSE`). For each limit:

- sequences that the network reads for a decision
- decisions in which another label is played than if all were augmented
- the probability that the played label lacks to the best one, by the mean of both predictions, summed over these
  decisions and divided by the loss without augmentation

docs/experiments.md has the results.
"""

from __future__ import annotations

import sys

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.bert.bot import BUNDLED
from agents.bert.encoding import encode
from agents.bert.inference import load, softmax
from agents.bert.labels import legal_table
from agents.bert.symmetries import LABEL_MAPS, SUITS_SWAPPED, variant_of
from agents.registry import make
from engine.tables import Tables

LIMITS = (2.0, 0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)


def decisions_of_bert(games: int) -> np.ndarray:
    """TABLE[n]: what `bert` sees in each decision with more than one legal label."""
    bert, rule = make("bert"), make("rule")
    seen: list[np.ndarray] = []

    def act(views: np.ndarray) -> np.ndarray:
        seen.append(views[legal_table(views).sum(axis=1) > 1])
        return bert.act(views)

    seats = np.resize(np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=np.int8), (games, 3))
    for _ in Tables(range(games)).play([act, rule.act], seats):
        pass
    return np.concatenate(seen)


def main(games: int) -> None:
    """Measure and print."""
    views = decisions_of_bert(games)
    encoded, legal, predict = encode(views), legal_table(views), load(BUNDLED)
    swapped = variant_of(encoded, SUITS_SWAPPED)
    first, second = (predict(each.input_ids, each.lengths, each.n_state).policy for each in (encoded, swapped))
    alone = np.where(legal, first, -np.inf)
    mean = np.where(legal, (first + second[:, LABEL_MAPS[SUITS_SWAPPED]]) / 2, -np.inf)
    highest = np.sort(softmax(alone), axis=1)
    ratio, truth, rows = highest[:, -2] / highest[:, -1], softmax(mean), np.arange(len(views))

    def lost(labels: np.ndarray) -> float:
        return float((truth.max(axis=1) - truth[rows, labels]).sum())

    table = Table("limit", "sequences a decision", "other decisions", "lost", box=None)
    for limit in LIMITS:
        close = ratio >= limit
        labels = np.where(close, mean.argmax(axis=1), alone.argmax(axis=1))
        other, part = (labels != mean.argmax(axis=1)).mean(), lost(labels) / lost(alone.argmax(axis=1))
        table.add_row(f"{limit:g}", f"{1 + close.mean():.2f}", f"{other:.2%}", f"{part:.0%}")
    Console().print(f"{len(views):,} decisions; 2: never, 0: always", table)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 60)
