"""The command line of the table in the terminal: every bad argument is one clear line."""

from __future__ import annotations

import pytest

from agents.console import cli
from engine.records import files

SERVER = "mjsonp://localhost:1/x"


def error_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What is printed for arguments that are refused."""
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    assert ended.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("agents.console: ")
    assert printed.err.count("\n") == 1
    return printed.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give the address of a room, or --bots A,B"),
        ([SERVER, "--bots", "rule,rule"], "or --bots A,B for a table of your own, not both"),
        (["--bots", "rule,rule,rule"], "names 3 bots: two play against you"),
        (["--bots", "rule,ruel"], "unknown bot 'ruel'"),
        (["--bots", "rule,exec:cat"], "is no bot of this process"),
        (["--bots", "rule,rule", "--name", "Aki"], "--name is for a server only"),
        (["--bots", "rule,rule", "--token", "x"], "--token is for a server only"),
        ([SERVER, "--seed", "3"], "--seed is for --bots only"),
        ([SERVER, "--length", "east"], "--length is for --bots only"),
        ([SERVER, "--pause", "0"], "--pause is for --bots only"),
        ([SERVER, "--name", "a\nb"], "--name 'a\\nb' is no name"),
        (["http://localhost/x"], "is not the address of a room"),
        (["--bots", "rule,rule", "--save", "game.txt"], "a record is called *.mjson, *.jsonl, *.json or *.gz"),
        (["--bots", "rule,rule", "--save", "nowhere/game.mjson"], "there is no folder nowhere"),
        (["--bots", "rule,rule", "--length", "long"], "invalid choice: 'long'"),
    ],
)
def test_a_bad_argument_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert said in error_of(capsys, *arguments)


def test_without_a_terminal_one_line_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert "stdin and stdout must be a terminal" in error_of(capsys, "--bots", "tsumogiri,tsumogiri")
    assert "stdin and stdout must be a terminal" in error_of(capsys, SERVER)


def test_without_termios_one_line_is_printed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cli, "find_spec", lambda name: None)
    assert "on Windows, run it in WSL" in error_of(capsys, SERVER)


@pytest.mark.parametrize("kind", ["", "dumb"])
def test_a_terminal_that_cannot_draw_is_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(cli, "is_terminal", lambda stream: True)
    monkeypatch.setenv("TERM", kind)
    assert f"a terminal of type {kind!r} cannot draw a table" in error_of(capsys, SERVER)


def test_the_suffixes_of_records_are_those_that_can_be_written() -> None:
    assert set(cli.RECORDS) == set(files.WRITERS)
