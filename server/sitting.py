"""One game being played: asks, waits, falls back, and tells everybody what happened.

A state machine without tasks of its own: replies, clocks and lost connections call it, and each call goes on to the
next question. So nothing here ever waits for a bot.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any, Protocol

import numpy as np
import structlog

from agents.base import Agent, CompiledAgent
from agents.registry import make
from engine.actions import PASS, TSUMOGIRI
from engine.game import Game
from engine.mjai.messages import Message
from engine.mjai.possible_actions import legal_action, safe_default
from server.guest import Guest
from server.history import History
from server.journal import Entry, Journal
from server.metrics import Metrics
from server.seat import Seat
from server.start import Start

BURST = 64  # steps in one go while nobody has to be waited for
# For house bots that are not compiled: one that hangs holds up bots of its kind, and nothing else.
THINKERS = ThreadPoolExecutor(thread_name_prefix="house bot")
log = structlog.get_logger("server.sitting")


class Host(Protocol):
    """Who runs sittings."""

    metrics: Metrics

    def game_over(self, sitting: Sitting) -> None:
        """All is played; keep the result, then `Sitting.announce_end`."""
        ...

    def round_over(self, sitting: Sitting) -> None:
        """A round has ended."""
        ...


class Sitting:
    """A game, its three seats and its journal."""

    def __init__(self, start: Start, journal: Journal, host: Host) -> None:
        """Set up; nothing happens before `begin` or `restore`."""
        self.start = start
        self.history = History()
        self.holding = False  # restored, and waiting for its guests
        self.end_game: Message | None = None  # held back until the result is kept
        self.announced = False
        self._closed = False
        self.game = Game(start.seed, start.settings.make_rules(), start.names)
        self.seats = [
            Seat(self, index, player, start.settings.bank_time, house=self._house(player.house, index))
            for index, player in enumerate(start.players)
        ]
        self._journal = journal
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._remarks: dict[int, tuple[str, Any]] = {}  # by seat: type and ext_bot of the reply just acted on
        self._received = 0.0  # when the last needed reply came in

    @property
    def id(self) -> str:
        """Name of the game, everywhere."""
        return self.start.id

    @property
    def guests(self) -> list[Seat]:
        """The seats that were given to guests."""
        return [seat for seat in self.seats if not seat.player.house]

    def begin(self) -> None:
        """Play a new game."""
        self._journal.append(self.start.entry())
        self._advance()

    # What happens to it ---------------------------------------------------------------------------------------------

    def decide(self, seat: Seat, reply: Message) -> None:
        """The reply to the open decision of a seat."""
        self._received = perf_counter()
        self._stop_clock(seat)
        try:
            action = legal_action(self.game.table, seat.index, reply, seat.menu)
        except ValueError as error:
            self.fault(seat, str(error), "illegal", decides=True)
            return
        if "ext_bot" in reply:
            self._remarks[seat.index] = (reply["type"], reply["ext_bot"])
        self._act(seat, action)
        self._go_on()

    def fault(self, seat: Seat, text: str, kind: str, decides: bool) -> None:
        """A seat did something wrong; where that was its answer (`decides`), the safe default is played."""
        seat.faults += 1
        self._host.metrics.faults.labels(kind).inc()
        self._journal.append({"fault": text, "seat": seat.index})
        self.history.note(seat.index, text)
        if seat.guest is not None:
            seat.guest.complain(text)
        if decides:
            self._received = perf_counter()
            self._stop_clock(seat)
            self._act(seat, safe_default(seat.menu))
        if seat.faults >= self.start.settings.max_faults and seat.house is None and not self.game.over:
            self._take_over(seat, f"{seat.faults} faults")
        if decides:
            self._go_on()

    def lost(self, seat: Seat) -> None:
        """The connection of a seat is gone."""
        seat.guest = None
        if seat.house is None and not self.game.over and not self._closed:
            seat.patience = self._loop.call_later(self.start.settings.resume_within, self._patience_over, seat)

    def resume(self, seat: Seat, guest: Guest, seen: int) -> None:
        """A guest is back and has `seen` so many messages, at most as many as there are."""
        if seat.guest is not None:
            seat.guest.seat = None
            seat.guest.refuse("another connection has come back to this seat")
        if seat.patience is not None:
            seat.patience.cancel()
            seat.patience = None
        seat.guest, guest.seat = guest, seat
        if seat.taken_over and seat.faults < self.start.settings.max_faults:
            seat.house = None
            seat.menu = list(seat.menu)  # another one than a house bot may still be thinking about
            self._note_house(seat, "")
        first = min(seen, self.history.count - 1)  # the last is sent again, so that there is something to answer
        guest.resumed(first)
        if not self.holding:
            guest.tell(self.history.since(first), self.game, seat.menu, resent=True)
            return
        guest.tell(self.history.since(first)[:-1], self.game, [], resent=True)  # the last comes with the question
        if not self._missing():
            self._release()

    def restore(self, entries: Sequence[Entry]) -> None:
        """Go on from a journal, whose header is `start`: when all guests are back, or it is too late.

        Raises ValueError or KeyError for entries that cannot be.
        """
        self._record(self._take_messages())
        for entry in entries:
            self._replay(self.seats[entry["seat"]], entry)
        self.holding = True
        self._loop.call_later(self.start.settings.resume_within, self._release)
        if not self._missing():
            self._release()

    def _missing(self) -> bool:
        """Whether a guest of a restored game is not back yet, nor played for by a house bot."""
        return any(seat.guest is None and seat.house is None for seat in self.guests)

    def announce_end(self) -> None:
        """The result is kept: everybody hears of the end."""
        assert self.end_game is not None
        self.announced = True
        self._tell([self.end_game], {})
        self._record([self.end_game])

    def close(self) -> None:
        """Stop, and leave the journal for the next start."""
        self._closed = True
        for seat in self.seats:
            seat.stop_clocks()
        self._journal.close()

    def forget(self) -> None:
        """Nobody can come back any more."""
        self._closed = True
        for seat in self.seats:
            seat.stop_clocks()
        self._journal.remove()

    # Going on ---------------------------------------------------------------------------------------------------------

    def _go_on(self) -> None:
        """After an answer: on to the next question, unless another seat has yet to answer."""
        if not self.holding and not any(seat.menu for seat in self.seats):
            self._advance()

    def _advance(self) -> None:
        """Play until somebody has to be waited for."""
        if self._closed:
            return
        for _ in range(BURST):
            menus = {seat: self.game.legal(seat) for seat in self.game.asked}
            fresh = self._take_messages()
            self._tell(fresh, self._asked(menus))
            self._record(fresh)
            if self.game.over:
                for seat in self.seats:
                    seat.stop_clocks()
                self._host.game_over(self)
                return
            if not self._ask(menus):
                return
        self._loop.call_soon(self._advance)  # others want to play too

    def _take_messages(self) -> list[Message]:
        """What has happened; the end of the game is held back until the result is kept."""
        fresh = self.game.take_messages()
        if self.game.over and fresh:
            self.end_game = fresh.pop()
        return fresh

    def _tell(self, messages: list[Message], menus: dict[int, list[int]]) -> None:
        """Send everybody what has happened, with the question to those who are asked."""
        for seat in self.seats:
            if seat.guest is not None:
                seat.guest.tell(messages, self.game, menus.get(seat.index, []))
        if self._received:
            self._host.metrics.answered(perf_counter() - self._received)
            self._received = 0.0

    def _record(self, messages: list[Message]) -> None:
        """Add messages to the history, with the remark of the bot that caused them."""
        for message in messages:
            self.history.add(message, self._remark_on(message))
            if message["type"] == "end_kyoku":
                self._host.round_over(self)
        if messages:
            self._remarks.clear()

    def _remark_on(self, message: Message) -> Any:
        """What the bot whose reply became this message said to it, if anything; an abortive draw names no actor."""
        for seat, (kind, remark) in self._remarks.items():
            if kind == message["type"] and message.get("actor", seat) == seat:
                del self._remarks[seat]
                return remark
        return None

    def _asked(self, menus: dict[int, list[int]]) -> dict[int, list[int]]:
        """The menus of those whose answer has to be waited for."""
        return {seat: menu for seat, menu in menus.items() if not self._plays_itself(seat, menu)}

    def _plays_itself(self, index: int, menu: list[int]) -> bool:
        """Whether a seat's answer needs no guest: a house bot's, or the only one there is."""
        seat = self.seats[index]
        if seat.house is not None:
            return True
        return len(menu) == 1 and (seat.guest is None or seat.guest.when_asked)

    def _ask(self, menus: dict[int, list[int]]) -> bool:
        """Open the decisions of the asked seats. True where all have answered at once."""
        for index, menu in menus.items():
            seat = self.seats[index]
            seat.menu = menu
            if not self._plays_itself(index, menu):
                self._start_clock(seat)
            elif len(menu) == 1:
                self._act(seat, menu[0])
            else:
                self._ask_house(seat)
        return not any(seat.menu for seat in self.seats)

    def _act(self, seat: Seat, action: int) -> None:
        """A seat's decision, whoever made it: written down, then played."""
        seat.menu = []
        seat.decisions += 1
        entry: Entry = {"seat": seat.index, "act": action, "bank": round(seat.bank, 3)}
        if seat.index in self._remarks:
            entry["remark"] = self._remarks[seat.index]
        self._journal.append(entry)
        self._host.metrics.decisions.inc()
        self.game.act(seat.index, action)

    def _replay(self, seat: Seat, entry: Entry) -> None:
        """One line of the journal, again."""
        if "act" in entry:
            seat.bank = entry["bank"]
            seat.decisions += 1
            self.game.act(seat.index, entry["act"])
            if "remark" in entry:
                self._remarks[seat.index] = (entry["remark"][0], entry["remark"][1])
            self._record(self._take_messages())
        elif "fault" in entry:
            seat.faults += 1
            self.history.note(seat.index, entry["fault"])
        else:
            seat.house = self._house(entry["house"], seat.index)
            if entry["note"]:
                self.history.note(seat.index, entry["note"])

    # Clocks and house bots --------------------------------------------------------------------------------------------

    def _start_clock(self, seat: Seat) -> None:
        settings = self.start.settings
        seat.asked_at = self._loop.time()
        seat.clock = self._loop.call_at(seat.asked_at + settings.decision_time + seat.bank, self._late, seat)

    def _stop_clock(self, seat: Seat) -> None:
        if seat.clock is None:
            return
        seat.clock.cancel()
        seat.clock = None
        spent = self._loop.time() - seat.asked_at
        seat.bank = max(0.0, seat.bank - max(0.0, spent - self.start.settings.decision_time))
        self._host.metrics.answer_time.observe(spent)

    def _late(self, seat: Seat) -> None:
        settings = self.start.settings
        if seat.guest is not None:
            seat.guest.decision_taken()
        default = "none" if PASS in seat.menu else "tsumogiri" if TSUMOGIRI in seat.menu else "a legal discard"
        text = f"no answer within {settings.decision_time:g} s and the time bank; {default} was played"
        self.fault(seat, text, "late", decides=True)

    def _patience_over(self, seat: Seat) -> None:
        seat.patience = None
        self._take_over(seat, f"connection lost for {self.start.settings.resume_within:g} s")

    def _take_over(self, seat: Seat, why: str) -> None:
        """A house bot plays the seat from here on, and answers what it is asked."""
        if seat.patience is not None:
            seat.patience.cancel()
            seat.patience = None
        house = self.start.settings.house
        seat.house = self._house(house, seat.index)
        text = f"{why}: {house} plays this seat"
        self._note_house(seat, text)
        self.history.note(seat.index, text)
        self._host.metrics.taken_over.inc()
        log.info("seat taken over", game=self.id, seat=seat.index, player=seat.player.name, why=why)
        if seat.guest is not None:
            guest, seat.guest = seat.guest, None
            guest.seat = None
            guest.refuse(text)
        if seat.menu:
            self._stop_clock(seat)
            self._ask_house(seat)
            self._go_on()

    def _note_house(self, seat: Seat, note: str) -> None:
        house = self.start.settings.house if seat.house else ""
        self._journal.append({"house": house, "seat": seat.index, "note": note})

    def _house(self, spec: str, index: int) -> Agent | None:
        return make(spec, (self.start.seed + index) % (1 << 64)) if spec else None

    def _ask_house(self, seat: Seat) -> None:
        """Let a house bot answer: at once where it is compiled, else beside the game, with a clock."""
        assert seat.house is not None
        views = np.array([self.game.view(seat.index)])
        if isinstance(seat.house, CompiledAgent):
            self._act(seat, int(seat.house.act(views)[0]))
            return
        if seat.thinking is not None and not seat.thinking.done():  # it was late: no bot is asked twice at a time
            self._act(seat, safe_default(seat.menu))
            return
        self._start_clock(seat)
        house, menu = seat.house, seat.menu
        seat.thinking = self._loop.run_in_executor(THINKERS, lambda: int(house.act(views)[0]))
        seat.thinking.add_done_callback(lambda answer: self._house_answered(seat, menu, answer))

    def _house_answered(self, seat: Seat, menu: list[int], answer: asyncio.Future[int]) -> None:
        error = answer.exception()
        if seat.menu is not menu:  # too late, or the guest is back
            return
        self._stop_clock(seat)
        action = answer.result() if error is None else -1
        if action not in menu:
            log.error("house bot failed", game=self.id, seat=seat.index, error=repr(error) if error else action)
            action = safe_default(menu)
        self._act(seat, action)
        self._go_on()

    def _release(self) -> None:
        """The guests of a restored game are back, or have had their time."""
        if not self.holding or self._closed:
            return
        self.holding = False
        for seat in self.guests:
            if seat.guest is None and seat.house is None and not self.game.over:
                self._take_over(seat, f"not back within {self.start.settings.resume_within:g} s of the restart")
        menus = {seat: self.game.legal(seat) for seat in self.game.asked}
        self._tell(self.history.since(self.history.count - 1), self._asked(menus))
        if self.game.over:
            self._host.game_over(self)
        elif self._ask(menus):
            self._advance()
