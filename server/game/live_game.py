"""One game in play: who plays its seats, what they reply, and how it starts, is restored, and stops.

A state machine without tasks: replies, timers and lost connections call it, and each call plays on, by the turn loop,
to the next decision that has to be waited for. Nothing here ever waits for a bot.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import structlog
from pydantic_core import to_json

from engine.actions import PASS, TSUMOGIRI
from engine.common.error_text import ErrorText, coded, error_text, line_of
from engine.game import Game
from engine.mjai.messages import Message
from engine.mjai.possible_actions import legal_action, safe_default
from engine.statistics.rounds import add_round
from server.addresses import limited_address
from server.connection.bot_connection import BotConnection
from server.game.clock import DecisionClock
from server.game.fallback import FallbackPlayer
from server.game.game_log import STOPPED, CutOff, Decision, Fault, GameLog, HouseBotChange, Left
from server.game.hints import best_actions
from server.game.history import History
from server.game.journal import Entry
from server.game.seat import Seat
from server.game.start import GameStart, Player
from server.game.turn_loop import GAMES, TurnLoop
from server.loop_clock import loop_clock
from server.metrics import Metrics
from server.ports import GameOwner

log = structlog.get_logger("server.game")


class LiveGame:
    """A game in play; the `GamePort` of the connections that play in it."""

    def __init__(self, start: GameStart, game_log: GameLog, owner: GameOwner, metrics: Metrics) -> None:
        """Set up; nothing happens before `begin` or `restore`."""
        self.start = start
        self.rounds: list[np.ndarray] = []  # what happened in each round that is over: ROUND[1, seats]
        self.engine = Game(
            start.seed, start.settings.make_rules(), start.names, scores=start.scores,
            round_over=partial(add_round, self.rounds),
        )  # fmt: skip
        self.announced = False  # whether the end of the game was sent
        self._log = game_log
        self._owner = owner
        self._metrics = metrics
        self._complete = True  # whether the journal that it was restored from holds all that bots were sent
        self.seats = [self._make_seat(index, player) for index, player in enumerate(start.players)]
        self.turns = TurnLoop(start, self.engine, self.seats, game_log, owner, metrics)
        for seat in self.seats:
            if seat.player.house:
                self._change_occupant(seat, None, seat.player.house)

    def _make_seat(self, index: int, player: Player) -> Seat:
        settings = self.start.settings
        on_timeout = partial(self._decision_timed_out, index)
        clock = DecisionClock(
            settings.decision_time, settings.bank_time, on_timeout, lambda: self.seats[index].data_waits
        )
        seed = (self.start.seed + index) % (1 << 64)
        fallback = FallbackPlayer(self.id, index, seed, self._owner.house_bots, self._owner.network)
        return Seat(index, player, clock, fallback)

    @property
    def id(self) -> str:
        """Id of the game, while it is played and ever after."""
        return self.start.id

    @property
    def casual(self) -> bool:
        """Whether the game does not count for ratings."""
        return not self.start.settings.rated or any(player.absent for player in self.start.players)

    @property
    def history(self) -> History:
        """The messages of the game so far."""
        return self._log.history

    @property
    def journal(self) -> Path:
        """The file of its journal."""
        return self._log.journal

    @property
    def bot_seats(self) -> list[Seat]:
        """The seats that were given to connected bots."""
        return [seat for seat in self.seats if not seat.player.house]

    # Starting and stopping --------------------------------------------------------------------------------------------

    def begin(self, connections: Iterable[BotConnection | None], secrets: Iterable[str]) -> None:
        """Play a new game. `connections` and `secrets` are those of the seats; house bots have no connection.

        Nor has a bot that is missing: the house bot plays its seat.
        """
        for seat, connection, secret in zip(self.seats, connections, secrets, strict=True):
            seat.secret = secret
            if connection is not None:
                self._change_occupant(seat, connection, "")
        self._log.begin()
        if any(seat.needs_connection for seat in self.seats):
            self._begin_without_some()
        else:
            self.turns.advance()

    def _begin_without_some(self) -> None:
        """Play a new game whose bots are not all there: the house bot plays for those that are missing."""
        decisions = {seat: self.engine.legal(seat) for seat in self.engine.asked}
        messages = self.turns.take_messages()
        self.turns.record(messages)
        for seat in self.seats:
            if seat.needs_connection:
                text = "not there when the game began: {bot} plays this seat"
                self._take_over(seat, error_text("absent", text, bot=self._house_bot))
        self.turns.sender.send(messages, self.engine.table, decisions)
        if self.turns.ask(decisions):
            self.turns.advance()

    def replay(self, entries: Sequence[Entry]) -> None:
        """Play again what the journal holds.

        Raises ValueError, TypeError or LookupError for a journal that does not fit the game.
        """
        self.turns.restoring = True
        self._complete = bool(entries) and entries[-1] == STOPPED
        self.turns.record(self.turns.take_messages())
        for entry in entries:
            if entry != STOPPED:
                self._replay(entry)
        if not self._complete:
            for seat in self.seats:
                seat.restored = self.history.count

    def restore(self) -> None:
        """After `replay`: wait for the bots to reconnect, at most `resume_timeout` seconds, then play on."""
        play_on = partial(self._owner.fair_queue.add, GAMES, self._end_restoring)  # all restored games are due at once
        self.turns.restore_timer = loop_clock().call_later(self.start.settings.resume_timeout, play_on)
        self._end_restoring_if_complete()

    def _replay(self, entry: Entry) -> None:
        """One line of the journal."""
        match self._log.restore(entry):
            case Decision(index, action, bank):
                seat = self.seats[index]
                seat.clock.bank = bank
                seat.decisions += 1
                self.engine.act(index, action)
                self.turns.record(self.turns.take_messages())
            case Fault(index):
                self.seats[index].faults += 1
            case HouseBotChange(index, bot):
                self._change_occupant(self.seats[index], None, bot)
            case CutOff(index, cut_off):
                self.seats[index].cut_off = cut_off
            case Left(index):
                self.seats[index].left = True

    def _end_restoring_if_complete(self) -> None:
        if not any(seat.needs_connection for seat in self.seats):
            self._end_restoring()

    def _end_restoring(self) -> bool:
        """All bots of a restored game have reconnected, or their time is up: play on. No more work for `FairQueue`."""
        if not self.turns.restoring or self.turns.closed:
            return False
        self.turns.restoring = False
        for seat in self.seats:
            if seat.needs_connection and not self.engine.over:
                text = "not back within {seconds:g} s of the restart: {bot} plays this seat"
                seconds = self.start.settings.resume_timeout
                self._take_over(seat, error_text("not_back", text, seconds=seconds, bot=self._house_bot))
        decisions = {seat: self.engine.legal(seat) for seat in self.engine.asked}
        self.turns.sender.send(self.history.since(self.history.count - 1), self.engine.table, decisions)
        if self.engine.over:
            self._owner.game_over(self.id)
        elif self.turns.ask(decisions):
            self.turns.advance()
        return False

    def announce_end(self) -> None:
        """The result is stored, or never will be: send everybody the end of the game."""
        end_game = self.turns.end_game
        assert end_game is not None
        self.announced, self.turns.restoring = True, False
        self.turns.sender.send([end_game], self.engine.table, {})
        self.turns.record([end_game])
        self._log.close(self._complete)  # it stays open as a file no longer than the game is played

    def close(self) -> None:
        """Stop. The journal stays as it is."""
        self.turns.closed = True
        self.turns.stop_timers()
        self._log.close(self._complete)

    # Who plays a seat -------------------------------------------------------------------------------------------------

    def _change_occupant(self, seat: Seat, connection: BotConnection | None, bot: str) -> None:
        """Change who plays a seat; nothing else does.

        If `bot` names a house bot, it decides and the connection, if any, is only sent messages. Otherwise the
        connection decides; without one the seat waits for the bot to reconnect.
        """
        seat.cancel_reconnect_timer()
        if seat.connection is not connection:
            if seat.connection is not None:
                seat.connection.leave_game()
            if connection is not None:
                connection.enter_game(self, seat.index, seat.secret, seat.taken_over)
                seat.address = limited_address(connection.transport.address)
            seat.connection = connection
        if seat.fallback.bot != bot:
            seat.fallback.use(bot)
            seat.legal_actions = list(seat.legal_actions)  # a decision that is still pending is for the list before
        if seat.needs_connection and not (self.turns.restoring or self.engine.over or self.turns.closed):
            seconds = self.start.settings.resume_timeout
            text = "connection lost for {seconds:g} s: {bot} plays this seat"
            line = error_text("connection_lost", text, seconds=seconds, bot=self._house_bot)
            seat.reconnect_timer = loop_clock().call_later(seconds, self._take_over, seat, line)

    def connection_lost(self, index: int) -> None:
        """Wait for the bot to resume the game; a house bot takes the seat over after `resume_timeout` seconds."""
        seat = self.seats[index]
        self._change_occupant(seat, None, seat.fallback.bot)

    def leave(self, index: int) -> None:
        """Give the seat to a house bot for the rest of the game, and close the connection, unless the game is over."""
        seat = self.seats[index]
        if not (seat.fallback.bot or self.engine.over):
            seat.left = True  # else leaving and coming back would give a decision its time again, as often as one likes
            self._log.add_left(index)
            self._dismiss(seat, error_text("left_game", "left the game: {bot} plays this seat", bot=self._house_bot))
            if self.turns.restoring:
                self._end_restoring_if_complete()

    def release(self, seat: Seat) -> BotConnection | None:
        """The game is over: the connection that plays the seat leaves it and is returned, None if it is lost."""
        connection = seat.connection
        self._change_occupant(seat, None, seat.fallback.bot)
        return connection

    def resume(self, seat: Seat, connection: BotConnection, seen: int) -> None:
        """A bot has reconnected; `seen` is how many messages of the game it has received, at most `history.count`.

        It gets its seat back from a house bot unless it lost it by faults or left.
        """
        if seat.cut_off:
            self._log.add_cut_off(seat.index, False)
        seat.cut_off, seat.restored = False, None
        previous, bot = seat.connection, seat.fallback.bot
        keeps_bot = seat.left or seat.faults >= self.start.settings.max_faults
        self._change_occupant(seat, connection, bot if keeps_bot else "")
        if seat.fallback.bot != bot:
            self._log.add_house_bot(seat.index, "", error_text("back", "back at its seat"))
        if previous is not None:
            text = "another connection has resumed this game"
            previous.close_with_error(error_text("resumed_elsewhere", text))
        first = min(seen, self.history.count - 1)  # the last message is sent again, so that the bot can reply to it
        connection.send_resumed(first)
        messages = self.history.since(first)
        if self.turns.restoring:  # the last message is sent together with the question
            connection.resend_messages(messages[:-1], self.engine.table, [])
            self._end_restoring_if_complete()
        else:
            asked = [] if seat.fallback.bot else seat.legal_actions  # a house bot may still be deciding
            if asked and not seat.clock.running:  # it was in its pause
                seat.clock.start()
            connection.resend_messages(messages, self.engine.table, asked)

    def refuse(self, seat: Seat) -> None:
        """A bot has seen more of the game than `count_for` its seat.

        After a crash that may have cost the end of the journal it is cut off: the game does not count for its rating,
        unless it comes back with fewer messages.
        """
        if seat.restored is not None and not seat.cut_off:
            seat.cut_off = True
            self._log.add_cut_off(seat.index, True)

    def count_for(self, seat: Seat) -> int:
        """The number of messages of the game that the bot of a seat may have seen."""
        return self.history.count if seat.restored is None else seat.restored

    @property
    def _house_bot(self) -> str:
        """The one that takes seats over."""
        return self.start.settings.house_bot

    def _dismiss(self, seat: Seat, text: ErrorText) -> None:
        """A house bot plays the seat from now on; its connection, if any, is closed."""
        connection = seat.connection
        self._take_over(seat, text)
        if connection is not None:
            connection.close_with_error(text)

    def _take_over(self, seat: Seat, text: ErrorText) -> None:
        """A house bot plays the seat, which has no connection or loses it, from now on, the open decision included."""
        self._change_occupant(seat, None, self._house_bot)
        self._log.add_house_bot(seat.index, self._house_bot, text)
        self._metrics.taken_over.inc()
        log.info("seat taken over", game=self.id, seat=seat.index, player=seat.player.name, why=text)
        if seat.legal_actions:
            self.turns.stop_clock(seat)
            self.turns.ask_house_bot(seat)
            self.turns.advance_if_decided()

    # Decisions --------------------------------------------------------------------------------------------------------

    @property
    def decision_time(self) -> float:
        """Seconds for each decision, without the time bank: a setting of the room."""
        return self.start.settings.decision_time

    def legal_actions(self, index: int) -> list[int]:
        """Legal actions of the seat's open decision; empty if none is open."""
        return self.seats[index].legal_actions

    @property
    def gives_hints(self) -> bool:
        """Whether the room gives hints and the game does not count for ratings."""
        return self.start.settings.hints and self.casual

    @property
    def _adviser(self) -> str:
        return self._owner.house_bots.adviser(self._house_bot)

    def hint(self, index: int) -> tuple[str, list[Message]]:
        """Return a house bot and its opinion, asked once for a decision; it takes as long as a decision of its own."""
        seat, bot = self.seats[index], self._adviser
        if seat.legal_actions and not (seat.hint or seat.fallback.bot):
            adviser = self._owner.house_bots.make(bot, 0)
            seat.hint = best_actions(adviser, self.engine.view(index), index, seat.legal_actions)
        return bot, seat.hint

    def decide(self, index: int, reply: Message) -> None:
        """Play the reply, whose annotation is kept if it may be stored; if it is illegal, it is a fault."""
        seat = self.seats[index]
        self.turns.sender.reply_received()
        self.turns.stop_clock(seat)
        try:
            action = legal_action(self.engine.table, index, reply, seat.legal_actions)
        except ValueError as error:
            self.fault(index, error_text("illegal", "{problem}", problem=line_of(error)), "illegal", is_decision=True)
            return
        hint = {"hint": self._adviser, "actions": seat.hint} if seat.hint else {}
        if hint or "ext_bot" in reply:
            annotation = reply.get("ext_bot", {}) | hint
            size = len(to_json(annotation))
            if self._owner.stores(seat.address, size):
                self._log.annotate(index, reply["type"], annotation)
        self.turns.act(seat, action)
        self.turns.advance_if_decided()

    def fault(self, index: int, text: ErrorText, kind: str, is_decision: bool) -> None:
        """Count a fault and tell the bot. After too many it loses its seat and its connection."""
        seat = self.seats[index]
        seat.faults += 1
        self._metrics.faults.labels(kind).inc()
        stored = self._owner.stores(seat.address, len(text.encode()) + len(to_json(coded(text))))
        self._log.add_fault(index, text if stored else "")
        if seat.connection is not None:
            seat.connection.send_error(text)
        if is_decision:
            self.turns.sender.reply_received()
            self.turns.stop_clock(seat)
            self.turns.act(seat, safe_default(seat.legal_actions))
        max_faults = self.start.settings.max_faults
        if seat.faults >= max_faults and not seat.fallback.bot and not self.engine.over:
            whole = "{n} faults: {bot} plays this seat"
            self._dismiss(seat, error_text("seat_faults", whole, n=seat.faults, bot=self._house_bot))
        elif seat.connection is not None and seat.faults >= max_faults + self._owner.limits.max_faults_watching:
            seat.connection.close_with_error(error_text("faults", "{n} faults", n=seat.faults))
        if is_decision:
            self.turns.advance_if_decided()

    def _decision_timed_out(self, index: int) -> None:
        seat, legal_actions = self.seats[index], self.seats[index].legal_actions
        if seat.fallback.bot:  # the lateness of a house bot is no fault of the player's
            log.warning("house bot is late", game=self.id, seat=index, bot=seat.fallback.bot)
            self.turns.decide_by_default(seat)
            return
        if seat.connection is not None:
            seat.connection.decision_timed_out()
        default = "none" if PASS in legal_actions else "tsumogiri" if TSUMOGIRI in legal_actions else "a legal discard"
        text = "no reply within {seconds:g} s and the time bank; {default} was played"
        line = error_text("late", text, seconds=self.decision_time, default=default)
        self.fault(index, line, "late", is_decision=True)
