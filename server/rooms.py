"""Rooms, where bots wait until a game can start."""

from __future__ import annotations

import asyncio
import random
import re
import secrets
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from engine.common.error_text import ErrorText, error_text, line_of
from engine.mjai.connection import ROOM_NAME, ROOM_TEXT
from engine.rules import N_SEATS
from engine.seeds import derive_seed
from server.access import AccessError
from server.connection.bot_connection import BotConnection
from server.game.start import Player
from server.house_bots import HOUSE_BOTS
from server.loop_clock import Timer, loop_clock
from server.names import HOUSE_BOT_SUFFIX
from server.settings import RoomSettings
from server.store import FinishedGame

NAME = re.compile(ROOM_NAME)
# What a room for one sitting may set, and the largest value. The rest is the server's own: a seed would tell the walls.
SITTING: dict[str, float] = {
    "rules": inf, "length": inf, "scores": inf, "rated": inf, "hints": inf, "fill": inf, "fill_delay": 60,
    "decision_time": 60, "bank_time": 300, "pause": 5, "resume_timeout": 300,
}  # fmt: skip


def settings_of(name: str, default: RoomSettings) -> RoomSettings:
    """Settings of a room opened by its name alone: ``NAME`` or ``NAME+BOT+BOT``. Raises AccessError."""
    first, *bots = name.split("+")
    if not NAME.fullmatch(first):
        text = "room {name!r}: a name is {form}, then +BOT for each seat to fill"
        raise AccessError(error_text("room_name", text, name=name, form=ROOM_TEXT))
    if not bots:
        return default
    if len(bots) >= N_SEATS:
        text = "room {name!r} names {n} house bots: name one or two, so that a seat is left for yours"
        raise AccessError(error_text("room_bots", text, name=name, n=len(bots)))
    for bot in bots:
        try:
            HOUSE_BOTS.check_requested(bot)
        except ValueError as error:
            raise AccessError(
                error_text("room_bot", "room {name!r}: {problem}", name=name, problem=line_of(error))
            ) from error
    return replace(default, fill=tuple(bots), fill_delay=0.0)


def check_sitting(given: Mapping[str, Any]) -> None:
    """Check the settings that are given for a room for one sitting. Raises ValueError."""
    for name, value in sorted(given.items()):
        if name not in SITTING:
            text = "{setting} can be set for a permanent room only; others set {others}"
            raise ValueError(error_text("setting_permanent", text, setting=name, others=", ".join(SITTING)))
        if isinstance(value, int | float) and value > SITTING[name]:
            text = "{setting} is {value:g}; in a room that is not permanent it is at most {most:g}"
            raise ValueError(error_text("setting_large", text, setting=name, value=value, most=SITTING[name]))


def check_hints(given: Mapping[str, Any], settings: RoomSettings) -> None:
    """Check that hints are not given to a room with `settings` whose games are rated: none would be had.

    Raises ValueError. The server's own settings may have both: its hints are for rooms that are opened as unrated.
    """
    if given.get("hints") and settings.rated:
        text = "settings.hints is true, but the games are rated: give rated as false too, or leave hints out"
        raise ValueError(error_text("hints_rated", text))


@dataclass(frozen=True, slots=True)
class Absent:
    """A player that is missing when its game starts: the room's house bot plays the seat."""

    name: str


@dataclass(frozen=True, slots=True)
class NewGame:
    """A game that starts: who gets seats 0 to 2, each with its starting score, and the seed of the walls.

    A bot that waited, the spec of a house bot, or one that is absent.
    """

    seats: list[tuple[BotConnection | str | Absent, int]]
    seed: int

    def players(self, secret_hashes: Sequence[str]) -> Iterator[Player]:
        """The players, with the hashes of their secrets. House bots with the same spec share a name, and a rating."""
        for (player, score), stored in zip(self.seats, secret_hashes, strict=True):
            if isinstance(player, str):
                yield Player(f"{player}{HOUSE_BOT_SUFFIX}", house=player, score=score)
            elif isinstance(player, Absent):
                yield Player(player.name, secret_hash=stored, score=score, absent=True)
            else:
                join = player.join
                yield Player(join.name, "", player.games_left, stored, join.dialect, join.reply, score)


class Room:
    """Bots that wait for a game, and counts of the games started here."""

    tournament = False

    def __init__(
        self,
        name: str,
        settings: RoomSettings,
        permanent: bool,
        on_fill_timer: Callable[[Room], object],
        opened_by: str = "",
        linger: float = 0.0,
    ) -> None:
        """A `permanent` room stays open when it is empty; another one for `linger` seconds more.

        `on_fill_timer` is called with the room when the fill delay is over and house bots are to fill the empty seats.
        `opened_by` is the address of whoever has opened it and may open no more than some; "": nobody.
        """
        self.name = name
        self.settings = settings
        self.permanent = permanent
        self.opened_by = opened_by
        self.linger = linger
        self._idle_timer: asyncio.TimerHandle | None = None
        self.closed = False
        self.number = 0  # of its next game, after those of earlier rooms of this name: with a seed, no walls come twice
        self.started = 0  # games; also before a restart of the server, where the room is stored
        self.playing = 0  # games
        self.held = False  # whether its next game starts when results can be stored again
        self.waiting: list[BotConnection] = []
        self._on_fill_timer = on_fill_timer
        self._fill_timer: asyncio.TimerHandle | None = None
        self._wait_timers: dict[BotConnection, Timer] = {}

    @property
    def empty(self) -> bool:
        """Whether no bot waits and no game is in play here."""
        return not self.waiting and not self.playing

    @property
    def full(self) -> bool:
        """Whether enough bots wait for a game."""
        return len(self.waiting) >= N_SEATS

    @property
    def finished(self) -> bool:
        """Whether all games that were to be played here have started."""
        return 0 < self.settings.games <= self.started

    @property
    def lingers(self) -> bool:
        """Whether the room stays open for some time when it is empty."""
        return self.linger > 0 and not self.closed and not self.finished

    def start_idle_timer(self, on_idle: Callable[[Room], None]) -> None:
        """The room is empty: call back with it if it stays so."""
        self._cancel_idle_timer()
        self._idle_timer = asyncio.get_running_loop().call_later(self.linger, on_idle, self)

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None

    def enter(self, bot: BotConnection) -> None:
        """A bot waits here from now on. Raises AccessError if the room is closed or finished."""
        if self.closed or self.finished:
            raise AccessError(self._why_closed())
        self._cancel_idle_timer()
        self.waiting.append(bot)
        self._start_fill_timer()
        if self.settings.wait_timeout and not self._may_stay(bot):
            timer = loop_clock().call_later(self.settings.wait_timeout, self._waited_too_long, bot)
            self._wait_timers[bot] = timer
        needed = 0 if self.settings.fill else max(0, N_SEATS - len(self.waiting))
        bot.send_joined(self.name, len(self.waiting), needed)

    def _may_stay(self, bot: BotConnection) -> bool:
        """Whether a bot may wait for ever: house bots will fill the seats, or it answers pings and that is enough."""
        return bool(self.settings.fill) or (self.settings.idle == "stay" and bot.transport.pings)

    def leave(self, bot: BotConnection) -> None:
        """A bot that waited is gone."""
        self.waiting.remove(bot)
        self._cancel_wait_timer(bot)
        if not self.waiting:
            self._cancel_fill_timer()

    def close(self) -> None:
        """Accept no more bots, and disconnect those that wait; games in play are finished."""
        self.closed = True
        self._cancel_fill_timer()
        self._cancel_idle_timer()
        for bot in list(self.waiting):
            bot.close_with_error(self._why_closed())

    def _waited_too_long(self, bot: BotConnection) -> None:
        text = "no game in room {name} within {seconds:g} seconds; join again to wait on"
        line = error_text("waited", text, name=self.name, seconds=self.settings.wait_timeout)
        bot.close_with_error(line, retry=True)

    def _cancel_wait_timer(self, bot: BotConnection) -> None:
        if bot in self._wait_timers:
            self._wait_timers.pop(bot).cancel()

    def _why_closed(self) -> ErrorText:
        if self.finished:
            text = "room {name} is closed: all its games have started; join another room"
            return error_text("room_finished", text, name=self.name)
        return error_text("room_closed", "room {name} is closed; join another room", name=self.name)

    def _start_fill_timer(self) -> None:
        if self._fill_timer is None and self.settings.fill:
            loop = asyncio.get_running_loop()
            self._fill_timer = loop.call_later(self.settings.fill_delay, self._on_fill_timer, self)

    def _cancel_fill_timer(self) -> None:
        if self._fill_timer is not None:
            self._fill_timer.cancel()
            self._fill_timer = None

    def next_id(self) -> str:
        """The id of the next game."""
        return uuid.uuid4().hex

    def game_restored(self, game: str) -> None:
        """A game is in play again after a restart of the server."""

    def game_over(self, game: str, result: FinishedGame | None) -> None:
        """A game has ended, and those of its bots that stay wait here again; None: it is not stored."""

    def start_game(self, fill: Sequence[str] = ()) -> NewGame:
        """Take those who have waited longest into a game; more than three wait only where games could not start.

        `fill`: house bots for the empty seats; (): those of the settings.
        """
        self._cancel_fill_timer()
        bots, self.waiting = self.waiting[:N_SEATS], self.waiting[N_SEATS:]
        for bot in bots:
            self._cancel_wait_timer(bot)
        if self.waiting:
            self._start_fill_timer()
        fill = fill or self.settings.fill
        players: list[BotConnection | str | Absent] = [*bots]
        players += [fill[index % len(fill)] for index in range(N_SEATS - len(bots))]
        seats = list(zip(players, self.settings.scores, strict=True))
        room_seed = self.settings.seed
        name = f"game of {self.name}"
        seed = secrets.randbits(64) if room_seed is None else derive_seed(room_seed, name, self.number)
        if self.settings.seats == "random":
            random.Random(derive_seed(seed, "seats", 0)).shuffle(seats)
        self.number += 1
        self.started += 1
        self.playing += 1
        return NewGame(seats, seed)
