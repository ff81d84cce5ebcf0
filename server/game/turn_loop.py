"""The turn loop of a game: asks seats for decisions, plays them, and sends everybody what has happened.

It has no task of its own: `LiveGame` and its timers call it, and each call plays on to the next decision that has to be
waited for. It asks whoever plays a seat, a connection or a house bot; `LiveGame` decides who that is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from engine.game import Game
from engine.mjai.messages import Message
from engine.mjai.possible_actions import safe_default
from server.game.game_log import GameLog
from server.game.seat import Seat
from server.game.sending import Sender
from server.game.start import GameStart
from server.loop_clock import Timer
from server.metrics import Metrics
from server.ports import GameOwner

GAMES = "games"  # the party of games that all bots have left


class TurnLoop:
    """Plays a game on whenever its seats have decided."""

    def __init__(
        self, start: GameStart, engine: Game, seats: Sequence[Seat], game_log: GameLog, owner: GameOwner,
        metrics: Metrics,
    ) -> None:  # fmt: skip
        """Set up; nothing happens before `advance`."""
        self.sender = Sender(seats, owner.fair_queue, metrics)
        self.end_game: Message | None = None  # sent once the result is stored
        self.restoring = False  # restored from a journal, and waiting for its bots to reconnect: decisions may be open
        self.restore_timer: Timer | None = None  # until a restored game waits no longer for its bots
        self.closed = False
        self._start = start
        self._engine = engine
        self._seats = seats
        self._log = game_log
        self._owner = owner
        self._metrics = metrics
        self._loop = asyncio.get_running_loop()

    @property
    def party(self) -> str:
        """Whose work this game is, for `FairQueue`: the address of a bot that plays, or GAMES if all have left."""
        for seat in self._seats:  # faster than `next`, as this is needed for each decision
            if seat.connection is not None:
                return seat.address
        return GAMES

    def advance(self) -> None:
        """Play until a decision has to be waited for. Games that all bots have left take turns."""
        if self.party == GAMES or self._play_steps():
            self._owner.fair_queue.add(self.party, self._play_steps)

    def advance_if_decided(self) -> None:
        """After a decision: play on, unless another seat has yet to decide."""
        if not self.restoring and self._all_decided:
            self.advance()

    @property
    def _all_decided(self) -> bool:
        """Whether no decision is open."""
        first, second, third = self._seats
        return not (first.legal_actions or second.legal_actions or third.legal_actions)

    def _play_steps(self) -> bool:
        """Play until a decision has to be waited for, or for some steps. Returns whether to play on."""
        if self.closed:
            return False
        for _ in range(self._owner.limits.steps_at_once):
            decisions = {seat: self._engine.legal(seat) for seat in self._engine.asked}
            messages = self.take_messages()
            self.sender.send(messages, self._engine.table, decisions)
            self.record(messages)
            if self._engine.over:
                self.stop_timers()
                self._owner.game_over(self._start.id)
                return False
            if not self.ask(decisions):
                return False
        return True

    def take_messages(self) -> list[Message]:
        """What has happened; ``end_game`` is kept back until the result is stored."""
        messages = self._engine.take_messages()
        if self._engine.over and messages:
            self.end_game = messages.pop()
        return messages

    def record(self, messages: list[Message]) -> None:
        """Add messages to the history."""
        if messages:
            self._owner.recorded(self._start.id, self._log.add_messages(messages))

    def ask(self, decisions: dict[int, list[int]]) -> bool:
        """Open the decisions of seats. True if all of them are made at once."""
        for index, legal_actions in decisions.items():
            seat = self._seats[index]
            seat.legal_actions = legal_actions
            if not seat.needs_no_reply(legal_actions):
                seat.clock.start()
            elif len(legal_actions) == 1:
                self.act(seat, legal_actions[0])
            else:
                self.ask_house_bot(seat)
        return self._all_decided

    def act(self, seat: Seat, action: int) -> None:
        """Write the decision of a seat to the journal, then play it."""
        seat.legal_actions = []
        seat.hint = []
        seat.paused = False
        seat.decisions += 1
        self._log.add_decision(seat.index, action, seat.clock.bank)
        self._metrics.decisions.inc()
        self._engine.act(seat.index, action)

    def stop_clock(self, seat: Seat) -> None:
        """Stop the clock of a seat that has decided, or lost the decision to a house bot."""
        elapsed = seat.clock.stop()
        if elapsed is not None:
            self._metrics.observe_answer(*elapsed)

    def stop_timers(self) -> None:
        """No seat has time left to decide or to reconnect: the game is over, or stops."""
        for seat in self._seats:
            seat.clock.cancel()
            seat.cancel_reconnect_timer()
        if self.restore_timer is not None:
            self.restore_timer.cancel()

    def decide_by_default(self, seat: Seat) -> None:
        """Play the safe default for a seat whose house bot is late, and go on."""
        self.stop_clock(seat)
        self.act(seat, safe_default(seat.legal_actions))
        self.advance_if_decided()

    # House bots -------------------------------------------------------------------------------------------------------

    def ask_house_bot(self, seat: Seat) -> None:
        """Let the house bot decide, after the room's pause. The clock does not run in the pause.

        There is one pause for a decision, so that a bot that comes and goes cannot put it off for ever; and none while
        no bot is connected, so that games that all have left do not pile up; an exhibition has had none.
        """
        followed = self._start.exhibition or any(it.connection is not None for it in self._seats)
        if self._start.settings.pause and not seat.paused and followed:
            seat.paused = True
            self._loop.call_later(self._start.settings.pause, self._pause_over, seat, seat.legal_actions)
        else:
            self._house_bot_decides(seat)

    def _pause_over(self, seat: Seat, legal_actions: list[int]) -> None:
        if seat.legal_actions is legal_actions and not self.closed:  # else the connection is back
            self._house_bot_decides(seat)
            self.advance_if_decided()

    def _house_bot_decides(self, seat: Seat) -> None:
        """Let the house bot decide, at once or, if it is not compiled, later and against the clock."""
        legal_actions = seat.legal_actions
        on_decision = partial(self._fallback_decided, seat, legal_actions)
        action = seat.fallback.decide(self._engine.view(seat.index), legal_actions, on_decision, self.party)
        if action is None:
            seat.clock.start()
        else:
            self.act(seat, action)

    def _fallback_decided(self, seat: Seat, legal_actions: list[int], action: int) -> None:
        if seat.legal_actions is legal_actions:  # else it was too late, or the connection is back
            self.stop_clock(seat)
            self.act(seat, action)
            self.advance_if_decided()
