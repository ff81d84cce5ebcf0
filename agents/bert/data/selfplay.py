"""Training positions from games that named bots play among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np

from agents.base import Agent
from agents.bert.data.gather import Gatherer, game_of
from agents.bert.data.shards import Shard
from agents.registry import make
from engine.rules import TENHOU, Rules
from engine.seeds import derived_seed
from engine.table import N_SEATS
from engine.tables import Policy, Tables

ORDERS = np.array(list(permutations(range(N_SEATS))), dtype=np.int8)


def make_bots(specs: Sequence[str], seed: int) -> list[Agent]:
    """The bots that `specs` name. Raises ValueError."""
    return [make(spec, derived_seed(seed, "bot", place)) for place, spec in enumerate(specs)]


def play(bots: Sequence[Agent], seed: int, first: int, n: int, whose: Sequence[bool], rules: Rules = TENHOU) -> Shard:
    """The games `first` … `first + n - 1` of those that `seed` deals, as a shard with the decisions of some bots.

    Who sits where changes from game to game. `whose` tells for each bot whether its decisions count.
    """
    seeds = [derived_seed(seed, "wall", game) for game in range(first, first + n)]
    seats = ORDERS[(first + np.arange(n)) % len(ORDERS)]
    tables = Tables(seeds, rules)
    gatherer = Gatherer(n)

    def listening(bot: Agent) -> Policy:
        def act(views: np.ndarray) -> np.ndarray:
            actions = bot.act(views)
            gatherer.take(views, tables.asked_tables[: len(views)], actions)
            return actions

        return act

    policies = [listening(bot) if counts else bot.act for bot, counts in zip(bots, whose, strict=True)]
    for ended in tables.play(policies, seats):
        seat = tables.records["seat"][ended]
        for i, result in zip(ended.tolist(), seat["score"] - seat["start_score"], strict=True):
            gatherer.end_round(tables.raw, i, i, result)
    scores = tables.records["seat"]["score"].tolist()
    games = np.concatenate([game_of(each, score, rules) for each, score in zip(seeds, scores, strict=True)])
    return gatherer.finish(games, np.ones((n, N_SEATS), dtype=bool))
