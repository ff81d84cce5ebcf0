"""The lobby: who is connected, which rooms there are, which games are being played; it runs them all."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import Coroutine, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import ValidationError

from engine.mjai.connection import DEFAULT_ROOM, Join
from server import journal
from server.access import HOUSE_BOT_SUFFIX, Access, AccessError, ServerFullError
from server.guest import Guest
from server.journal import Journal, JournalError
from server.line import Line, Listener
from server.metrics import Metrics
from server.results import finished_game
from server.rooms import Room, settings_of
from server.seat import Seat, new_secret, secret_hash
from server.settings import RoomSettings, Settings
from server.sitting import Sitting
from server.spectators import Broadcast
from server.start import Player, Start
from server.store import Store, StoreError

STORE_AGAIN = 5.0  # seconds
log = structlog.get_logger("server.lobby")


class Lobby:
    """Everything of one server but its transports; the `server.sitting.Host` of its games."""

    def __init__(self, settings: Settings, store: Store, access: Access, metrics: Metrics) -> None:
        """`settings.data` must exist."""
        self.settings = settings
        self.store = store
        self.access = access
        self.metrics = metrics
        self.rooms: dict[str, Room] = {}
        self.sittings: dict[str, Sitting] = {}
        self.broadcasts: dict[str, Broadcast] = {}  # of each sitting
        self._guests: set[Guest] = set()
        self._seats: dict[str, Seat] = {}  # by the hash of the secret a guest comes back with
        self._tasks: set[asyncio.Task[object]] = set()
        self._journals = settings.data / "journal"
        self._journals.mkdir(exist_ok=True)

    # Starting and stopping --------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the rooms there were, and go on with the games that were being played."""
        for stored in await self.store.rooms():
            try:
                settings = RoomSettings(**stored.settings)
            except ValidationError as error:  # of another version, or with a house bot that is no longer there
                log.error("room stays closed", room=stored.name, error=error.errors()[0]["msg"])
            else:
                await self.open_room(stored.name, settings, opened=stored.opened)
        if DEFAULT_ROOM not in self.rooms:
            await self.open_room(DEFAULT_ROOM, self.settings.room, opened=datetime.now(UTC))
        for path in journal.find(self._journals):
            try:
                if entries := journal.read(path):
                    await self._restore(entries, path.stem)
                else:
                    path.unlink()  # nobody had been told of this game yet
            except (JournalError, OSError, ValueError, LookupError, TypeError) as error:
                log.error("journal cannot be read, set aside", file=str(path), error=str(error))
                path.rename(path.with_suffix(".broken"))

    async def _restore(self, entries: list[journal.Entry], game: str) -> None:
        start = Start.read(entries[0])
        room = self.rooms.get(start.room)
        if room is None:
            room = await self.open_room(start.room, start.settings, kept=False, opened=start.started)
        sitting = Sitting(start, Journal(self._journals, game), self)
        room.playing += 1
        room.started += await self.store.game(start.id) is None  # else it is counted already
        self._take_in(sitting)
        try:
            sitting.restore(entries[1:])
        except Exception:
            room.playing -= 1
            self.metrics.playing.dec()
            self._drop(sitting)
            self._tidy(room)
            sitting.close()
            raise
        log.info("game restored", game=sitting.id, room=room.name, messages=sitting.history.count)

    async def close(self) -> None:
        """Stop; games being played go on at the next start."""
        for task in self._tasks:
            task.cancel()
        for sitting in self.sittings.values():
            sitting.close()
        self.sittings.clear()
        for guest in list(self._guests):
            guest.refuse("the server stops; come back with your resume secret when it is up again", retry=True)

    def start_task(self, work: Coroutine[Any, Any, object]) -> None:
        """Run `work` beside everything else; an error in it is logged."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._task_done)

    def _task_done(self, task: asyncio.Task[object]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("task failed", exc_info=task.exception())

    # Guests -----------------------------------------------------------------------------------------------------------

    def welcome(self, line: Line, given: dict[str, Any] | None = None) -> Listener:
        """A new connection; `given` is what its URL says of the join message."""
        guest = Guest(line, self, given or {})
        self._guests.add(guest)
        self.metrics.connections.inc()
        try:
            self.access.connect(line.address)
            guest.counted = True
        except AccessError as refusal:
            self._refuse(guest, refusal)
        return guest

    def _refuse(self, guest: Guest, refusal: AccessError) -> None:
        self.metrics.refused.inc()
        guest.refuse(str(refusal), refusal.retry)

    async def join(self, guest: Guest, join: Join) -> None:
        """The first message of a guest."""
        try:
            self.access.join(guest.line.address)
            if guest not in self._guests:  # gone already
                return
            if isinstance(join.resume, str):
                self._come_back(guest, join, join.resume)
                return
            await self.access.authorize_bot(join.name, join.token)
            room = self.rooms.get(join.room)
            if room is None:
                room = await self.open_room(join.room, settings_of(join.room, self.settings.room), kept=False)
            try:
                if guest in self._guests:
                    guest.joined(join)
                    room.enter(guest)
            finally:
                self._tidy(room)
        except AccessError as refusal:
            self._refuse(guest, refusal)
        except StoreError as error:
            log.error("join failed", error=str(error))
            guest.refuse("the database does not answer; try again later", retry=True)

    def _come_back(self, guest: Guest, join: Join, secret: str) -> None:
        seat = self._seats.get(secret_hash(secret))
        if seat is None:
            raise AccessError("resume: no game being played has this secret; it is over, or never was")
        count = seat.sitting.history.count
        if join.seen > count:
            raise AccessError(f"resume: seen is {join.seen}, but the game has had {count} messages")
        seat.secret = secret
        # It plays on as who it was, in the games to come as well; but it may speak otherwise from now on.
        player = seat.player
        kept: dict[str, Any] = {
            "name": player.name,
            "room": seat.sitting.start.room,
            "games": player.games,
            "resume": True,
        }
        speech = {"dialect": player.dialect, "reply": player.reply}
        kept |= {key: value for key, value in speech.items() if key not in join.given}
        guest.joined(replace(join, **kept))
        seat.sitting.resume(seat, guest, join.seen)
        if seat.sitting.announced:
            self._release(seat)

    def gone(self, guest: Guest) -> None:
        """The connection of a guest is closed."""
        self.metrics.connections.dec()
        if guest.counted:
            self.access.disconnect(guest.line.address)

    def left(self, guest: Guest) -> None:
        """A guest is lost or was sent away."""
        self._guests.discard(guest)
        if guest.seat is not None:
            guest.seat.sitting.lost(guest.seat)
        elif guest.room is not None:
            room = guest.room
            room.leave(guest)
            self._tidy(room)

    def _release(self, seat: Seat) -> None:
        """The game is over for a seat: its guest waits for the next one, or leaves."""
        guest, seat.guest = seat.guest, None
        if guest is None:
            return
        guest.seat = None
        room = self.rooms.get(seat.sitting.start.room)
        games = seat.player.games
        if games != 1 and room is not None and not room.closed and not room.finished:
            guest.games_left = games - 1 if games else 0
            room.enter(guest)
        else:
            guest.leave()

    # Rooms ------------------------------------------------------------------------------------------------------------

    async def open_room(
        self, name: str, settings: RoomSettings, kept: bool = True, opened: datetime | None = None
    ) -> Room:
        """Open a room. One that the server opens when it starts was `opened` then, and is not too many.

        Raises ServerFullError.
        """
        earlier = started = 0
        if settings.seed is not None or settings.games:
            earlier = await self.store.count_games(name, opened)
            started = 0 if opened is None else await self.store.count_games(name) - earlier
        room = self.rooms.get(name)
        if room is None:
            if opened is None and len(self.rooms) >= self.settings.max_rooms:
                text = f"there are {len(self.rooms)} rooms already, and no more are allowed; join one of them"
                raise ServerFullError(text)
            room = self.rooms[name] = Room(name, settings, self, kept)
            room.earlier, room.started = earlier, started
            log.info("room opened", room=name)
        return room

    def close_room(self, room: Room) -> None:
        """Take nobody there any more; games being played go on to their ends."""
        room.close()
        self._tidy(room)

    def _tidy(self, room: Room) -> None:
        """Forget a room nobody needs."""
        if room.empty and (room.closed or room.finished or not room.kept):
            room.close()
            if self.rooms.get(room.name) is room:  # else another has the name by now
                del self.rooms[room.name]
                log.info("room closed", room=room.name)
            if room.kept and room.finished:
                self.start_task(self.store.close_room(room.name))

    # Games ------------------------------------------------------------------------------------------------------------

    def open_game(self, room: Room, chairs: list[Guest | str], seed: int) -> None:
        """Start a game: on each chair a guest, or the spec of a house bot."""
        secrets = [new_secret() for _ in chairs]
        houses = house_names(chairs)
        first, second, third = (
            Player(chair.join.name, "", chair.games_left, kept, chair.join.dialect, chair.join.reply)
            if isinstance(chair, Guest)
            else Player(next(houses), house=chair)
            for chair, (_, kept) in zip(chairs, secrets, strict=True)
        )
        game, now = uuid.uuid4().hex, datetime.now(UTC)
        start = Start(game, room.name, room.settings, seed, now, (first, second, third))
        try:
            opened = Journal(self._journals, game)
        except OSError as error:
            log.error("no game can be started", room=room.name, error=str(error))
            self._call_off(room, chairs)
            return
        sitting = Sitting(start, opened, self)
        for seat, chair, (secret, _) in zip(sitting.seats, chairs, secrets, strict=True):
            seat.secret = secret
            if isinstance(chair, Guest):
                seat.guest, chair.seat = chair, seat
        self._take_in(sitting)
        sitting.begin()

    def _call_off(self, room: Room, chairs: list[Guest | str]) -> None:
        """A game cannot be started; those who waited for it are sent away."""
        room.started -= 1
        room.playing -= 1
        for chair in chairs:
            if isinstance(chair, Guest):
                chair.refuse("the server cannot keep games just now; try again later", retry=True)
        self._tidy(room)

    def _take_in(self, sitting: Sitting) -> None:
        self.sittings[sitting.id] = sitting
        self.broadcasts[sitting.id] = Broadcast(sitting)
        self.metrics.playing.inc()
        for seat in sitting.guests:
            self._seats[seat.player.secret_hash] = seat

    def round_over(self, sitting: Sitting) -> None:
        """See `server.sitting.Host`."""
        self.broadcasts[sitting.id].round_over()

    def game_over(self, sitting: Sitting) -> None:
        """See `server.sitting.Host`."""
        self.start_task(self._finish(sitting))

    async def _finish(self, sitting: Sitting) -> None:
        """Keep the result, however long that takes; then tell everybody."""
        game = await asyncio.to_thread(finished_game, sitting)
        while True:
            try:
                await self.store.save_game(game)
                break
            except StoreError as error:
                log.error("game not stored yet, trying again", game=sitting.id, error=str(error))
                await asyncio.sleep(STORE_AGAIN)
        self.metrics.games.inc()
        self.metrics.playing.dec()
        log.info("game finished", game=sitting.id, room=game.room, scores=[(it.name, it.score) for it in game.seats])
        sitting.announce_end()
        self.broadcasts[sitting.id].game_over()
        self._close_game(sitting)

    def _close_game(self, sitting: Sitting) -> None:
        room = self.rooms[sitting.start.room]
        room.playing -= 1
        for seat in sitting.guests:
            self._release(seat)
        self._tidy(room)
        # Who has lost the connection just now may still come back for the end.
        loop = asyncio.get_running_loop()
        loop.call_later(sitting.start.settings.resume_timeout, self._forget, sitting)

    def _forget(self, sitting: Sitting) -> None:
        if sitting.id in self.sittings:  # else the server has closed
            self._drop(sitting)
            sitting.forget()

    def _drop(self, sitting: Sitting) -> None:
        """Nobody finds the sitting any more."""
        for seat in sitting.guests:
            del self._seats[seat.player.secret_hash]
        del self.sittings[sitting.id], self.broadcasts[sitting.id]


def house_names(chairs: list[Guest | str]) -> Iterator[str]:
    """Names of the house bots among `chairs`: the second ``rule`` is ``rule#2``."""
    seen: Counter[str] = Counter()
    for chair in chairs:
        if isinstance(chair, str):
            seen[chair] += 1
            number = "" if seen[chair] == 1 else f"#{seen[chair]}"
            yield f"{chair}{number}{HOUSE_BOT_SUFFIX}"
