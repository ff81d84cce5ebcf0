"""How often a network, compared with the rule bot, chooses what the players of recorded games did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import encode
from agents.bert.evaluation.metrics import Agreement, agreement, cross_entropy, likeliest
from agents.bert.inference import Predictor
from agents.bert.labels import labels_of, legal_table
from agents.registry import make
from engine.records.archives import members
from engine.records.filters import THREE_PLAYERS
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.stream import item_of, select_record

BASELINE = "rule"  # the bot that the network is compared with

# As published: wahaha's policy on games of 2011 in Tenhou's phoenix room, after training on games of 2012 to 2020. Its
# count leaves out the discards that follow a pon or a riichi.
WAHAHA_ACCURACY, WAHAHA_LOSS = 0.7973, 0.5290


@dataclass(frozen=True)
class RecordMetrics:
    """Metrics of decisions of recorded players."""

    games: int
    damaged: int  # records that could not be read
    departures: int  # from the rules; the rest of such a round is left out
    network: Agreement
    loss: float  # mean cross-entropy of the network over legal labels, in nats
    baseline: Agreement


class RecordedDecisions(NamedTuple):
    """The decisions of a recorded game with more than one legal label."""

    views: np.ndarray  # TABLE[n]
    legal: np.ndarray  # bool[n, N_LABELS]
    label: np.ndarray  # uint8[n]: what was played
    departures: int


def read_decisions(record: GameRecord) -> RecordedDecisions:
    """Replay a game. Raises RecordError if the record is incomplete."""
    replay = Replay(record)
    views, actions = replay.views_and_actions()
    labels, legal = labels_of(views, actions), legal_table(views)
    several = legal.sum(axis=1) > 1
    return RecordedDecisions(views[several], legal[several], labels[several], len(replay.mismatches))


def evaluate_records(
    predictor: Predictor,
    files: Iterable[Path],
    advance: Callable[[], None],
    warn: Callable[[str], None],
) -> RecordMetrics:
    """Metrics of the games in `files`, which may be archives; `advance` is called after each game.

    `warn` is called with a line for each record that cannot be read. Raises ValueError if no game is left.
    """
    baseline = make(BASELINE)
    columns: list[tuple[np.ndarray, ...]] = []
    damaged = departures = 0
    for member in members(files):
        try:
            record = select_record(item_of(member, THREE_PLAYERS), THREE_PLAYERS)
            decisions = None if record is None else read_decisions(record)
        except RecordError as error:
            warn(f"{error}; left out")
            damaged += 1
            decisions = None
        if decisions is not None:
            departures += decisions.departures
            encoded = encode(decisions.views)
            policy = predictor(encoded.input_ids, encoded.lengths, encoded.n_state).policy
            by_baseline = labels_of(decisions.views, baseline.act(decisions.views))
            columns.append((decisions.legal, decisions.label, policy, by_baseline))
        advance()
    if not columns:
        raise ValueError("no records of games to compare with")
    legal, label, policy, by_baseline = map(np.concatenate, zip(*columns, strict=True))
    return RecordMetrics(
        games=len(columns),
        damaged=damaged,
        departures=departures,
        network=agreement(label, likeliest(policy, legal)),
        loss=cross_entropy(policy, legal, label),
        baseline=agreement(label, by_baseline),
    )
