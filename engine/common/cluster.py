"""Workers on the machines of a Ray cluster: the options and the environment variables that select them.

The pool itself is in `engine.common.cluster_pool`, the code that runs on the machines in `engine.common.cluster_node`,
and the files sent to them in `engine.common.cluster_package`.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.common.options import Parser, jobs_in_environment, positive, usable_cores

LOCAL = "local"
SETTINGS = {  # environment variables that Ray reads on import
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # it would print long messages on stdout when a worker dies
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # it would warn of a default of later versions
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers on a Ray cluster.

    ``address``: HOST:PORT of a cluster that this machine belongs to, or LOCAL for a single-machine cluster that is
    started for the run. ``limit``: the maximum number of workers; None: one for each CPU of the cluster. ``files``:
    files and folders that the tasks read. Those below the current folder are sent to the machines; any others must
    already be there (`engine.common.cluster_package`).
    """

    address: str
    limit: int | None = None
    files: tuple[Path, ...] = ()


def add_workers(parser: Parser) -> None:
    """Add ``--jobs`` and ``--cluster``, for one run in place of the variables that all programs read."""
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="worker processes (default: NUKIDORA_JOBS, or all cores; of a cluster, all CPUs)",
    )
    parser.add_argument(
        "--cluster",
        type=address,
        metavar="ADDRESS",
        help="use a Ray cluster: HOST:PORT of its head, or local for one of this machine alone (docs/cluster.md; "
        "default: NUKIDORA_CLUSTER, which all programs read that can use one)",
    )


def address(text: str) -> str:
    """Option type: the address of a cluster."""
    if text != LOCAL and not re.fullmatch(r"[^\s:/]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT of the head of a Ray cluster, nor {LOCAL}")
    return text


def workers_of(options: argparse.Namespace, files: Sequence[Path] = ()) -> int | Cluster:
    """Return the workers that the options, or else the variables, select. ``files``: see `Cluster`.

    Raises ModuleNotFoundError without Ray, ValueError for a variable that is no address or no number.
    """
    chosen = getattr(options, "cluster", None) or address_in_environment()
    jobs = getattr(options, "jobs", None) or jobs_in_environment()
    if chosen is None:
        return jobs or usable_cores()
    import_ray()  # report a missing package before doing anything
    return Cluster(chosen, jobs, tuple(files))


def address_in_environment() -> str | None:
    """Return the address that the variable has. Raises ValueError if it is none."""
    given = os.environ.get("NUKIDORA_CLUSTER")
    try:
        return address(given) if given else None
    except argparse.ArgumentTypeError as error:
        raise ValueError(f"NUKIDORA_CLUSTER: {error}") from None


def import_ray() -> Any:
    """Import Ray, configured to print and report nothing. Raises ModuleNotFoundError."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    return import_module("ray")
