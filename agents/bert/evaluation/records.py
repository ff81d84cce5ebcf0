"""How often a network, compared with the rule bot, chooses what the players of recorded games did."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from agents.bert.encoding import encode
from agents.bert.evaluation.metrics import (
    Agreement,
    Calibration,
    agreement,
    calibration,
    cross_entropy,
    likeliest,
    mean,
)
from agents.bert.inference import Predictor, softmax
from agents.bert.labels import labels_of, legal_table
from agents.registry import make
from engine.records.archives import members
from engine.records.filters import THREE_PLAYERS
from engine.records.mjlog import RANKS
from engine.records.model import GameRecord, RecordError
from engine.records.replay import Replay
from engine.records.stream import item_of, select_record
from engine.table import N_SEATS

BASELINE = "rule"  # the bot that the network is compared with
UNKNOWN_LEVEL = "unknown"  # of players whose dan the record does not name


@dataclass(frozen=True)
class LevelMetrics:
    """How often the network and the baseline agree with the players of one level."""

    dan: str  # as in the record, or UNKNOWN_LEVEL
    samples: int
    network: float
    interval: float | None  # half the width of the 95 % interval of the network's, by games; None for a single one
    baseline: float


@dataclass(frozen=True)
class RecordMetrics:
    """Metrics of decisions of recorded players."""

    games: int
    damaged: int  # records that could not be read
    departures: int  # from the rules; the rest of such a round is left out
    network: Agreement
    loss: float  # mean cross-entropy of the network over legal labels, in nats
    confidence: Calibration  # of the probability of its likeliest label
    baseline: Agreement
    levels: list[LevelMetrics]


class RecordedDecisions(NamedTuple):
    """The decisions of a recorded game with more than one legal label."""

    views: np.ndarray  # TABLE[n]
    legal: np.ndarray  # bool[n, N_LABELS]
    label: np.ndarray  # uint8[n]: what was played
    dan: np.ndarray  # str[n]: of the player
    departures: int


def read_decisions(record: GameRecord) -> RecordedDecisions:
    """Replay a game. Raises RecordError if the record is incomplete."""
    replay = Replay(record)
    views, actions = replay.views_and_actions()
    labels, legal = labels_of(views, actions), legal_table(views)
    several = legal.sum(axis=1) > 1
    dan = np.array(dan_of(record))[views["viewer"]]
    return RecordedDecisions(views[several], legal[several], labels[several], dan[several], len(replay.mismatches))


def dan_of(record: GameRecord) -> list[str]:
    """The dan of each player, as Tenhou's records have it."""
    kept = record.events[0].get("tenhou")
    dan = kept.get("dan") if isinstance(kept, dict) else None
    if isinstance(dan, list) and len(dan) >= N_SEATS and all(each in RANKS for each in dan):
        return dan[:N_SEATS]
    return [UNKNOWN_LEVEL] * N_SEATS


def by_level(
    dan: np.ndarray, label: np.ndarray, network: np.ndarray, baseline: np.ndarray, games: np.ndarray
) -> list[LevelMetrics]:
    """The metrics of each level in `dan` str[n], ascending, from the labels int[n] that were played and chosen.

    `games` int[n] says which game each is of.
    """
    levels = []
    for each in sorted(np.unique(dan).tolist(), key=[*RANKS, UNKNOWN_LEVEL].index):
        own = dan == each
        found = agreement(label[own], network[own], games[own])
        levels.append(LevelMetrics(each, found.samples, found.accuracy, found.interval, mean((label == baseline)[own])))
    return levels


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
            game = np.full(len(policy), len(columns))
            columns.append((decisions.legal, decisions.label, decisions.dan, policy, by_baseline, game))
        advance()
    if not columns:
        raise ValueError("no records of games to compare with")
    legal, label, dan, policy, by_baseline, games = map(np.concatenate, zip(*columns, strict=True))
    chosen = likeliest(policy, legal)
    return RecordMetrics(
        games=len(columns),
        damaged=damaged,
        departures=departures,
        network=agreement(label, chosen, games),
        loss=cross_entropy(policy, legal, label),
        confidence=calibration(softmax(np.where(legal, policy, -np.inf)).max(axis=1), chosen == label),
        baseline=agreement(label, by_baseline, games),
        levels=by_level(dan, label, chosen, by_baseline, games),
    )
