"""The commands in the documents and scripts use commands and options that exist."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from functools import partialmethod
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from arena.running import next_steps

REPOSITORY = Path(__file__).resolve().parent.parent
DOCUMENTS = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").glob("*.md"))]
DOCUMENTS += [REPOSITORY / "CONTRIBUTING.md", *sorted((REPOSITORY / "agents").glob("*/weights/README.md"))]
SCRIPTS = sorted((REPOSITORY / "experiments").glob("*.sh"))

PROGRAMS = (
    r"-m (?P<program>agents\.(?:bert(?:\.play)?|client|console|linear|pack|review|rl|search)|arena|engine|server"
    r"|benchmarks\.\w+)(?![\w.])"
)
COMMAND = re.compile(rf"{PROGRAMS}(?P<arguments>.*)")
FENCE = re.compile(r"^ *```\w*\n(.*?)^ *```", flags=re.DOTALL | re.MULTILINE)
INLINE = re.compile(r"`([^`]+)`")
END_OF_COMMAND = {"|", "||", "&", "&&", ";", ">", ">>"}

# Traces each command of a script with its line. In place of python a function creates what the last argument names.
TRACE = """
exec 2>"$1"
PS4='+:${BASH_LINENO[0]}:${LINENO}: '
python() { mkdir -p -- "${@: -1}"; }
script=$2
set -x -- "$3"
source "$script"
"""
TRACED = re.compile(r"^\++:(?P<caller>\d+):(?P<line>\d+): (?P<command>python .*)$", flags=re.MULTILINE)


class Command(NamedTuple):
    """A command line in a document or script."""

    where: str  # file:line
    program: str
    arguments: list[str]


class ParsedError(Exception):
    """The command line was accepted; raised so that nothing is run."""


def parse_command(where: str, text: str, *, mention: bool = False) -> Iterator[Command]:
    """The command of one of PROGRAMS in a line, if there is one. A mention need not have all its arguments."""
    if (found := COMMAND.search(text)) is None:
        return
    words = shlex.split(found["arguments"].replace("; ", " ; "), comments=True)
    end = next((index for index, word in enumerate(words) if word in END_OF_COMMAND), len(words))
    arguments = words[:end]
    if mention and len(arguments) <= 1:
        arguments.append("--help")
    yield Command(where, found["program"], arguments)


def commands_in_document(path: Path) -> Iterator[Command]:
    """The commands in the code blocks and in the inline code of a Markdown file."""
    text = path.read_text(encoding="utf-8")
    name = path.relative_to(REPOSITORY)
    for block in FENCE.finditer(text):
        first = text.count("\n", 0, block.start(1)) + 1
        # A continued line keeps its number: the newlines move to its end.
        unfolded = re.sub(r"(?:[^\n]*\\\n)+[^\n]*", lambda lines: unfold(lines[0]), block[1])
        for line, content in enumerate(unfolded.split("\n"), first):
            yield from parse_command(f"{name}:{line}", content)
    prose = FENCE.sub(lambda block: re.sub(r"[^\n]", "", block[0]), text)
    for code in INLINE.finditer(prose):
        line = prose.count("\n", 0, code.start()) + 1
        yield from parse_command(f"{name}:{line}", code[1].replace("\n", " "), mention=True)


def unfold(lines: str) -> str:
    """A command that is continued over lines on one line, followed by empty lines for the others."""
    return lines.replace("\\\n", " ") + "\n" * lines.count("\\\n")


def commands_in_script(path: Path, folder: Path) -> Iterator[Command]:
    """The commands that a script runs; bash expands its functions, and none of them is started."""
    trace, records = folder / "trace", folder / "out" / "records"
    records.mkdir(parents=True)
    (records / "game.mjson").touch()  # some scripts ask for games of people first
    environment = {"PATH": os.environ["PATH"]}
    words: list[str | Path] = ["bash", "-c", TRACE, "trace", trace, path, folder / "out"]
    subprocess.run(words, check=True, cwd=REPOSITORY / "experiments", env=environment, stdout=subprocess.DEVNULL)
    for found in TRACED.finditer(trace.read_text(encoding="utf-8")):
        line = int(found["caller"]) or found["line"]
        yield from parse_command(f"{path.relative_to(REPOSITORY)}:{line}", found["command"])


def error_of(command: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str | None:
    """What is wrong with a command line, None if its program accepts it; the program is not run."""
    parse_known_args = argparse.ArgumentParser.parse_known_args

    def parse_exactly(parser: argparse.ArgumentParser, *arguments: Any, **options: Any) -> Any:
        parser.allow_abbrev = False
        return parse_known_args(parser, *arguments, **options)

    def parse_only(parser: argparse.ArgumentParser, method: Callable[..., Any], *arguments: Any) -> Any:
        parsed = method(parser, *arguments)
        if parser.prog in (
            "python -m agents.bert",
            "python -m agents.rl",
            "python -m agents.search",
        ):  # its commands have parsers of their own
            return parsed
        raise ParsedError

    program = import_module(command.program + ".cli")
    with monkeypatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_known_args", parse_exactly)
        for name in ("parse_args", "parse_intermixed_args"):
            method = getattr(argparse.ArgumentParser, name)
            patch.setattr(argparse.ArgumentParser, name, partialmethod(parse_only, method))
        try:
            program.main(command.arguments)
        except ParsedError:
            return None
        except SystemExit as stop:  # 0: --help
            return capsys.readouterr().err.strip() if stop.code else None
    return "the program did not parse its arguments"


def check(commands: list[Command], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Assert that all commands are accepted."""
    errors = [(command.where, error_of(command, monkeypatch, capsys)) for command in commands]
    assert not [f"{where}: {error}" for where, error in errors if error]


@pytest.mark.slow
@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_commands_in_a_document_parse(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = list(commands_in_document(path))
    if any(command.program == "agents.bert" for command in commands):
        pytest.importorskip("accelerate")
    check(commands, monkeypatch, capsys)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.stem)
def test_the_commands_in_a_script_parse(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("accelerate")
    commands = list(commands_in_script(path, tmp_path))
    n_written = len(re.findall(PROGRAMS, path.read_text(encoding="utf-8")))
    assert len(commands) >= n_written > 0
    check(commands, monkeypatch, capsys)


def test_the_commands_that_the_arena_suggests_parse(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [command for line in next_steps().splitlines() for command in parse_command("next", unbracketed(line))]
    assert len(commands) == 3
    check(commands, monkeypatch, capsys)


def unbracketed(line: str) -> str:
    """A line without what is said in brackets at its end."""
    return line.partition(" (")[0]


def test_wrong_options_and_commands_are_noticed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in (
        "python -m arena --hands 3",
        "python -m arena --game 3",  # an abbreviation
        "python -m server token give NAME",
        "python -m engine play games/",
        "python -m agents.client rule",
    ):
        (command,) = parse_command("here:1", text)
        assert error_of(command, monkeypatch, capsys)
