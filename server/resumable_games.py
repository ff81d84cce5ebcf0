"""The games that bots can resume: those in play, and for a while those that are over."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

from engine.common.error_text import error_text
from server.access import RateLimitError, ServerFullError
from server.addresses import limited_address
from server.broadcast import Broadcast
from server.game.journal import delete
from server.game.live_game import LiveGame
from server.game.seat import Seat, secret_hash
from server.game.start import GameStart
from server.limits import Limits
from server.settings import Settings

LEFT_GAMES_RETRY = 30  # seconds after which an address that has left too many games may try again


class ResumableGames(Mapping[str, LiveGame]):
    """The games by their ids, their spectators, and the secrets with which bots come back to their seats."""

    def __init__(self, settings: Settings, limits: Limits, on_expiry: Callable[[LiveGame], None]) -> None:
        """`on_expiry` is called with a game that can no longer be resumed."""
        self.broadcasts: dict[str, Broadcast] = {}  # of all these games, by their ids
        self._settings = settings
        self._limits = limits
        self._on_expiry = on_expiry
        self._games: dict[str, LiveGame] = {}
        self._over: dict[str, LiveGame] = {}  # those that are over, in the order in which they ended
        self._seats: dict[str, tuple[LiveGame, Seat]] = {}  # by the hash of the secret to resume with
        self._deleting = ThreadPoolExecutor(1)  # of journals: that may wait for the disk

    def __getitem__(self, game_id: str) -> LiveGame:
        return self._games[game_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._games)

    def __len__(self) -> int:
        return len(self._games)

    def add(self, game: LiveGame) -> None:
        """A game is in play, or is restored."""
        self._games[game.id] = game
        self.broadcasts[game.id] = Broadcast(game)
        for seat in game.bot_seats:
            self._seats[seat.player.secret_hash] = game, seat

    def remove(self, start: GameStart) -> None:
        """Forget a game, whose journal stays; it need not have been added."""
        for player in start.players:
            if not player.house:
                self._seats.pop(player.secret_hash, None)
        self._games.pop(start.id, None)
        self._over.pop(start.id, None)
        self.broadcasts.pop(start.id, None)

    def seat_of(self, secret: str) -> tuple[LiveGame, Seat] | None:
        """The game and the seat that a secret leads to; None if there is none."""
        return self._seats.get(secret_hash(secret))

    def check_left(self, address: str) -> None:
        """Limit the games that bots of an address have left, and all bots. Raises RateLimitError or ServerFullError.

        Those games are played on by house bots once nobody can resume them. Bots may resume them at any time.
        """
        unfinished = (game for game in self._games.values() if not game.announced)
        left = Counter(seat.address for game in unfinished for seat in game.bot_seats if seat.connection is None)
        if left.total() >= self._settings.max_connections:
            text = "bots have left too many games that are still played; try again later"
            raise ServerFullError(error_text("all_left_games", text))
        own = limited_address(address)
        if left[own] >= self._settings.connections_per_address:
            text = "bots of {address} have left {n} games that are still played; resume them, or wait until they end"
            raise RateLimitError(error_text("left_games", text, address=own, n=left[own]), LEFT_GAMES_RETRY)

    def expire_later(self, game: LiveGame) -> None:
        """A game that is over can be resumed for a while, unless each of its addresses has enough later ones."""
        self._over[game.id] = game
        later = Counter[str]()
        for over in reversed(list(self._over.values())):
            addresses = {seat.address for seat in over.bot_seats}
            if all(later[address] >= self._limits.kept_games for address in addresses):
                self.expire(over)
            later.update(addresses)
        seconds = min(game.start.settings.resume_timeout, self._limits.kept_time)
        asyncio.get_running_loop().call_later(seconds, self._time_over, game.id)

    def _time_over(self, game_id: str) -> None:  # not the game: its timer would keep one that has expired before
        if (game := self._games.get(game_id)) is not None:
            self.expire(game)

    def expire(self, game: LiveGame) -> None:
        """The game can no longer be resumed, and its journal is deleted."""
        if game.id in self._games:  # else the server has closed
            self.remove(game.start)
            game.close()
            self._deleting.submit(delete, game.journal)
            self._on_expiry(game)

    def close(self) -> None:
        """Stop all games; their journals stay."""
        for game in self._games.values():
            game.close()
        self._games.clear()

    async def journals_deleted(self) -> None:
        """Wait until the journals of expired games are deleted, after `close`."""
        await asyncio.to_thread(self._deleting.shutdown)
