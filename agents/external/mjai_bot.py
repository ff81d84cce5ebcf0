"""The interface of a bot that speaks mjai (`MjaiBot`), how it fails (`BotError`), and how its replies are read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from agents.external.stderr import format_lines
from engine.mjai.bot_checks import BadMessage, check_reply
from engine.mjai.kinds import HIDDEN_HAND
from engine.mjai.messages import Message, start_game, start_kyoku
from engine.rules import EVEN_SCORES, TENHOU

NONE: Message = {"type": "none"}
FIRST_HAND = ["1m", "9m", "1p", "4p", "7p", "2s", "5s", "8s", "E", "S", "P", "F", "2p"]
# A game up to the first decision of seat 0, where a discard is the only legal action.
OPENING: tuple[Message, ...] = (
    start_game(["0", "1", "2"], TENHOU) | {"id": 0},
    start_kyoku(0, 0, 0, "9s", list(EVEN_SCORES), [FIRST_HAND, HIDDEN_HAND, HIDDEN_HAND]),
    {"type": "tsumo", "actor": 0, "pai": "6p"},
)
EXCERPT_LENGTH = 120  # characters of a bad reply that are shown


class BotError(Exception):
    """A bot failed. The message is one line: what it did, and its stderr (see `agents.external.stderr`)."""

    def __init__(self, what: str, stderr: Sequence[str] = ()) -> None:
        super().__init__(what + format_lines(stderr))
        self.what = what
        self.stderr = list(stderr)


class MjaiBot(Protocol):
    """A bot that plays by mjai messages, one game at a time."""

    name: str

    def prepare(self) -> None:
        """Do what takes time before the first game. Raises BotError, and OSError for an address already in use."""
        ...

    def react(self, messages: list[Message]) -> Message:
        """Reply to the last of `messages`, the canonical messages for its seat since the last call.

        A game begins with ``start_game``, which has the seat as ``id``; the reply to ``end_game`` is ignored.
        Returns a canonical action, not checked to be legal, or ``none``. Raises BotError; the bot is then
        not asked again until the next ``start_game``.
        """
        ...

    def reject(self, reason: str) -> BotError:
        """Report why its last reply cannot be played; return this as a failure, with what else is known about it.

        The bot is not asked again until the next ``start_game``.
        """
        ...

    def close(self) -> None:
        """Release its resources; it can be used again."""
        ...


@runtime_checkable
class Talking(Protocol):
    """A mjai bot that has its own stderr."""

    def said(self) -> str:
        """What it has written there since the last call, for the end of a sentence; ``""`` for nothing."""
        ...


@runtime_checkable
class Watching(Protocol):
    """A mjai bot that receives each message at once, not only when it has to reply."""

    def watch(self, message: Message) -> None:
        """Take the next canonical message for its seat; `MjaiBot.react` gets it later, with those around it."""
        ...


def parse_message(line: bytes | str) -> Message:
    """The JSON object in `line`, which must have a type. Raises ValueError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"not JSON: {excerpt(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"no object with a type: {excerpt(line)}")
    return message


def read_reply(message: Message, seat: int) -> Message:
    """A bot's reply as a canonical action or ``none``, checked as a server does. Raises ValueError."""
    try:
        reply = check_reply(message)
    except BadMessage as error:
        raise ValueError(f"{error}: {excerpt(json.dumps(message))}") from None
    if reply["type"] == "none":
        return NONE
    if reply.get("actor", seat) != seat:
        raise ValueError(f"an action of another seat than {seat}: {excerpt(json.dumps(message))}")
    return reply


def excerpt(reply: bytes | str) -> str:
    """The beginning of a reply, printable, in one line."""
    text = reply.decode(errors="replace") if isinstance(reply, bytes) else reply
    shown = repr(text[:EXCERPT_LENGTH])
    return shown if len(text) <= EXCERPT_LENGTH else shown + "…"


def one_line(text: str) -> str:
    """`text` in one line, fit for a terminal.

    All white space, line ends included, becomes single blanks; other characters that are not printable are escaped, so
    that no text of another program or machine can steer the terminal that shows it.
    """
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in " ".join(text.split()))
