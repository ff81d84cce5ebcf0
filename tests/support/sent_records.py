"""Records to send to a server, and the reviews of them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.support import archives
from tests.support.running_server import Live

RECORDS = sorted(archives.RECORDS.iterdir())
MJAI, MJLOG, TENHOU = (
    next(path for path in RECORDS if path.name.endswith(suffix)) for suffix in ("1.mjson", ".xml", "2024_1.json")
)
SOON = 180.0  # seconds: the worker may have to start, on a busy machine
LOOK_EVERY = 0.1  # seconds: an address may send 20 requests a second, however long a review takes


async def finished(at: Live, review_id: str) -> dict[str, Any]:
    """The review once it is over."""
    async with asyncio.timeout(SOON):
        while (found := await at.get(f"/api/reviews/{review_id}"))["status"] in ("queued", "running"):
            assert 0 <= found["done"] <= found["decisions"]
            await asyncio.sleep(LOOK_EVERY)
    return dict(found)


def broken_round(path: Path) -> bytes:
    """A record with a discard of a tile that nobody holds."""
    lines = path.read_text(encoding="utf-8").splitlines()
    number = next(number for number, line in enumerate(lines) if '"dahai"' in line)
    return "\n".join(
        [*lines[:number], lines[number].replace('"pai":"', '"pai":"9m","x":"'), *lines[number + 1 :]]
    ).encode()
