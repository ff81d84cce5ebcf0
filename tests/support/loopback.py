"""The client of this project over loopback, at something in this process that waits for bots."""

from __future__ import annotations

import signal
import socket

import pytest

from agents.client import cli


def free_url() -> str:
    """Where a bot can listen on this machine."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return f"mjsonp://127.0.0.1:{probe.getsockname()[1]}/chair"


def play_without_end(bot: str, url: str) -> int:
    """Let `bot` play at `url` until there are no more games, as the arena suggests; returns the exit code.

    The signal handler of the command line, which needs the main thread, is left out.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(signal, "signal", lambda *_: None)
        return cli.main([bot, url, "--games", "0"])
