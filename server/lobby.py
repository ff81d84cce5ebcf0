"""The lobby: open rooms, connected bots and games in play. It creates connections and games and joins them up."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from pydantic import ValidationError

from engine.common.error_text import error_text
from engine.mjai.connection import DEFAULT_ROOM, Join
from server.access import Access, AccessError, ServerFullError
from server.background_tasks import BackgroundTasks
from server.connection.bot_connection import BotConnection
from server.counting import count_stored_games
from server.exhibitions import Exhibitions
from server.fairness import FairLock, FairQueue, OnePerIteration
from server.game.game_log import GameLog
from server.game.journal import Journal, JournalError, find_journals, journal_path, read_journal, set_aside
from server.game.live_game import LiveGame
from server.game.seat import Seat, new_secret
from server.game.start import GameStart
from server.game.turn_loop import GAMES
from server.house_bots import HouseBots
from server.limits import Limits
from server.metrics import Metrics
from server.open_rooms import OpenRooms
from server.ports import Transport
from server.results import make_finished_game
from server.resumable_games import ResumableGames
from server.rooms import Absent, Room, settings_of
from server.settings import Settings
from server.store import FinishedGame, Store, StoreError
from server.stored_settings import restore_settings
from server.storing import Storing
from server.tokens import Tokens
from server.tournaments.tournaments import Tournaments

log = structlog.get_logger("server.lobby")
NO_REPLIES = error_text(
    "half_closed", "you have closed your side of the connection, and cannot reply: keep it open while you play"
)
STOPS = error_text("server_stops", "the server stops; resume your game with your secret when it runs again")


class Lobby:
    """The state of one server; the `GameOwner` of its games."""

    def __init__(
        self,
        settings: Settings,
        store: Store,
        access: Access,
        metrics: Metrics,
        limits: Limits,
        house_bots: HouseBots,
    ) -> None:
        """`settings.data` must exist."""
        self.settings = settings
        self.store = store
        self.access = access
        self.tokens = Tokens(settings, store)
        self.metrics = metrics
        self.limits = limits
        self.house_bots = house_bots
        self.fair_queue = FairQueue()
        self.network = FairLock()
        self._resumes = OnePerIteration()
        self._tasks = BackgroundTasks()
        self.rooms = OpenRooms(settings, store, access, self._tasks, self._start_game)
        self.games = ResumableGames(settings, limits, self._expired)
        self.broadcasts = self.games.broadcasts
        self._bots: set[BotConnection] = set()
        self._closed = False
        self._waiting_in: dict[BotConnection, Room] = {}
        self.tournaments = Tournaments(store, limits, self.rooms, self._start_due)
        self._journals = settings.data / "journal"
        self._journals.mkdir(exist_ok=True)
        self.storing = Storing(store, metrics, self._journals, self._start_held_games, limits)
        self.exhibitions = Exhibitions(limits, self._stop_exhibition)

    # Starting and stopping --------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Open the stored rooms, and restore the games that were in play when the server stopped.

        Raises StoreError or OSError if the database or the journals cannot be written.
        """
        await self.storing.check_at_start()
        for stored in await self.store.rooms():
            try:
                settings = restore_settings(stored.settings)
            except ValidationError as error:  # of another version, or with a house bot that no longer exists
                log.error("room stays closed", room=stored.name, error=error.errors()[0]["msg"])
            else:
                await self.rooms.open(stored.name, settings, started=stored.games)
        if DEFAULT_ROOM not in self.rooms:
            await self.rooms.open(DEFAULT_ROOM, self.settings.room, started=0)
        await self.tournaments.open()
        for path in find_journals(self._journals):
            await self._restore_journal(path)
        self.tournaments.go_on()
        self._tasks.start(count_stored_games(self.store, self.limits))

    async def _restore_journal(self, path: Path) -> None:
        """Restore a game from its journal. A journal that does not fit is renamed and logged."""
        try:
            await self._restore(path)
        except StoreError:
            raise
        except Exception as error:  # whatever is wrong with one game, the server starts
            log.error("journal cannot be read, set aside", file=str(path), error=str(error))
            set_aside(path)

    async def _restore(self, path: Path) -> None:
        entries = read_journal(path)
        if not entries or entries[0].get("exhibition") is True:  # no bot was sent its start, or nobody watches it now
            path.unlink()
            return
        start = GameStart.read(entries[0])
        if start.id in self.games:
            raise JournalError(f"{path}: another journal is of the same game")
        stored = await self.store.game(start.id) is not None
        room = self.rooms.get(start.room)
        if room is None:
            had = await self.store.count_games(start.room, start.started) if start.settings.games else 0
            room = await self.rooms.open(start.room, start.settings, permanent=False, started=had)
        game_log = GameLog(Journal(path, self.storing.journal_failed), start, self.limits.max_annotations)
        try:
            game = LiveGame(start, game_log, self, self.metrics)
            self.games.add(game)
            game.replay(entries[1:])
        except Exception:
            self.games.remove(start)
            self.rooms.remove_if_unused(room)
            game_log.close(complete=False)
            raise
        if stored and not game.engine.over:  # the database holds more than the journal: no bot can come back
            self.games.expire(game)
            return
        if stored:
            self._show_end(game)
            self.games.expire_later(game)
        else:
            room.playing += 1
            room.started += 1
            room.number += start.settings.seed is not None  # not of a game begun before the room had one
            room.game_restored(game.id)
            self.metrics.playing.inc()
            game.restore()
        log.info("game restored", game=game.id, room=room.name, messages=game.history.count)

    async def close(self) -> None:
        """Stop; games in play go on at the next start."""
        self._closed = True
        self.storing.close()
        self.tournaments.close()
        self._tasks.cancel()
        self.games.close()
        for bot in list(self._bots):
            bot.close_with_error(STOPS, retry=True)
        await self.games.journals_deleted()

    # Connections ------------------------------------------------------------------------------------------------------

    def connect(self, transport: Transport, url_keys: dict[str, Any] | None = None) -> BotConnection:
        """Handle a new connection; `url_keys` are the keys of the join message that its URL holds."""
        bot = BotConnection(transport, self.settings, self.limits, self._join_received, self._bot_left, url_keys)
        self._bots.add(bot)
        self.metrics.connections.inc()
        if self._closed:  # it was accepted just before
            bot.close_with_error(STOPS, retry=True)
        return bot

    def _refuse(self, bot: BotConnection, refusal: AccessError) -> None:
        self.metrics.refused.inc()
        bot.close_with_error(refusal.text, refusal.retry)

    def _join_received(self, bot: BotConnection, join: Join) -> None:
        self._tasks.start(self._join(bot, join))

    async def _join(self, bot: BotConnection, join: Join) -> None:
        try:
            self.access.join(bot.transport.address)
            if bot not in self._bots:  # it has left already
                return
            if isinstance(join.resume, str):
                await self._resumes.wait()  # a whole game may have to be sent again
                if self._may_play(bot):
                    self._resume(bot, join, join.resume)
                return
            await self.tokens.authorize_bot(join.name, join.token)
            self.games.check_left(bot.transport.address)
            room = self.rooms.get(join.room)
            if room is None:
                self.tournaments.check_free(join.room)
                settings = settings_of(join.room, self.settings.room)
                room = await self.rooms.open(join.room, settings, permanent=False, opened_by=bot.transport.address)
            try:
                if self._may_play(bot):
                    bot.accept(join)
                    self._enter(room, bot)
            finally:
                self.rooms.remove_if_unused(room)
        except AccessError as refusal:
            self._refuse(bot, refusal)
        except StoreError as error:
            log.error("join failed", error=str(error))
            bot.close_with_error(error_text("database", "the database does not answer; try again later"), retry=True)

    def _may_play(self, bot: BotConnection) -> bool:
        """Whether a bot is still there. Raises AccessError for one that could not reply."""
        if bot.finished:
            raise AccessError(NO_REPLIES)
        return bot in self._bots

    def _resume(self, bot: BotConnection, join: Join, secret: str) -> None:
        """A bot reconnects to its game. It stays who it was, but may choose another dialect or way to reply."""
        found = self.games.seat_of(secret)
        if found is None:
            text = "resume: no game in play has this secret; the game is over, or the secret is wrong"
            raise AccessError(error_text("resume_unknown", text))
        game, seat = found
        if join.seen > game.count_for(seat):
            game.refuse(seat)
            text = "resume: seen is {seen}, but the game has had {n} messages"
            raise AccessError(error_text("resume_seen", text, seen=join.seen, n=game.count_for(seat)))
        seat.secret = secret
        player = seat.player
        unchanged: dict[str, Any] = {
            "name": player.name,
            "room": game.start.room,
            "games": player.games,
            "resume": True,
        }
        defaults = {"dialect": player.dialect, "reply": player.reply}
        unchanged |= {key: value for key, value in defaults.items() if key not in join.given}
        bot.accept(replace(join, **unchanged))
        game.resume(seat, bot, join.seen)
        if game.announced:
            self._release(game, seat)

    def _bot_left(self, bot: BotConnection) -> None:
        self._bots.discard(bot)
        self.metrics.connections.dec()
        room = self._waiting_in.pop(bot, None)
        if room is not None:
            room.leave(bot)
            self.rooms.remove_if_unused(room)

    # Games ------------------------------------------------------------------------------------------------------------

    def _enter(self, room: Room, bot: BotConnection) -> None:
        """A bot waits in a room; the third one starts a game. Raises AccessError."""
        room.enter(bot)
        self._waiting_in[bot] = room
        self._start_due(room)

    def _start_due(self, room: Room) -> None:
        """Start the games for which a room has players, if it has any."""
        self.tournaments.look_at(room)
        while room.full and not room.finished and self._start_game(room) is not None:
            pass

    async def exhibit(self, bots: Sequence[str], pause: float, address: str) -> LiveGame:
        """Let three house bots play a hanchan for spectators, in a room of its own that nobody can join.

        Raises RateLimitError for an address that has such a game, and ServerFullError if no more can start.
        """
        self.exhibitions.check(address)
        settings = replace(
            self.settings.room, length="hanchan", games=0, seed=None, rated=False, hints=False, pause=pause
        )
        name = f"bots-{uuid.uuid4().hex[:12]}"
        room = await self.rooms.open(
            name, settings, permanent=False, opened_by=address
        )  # at once, without games or seed
        game = self._start_game(room, bots)
        self.rooms.close(room)
        if game is None:
            text = "no game can start while results cannot be stored; try again later"
            raise ServerFullError(error_text("not_storing", text))
        self.exhibitions.add(game, address)
        return game

    def _stop_exhibition(self, game: LiveGame) -> None:
        """Nobody watches: the game ends where it is."""
        if game.id in self.games and not game.engine.over:
            log.info("exhibition stopped", game=game.id)
            self.metrics.playing.dec()
            self.rooms[game.start.room].playing -= 1
            self.games.expire(game)

    def _start_game(self, room: Room, exhibited: Sequence[str] = ()) -> LiveGame | None:
        """Start a game of those who wait in the room, and of house bots; later, if nothing can be stored now.

        `exhibited`: the house bots of an exhibition.
        """
        game_id = room.next_id()
        path = journal_path(self._journals, game_id)
        try:
            journal = None if self.storing.problem else Journal(path, self.storing.journal_failed)
        except OSError as error:
            self.storing.journal_failed(path, str(error.strerror))
            journal = None
        if journal is None:
            room.held = True
            return None
        self.storing.check()
        new = room.start_game(exhibited)
        connections = [None if isinstance(player, str | Absent) else player for player, _ in new.seats]
        for bot in connections:
            if bot is not None:
                del self._waiting_in[bot]
        secrets = [new_secret() for _ in new.seats]
        first, second, third = new.players([stored for _, stored in secrets])
        players, now = (first, second, third), datetime.now(UTC)
        start = GameStart(game_id, room.name, room.settings, new.seed, now, players, bool(exhibited))
        game = LiveGame(start, GameLog(journal, start, self.limits.max_annotations), self, self.metrics)
        self.games.add(game)
        self.metrics.playing.inc()
        game.begin(connections, [secret for secret, _ in secrets])
        return game

    def _start_held_games(self) -> None:
        """Storing works again: start the games that were due meanwhile."""
        for room in [room for room in self.rooms.values() if room.held]:
            room.held = False
            self.fair_queue.add(GAMES, partial(self._start_held_game, room))

    def _start_held_game(self, room: Room) -> bool:
        """Start a game of a room. Returns whether it has another one to start."""
        filled = bool(room.waiting and room.settings.fill)
        if (room.full or filled) and not room.closed and not room.finished:
            self._start_game(room)
        if room.finished:
            self.rooms.close(room)
        return room.full and not room.closed and not room.held

    def recorded(self, game_id: str, rounds: int) -> None:
        """Pass the messages on to the spectators."""
        self.broadcasts[game_id].recorded(rounds)

    def stores(self, address: str, size: int) -> bool:
        """Charge the address for what its bot wants stored; count what is dropped."""
        stored = self.access.stores(address, size)
        if not stored:
            self.metrics.annotations_dropped.inc()
        return stored

    def game_over(self, game_id: str) -> None:
        """Store the result in a task, then end the game for everybody."""
        self._tasks.start(self._finish(self.games[game_id]))

    async def _finish(self, game: LiveGame) -> None:
        """Store the result, then send everybody the end of the game."""
        result = None if game.start.exhibition else await self._store(game)
        self.metrics.playing.dec()
        self._show_end(game)
        self._close_game(game, result)

    async def _store(self, game: LiveGame) -> FinishedGame | None:
        """Store the result; None if that is impossible."""
        try:
            result = await self.storing.save(game.turns.party, partial(make_finished_game, game))
        except Exception:  # whatever is wrong with one game, it ends for its bots
            log.exception("game cannot be stored, its journal is set aside", game=game.id)
            with suppress(OSError):
                set_aside(game.journal)
            return None
        scores = [(seat.name, seat.score) for seat in result.seats]
        log.info("game finished", game=game.id, room=result.room, scores=scores)
        self.metrics.games.inc()
        return result

    def _show_end(self, game: LiveGame) -> None:
        """Send everybody the end of the game."""
        game.announce_end()
        self.broadcasts[game.id].game_over()

    def _close_game(self, game: LiveGame, result: FinishedGame | None) -> None:
        """Release the bots. A bot that has just lost its connection may still resume, to be sent the end."""
        room = self.rooms[game.start.room]
        room.playing -= 1
        scores = game.start.settings.scores
        for seat in sorted(game.bot_seats, key=lambda seat: scores.index(seat.player.score)):  # each keeps its handicap
            self._release(game, seat)
        room.game_over(game.id, result)
        self._start_due(room)
        self.rooms.remove_if_unused(room)
        self.games.expire_later(game)

    def _release(self, game: LiveGame, seat: Seat) -> None:
        """The game is over for a seat: its bot waits for the next game, or leaves."""
        bot = game.release(seat)
        if bot is None:
            return
        room = self.rooms.get(game.start.room)
        games = seat.player.games
        if games != 1 and room is not None and not room.closed and not room.finished:
            bot.games_left = games - 1 if games else 0
            self._enter(room, bot)
        else:
            bot.close_when_sent()

    def _expired(self, game: LiveGame) -> None:
        """The game can no longer be resumed."""
        self.exhibitions.remove(game.id)
        if (room := self.rooms.get(game.start.room)) is not None:
            self.rooms.remove_if_unused(room)
