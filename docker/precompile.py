"""Fill numba's cache with all code that the server, its bots and the arena need, by playing games with each of them."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from agents.registry import BUILT_IN
from server.running import running, warm_up
from server.settings import Settings


async def run(*arguments: str) -> None:
    """Run a module of nukidora as the image does. If it fails, so does the build."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", *arguments)
    if await process.wait():
        sys.exit(f"{' '.join(arguments)}: failed")


async def precompile(folder: Path) -> None:
    """Play a game with every bot on a server and in the arena, and read its records."""
    settings = Settings(
        host="127.0.0.1", port=0, mjai_port=0, data=folder, database="", length="east", fill=tuple(BUILT_IN)
    )
    warm_up(settings)
    async with running(settings) as server:
        for bot in BUILT_IN:
            # One after the other: concurrent processes would all compile the same code.
            await run("agents.client", bot, f"mjsonp://127.0.0.1:{server.mjai_port}/warm-up+rule+random")
    await run("arena", "--games", "3", "--bots", "bert,rule,random", "--save", str(folder / "games"))
    await run("engine", "validate", str(folder / "games"))


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(precompile(Path(folder)))
