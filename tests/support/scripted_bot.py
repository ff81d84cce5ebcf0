"""A mjai bot that keeps what it was sent."""

from __future__ import annotations

from typing import Any

from agents.external.mjai_bot import BotError
from tests.support.fake_server import DISCARD

Message = dict[str, Any]


class ScriptedBot:
    """Plays tsumogiri; `batches` are the messages of each call of `react`."""

    name = "scripted"

    def __init__(self, fails_at: int = 0) -> None:
        """It fails in call number `fails_at`, from 1."""
        self.batches: list[list[Message]] = []
        self.fails_at = fails_at

    def prepare(self) -> None: ...

    def react(self, messages: list[Message]) -> Message:
        self.batches.append(messages)
        if len(self.batches) == self.fails_at:
            raise BotError("broke down", ["no idea"])
        drawn = messages[-1].get("pai")
        return DISCARD | {"pai": drawn} if messages[-1]["type"] == "tsumo" and drawn != "?" else {"type": "none"}

    def reject(self, reason: str) -> BotError:
        return BotError(reason)

    def close(self) -> None: ...
