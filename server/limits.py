"""The times, sizes and counts inside a server that need no setting: operators leave them as they are, tests do not."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What `server.running` hands to the parts of a server. Times are in seconds.

    A number that no test has to change stands as a constant where it is used.
    """

    # Storing games, and checking that the database and the journals can be written
    store_retry: float = 5.0  # from a failed write to the next try
    check_holds: float = 5.0  # for which the result of a check holds; then it is made again when it is asked for
    check_timeout: float = 2.0  # a check may take until the database counts as hanging


LIMITS = Limits()
