"""Decides for a seat in place of its connection: by a house bot, or by a safe default if that is late or fails."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import structlog

from agents.base import Agent, CompiledAgent
from agents.registry import make
from engine.mjai.possible_actions import safe_default

# For house bots that are not compiled. One that hangs delays other bots that are not compiled, and nothing else.
BOT_THREADS = ThreadPoolExecutor(thread_name_prefix="house-bot")
log = structlog.get_logger("server.game")


class FallbackPlayer:
    """The house bot of one seat, if one plays there."""

    def __init__(self, game_id: str, seat: int, seed: int) -> None:
        """`seed` is that of the bots' random numbers, 64 bits."""
        self.bot = ""  # spec of the house bot; "": none plays
        self._agent: Agent | None = None
        self._game_id = game_id
        self._seat = seat
        self._seed = seed
        self._pending: asyncio.Future[int] | None = None  # the latest decision made in a thread, done or not

    def use(self, bot: str) -> None:
        """Let the house bot with this spec decide from now on; safe defaults are played if it cannot be made."""
        self.bot, self._agent = bot, None
        if bot:
            try:
                self._agent = make(bot, self._seed)
            except Exception as error:  # its files are gone, or whatever goes wrong in it: the game goes on
                self._failed(repr(error))

    def decide(self, view: np.record, legal_actions: Sequence[int], on_decision: Callable[[int], None]) -> int | None:
        """An action for the seat that sees `view`.

        A compiled bot decides at once. For any other this returns None, and `on_decision` gets the action later; while
        it has not come, further decisions are safe defaults, so a bot that hangs occupies one thread.
        """
        agent = self._agent
        if agent is None:
            return safe_default(legal_actions)
        views = np.array([view])
        if isinstance(agent, CompiledAgent):
            return int(agent.act(views)[0])
        if self._pending is not None and not self._pending.done():
            return safe_default(legal_actions)
        loop = asyncio.get_running_loop()
        self._pending = loop.run_in_executor(BOT_THREADS, lambda: int(agent.act(views)[0]))
        self._pending.add_done_callback(lambda pending: on_decision(self._checked(pending, legal_actions)))
        return None

    def _checked(self, pending: asyncio.Future[int], legal_actions: Sequence[int]) -> int:
        """The bot's action if it is legal, else the safe default."""
        error = pending.exception()
        action = pending.result() if error is None else -1
        if action in legal_actions:
            return action
        self._failed(repr(error) if error else action)
        return safe_default(legal_actions)

    def _failed(self, reason: str | int) -> None:
        log.error("house bot failed", game=self._game_id, seat=self._seat, error=reason)
