"""The times, sizes and counts inside a server that need no setting: operators leave them as they are, tests do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What `server.running` hands to the parts of a server. Times are in seconds.

    A number that no test has to change stands as a constant where it is used.
    """

    clock: Callable[[], float] = monotonic  # by which uses of an address and work for it are counted

    # Storing games, and checking that the database and the journals can be written
    store_retry: float = 5.0  # from a failed write to the next try
    check_holds: float = 5.0  # for which the result of a check holds; then it is made again when it is asked for
    check_timeout: float = 2.0  # a check may take until the database counts as hanging

    # Reviews
    review_timeout: float = 60.0  # of work on one review
    reviews_kept_time: float = 600.0  # that a review is kept once it is over
    reviews_kept_bytes: int = 8 << 20  # of all results


LIMITS = Limits()
