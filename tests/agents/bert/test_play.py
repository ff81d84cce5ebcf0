"""`agents.bert.play`, wahaha's command line, plays a network at a mjai server."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from agents.bert.play.cli import main
from agents.client import cli as client
from agents.external.adapters import AgentBot
from agents.registry import make
from tests.support.running_server import TABLE
from tests.support.server_bots import serving
from tests.support.stored_records import stored_games


async def play_a_game(network: Path, data: Path) -> None:
    """Let the program play a game, and check what the server has stored."""
    async with serving(data, timeout=300) as server:  # its program may have to start beside others
        program = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agents.bert.play", "--host", "127.0.0.1", "--room", TABLE),
            *("--port", str(server.mjai_port), "--name", "wahaha", str(network)),
            env=os.environ,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        printed, complaints = await program.communicate()
        assert (program.returncode, complaints.decode()) == (0, "")
        assert printed.startswith(b"game 1: ")
        (game,) = await stored_games(server)
    (seat,) = (seat for seat in game.seats if seat.name == "wahaha")
    assert (seat.faults, seat.taken_over) == (0, False)


@pytest.mark.slow
def test_a_network_plays_a_game_at_a_server(network: Path, tmp_path: Path) -> None:
    AgentBot(make(f"bert:{network}")).prepare()  # compile now, not while the server waits for an answer
    asyncio.run(play_a_game(network, tmp_path))


@pytest.mark.parametrize(
    ("arguments", "passed_on"),
    [
        (["model"], ["bert:model", "mjsonp://localhost:11600/default"]),
        (["--host", "::1", "--port", "5", "a/b"], ["bert:a/b", "mjsonp://[::1]:5/default"]),
        (
            ["--room", "solo+rule", "--name=-x", "model"],
            ["bert:model", "mjsonp://localhost:11600/solo+rule", "--name=-x"],
        ),
    ],
)
def test_the_client_gets_the_translated_arguments(
    monkeypatch: pytest.MonkeyPatch, arguments: list[str], passed_on: list[str]
) -> None:
    calls = []
    monkeypatch.setattr(client, "main", lambda given: calls.append(given) or 3)
    assert main(arguments) == 3
    assert calls == [passed_on]
    client.make_parser().parse_intermixed_args(passed_on)
