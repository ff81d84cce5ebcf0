"""python -m benchmarks.rl: what acting and learning of `agents.rl` cost on one core, for each bot that it trains.

Rates are per second of this thread's processor time, so that other programs hardly affect them. A choice is a decision
with more than one action to choose from.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from agents.registry import make
from agents.rl.families import FAMILIES, features_named
from agents.rl.policy import logits_of, random_weights
from agents.rl.ppo import Learner
from agents.rl.rollouts import Actor
from agents.rl.rows import encode
from agents.rl.settings import Games, Hyperparameters
from agents.training.memory import keep_freed_memory
from engine.common.options import Parser
from engine.common.program import OK
from engine.tables import Tables

TABLES = 256
GAMES = 16
JOINT, HIDDEN = 160, 64  # widths of the policy


def thread_seconds(work: Callable[[], object]) -> float:
    """Return the seconds of processor time of this thread in `work`, the lower of two runs."""
    taken = []
    for _ in range(2):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return min(taken)


def sample_views(bot: str) -> np.ndarray:
    """Views of games of a bot against itself."""
    kept: list[np.ndarray] = []
    agent = make(bot)

    def act(views: np.ndarray) -> np.ndarray:
        kept.append(views.copy())
        return agent.act(views)

    for _ in Tables(range(GAMES)).play([act], np.zeros((GAMES, 3), dtype=np.int8)):
        pass
    return np.concatenate(kept)


def rates(family: str) -> dict[str, float]:
    """Units a second of each workload, by name."""
    features, games = features_named(family), Games(family, against=0.0)
    weights = random_weights(features, JOINT, HIDDEN, 0)
    actor, learner = Actor(games, TABLES, 1), Learner(weights, Hyperparameters())
    actor.play(weights, [], Event())
    began = time.thread_time()
    part = actor.play(weights, [], Event())
    acting, n = time.thread_time() - began, len(part.seat)
    learning = {}
    precisions = {"float32": False} | ({"bf16": True} if learner.bf16 else {})
    for name, bf16 in precisions.items():
        learner.bf16 = bf16
        seconds = thread_seconds(lambda: learner.learn([part], np.random.default_rng(0)))
        learning[f"learning, {name}, choices/s"] = n / seconds
    views, bot = sample_views(family), make(family)
    bot.act(views)
    playing = thread_seconds(lambda: bot.act(views))
    _, rows = encode(features, views)
    encoding = thread_seconds(lambda: encode(features, views))
    forward = thread_seconds(lambda: logits_of(weights, rows))
    return {
        "acting, choices/s": n / acting,
        **learning,
        "the bot plays, decisions/s": len(views) / playing,
        "features, decisions/s": len(views) / encoding,
        "network, choices/s": len(rows.view) / forward,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    Parser("benchmarks.rl", description=__doc__).parse_args(arguments)
    keep_freed_memory()
    torch.set_num_threads(1)
    found = {family: rates(family) for family in FAMILIES}
    table = Table("one core", box=None)
    for family in FAMILIES:
        table.add_column(family, justify="right")
    for name in found["residual"]:
        table.add_row(name, *(f"{found[family][name]:,.0f}" for family in FAMILIES))
    Console(highlight=False).print(table)
    return OK
