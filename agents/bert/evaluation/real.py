"""How often a network, and beside it the rule bot, would have done what real players did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import encode
from agents.bert.evaluation.metrics import Agreement, agreement, choices, cross_entropy
from agents.bert.inference import Predictor
from agents.bert.labels import labels_of, legal_table
from agents.registry import make
from engine.records.files import RecordError, read_records
from engine.records.model import GameRecord
from engine.records.replay import Replay
from engine.table import TABLE

YARDSTICK = "rule"  # the bot whose decisions are compared, too

# As published: wahaha's policy on games of 2011 in Tenhou's phoenix room, trained on some of 2012 to 2020. It is not
# asked there for the discards that follow a pon or a riichi.
WAHAHA_ACCURACY, WAHAHA_LOSS = 0.7973, 0.5290


@dataclass(frozen=True)
class Real:
    """Figures of decisions of real players."""

    games: int
    damaged: int  # records that could not be read
    departures: int  # rounds left out from where they depart from the rules
    network: Agreement
    loss: float  # mean cross-entropy over legal labels
    yardstick: Agreement  # of the rule bot


class Decisions(NamedTuple):
    """The decisions of a recorded game that leave a choice between labels."""

    views: np.ndarray  # TABLE[n]
    legal: np.ndarray  # bool[n, N_LABELS]
    label: np.ndarray  # uint8[n]: what was done
    departures: int


def decisions(record: GameRecord) -> Decisions:
    """Replay a game. Raises RecordError where the record is incomplete."""
    replay = Replay(record)
    taken = [(decision.view, decision.action) for decision in replay]
    views = np.array([view for view, _ in taken], dtype=TABLE)
    labels = labels_of(views, np.array([action for _, action in taken], dtype=np.int64))
    legal = legal_table(views)
    chosen = legal.sum(axis=1) > 1
    return Decisions(views[chosen], legal[chosen], labels[chosen], len(replay.mismatches))


def evaluate_real(
    net: Predictor, files: Iterable[Path], advance: Callable[[], None], complain: Callable[[str], None]
) -> Real:
    """Figures of the games in `files`; `advance` is called after each, `complain` told of those left out.

    Raises ValueError where they leave nothing to compare, OSError for a file that cannot be opened.
    """
    yardstick = make(YARDSTICK)
    columns: list[tuple[np.ndarray, ...]] = []
    damaged = departures = 0
    for path in files:
        try:
            found = decisions(read_records(path))
        except RecordError as error:
            complain(f"{error}; left out")
            damaged += 1
        else:
            departures += found.departures
            encoded = encode(found.views)
            policy = net(encoded.input_ids, encoded.lengths, encoded.n_state).policy
            its_label = labels_of(found.views, yardstick.act(found.views))
            columns.append((found.legal, found.label, policy, its_label))
        advance()
    if not columns:
        raise ValueError("no records of games to compare with")
    legal, label, policy, its_label = map(np.concatenate, zip(*columns, strict=True))
    return Real(
        games=len(columns),
        damaged=damaged,
        departures=departures,
        network=agreement(label, choices(policy, legal)),
        loss=cross_entropy(policy, legal, label),
        yardstick=agreement(label, its_label),
    )
