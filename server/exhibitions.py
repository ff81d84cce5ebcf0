"""Exhibitions: games of three house bots, played slowly for whoever watches, not stored, stopped when nobody does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from engine.common.error_text import error_text
from server.access import RateLimitError, ServerFullError
from server.addresses import limited_address
from server.game.live_game import LiveGame
from server.limits import Limits


@dataclass
class Exhibition:
    """A game, the address that has asked for it, and how many connections watch it."""

    game: LiveGame
    address: str
    watching: int = 0
    stop_timer: asyncio.TimerHandle | None = None  # runs while nobody watches


class Exhibitions:
    """The exhibitions being played: one of an address, some in all."""

    def __init__(self, limits: Limits, stop: Callable[[LiveGame], None]) -> None:
        """`stop` is called with a game that nobody has watched for `Limits.linger` seconds."""
        self._limits = limits
        self._stop = stop
        self._playing: dict[str, Exhibition] = {}  # by the id of the game

    def check(self, address: str) -> None:
        """Check that an address may have one. Raises RateLimitError or ServerFullError."""
        own, wait = limited_address(address), round(self._limits.linger)
        for game_id, exhibition in self._playing.items():
            if exhibition.address == own:
                text = "house bots play for {address} already: watch game {id}, or wait until nobody has for {wait} s"
                raise RateLimitError(error_text("exhibition", text, address=own, id=game_id, wait=wait), wait)
        if len(self._playing) >= self._limits.max_exhibitions:
            text = "{n} tables of house bots are enough: watch one of them"
            raise ServerFullError(error_text("exhibitions", text, n=len(self._playing)))

    def add(self, game: LiveGame, address: str) -> None:
        """A game has started for an address."""
        exhibition = self._playing[game.id] = Exhibition(game, limited_address(address))
        self._start_timer(exhibition)

    def remove(self, game_id: str) -> None:
        """A game, which may be no exhibition, is over."""
        exhibition = self._playing.pop(game_id, None)
        if exhibition is not None and exhibition.stop_timer is not None:
            exhibition.stop_timer.cancel()

    def watch(self, game_id: str) -> Callable[[], None]:
        """Somebody watches a game, which may be no exhibition. Returns what is to be called when that ends."""
        exhibition = self._playing.get(game_id)
        if exhibition is None:
            return lambda: None
        exhibition.watching += 1
        if exhibition.stop_timer is not None:
            exhibition.stop_timer.cancel()
        return partial(self._left, exhibition)

    def _left(self, exhibition: Exhibition) -> None:
        exhibition.watching -= 1
        if not exhibition.watching and exhibition.game.id in self._playing:
            self._start_timer(exhibition)

    def _start_timer(self, exhibition: Exhibition) -> None:
        loop = asyncio.get_running_loop()
        exhibition.stop_timer = loop.call_later(self._limits.linger, self._stop, exhibition.game)
