"""A bot that is a program and speaks mjai on its stdin and stdout, in one of the framings of `agents.external.framing`.

`find_framing` detects which.
"""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from pathlib import Path

from agents.external.framing import ARRAY, ASKED, AUTO, EVENT, TIMEOUT
from agents.external.mjai_bot import NONE, OPENING, BotError, excerpt, parse_message, read_reply
from agents.external.process import STDOUT_HINT, ExitedError, LineProcess
from agents.external.stderr import format_lines
from agents.external.traffic import Note
from engine.mjai.dialects import write
from engine.mjai.messages import Message

PLACEHOLDER = "{id}"
NAMELESS = frozenset({"bot", "main", "__main__", "run", "start", "player", "mjai"})  # names that many scripts have


class SubprocessBot:
    """A bot in a child process, started for its first game and kept for later games unless it fails."""

    def __init__(self, command: str, dialect: str = "mjai3p", framing: str = AUTO, timeout: float = TIMEOUT) -> None:
        """Does not start the process yet. ``{id}`` in the command is replaced by the seat.

        The command is split as a shell would, but no shell runs it. The child has `timeout` seconds for each reply.
        Raises ValueError for a command that cannot be run.
        """
        if sys.platform == "win32":  # `agents.external.process` needs POSIX
            raise ValueError(
                f"{command!r} cannot be run: on Windows, programs play over TCP alone (mjsonp://HOST:PORT/ROOM)"
            )
        try:
            self._arguments = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"exec:{command} cannot be run: {error}") from None
        if not self._arguments or shutil.which(self._arguments[0]) is None:
            raise ValueError(f"exec:{command} cannot be run: there is no program {' '.join(self._arguments[:1])!r}")
        self.name = name_of(self._arguments)
        self._dialect = dialect
        self._framing = framing
        self._timeout = timeout
        self._process: LineProcess | None = None
        self._seat = -1
        self._playing = False
        self.note: Note | None = None  # see `agents.external.traffic`
        self._exchange = b"", b""  # the last event that asked the program, and its reply

    def prepare(self) -> None:
        """Detect the framing if it is not known yet; see `agents.external.mjai_bot.MjaiBot`."""
        if self._framing == AUTO:
            self._framing = find_framing(fill_in_seat(self._arguments, 0), self._dialect, self._timeout, self._noted)

    def react(self, messages: list[Message]) -> Message:
        """Ask the child. It is ended by every fault, and a new one begins the next game."""
        try:
            reused = messages[0]["type"] == "start_game" and self._begin(messages[0]["id"])
            if self._process is None:
                raise BotError("sits out until the next game")
            n_bytes_read = self._process.n_bytes_read
            try:
                return self._answer(self._process, messages)
            except ExitedError:
                if not reused or self._process.n_bytes_read > n_bytes_read:
                    raise
            self.close()  # it was still exiting after the last game when this one began
            return self.react(messages)
        except BaseException:
            self.close()  # whatever was raised, requests and replies may be out of step
            raise

    def reject(self, reason: str) -> BotError:
        """End the child, as for every fault; add what it was asked and what it has replied."""
        process = self._process
        self.close()
        asked, replied = map(excerpt, self._exchange)
        what = (
            f"{reason}; it was asked by {asked} (dialect {self._dialect}, framing {self._framing}), replied {replied}"
        )
        return BotError(what, process.stderr() if process is not None else [])

    def _noted(self, mark: str, line: bytes) -> None:
        if self.note is not None:  # a process that is kept continues in the log of the next game
            self.note(mark, line)

    def said(self) -> str:
        """Return the lines that the child has written."""
        return format_lines(self._process.take_stderr()) if self._process is not None else ""

    def close(self) -> None:
        """End the child."""
        self._playing = False
        if self._process is not None:
            self._process.end()
            self._process = None

    def _begin(self, seat: int) -> bool:
        """Begin a game as `seat`, in a new child unless that of the last game will do. Returns whether it does."""
        self.prepare()
        seat_in_command = fill_in_seat(self._arguments, seat) != self._arguments
        if self._process is not None:
            if self._playing or not self._process.running or (seat_in_command and seat != self._seat):
                self.close()
        reused = self._process is not None
        if self._process is None:
            self._process = LineProcess(fill_in_seat(self._arguments, seat), self._timeout, self._noted)
        self._seat = seat
        self._playing = True
        return reused

    def _answer(self, process: LineProcess, messages: list[Message]) -> Message:
        game_over = messages[-1]["type"] == "end_game"
        events = [write(message, self._dialect) for message in messages]
        try:
            line = send_events(process, self._framing, events, ask=not game_over)
            self._exchange = to_line(events[-1]), line
            self._playing = not game_over
            return NONE if game_over else read_reply(parse_message(line), self._seat)
        except (BotError, ValueError) as error:
            if game_over:
                self.close()  # it has exited, or its replies may be out of step
                return NONE
            if isinstance(error, BotError):
                raise
            process.end()
            raise BotError(invalid_reply(error), process.stderr()) from None


def send_events(process: LineProcess, framing: str, events: list[Message], ask: bool) -> bytes:
    """Send `events` to `process`; returns its reply to the last one, b"" if none is expected.

    `ask`: the last event asks for a decision. Raises BotError, and ValueError for a reply that is not a message.
    """
    if framing == ARRAY:
        process.write(to_line(events))
        return process.read()
    line = b""
    for number, event in enumerate(events, 1):
        can_act = ask and number == len(events)
        process.write(to_line(event | {"can_act": can_act} if framing == ASKED else event))
        if framing == EVENT or can_act:
            line = process.read()
            parse_message(line)
    return line


def invalid_reply(error: ValueError) -> str:
    """Return the fault of a reply that cannot be read; one that is not JSON is probably not meant as a reply."""
    hint = f" ({STDOUT_HINT})" if str(error).startswith("not JSON") else ""
    return f"sent an invalid reply: {error}{hint}"


def find_framing(arguments: list[str], dialect: str, timeout: float, note: Note | None = None) -> str:
    """Detect which framing a bot understands. Raises BotError if it understands none.

    The bot is started twice at most, as seat 0, and dealt a hand in which it must discard. First the three events are
    sent as one array: only a bot with framing ``array`` replies with a discard. Then they are sent one a line:
    ``event`` and ``asked`` differ in whether the first two events get a reply. (The other order would be wrong: many
    bots that read arrays write some reply to a single event, too.)
    """
    faults: list[BotError] = []
    for probe in (probe_array, probe_events):
        process = LineProcess(arguments, timeout, note)
        try:
            return probe(process, [write(message, dialect) for message in OPENING])
        except BotError as error:
            faults.append(error)
        except ValueError as error:
            process.end()
            faults.append(BotError(invalid_reply(error), process.stderr()))
        finally:
            process.end()
    trial = f"failed the trial before the first game (dialect {dialect}; it is dealt a hand and must discard)"
    array, events = faults
    if (array.what, array.stderr) == (events.what, events.stderr):
        raise BotError(f"{trial}: it {array.what}", array.stderr)
    found = f"given the events as one array, it {array}; given them one a line, it {events}"
    named = f"exec+{EVENT}:COMMAND, or --framing {EVENT} of the client ({EVENT}, {ASKED} or {ARRAY}: docs/bots.md)"
    raise BotError(f"{trial}: {found}; if you know how it reads them, name its framing, as in {named}")


def probe_array(process: LineProcess, events: list[Message]) -> str:
    """ARRAY if the bot discards. Raises BotError or ValueError if it does not."""
    process.write(to_line(events))
    line = process.read()
    if read_reply(parse_message(line), 0) == NONE:
        raise no_discard(process, line)
    return ARRAY


def probe_events(process: LineProcess, events: list[Message]) -> str:
    """EVENT or ASKED. Raises BotError or ValueError if the bot does not discard."""
    process.write(b"\n".join(map(to_line, events)))
    replies = [process.read()]
    while read_reply(parse_message(replies[-1]), 0) == NONE:
        if len(replies) == len(events):
            raise no_discard(process, replies[-1])
        replies.append(process.read())
    if len(replies) not in (1, len(events)):
        raise ValueError(f"{len(replies)} lines in reply to {len(events)} events: expected {len(events)} or 1")
    return EVENT if len(replies) > 1 else ASKED


def no_discard(process: LineProcess, line: bytes) -> BotError:
    """The bot has replied `none` where it must discard, often because it has caught an internal error."""
    process.end()
    return BotError(f"replied {excerpt(line)} where it must discard", process.stderr())


def to_line(message: Message | list[Message]) -> bytes:
    """`message` as JSON in one line, without the line end."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


def fill_in_seat(arguments: list[str], seat: int) -> list[str]:
    """`arguments` with the placeholder replaced by `seat`."""
    return [argument.replace(PLACEHOLDER, str(seat)) for argument in arguments]


def name_of(arguments: list[str]) -> str:
    """The name of a bot: that of the script it runs, or else of the program; of its folder where that says nothing."""
    script = Path(next((argument for argument in arguments[1:] if Path(argument).is_file()), arguments[0]))
    return script.absolute().parent.name or script.stem if script.stem in NAMELESS else script.stem
