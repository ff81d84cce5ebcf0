"""Samples from self-play: games between three bots."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from agents.base import ActionValues, Agent, Probabilities
from agents.bert.checkpoint import REGRET_UNIT
from agents.bert.training.data.collect import SampleCollector, game_of
from agents.bert.training.data.seat_filter import parse_seat_filter
from agents.bert.training.data.shards import Shard
from agents.bert.training.targets.hard_examples import HardExamples
from agents.bert.training.targets.played import PlayedActions
from agents.bert.training.targets.protocol import Decisions, TargetSource
from agents.bert.training.targets.rollouts import Rollouts
from agents.bert.training.targets.teacher import Teacher
from agents.playouts import POLICIES, Playouts
from agents.registry import make, make_bots
from engine.contests.seating import SEATINGS
from engine.rules import TENHOU, Rules
from engine.seeds import derive_seed
from engine.tables import Policy, Tables


@dataclass(frozen=True)
class SelfPlayConfig:
    """The games to play and the targets of their samples. The same config gives the same samples."""

    bots: tuple[str, ...]  # three specifications, as the registry reads them
    seed: int = 0  # of walls and bots
    games: int = 1000
    decisions: str = "all"  # see `seat_filter.parse_seat_filter`; players have the names of `bots`
    teacher: str | None = None  # a bot specification; None: targets are the actions played
    rollouts: int = 0  # rollouts of each candidate action; 0: none
    hard_examples: bool = False  # only decisions in which the bot probably errs
    playouts: str | None = None  # the bot that plays the rollouts; None: the teacher


@cache
def cached_bots(specs: tuple[str, ...], seed: int) -> list[Agent]:
    """`make_bots`, once in each process: some bots take long to load. Raises ValueError."""
    return make_bots(specs, seed)


@cache
def cached_teacher(spec: str | None) -> Agent | None:
    """A teacher, made once in each process. Raises ValueError."""
    return None if spec is None else make(spec)


def target_source(config: SelfPlayConfig, first: int, rules: Rules) -> TargetSource:
    """The target source of the games from number `first` on. Raises ValueError."""
    teacher = cached_teacher(config.teacher)
    if teacher is None:
        return PlayedActions()
    # The strings are part of the seeds: renaming one changes all samples.
    if config.rollouts:
        seed, player = derive_seed(config.seed, "trials", first), config.playouts or config.teacher
        playouts = Playouts(player) if player in POLICIES else cached_teacher(player) or teacher
        return Rollouts(teacher, config.rollouts, rules, seed, playouts)
    if config.hard_examples:
        return HardExamples(teacher, derive_seed(config.seed, "doubts", first))
    return Teacher(teacher)


def play(config: SelfPlayConfig, first: int, n: int, rules: Rules = TENHOU) -> Shard:
    """Play the games number `first` … `first + n - 1` of a config, in parallel, and collect their samples.

    The seating changes from game to game. Where the target source uses action values, bots without them play but give
    no samples. Raises PolicyFault.
    """
    bots, source = cached_bots(config.bots, config.seed), target_source(config, first, rules)
    seeds = [derive_seed(config.seed, "wall", game) for game in range(first, first + n)]
    seatings = SEATINGS[(first + np.arange(n)) % len(SEATINGS)]
    tables = Tables(seeds, rules)
    collector = SampleCollector(n)

    def collecting(bot: Agent) -> Policy:
        value_temperature = bot.value_temperature if isinstance(bot, Probabilities) else REGRET_UNIT

        def act(views: np.ndarray) -> np.ndarray:
            action_values = None
            if not source.uses_action_values:
                actions = bot.act(views)
            elif isinstance(bot, ActionValues):
                action_values = bot.action_values(views)
                actions = action_values.argmax(axis=1)
            else:
                return bot.act(views)
            games = tables.asked_tables[: len(views)]
            decisions = Decisions(views, actions, action_values, tables.records, games, value_temperature)
            targets = source.label(decisions)
            collector.add(views[targets.rows], games[targets.rows], targets.action_values)
            return actions

        return act

    for ended in tables.play([collecting(bot) for bot in bots], seatings):
        for game in ended.tolist():
            collector.end_round(game)
    scores = tables.records["seat"]["score"].tolist()
    games = np.concatenate([game_of(seed, score, rules) for seed, score in zip(seeds, scores, strict=True)])
    seats = parse_seat_filter(config.decisions).seats
    names = [[config.bots[bot] for bot in seating] for seating in seatings]
    keep = [seats(name, placement) for name, placement in zip(names, games["placement"], strict=True)]
    return collector.finish(games, np.array(keep))
