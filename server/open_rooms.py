"""The open rooms of a server: they are opened, looked up by name, and removed when they are no longer used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import structlog

from engine.common.error_text import error_text
from server.access import Access, ServerFullError
from server.background_tasks import BackgroundTasks
from server.rooms import Room
from server.settings import RoomSettings, Settings
from server.store import Store

log = structlog.get_logger("server.lobby")


class OpenRooms(Mapping[str, Room]):
    """The rooms by their names."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        access: Access,
        tasks: BackgroundTasks,
        on_fill_timer: Callable[[Room], object],
    ) -> None:
        """`tasks` are cancelled when the server stops; `on_fill_timer`: see `Room`."""
        self._settings = settings
        self._store = store
        self._access = access
        self._tasks = tasks
        self._on_fill_timer = on_fill_timer
        self._rooms: dict[str, Room] = {}

    def __getitem__(self, name: str) -> Room:
        return self._rooms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rooms)

    def __len__(self) -> int:
        return len(self._rooms)

    async def open(
        self,
        name: str,
        settings: RoomSettings,
        permanent: bool = True,
        started: int | None = None,
        opened_by: str = "",
        linger: float = 0.0,
    ) -> Room:
        """Open a room, or return the one of this name.

        `started`, the games that it has had, is for rooms that the server opens when it starts; they do not count
        against `max_rooms`. `opened_by` and `linger`: see `Room`. Raises ServerFullError, or RateLimitError for an
        address with too many.
        """
        number = 0 if settings.seed is None else await self._store.next_in_series(name)
        room = self._rooms.get(name)
        if room is None:
            if started is None and len(self._rooms) >= self._settings.max_rooms:
                text = "{n} rooms are open, and no more are allowed; join one of them"
                raise ServerFullError(error_text("all_rooms", text, n=len(self._rooms)))
            if opened_by:
                self._access.open_room(opened_by)
            room = Room(name, settings, permanent, self._on_fill_timer, opened_by, linger)
            room.number, room.started = number, started or 0
            self.add(room)
            if room.lingers:
                room.start_idle_timer(self.close)
        return room

    def add(self, room: Room) -> None:
        """Open a room whose name is free."""
        self._rooms[room.name] = room
        log.info("room opened", room=room.name)

    def close(self, room: Room) -> None:
        """Accept no more bots there, and disconnect those that wait; games in play are finished."""
        room.close()
        self.remove_if_unused(room)

    def remove_if_unused(self, room: Room) -> None:
        """Remove an empty room, unless it stays open; one that lingers is closed if it stays empty."""
        if room.empty and room.lingers:
            room.start_idle_timer(self.close)
        elif room.empty and (room.closed or room.finished or not room.permanent):
            room.close()
            if self._rooms.get(room.name) is room:  # else another room has the name by now
                del self._rooms[room.name]
                if room.opened_by:
                    self._access.close_room(room.opened_by)
                log.info("room closed", room=room.name)
            if room.permanent and room.finished:
                self._tasks.start(self._store.close_room(room.name))
