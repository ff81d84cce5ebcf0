"""Reviews that clients have asked for: a short queue, done in one worker process, and the results of some minutes.

Addresses take turns by their costs: the seconds of work that they have used of late, and one for each review that is
not finished. The next review is one of the address with the least, and where too many wait, one of the address with the
most makes room. So those who ask for much, or for what takes until its time is over, wait for the others, and not the
others for them.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import structlog

from engine.common.error_text import ErrorText, error_text, line_of
from server.access import RateLimitError
from server.addresses import limited_address
from server.limits import Limits
from server.store import StoreError
from server.used_time import UsedTime
from server.worker import TaskStoppedError, Worker, WorkerError

MAX_WAITING = 8  # reviews
UNFINISHED_PER_ADDRESS = 2
UNWANTED = 30.0  # seconds without a question after which a review that waits is not done
KEPT_PER_ADDRESS = 16
MAX_BYTES = 4 << 20  # of the records of one review, which are in memory twice; a long, annotated game has 1 MB
RETRY = 5  # seconds after which a client that was refused may try again
log = structlog.get_logger("server.reviews")

Status = Literal["queued", "running", "done", "failed"]
ReadRecord = Callable[[str], Awaitable[bytes | None]]  # the stored record of the game with that id
DoReview = Callable[..., bytes]  # `server.review_work.review`, or what takes the same


def failed(problem: str) -> ErrorText:
    """Why a review is none."""
    return error_text("review_failed", "the review has failed: {problem}", problem=problem)


@dataclass(eq=False)
class Review:
    """A review that was asked for."""

    address: str  # that has asked first, limited
    bots: tuple[str, ...]
    seat: int  # of the one game; 0 where a player is named
    player: str  # whose games are reviewed together, "" for the seat of one
    games: tuple[str, ...]  # ids of stored games, none where a record was sent
    record: bytes  # that was sent; b"" once it is not needed any more
    asked: float  # when somebody has last asked for it
    id: str = field(default_factory=lambda: uuid.uuid4().hex)
    status: Status = "queued"
    done: int = 0  # decisions, each counted for each bot; of a player: games
    decisions: int = 0  # in all, likewise; 0: not known yet
    error: str = ""
    result: bytes = b""  # gzipped JSON
    began: float | None = None  # when the work on it began: the process may have had to start first

    @property
    def subject(self) -> tuple[object, ...]:
        """What is reviewed by whom, where the games are stored."""
        return self.bots, self.seat, self.player, self.games

    @property
    def over(self) -> bool:
        """Whether it is done or has failed."""
        return self.status in ("done", "failed")


class Reviews:
    """All reviews of a server."""

    def __init__(self, read_record: ReadRecord, limits: Limits, do_review: DoReview) -> None:
        """`do_review` is called in the worker process."""
        self._read_record = read_record
        self._limits = limits
        self._do_review = do_review
        self.worker = Worker()
        self._reviews: dict[str, Review] = {}  # by id, in the order in which they were asked for
        self._waiting: list[Review] = []
        self.used = UsedTime(limits.clock)  # by addresses, of work
        self._working: asyncio.Task[None] | None = None

    def find(self, review_id: str) -> Review | None:
        """The review with that id, which is asked for."""
        found = self._reviews.get(review_id)
        if found is not None:
            found.asked = self._limits.clock()
        return found

    def check(self, address: str) -> None:
        """Raise RateLimitError if the address may not ask for another review now, or too many wait."""
        unfinished = Counter(each.address for each in self._reviews.values() if not each.over)
        address = limited_address(address)
        if unfinished[address] >= UNFINISHED_PER_ADDRESS:
            text = "{n} reviews for {address} are not finished; wait for them"
            raise RateLimitError(error_text("reviews_unfinished", text, n=unfinished[address], address=address), RETRY)
        if len(self._waiting) >= MAX_WAITING and self._cost(self._last().address) <= self._cost(address) + 1:
            raise RateLimitError(
                error_text("reviews_wait", "{n} reviews wait already; try again soon", n=MAX_WAITING), RETRY
            )

    def add(self, address: str, bots: tuple[str, ...], seat: int, game: str = "", record: bytes = b"") -> Review:
        """Queue a review of a stored game or of a record; the one there is, if it is of a stored game.

        Raises RateLimitError.
        """
        games = (game,) if game else ()
        return self._queue(Review(address, bots, seat, "", games, record, self._limits.clock()))

    def add_player(self, address: str, bots: tuple[str, ...], player: str, games: tuple[str, ...]) -> Review:
        """Queue a review of a player in stored games, all as one; the one there is. Raises RateLimitError."""
        return self._queue(Review(address, bots, 0, player, games, b"", self._limits.clock()))

    def _queue(self, added: Review) -> Review:
        for each in self._reviews.values():
            if added.games and each.subject == added.subject and each.status != "failed":
                each.asked = self._limits.clock()
                return each
        self.check(added.address)
        if len(self._waiting) >= MAX_WAITING:
            self._make_room(self._last())
        added.address = limited_address(added.address)
        self._reviews[added.id] = added
        self._waiting.append(added)
        if self._working is None:
            self._working = asyncio.create_task(self._work())
        return added

    def _cost(self, address: str) -> float:
        """What an address has cost, see the module; the work on its review so far included."""
        unfinished = [each for each in self._reviews.values() if each.address == address and not each.over]
        running = sum(self._limits.clock() - each.began for each in unfinished if each.began is not None)
        return self.used.of(address) + running + len(unfinished)

    def _last(self) -> Review:
        """The review that waits and would be done last: the newest of the address that has cost most."""
        return max(reversed(self._waiting), key=lambda each: self._cost(each.address))

    def _make_room(self, dropped: Review) -> None:
        """Give up a review that waits."""
        self._waiting.remove(dropped)
        dropped.status, dropped.record = "failed", b""
        dropped.error = error_text(
            "review_made_room",
            "the review has made room for those of others, who have used less time; ask again soon",
        )
        self._keep(dropped)

    async def close(self) -> None:
        """End the worker process; reviews that are not over never will be."""
        if self._working is not None:
            self._working.cancel()
        await self.worker.close()

    async def _work(self) -> None:
        """Do the reviews that wait."""
        try:
            while self._waiting:
                first = min(self._waiting, key=lambda each: self._cost(each.address))
                self._waiting.remove(first)
                await self._do(first)
        finally:
            self._working = None

    async def _do(self, wanted: Review) -> None:
        clock = self._limits.clock
        if clock() - wanted.asked > UNWANTED:
            del self._reviews[wanted.id]
            return
        wanted.status = "running"

        def begin() -> None:
            wanted.began = clock()

        def progress(done: int, total: int) -> None:
            wanted.done, wanted.decisions = done, total

        try:
            records = await self._records(wanted)
            work = partial(self._do_review, records=records, bots=wanted.bots, seat=wanted.seat, player=wanted.player)
            wanted.result = await self.worker.run(work, self._limits.review_timeout, progress, begin)
            wanted.status = "done"
        except WorkerError as error:
            wanted.error = failed(line_of(error))
            if isinstance(error, TaskStoppedError):
                self.used.add(wanted.address, error.restart)
        except StoreError as error:
            log.warning("review failed", error=str(error))
            wanted.error = failed(error_text("database", "the database does not answer"))
        except Exception:
            log.exception("review failed")
            wanted.error = failed(error_text("internal", "internal error; see the server's log"))
        finally:
            if not wanted.result:
                wanted.status = "failed"
            wanted.record = b""
            if wanted.began is not None:
                self.used.add(wanted.address, clock() - wanted.began)
        self._keep(wanted)

    async def _records(self, wanted: Review) -> list[tuple[str, bytes]]:
        """The names and contents of the records to review, at most MAX_BYTES. Raises WorkerError if there is none."""
        records = [("record", wanted.record)] if wanted.record else []
        for game in wanted.games:
            record = await self._read_record(game)
            if record is not None and sum(len(data) for _, data in records) + len(record) <= MAX_BYTES:
                records.append((game, record))
        if not records:
            raise WorkerError(error_text("game_gone", "the game is not stored any more"))
        return records

    def _keep(self, finished: Review) -> None:
        """Keep a review for a while; older ones of its address, and then of all, make room for it."""
        # By its id: a timer that holds the review would hold its result, too, after it has made room.
        asyncio.get_running_loop().call_later(self._limits.reviews_kept_time, self._reviews.pop, finished.id, None)
        over = [each for each in self._reviews.values() if each.over and each is not finished]
        own = [each for each in over if each.address == finished.address]
        for each in own[: max(0, len(own) + 1 - KEPT_PER_ADDRESS)]:
            del self._reviews[each.id]
        size = sum(len(each.result) for each in self._reviews.values())
        for each in sorted(over, key=lambda each: each.address != finished.address):
            if size > self._limits.reviews_kept_bytes and each.id in self._reviews:
                size -= len(each.result)
                del self._reviews[each.id]
