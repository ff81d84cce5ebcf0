"""python -m benchmarks.playouts: playouts per second on one core: compiled, and by a bot in lock step.

Both play the same rounds to their ends: from positions in the middle of games of `rule`, every action that it compares,
with the same walls. They are measured in turn, by processor time.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence

import numpy as np
from rich.console import Console
from rich.table import Table

from agents.base import ActionValues
from agents.bert.training.targets.rollouts import Rollouts
from agents.playouts import POLICIES, Playouts
from agents.playouts.policies import policy_bot
from agents.registry import make
from benchmarks.timing import ROUNDS
from engine.common.options import Parser
from engine.common.program import OK
from engine.rules import TENHOU
from engine.table import N_SEATS
from engine.tables import Tables

GAMES, STEPS = 60, 30
WALLS = 4


def positions() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tables of games between `rule` after some steps, one for each action compared, the seats and the actions."""
    rule = make("rule")
    assert isinstance(rule, ActionValues)
    found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
    tables = Tables(range(GAMES))

    def act(views: np.ndarray) -> np.ndarray:
        values = rule.action_values(views)
        decision, actions = np.nonzero(np.isfinite(values))
        found.append((tables.records[tables.asked_tables[decision]], views["viewer"][decision], actions))
        return values.argmax(axis=1)

    for _ in tables.play([act], np.zeros((GAMES, N_SEATS), dtype=np.int8)):
        if len(found) >= STEPS:
            break
    return found[STEPS - 1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit code."""
    Parser("benchmarks.playouts", description=__doc__).parse_args(arguments)
    tables, seats, actions = positions()
    sides = [player for policy in POLICIES for player in (Playouts(policy), policy_bot(policy))]
    taken: list[list[float]] = [[] for _ in sides]
    for _ in range(ROUNDS + 1):  # the first compiles
        for side, times in zip(sides, taken):
            rollouts = Rollouts(make("rule"), WALLS, TENHOU, 1, side)
            start = time.process_time()
            rollouts.roll_out(tables, seats, actions, np.arange(len(actions)))
            times.append(time.process_time() - start)
    rates = [WALLS * len(actions) / statistics.median(times[1:]) for times in taken]
    table = Table("policy", box=None)
    for title in ("compiled, playouts/s", "in lock step, playouts/s", "ratio"):
        table.add_column(title, justify="right")
    for policy, compiled, stepped in zip(POLICIES, rates[::2], rates[1::2], strict=True):
        table.add_row(policy, f"{compiled:,.0f}", f"{stepped:,.0f}", f"{compiled / stepped:.2f}")
    Console(highlight=False).print(table)
    return OK
