"""python -m benchmarks.selfplay: what self-play and learning cost on one core, and two ways to run the policy.

Rates are of the time that this thread had on a core, so that other programs change them little. A choice is a decision
with more than one legal action.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from threading import Event

import numpy as np
import torch

from agents.selfplay.bot import BUNDLED
from agents.selfplay.games import EVEN, Exploration, play_games
from agents.selfplay.learning import Learner
from agents.selfplay.network import Weights, load_weights, logits_of
from agents.selfplay.replay import replay
from agents.selfplay.training import DRAW
from engine.common.options import Parser
from engine.common.program import OK
from engine.tables import Tables

BATCH = 2048


def thread_seconds(work: Callable[[], object]) -> float:
    """Seconds that this thread computes in `work`, the lesser of two runs."""
    taken = []
    for _ in range(2):
        start = time.thread_time()
        work()
        taken.append(time.thread_time() - start)
    return min(taken)


def sample_views(weights: Weights) -> np.ndarray:
    """Views of games of the network against itself in which there is something to choose."""
    kept: list[np.ndarray] = []

    def act(views: np.ndarray) -> np.ndarray:
        logits = logits_of(weights, views)
        kept.append(views[np.isfinite(logits).sum(axis=1) > 1])
        return logits.argmax(axis=1)

    for _ in Tables(range(DRAW // 4)).play([act], np.zeros((DRAW // 4, 3), dtype=np.int8)):
        pass
    return np.concatenate(kept)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmark and return the exit code."""
    Parser("benchmarks.selfplay", description=__doc__).parse_args(arguments)
    torch.set_num_threads(1)
    weights, exploration = load_weights(BUNDLED), Exploration()
    seeds, scores = np.arange(DRAW, dtype=np.uint64), np.tile(np.array(EVEN, dtype=np.int32), (DRAW, 1))

    def play() -> np.ndarray:
        return play_games(weights, seeds, scores, exploration, 1, Event())

    games = play()
    n = int(games["n"].sum())
    seconds = thread_seconds(play)
    print(f"self-play                {DRAW / seconds:10,.1f} games/s {n / seconds:10,.0f} choices/s")
    choices = replay(games, exploration.first_turns)
    replaying = thread_seconds(lambda: replay(games, exploration.first_turns))
    print(f"replay with features     {DRAW / replaying:10,.1f} games/s {n / replaying:10,.0f} choices/s")
    learner = Learner(weights, 1e-3, 1e-6)

    def learn() -> None:
        for batch in learner.batches(choices, BATCH, exploration, np.random.default_rng(0)):
            learner.step(batch)

    print(f"learning, replay apart   {'':18} {n / thread_seconds(learn):10,.0f} choices/s")
    views = sample_views(weights)
    compiled = thread_seconds(lambda: logits_of(weights, views))
    print(f"policy: compiled         {'':18} {len(views) / compiled:10,.0f} choices/s, with features")
    batch = next(learner.batches(choices, n, exploration, np.random.default_rng(0)))
    with torch.no_grad():
        products = thread_seconds(lambda: learner.log_policy(batch))
    print(f"policy: matrix products   {'':18} {n / products:10,.0f} choices/s, without features")
    return OK
