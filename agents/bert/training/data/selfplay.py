"""Training positions from games that bots play among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from typing import Protocol

import numpy as np

from agents.base import ActionValues, Agent
from agents.bert.training.data.collect import Gatherer, Lesson, game_of, worths_of
from agents.bert.training.data.decisions import Decisions
from agents.bert.training.data.shards import Shard
from agents.bert.training.targets.hard_examples import Doubts
from agents.bert.training.targets.rollouts import Trials
from agents.registry import make
from engine.rules import TENHOU, Rules
from engine.seeds import derived_seed
from engine.table import N_SEATS
from engine.tables import Policy, Tables

ORDERS = np.array(list(permutations(range(N_SEATS))), dtype=np.int8)


class Lessons(Protocol):
    """What chooses decisions of a bot that weighs its actions, and finds out what is to be learned of them."""

    def of(self, views: np.ndarray, worths: np.ndarray, tables: np.ndarray) -> Lesson:
        """See `Trials` and `Doubts`."""
        ...


def make_bots(specs: Sequence[str], seed: int) -> list[Agent]:
    """The bots that `specs` name. Raises ValueError."""
    return [make(spec, derived_seed(seed, "bot", place)) for place, spec in enumerate(specs)]


def play(
    bots: Sequence[Agent], names: Sequence[str], seed: int, first: int, n: int, decisions: Decisions,
    rules: Rules = TENHOU, *, teacher: Agent | None = None, n_trials: int = 0, doubtful: bool = False,
) -> Shard:  # fmt: skip
    """The games `first` … `first + n - 1` of those that `seed` deals to three `bots`.

    Who sits where changes from game to game. `names` are what `decisions` knows the bots by. What is to be learned is
    what was played, or what the `teacher` would have, or what came of `n_trials` that the teacher plays where a bot
    hesitates, or the teacher's word on `doubtful` decisions; in the last two only bots that weigh their actions teach
    anything, and do what they weigh highest. Raises PolicyFault.
    """
    seeds = [derived_seed(seed, "wall", game) for game in range(first, first + n)]
    seats = ORDERS[(first + np.arange(n)) % len(ORDERS)]
    tables = Tables(seeds, rules)
    gatherer = Gatherer(n)
    lessons: Lessons | None = None
    if teacher and n_trials:
        lessons = Trials(teacher, n_trials, rules, derived_seed(seed, "trials", first))
    elif teacher and doubtful:
        lessons = Doubts(teacher, derived_seed(seed, "doubts", first))

    def listening(bot: Agent) -> Policy:
        def act(views: np.ndarray) -> np.ndarray:
            games = tables.asked_tables[: len(views)]
            if lessons is not None and isinstance(bot, ActionValues):
                worths = bot.action_values(views)
                rows, learned = lessons.of(views, worths, tables.records[games])
                gatherer.take(views[rows], games[rows], learned)
                return worths.argmax(axis=1)
            actions = bot.act(views)
            if lessons is None:
                gatherer.take(views, games, worths_of(views, actions, teacher))
            return actions

        return act

    for ended in tables.play([listening(bot) for bot in bots], seats):
        for i in ended.tolist():
            gatherer.end_round(i)
    scores = tables.records["seat"]["score"]
    games = np.concatenate([game_of(each, score, rules) for each, score in zip(seeds, scores.tolist())])
    keep = [decisions.of([names[bot] for bot in seat], game["placement"]) for seat, game in zip(seats, games)]
    return gatherer.finish(games, np.array(keep))
