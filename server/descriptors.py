"""File descriptors: the limit of this process, and the number of connections that it allows."""

from __future__ import annotations

import sys
from dataclasses import replace

import structlog

from server.settings import SETTINGS, Settings

if sys.platform != "win32":
    import resource

# Its socket, the journal of its game, and the journal of a game that its bot has left (`Lobby` limits these).
PER_CONNECTION = 3
RESERVED = 128  # for the database, listening sockets, refused connections, the log and compiled code
MAX_SOFT_LIMIT = 65_536  # some libraries close or copy every descriptor up to the limit
log = structlog.get_logger("server")


def fit_connections(settings: Settings) -> Settings:
    """Raise the soft descriptor limit as needed, and lower `max_connections` to the number that the limit allows.

    Raises ValueError if the limit is too low for even one game.
    """
    if sys.platform == "win32":  # where sockets are not file descriptors
        return settings
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(hard if hard != resource.RLIM_INFINITY else MAX_SOFT_LIMIT, MAX_SOFT_LIMIT)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return fit_settings(settings, soft if soft != resource.RLIM_INFINITY else MAX_SOFT_LIMIT)


def fit_settings(settings: Settings, limit: int) -> Settings:
    """Return the settings with `max_connections` reduced to what `limit` descriptors allow."""
    possible = (limit - RESERVED) // PER_CONNECTION
    if settings.max_connections <= possible:
        return settings
    if possible < SETTINGS["max_connections"].metadata["ge"]:
        raise ValueError(f"{limit} file descriptors are too few for a game: raise the limit, as with ulimit -n 65536")
    log.warning(
        "fewer connections than max_connections: each needs three file descriptors",
        max_connections=possible,
        wanted=settings.max_connections,
        descriptors=limit,
        advice="raise the hard limit: ulimit -n 65536, or LimitNOFILE= of systemd",
    )
    return replace(settings, max_connections=possible)
