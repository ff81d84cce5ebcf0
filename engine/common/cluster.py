"""Workers on the machines of a Ray cluster: the options that choose them.

The pool itself is in `engine.common.cluster_pool`, what runs on the machines in `engine.common.cluster_node`, and what
is sent to them in `engine.common.cluster_package`.
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
SETTINGS = {  # of Ray, which reads them when it is imported
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # it would print long messages on stdout when a worker dies
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # it would warn of a default of later versions
}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Workers on a Ray cluster.

    ``address``: HOST:PORT of a cluster that this machine is a part of; LOCAL: one of this machine alone, which is
    started for the run. ``limit``: workers at most; None: one for each CPU of the cluster. ``files``: files and folders
    that the tasks read. Those below the current folder are sent to the machines, which must have the others
    (`engine.common.cluster_package`).
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
    """The workers that the options choose. ``files``: see `Cluster`. Raises ModuleNotFoundError without Ray."""
    if options.cluster is None:
        return options.jobs or usable_cores()
    import_ray()  # a missing package is told before anything is done
    return Cluster(options.cluster, options.jobs, tuple(files))


def import_ray() -> Any:
    """Ray, which is not to print or report anything. Raises ModuleNotFoundError."""
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    return import_module("ray")
