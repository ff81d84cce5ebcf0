"""Rooms: where bots wait until three are there."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from typing import TYPE_CHECKING

from agents.registry import make
from engine.mjai.connection import ROOM_NAME
from engine.seeds import derived_seed
from server.access import AccessError
from server.settings import RoomSettings

if TYPE_CHECKING:
    from server.guest import Guest
    from server.lobby import Lobby

CHAIRS = 3
NAME = re.compile(ROOM_NAME)


def settings_of(name: str, default: RoomSettings) -> RoomSettings:
    """Settings of a room opened by its name alone: ``NAME`` or ``NAME+BOT+BOT``. Raises AccessError."""
    first, *bots = name.split("+")
    if not NAME.fullmatch(first):
        raise AccessError(f"room {name!r}: a name is 1 to 64 of A-Z a-z 0-9 _ . -, then +BOT for each chair to fill")
    if not bots:
        return default
    if len(bots) >= CHAIRS:
        raise AccessError(f"room {name!r} names {len(bots)} house bots: name one or two, or nobody else can sit down")
    for bot in bots:
        try:
            make(bot)
        except ValueError as error:
            raise AccessError(f"room {name!r}: {error}") from error
    return default.model_copy(update={"fill": tuple(bots), "fill_delay": 0.0})


class Room:
    """Bots that wait, and the games that were started here."""

    def __init__(self, name: str, settings: RoomSettings, lobby: Lobby, kept: bool) -> None:
        """`kept`: it stays when it is empty."""
        self.name = name
        self.settings = settings
        self.kept = kept
        self.closed = False
        self.earlier = 0  # games of rooms that had the name before: with a seed no walls come twice
        self.started = 0  # games; those before the server started are counted where the room has a seed or `games`
        self.playing = 0
        self.waiting: list[Guest] = []
        self._lobby = lobby
        self._fill: asyncio.TimerHandle | None = None

    @property
    def empty(self) -> bool:
        """Whether nobody waits or plays here."""
        return not self.waiting and not self.playing

    @property
    def finished(self) -> bool:
        """Whether all games that were to be played here are started."""
        return 0 < self.settings.games <= self.started

    def enter(self, guest: Guest) -> None:
        """A bot sits down to wait. Raises AccessError where the room takes nobody."""
        if self.closed or self.finished:
            raise AccessError(self._why_closed())
        guest.room = self
        self.waiting.append(guest)
        if len(self.waiting) == CHAIRS:
            self._start()
        elif self._fill is None and self.settings.fill:
            loop = asyncio.get_running_loop()
            self._fill = loop.call_later(self.settings.fill_delay, self._start)

    def leave(self, guest: Guest) -> None:
        """A bot that was waiting is gone."""
        guest.room = None
        self.waiting.remove(guest)
        if not self.waiting:
            self._stop_filling()

    def close(self) -> None:
        """Take nobody any more; games being played go on to their ends."""
        self.closed = True
        self._stop_filling()
        for guest in list(self.waiting):
            guest.refuse(self._why_closed())

    def _why_closed(self) -> str:
        why = "all games that were to be played there have begun" if self.finished else "it was closed"
        return f"room {self.name} takes nobody any more, {why}; join another room"

    def _stop_filling(self) -> None:
        if self._fill is not None:
            self._fill.cancel()
            self._fill = None

    def _start(self) -> None:
        """Seat who waits, and house bots on the chairs that are left."""
        self._stop_filling()
        guests, self.waiting = self.waiting, []
        fill = self.settings.fill
        chairs: list[Guest | str] = list(guests)
        chairs += [fill[place % len(fill)] for place in range(CHAIRS - len(guests))]
        master = self.settings.seed
        number = self.earlier + self.started
        seed = secrets.randbits(64) if master is None else derived_seed(master, f"game of {self.name}", number)
        if self.settings.seats == "random":
            random.Random(derived_seed(seed, "seats", 0)).shuffle(chairs)
        for guest in guests:
            guest.room = None
        self.started += 1
        self.playing += 1
        self._lobby.open_game(self, chairs, seed)
