"""Bots on a cluster: which files are sent for them, and which bots cannot play there."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from agents.bot_files import paths_of
from agents.external.specs import connects_to_us
from engine.common.cluster import Cluster, workers_of


def workers_for(options: argparse.Namespace, bots: Iterable[str]) -> int | Cluster:
    """The workers that the options choose (`engine.common.cluster`), who get the files that ``bots`` name.

    Raises ValueError for a bot that cannot play on a cluster or a wrong address, ModuleNotFoundError without Ray.
    """
    bots = list(bots)
    workers = workers_of(options, [path for bot in bots for path in paths_of(bot)])
    if isinstance(workers, Cluster) and (listening := next(filter(connects_to_us, bots), None)):
        raise ValueError(
            f"--cluster, NUKIDORA_CLUSTER: {listening} connects to this machine, not to a cluster; use exec:COMMAND"
        )
    return workers
