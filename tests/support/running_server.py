"""A running server with a client of its HTTP API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import connect

from server.running import Running
from tests.support.server_bots import TIMEOUT, Bot, Message, serving

TABLE = "solo+tsumogiri+tsumogiri"  # a room where one bot is enough


@dataclass(frozen=True)
class Live:
    """A server, and a client of its HTTP API."""

    server: Running
    http: httpx.AsyncClient

    def socket(self, path: str, **options: Any) -> connect:
        """Connect to a WebSocket of the server."""
        return connect(f"ws://127.0.0.1:{self.server.port}{path}", **options)

    async def get(self, path: str, expected_status: int = 200, **query: Any) -> Any:
        """The JSON at a path; the response must have that status."""
        response = await self.http.get(path, params=query or None)
        assert response.status_code == expected_status, response.text
        return response.json()

    async def refused(self, status: int, method: str, path: str, **options: Any) -> str:
        """The `detail` of a request that must be refused with that status."""
        response = await self.http.request(method, path, **options)
        assert response.status_code == status, response.text
        problem = response.json()
        coded = ["detail", "code", "values"]  # for pages, see `engine.common.error_text`
        assert list(problem) in (["detail"], coded, [*coded, "codes"])
        assert problem["detail"].isprintable()
        return str(problem["detail"])

    async def page_through(self, path: str, **query: Any) -> list[Any]:
        """The items of all pages of a list."""
        page = await self.get(path, **query)
        items = list(page["items"])
        while page["next_cursor"] is not None:
            assert len(page["items"]) == query["limit"]
            page = await self.get(path, **query, cursor=page["next_cursor"])
            items += page["items"]
        assert len(page["items"]) <= query["limit"]
        return items


@asynccontextmanager
async def live(data: Path, timeout: float = TIMEOUT, **options: Any) -> AsyncIterator[Live]:
    """Run a server with its data in that folder, for at most `timeout` seconds; see `serving` for the options."""
    async with (
        serving(data, timeout, **options) as server,
        httpx.AsyncClient(base_url=f"http://127.0.0.1:{server.port}", trust_env=False, timeout=timeout) as http,
    ):
        yield Live(server, http)


async def play_into(bot: Bot, rounds: int) -> Message:
    """Play until the bot has to decide after that many finished rounds; returns the message, without a reply."""

    def here(message: Message) -> bool:
        over = sum(message["type"] == "end_kyoku" for message in bot.game)
        return over == rounds and message["type"] == "tsumo" and message["actor"] == bot.seat

    return await bot.until(here)


async def play_on(bot: Bot, question: Message) -> None:
    """Reply to that message, and play to the end."""
    await bot.answer(question)
    await bot.play()


async def until(holds: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(60):
        while not holds():
            await asyncio.sleep(0.005)
