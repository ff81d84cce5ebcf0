"""python -m benchmarks.envs: steps per second of the vector environment and of RiichiEnv's, on one core.

The same work on both sides: a learner at one seat gets its observation as planes, with the mask of its legal actions,
and takes a random legal action; the other two seats take random legal actions, and are given no planes. A step is one
action of the learner. The sides are measured in turn, so that a change of the machine's speed affects both. Processor
time is measured, so that other programs matter less.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Sequence

import gymnasium
import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks.timing import ROUNDS, Work
from engine.common.options import Parser, positive

STEPS = 20  # of all environments, in one piece of work
SECONDS = 0.4  # of processor time, at least, for a measurement
GOAL = 10


def rate(work: Work) -> float:
    """Return the steps per second of processor time."""
    done, start = 0, time.process_time()
    while True:
        done += work()
        taken = time.process_time() - start
        if taken >= SECONDS:
            return done / taken


def ours(num_envs: int, opponents: tuple[str, str]) -> Work:
    """Steps of the vector environment with planes."""
    envs = gymnasium.make_vec("nukidora.envs:nukidora/Sanma-v0", num_envs=num_envs, opponents=opponents)
    envs.reset(seed=1)

    def work() -> int:
        for _ in range(STEPS):
            envs.step(envs.action_space.sample())
        return STEPS * num_envs

    return work


def riichienvs(extended: bool) -> Work:
    """A hanchan of RiichiEnv, seat 0 with planes: 74 channels x 27 kinds, or the extended 215 channels."""
    from riichienv import RiichiEnv
    from riichienv.agents import RandomAgent

    seeds, agent = itertools.count(), RandomAgent(1)

    def work() -> int:
        env, steps = RiichiEnv(game_mode="3p-red-half", seed=next(seeds)), 0
        observations = env.reset()
        while not env.done():
            if 0 in observations:
                seen = observations[0]
                np.frombuffer(seen.encode_extended() if extended else seen.encode(), dtype=np.float32)
                np.frombuffer(seen.mask(), dtype=np.uint8)
                steps += 1
            observations = env.step({seat: agent.act(seen) for seat, seen in observations.items()})
        return steps

    return work


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    parser = Parser("benchmarks.envs", description=__doc__)
    parser.add_argument("--num-envs", type=positive, default=4096, metavar="N", help="environments (default: 4096)")
    num_envs = parser.parse_args(arguments).num_envs
    sides = {
        f"nukidora, {num_envs:,} environments": ours(num_envs, ("random", "random")),
        "riichienv, 74 channels": riichienvs(extended=False),
        "riichienv, 215 channels": riichienvs(extended=True),
        f"nukidora, {num_envs:,} environments, against rule": ours(num_envs, ("rule", "rule")),
    }
    console = Console(highlight=False)
    with console.status("measuring …"):
        rounds = [[rate(work) for work in sides.values()] for _ in range(ROUNDS + 1)][1:]  # the first is a warm-up
    medians = [statistics.median(rates) for rates in zip(*rounds)]
    table = Table("", box=None)
    for heading in ("steps/s", "from", "to"):
        table.add_column(heading, justify="right")
    for name, median, rates in zip(sides, medians, zip(*rounds), strict=True):
        table.add_row(name, f"{median:,.0f}", f"{min(rates):,.0f}", f"{max(rates):,.0f}")
    console.print(table)
    first, second, third, _ = medians
    console.print(f"{first / second:.1f}x and {first / third:.1f}x the steps/s of riichienv (goal: {GOAL}x)")
    return 0
