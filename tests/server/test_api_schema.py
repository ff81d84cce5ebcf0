"""The OpenAPI document against the server: Schemathesis sends what it allows and what it does not, with every check."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from tests.support.running_server import TABLE
from tests.support.server_bots import Bot, serving
from tests.support.stored_records import stored_games

REPOSITORY = Path(__file__).resolve().parents[2]
ARGUMENTS = (
    "--checks=all",
    "--seed=1",
    "--max-examples=15",
    "--no-shrink",
    "--request-timeout=60",
    "--max-response-time=60",
)
CONFIGURATION = """\
[[operations]]
include-path-regex = "^/api/(records|reviews|positions|players/.name./reviews)$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "404", "409", "422", "429"]

[[operations]]
include-path-regex = "^/api/tournaments$"
checks.positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "409", "422", "503"]
"""  # Schemathesis's configuration: the document cannot say what a record, a position or a plan of a tournament is
KNOWN = """\
[parameters]
"path.game_id" = "{game}"

[[operations]]
include-path-regex = "^/api/players/"
parameters = {{ "path.name" = "aki" }}
"""  # the names and ids in paths


async def run_schemathesis(folder: Path, url: str, *arguments: str) -> None:
    """Test the server at that address. Raises AssertionError with what was found."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "schemathesis.cli", "--config-file=schemathesis.toml", "--no-color"),
        *("run", f"{url}/openapi.json", *ARGUMENTS, *arguments),
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(REPOSITORY), "SCHEMATHESIS_HOOKS": "tests.support.schemathesis_hooks"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode == 0, said.decode()
    assert b"No failures" in said or b"passed" in said, said.decode()


@pytest.mark.slow
@pytest.mark.usefixtures("no_error_is_logged")
@pytest.mark.parametrize(
    ("known", "access"), [pytest.param(False, "open", marks=pytest.mark.long), (True, "token")]
)  # known: paths name what exists
async def test_responses_are_as_the_document_says(tmp_path: Path, access: str, known: bool) -> None:
    limits = dict.fromkeys(("requests_per_minute", "downloads_per_minute", "max_rooms"), 1_000_000)
    async with serving(tmp_path / "data", timeout=300, access=access, **limits) as server:
        store = server.lobby.store
        await Bot(server, "aki", room=TABLE, token=await store.add_token("aki")).play()
        (game,) = await stored_games(server)
        configuration = (KNOWN.format(game=game.id) if known else "") + CONFIGURATION
        (tmp_path / "schemathesis.toml").write_text(configuration, encoding="utf-8")
        header = ["--header", f"Authorization: Bearer {await store.add_token('boss', admin=True)}"]
        url = f"http://127.0.0.1:{server.port}"
        await run_schemathesis(tmp_path, url, *(header if access == "token" else []))
