"""Internal times, sizes and counts of a server that are not settings: only tests change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic


@dataclass(frozen=True, kw_only=True)
class Limits:
    """The limits that `server.running` passes to the parts of a server. Times are in seconds.

    A number that no test has to change is a constant where it is used.
    """

    clock: Callable[[], float] = monotonic  # for the uses of an address and the work done for it

    # Connections
    request_timeout: float = 10.0  # to send a whole HTTP request, from the connection or the request's first byte on
    response_timeout: float = 30.0  # in which the peer must read what waits to be sent over HTTP
    message_timeout: float = 30.0  # to send a whole message, from its first byte
    ping_interval: float = 20.0  # between two pings; a peer that has sent nothing in between is gone
    close_timeout: float = 5.0  # a peer has to read what was sent before the connection was closed
    last_reply_timeout: float = 5.0  # a bot that is to leave has for each reply, before it is sent the rest at once
    spectator_timeout: float = 30.0  # a spectator has to receive most of what it was sent
    spectators_share: float = 0.03  # of a processor, that all spectators may use: of the time in which games are played

    # Addresses
    max_addresses: int = 10_000  # with a rate limiter at a time

    # Storing games, and checking that the database and the journals can be written
    store_retry: float = 5.0  # from a failed write to the next try
    check_holds: float = 5.0  # for which the result of a check holds; then it is made again when it is asked for
    check_timeout: float = 2.0  # a check may take until the database counts as hanging

    # Games and rooms
    steps_at_once: int = 16  # of a game, played without a pause; then other games get their turn
    max_faults_watching: int = 1000  # of a bot that resumed after it lost its seat by faults; each makes the log longer
    max_annotations: int = 524_288  # bytes of JSON that a seat's annotations may have in a game
    kept_games: int = 32  # that are over, of an address: one that plays hundreds a minute would fill the memory
    kept_time: float = 60.0  # at most, that a game is kept once it is over; the resume timeout may be minutes
    max_tournaments: int = 4  # that are not over: each may play eight games at once, and its standings take time
    kept_tournaments: int = 100  # with those that are over
    standings_hold: float = 2.0  # for which the standings of a tournament hold; then they are computed when asked for
    standings_share: float = 0.05  # of the time, at most, in which a thread computes those of a tournament
    linger: float = 60.0  # that a room for one sitting stays open when it is empty, and a game of house bots unwatched
    max_exhibitions: int = 8  # games of house bots alone, which somebody wants to watch; one of an address

    # The database
    lock_timeout: float = 10.0  # to wait for another process that writes to the same SQLite file
    command_timeout: float = 10.0  # for each PostgreSQL command, including waits for locks
    prune_batch: int = 200  # games that a transaction deletes, so that nobody waits long to write
    most_seats: int = 10_000  # of a player are read for statistics
    most_searched: int = 50_000  # of a player, for those of a room or of rules; a house bot has millions
    count_batch: int = 3  # stored games replayed at once for statistics: about 25 ms of a thread
    count_pause: float = 0.1  # between two batches, which leave most of the time to the games
    count_retry: float = 60.0  # after a failure of the database

    # Reviews
    review_timeout: float = 60.0  # of work on one review
    reviews_kept_time: float = 600.0  # that a review is kept once it is over
    reviews_kept_bytes: int = 8 << 20  # of all results


LIMITS = Limits()
