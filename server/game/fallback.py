"""Decides for a seat in place of its connection: by a house bot, or by a safe default if that is late or fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache, partial
from threading import Thread

import numpy as np
import structlog

from agents.base import Agent
from engine.mjai.possible_actions import safe_default
from server.fairness import FairLock
from server.house_bots import HouseBots

# For house bots that are not compiled. The network runs in one thread: more of them would take the processor, and
# the lock of Python, from the event loop. Bots of others have threads of their own, as one that hangs keeps its thread.
NETWORK_THREAD = ThreadPoolExecutor(1, thread_name_prefix="network")
log = structlog.get_logger("server.game")


def in_own_thread(act: Callable[[], int]) -> asyncio.Future[int]:
    """Call in a thread that, if it hangs, does not keep the process from ending."""
    result: Future[int] = Future()
    result.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result.set_result(act())
        except BaseException as error:
            result.set_exception(error)

    Thread(target=run, name="house-bot", daemon=True).start()
    return asyncio.wrap_future(result)


class FallbackPlayer:
    """The house bot of one seat, if one plays there."""

    def __init__(self, game_id: str, seat: int, seed: int, house_bots: HouseBots, network: FairLock) -> None:
        """`seed` is that of the bots' random numbers, 64 bits; `network` is held while the network decides."""
        self.bot = ""  # spec of the house bot; "": none plays
        self._agent: Callable[[], Agent]  # makes it at the first call
        self._game_id = game_id
        self._seat = seat
        self._seed = seed
        self._house_bots = house_bots
        self._network = network
        self._pending: asyncio.Future[int] | None = None  # the latest decision made in a thread, done or not

    def use(self, bot: str) -> None:
        """Let the house bot with this spec decide from now on."""
        self.bot, self._agent = bot, cache(partial(self._house_bots.make, bot, self._seed))

    def decide(
        self, view: np.record, legal_actions: Sequence[int], on_decision: Callable[[int], None], party: str
    ) -> int | None:
        """An action for the seat that sees `view`: the bot's if it is legal, else the safe default.

        A built-in compiled bot decides at once. Any other is made and decides in a thread: this returns None, and
        `on_decision` gets the action later; while it has not come, further decisions are safe defaults, so a bot that
        hangs occupies one thread. For the network, parties take turns (see `server.fairness`).
        """
        if not self.bot:
            return safe_default(legal_actions)
        agent, views = self._agent, np.array([view])

        def act() -> int:
            return int(agent().act(views)[0])

        if self._house_bots.decides_at_once(self.bot):
            return self._checked(act, legal_actions)
        if self._pending is not None and not self._pending.done():
            return safe_default(legal_actions)
        loop = asyncio.get_running_loop()
        if self._house_bots.is_built_in(self.bot):
            self._pending = loop.create_task(self._in_turn(party, act))
        else:
            self._pending = in_own_thread(act)

        def done(pending: asyncio.Future[int]) -> None:
            if not pending.cancelled():  # as it is when the server stops
                on_decision(self._checked(pending.result, legal_actions))

        self._pending.add_done_callback(done)
        return None

    async def _in_turn(self, party: str, act: Callable[[], int]) -> int:
        async with self._network.held_by(party):
            return await asyncio.get_running_loop().run_in_executor(NETWORK_THREAD, act)

    def _checked(self, act: Callable[[], int], legal_actions: Sequence[int]) -> int:
        """The bot's action if it is legal, else the safe default."""
        try:
            action = act()
        except Exception as error:  # its files are gone, or whatever goes wrong in it: the game goes on
            self._failed(repr(error))
            return safe_default(legal_actions)
        if action in legal_actions:
            return action
        self._failed(action)
        return safe_default(legal_actions)

    def _failed(self, reason: str | int) -> None:
        log.error("house bot failed", game=self._game_id, seat=self._seat, error=reason)
