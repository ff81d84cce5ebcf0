"""A foreign bot that speaks mjai on stdin and stdout, as a player.

=========  =======================================================================================================
framing    what such bots do
=========  =======================================================================================================
``array``  read one JSON array of events a line, all since their last reply, and write one reply line to each
           (mjai.app)
``event``  read one event a line and write one reply line to each, ``none`` where there is nothing to say
``asked``  read one event a line and write a line only where they have something to decide (Mortal); what is no
           question is marked ``"can_act":false``, which such bots understand
=========  =======================================================================================================

Which of them a bot is can be found out: see `find_framing`.
"""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

from agents.external.mjai_bot import NONE, OPENING, BotError, excerpt, parse_message, read_reply
from agents.external.process import GoneError, Process
from engine.mjai.dialects import write
from engine.mjai.messages import Message

AUTO, ARRAY, EVENT, ASKED = "auto", "array", "event", "asked"
FRAMINGS = (AUTO, EVENT, ASKED, ARRAY)
PLACEHOLDERS = ("{id}", "{seat}")
TIMEOUT = 30.0  # seconds for one answer; the first one waits for large networks to be loaded


class Child:
    """A bot in a child process, started with its first game and kept for the next ones as long as it behaves."""

    def __init__(self, command: str, dialect: str = "mjai3p", framing: str = AUTO, timeout: float = TIMEOUT) -> None:
        """Nothing is started yet. ``{id}`` and ``{seat}`` in the command become the seat.

        The command is split as a shell would, but no shell runs it. The child has `timeout` seconds for each answer.
        Raises ValueError for a command that cannot be run.
        """
        self._arguments = shlex.split(command)
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise ValueError(f"{command!r} cannot be run: there is no program {' '.join(self._arguments[:1])!r}")
        self.name = name_of(self._arguments)
        self._dialect = dialect
        self._framing = framing
        self._timeout = timeout
        self._process: Process | None = None
        self._seat = -1
        self._playing = False

    def prepare(self) -> None:
        """Find out the framing where it is not known yet; see `agents.external.mjai_bot.MjaiBot`."""
        if self._framing == AUTO:
            self._framing = find_framing(seated(self._arguments, 0), self._dialect, self._timeout)

    def react(self, messages: list[Message]) -> Message:
        """See `agents.external.mjai_bot.MjaiBot`."""
        try:
            kept = messages[0]["type"] == "start_game" and self._begin(messages[0]["id"])
            if self._process is None:
                raise BotError("sits out until the next game")
            n_heard = self._process.n_heard
            try:
                return self._answer(self._process, messages)
            except GoneError:
                if not kept or self._process.n_heard > n_heard:
                    raise
            self.close()  # it was still leaving the last game when this one began
            return self.react(messages)
        except BaseException:
            self.close()  # whatever it was, the child is out of step
            raise

    def refuse(self, why: str) -> None:
        """See `agents.external.mjai_bot.MjaiBot`; the child is ended, as for every fault."""
        self.close()

    def close(self) -> None:
        """End the child."""
        self._playing = False
        if self._process is not None:
            self._process.end()
            self._process = None

    def _begin(self, seat: int) -> bool:
        """See to a child that can play a new game as `seat`. Returns whether it is the one of the last game."""
        self.prepare()
        told_seat = seated(self._arguments, seat) != self._arguments
        if self._process is not None:
            if self._playing or not self._process.running or (told_seat and seat != self._seat):
                self.close()
        kept = self._process is not None
        if self._process is None:
            self._process = Process(seated(self._arguments, seat), self._timeout)
        self._seat = seat
        self._playing = True
        return kept

    def _answer(self, process: Process, messages: list[Message]) -> Message:
        ending = messages[-1]["type"] == "end_game"
        events = [write(message, self._dialect) for message in messages]
        try:
            line = exchange(process, self._framing, events, asked=not ending)
            self._playing = not ending
            return NONE if ending else read_reply(parse_message(line), self._seat)
        except BotError:
            if not ending:
                raise
            self.close()  # it has left with the end of the game
            return NONE
        except ValueError as error:
            process.end()
            raise BotError(f"answered nonsense: {error}", process.stderr()) from None


def exchange(process: Process, framing: str, events: list[Message], asked: bool) -> bytes:
    """Tell `process` all events, and return its reply to the last one; b"" where none is due.

    Raises BotError, ValueError for a reply that is no message.
    """
    if framing == ARRAY:
        process.write(to_line(events))
        return process.read()
    line = b""
    for place, event in enumerate(events, 1):
        asks = asked and place == len(events)
        process.write(to_line(event | {"can_act": asks} if framing == ASKED else event))
        if framing == EVENT or asks:
            line = process.read()
            parse_message(line)
    return line


def find_framing(arguments: list[str], dialect: str, timeout: float) -> str:
    """Which framing a bot understands. Starts it twice at most, as seat 0. Raises BotError where it is none.

    It is dealt a hand in which it must discard. Only a bot that reads arrays answers an array with an action: others
    fail, or answer ``none``. The same three events, a line each, tell the others apart by their answers to the first
    two. (The other way round would not do: many a bot that reads arrays answers an event with something.)
    """
    faults = []
    for probe in (probe_array, probe_events):
        process = Process(arguments, timeout)
        try:
            return probe(process, [write(message, dialect) for message in OPENING])
        except BotError as error:
            faults.append(str(error))
        except ValueError as error:
            faults.append(f"answered nonsense: {error}")
        finally:
            process.end()
    if faults[0] == faults[1]:
        raise BotError(faults[0])
    raise BotError(f"understands neither an array of events ({faults[0]}) nor one event a line ({faults[1]})")


def probe_array(process: Process, events: list[Message]) -> str:
    """ARRAY where the bot discards. Raises BotError, ValueError where it does not."""
    process.write(to_line(events))
    line = process.read()
    if read_reply(parse_message(line), 0) == NONE:
        raise ValueError(excerpt(line))
    return ARRAY


def probe_events(process: Process, events: list[Message]) -> str:
    """EVENT or ASKED. Raises BotError, ValueError where the bot does not discard."""
    process.write(b"\n".join(map(to_line, events)))
    replies = [process.read()]
    while read_reply(parse_message(replies[-1]), 0) == NONE:
        if len(replies) == len(events):
            raise ValueError(excerpt(replies[-1]))
        replies.append(process.read())
    if len(replies) not in (1, len(events)):
        raise ValueError(f"{len(replies)} lines in reply to {len(events)} events, neither one each nor one alone")
    return EVENT if len(replies) > 1 else ASKED


def to_line(message: Message | list[Message]) -> bytes:
    """JSON as it is sent, without a line end."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def seated(arguments: list[str], seat: int) -> list[str]:
    """The command of a bot that plays `seat`."""
    for placeholder in PLACEHOLDERS:
        arguments = [argument.replace(placeholder, str(seat)) for argument in arguments]
    return arguments


def name_of(arguments: list[str]) -> str:
    """What to call a bot: the script it runs, or else the program."""
    script = next((argument for argument in arguments[1:] if Path(argument).is_file()), arguments[0])
    return Path(script).stem
