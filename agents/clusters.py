"""Bots on a cluster: which files are sent for them, and which bots cannot play there."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable
from pathlib import Path

from agents.external.specs import connects_to_us
from agents.strength.spec import split_strength
from engine.common.cluster import Cluster, workers_of


def workers_for(options: argparse.Namespace, bots: Iterable[str]) -> int | Cluster:
    """The workers that the options choose (`engine.common.cluster`), who get the files that ``bots`` name.

    Raises ValueError for a bot that cannot play on a cluster or a wrong address, ModuleNotFoundError without Ray.
    """
    bots = list(bots)
    workers = workers_of(options, [Path(word) for bot in bots for word in words_of(bot)])
    if isinstance(workers, Cluster) and (listening := next(filter(connects_to_us, bots), None)):
        raise ValueError(
            f"--cluster, NUKIDORA_CLUSTER: {listening} connects to this machine, not to a cluster; use exec:COMMAND"
        )
    return workers


def words_of(bot: str) -> list[str]:
    """The parts of a bot's text that may name files."""
    return [word for word in re.split(r"[:?\s]+", split_strength(bot)[0]) if word]
