"""The command line of the table in the terminal: every bad argument is one clear line."""

from __future__ import annotations

import pytest

from agents.console import cli
from engine.records import files

SERVER = "mjsonp://localhost:1/x"


def test_without_termios_one_line_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="2"):
        cli.main([SERVER])
    assert "WSL" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["", "dumb"])
def test_a_terminal_that_cannot_draw_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(cli, "is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", kind)
    with pytest.raises(SystemExit, match="2"):
        cli.main([SERVER])
    assert repr(kind) in capsys.readouterr().err


def test_the_suffixes_of_records_are_those_that_can_be_written() -> None:
    assert set(cli.RECORDS) == set(files.WRITERS)
