"""A bot that is told what happens and answers: what mjai calls a player."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from agents.base import Agent, Annotating
from engine.actions import action_name, actions_of
from engine.mjai.actions import action_message
from engine.mjai.messages import Message, start_game
from engine.mjai.player_state import PlayerState
from engine.mjai.possible_actions import safe_default
from engine.mjai.reading import canonical
from engine.mjai.schema import REPLY_TYPES
from engine.rules import TENHOU
from engine.table import TABLE

NONE: Message = {"type": "none"}
# A game up to the first decision of seat 0: nothing can be done but discard.
OPENING: tuple[Message, ...] = (
    start_game(["0", "1", "2"], TENHOU) | {"id": 0},
    {
        "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "9s",
        "scores": [35000, 35000, 35000],
        "tehais": [["1m", "9m", "1p", "4p", "7p", "2s", "5s", "8s", "E", "S", "P", "F", "2p"], ["?"] * 13, ["?"] * 13],
    },
    {"type": "tsumo", "actor": 0, "pai": "6p"},
)  # fmt: skip
SHOWN = 120  # characters of a bad reply that are shown
TAIL_SHOWN = 3  # lines of stderr that go into the one line


class BotError(Exception):
    """A player failed: one line saying how, with the last of what it wrote to stderr; `stderr` has more lines of it."""

    def __init__(self, what: str, stderr: Sequence[str] = ()) -> None:
        tail = f"; stderr: {' | '.join(stderr[-TAIL_SHOWN:])}" if stderr else ""
        super().__init__(what + tail)
        self.what = what
        self.stderr = list(stderr)


class MjaiBot(Protocol):
    """A bot that plays one game at a time, seat and all else being told by messages."""

    name: str

    def prepare(self) -> None:
        """Make ready what can be before a game begins. Raises BotError, and OSError for a place taken."""
        ...

    def react(self, messages: list[Message]) -> Message:
        """Answer the last of `messages`, canonical ones its seat has received since the last call.

        A game begins with ``start_game``, which has the seat as ``id``; the reply to ``end_game`` means nothing.
        Returns a canonical action, not checked to be legal, or ``none``. Raises BotError; the player then sits out
        until the next ``start_game``.
        """
        ...

    def refuse(self, why: str) -> None:
        """Its last answer cannot be played, for that reason. It sits out until the next ``start_game``."""
        ...

    def close(self) -> None:
        """Free what it holds; it can be used again."""
        ...


class AgentBot:
    """An agent as a player."""

    def __init__(self, agent: Agent) -> None:
        self.name = agent.name
        self._agent = agent
        self._state = PlayerState()

    def prepare(self) -> None:
        """Take the first decision of a game, so that all is compiled; see `MjaiBot`."""
        self.react(list(OPENING))

    def react(self, messages: list[Message]) -> Message:
        """See `MjaiBot`."""
        for message in messages:
            if message["type"] == "start_game":
                self._state = PlayerState()
            try:
                self._state.update(message)
            except ValueError as error:
                raise BotError(f"does not understand the game: {error}") from error
        legal = self._state.legal
        if not legal:
            return NONE
        view = self._state.view
        try:
            action = int(self._agent.act(np.array([view], dtype=TABLE))[0])
            remark = self._agent.annotate() if isinstance(self._agent, Annotating) else {}
        except Exception as error:
            raise BotError(f"raised {type(error).__name__}: {one_line(str(error))}") from error
        if action not in legal:
            raise BotError(f"may not {action_name(action)}; legal: {', '.join(map(action_name, legal))}")
        reply = action_message(view, self._state.seat, action)
        return reply | {"ext_bot": remark} if remark else reply

    def refuse(self, why: str) -> None:
        """See `MjaiBot`; an agent is not told."""

    def close(self) -> None:
        """See `MjaiBot`."""


class StandIn:
    """The agent that plays on where a bot has failed: it lets everything pass."""

    name = "stand-in"

    def act(self, views: np.ndarray) -> np.ndarray:
        """See `agents.base.Agent`."""
        menus = [actions_of(*view.legal[view.viewer].tolist()) for view in views]
        return np.array([safe_default(menu) for menu in menus], dtype=np.int64)


def parse_message(line: bytes | str) -> Message:
    """A JSON object with a type. Raises ValueError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError(f"not JSON: {excerpt(line)}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise ValueError(f"no object with a type: {excerpt(line)}")
    return message


def read_reply(message: Message, seat: int) -> Message:
    """What a bot replied as a canonical action or ``none``, read liberally. Raises ValueError saying what is wrong."""
    if message["type"] not in REPLY_TYPES:
        raise ValueError(f"no action: {excerpt(json.dumps(message))}")
    if message["type"] == "none":
        return NONE
    if message.get("actor", seat) != seat:
        raise ValueError(f"an action of another seat than {seat}: {excerpt(json.dumps(message))}")
    try:
        return canonical(message)
    except ValueError as error:
        raise ValueError(f"{one_line(str(error))}: {excerpt(json.dumps(message))}") from None


def excerpt(said: bytes | str) -> str:
    """The beginning of what a bot said, printable, in one line."""
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    shown = repr(text[:SHOWN])
    return shown if len(text) <= SHOWN else shown + "…"


def one_line(text: str) -> str:
    """A text of several lines in one."""
    return " ".join(text.split())
