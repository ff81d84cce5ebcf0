"""Workers on the machines of a Ray cluster: the command-line options that select them.

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

from engine.common.options import Parser, positive, usable_cores

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


def add_worker_options(parser: Parser) -> None:
    """Add ``--jobs`` and ``--cluster``; `workers_of` reads them."""
    parser.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="worker processes (default: all cores; with --cluster: all CPUs of the cluster)",
    )
    add_cluster(parser)


def add_cluster(parser: Parser) -> None:
    """Add ``--cluster``."""
    parser.add_argument(
        "--cluster",
        type=address,
        metavar="ADDRESS",
        help="use a Ray cluster: HOST:PORT of its head, or local for one of this machine alone (docs/cluster.md)",
    )


def address(text: str) -> str:
    """Option type: the address of a cluster."""
    if text != LOCAL and not re.fullmatch(r"[^\s:/]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT of the head of a Ray cluster, nor {LOCAL}")
    return text


def workers_of(options: argparse.Namespace, files: Sequence[Path] = ()) -> int | Cluster:
    """Return the workers that the options select. ``files``: see `Cluster`. Raises ModuleNotFoundError without Ray."""
    if options.cluster is None:
        return options.jobs or usable_cores()
    import_ray()  # report a missing package before doing anything
    return Cluster(options.cluster, options.jobs, tuple(files))


def import_ray() -> Any:
    """Import Ray, configured to print and report nothing. Raises ModuleNotFoundError."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    return import_module("ray")
