"""With the setting ``log = "json"`` every line that the server writes is a JSON object, whatever happens."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from server.flags import log_format
from server.settings_file import find_path, read_file
from tests.conftest import DATA

REPOSITORY = DATA.parent.parent
# As ``python -m server``, with everything that may write to stderr before the server is up.
NOISY = """
import asyncio, logging, sys, threading, warnings
from engine.common.program import start
from server import commands

def warm_up(settings):
    print("compiling the rules and the bots", file=sys.stderr)
    from engine.common.progress import Progress
    with Progress("functions", 3) as progress:
        progress._next_line = 0
        progress.advance(2)
    warnings.warn("old")
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    logging.getLogger("sqlalchemy").warning("a library warns")
    print("no end of line", end="", file=sys.stderr)
    if settings.rules == "majsoul":
        raise ZeroDivisionError

commands.warm_up = warm_up
sys.exit(start("server.cli:main"))
"""


def entries(folder: Path, *flags: str, **environment: str) -> tuple[list[dict[str, Any]], int]:
    """What a server writes until it ends or, if it is up, is stopped."""
    command = [sys.executable, "-c", NOISY, "--port", "0", "--mjai-port", "0", *flags]
    variables = os.environ | {"PYTHONPATH": str(REPOSITORY), **environment}
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        found = []
        for line in process.stdout:
            found.append(json.loads(line))
            if found[-1]["event"] == "the server is up":
                process.send_signal(signal.SIGTERM)
        process.wait(30)
    return found, process.returncode


@pytest.mark.slow
def test_every_line_is_json(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "nukidora.db").touch()
    found, status = entries(tmp_path, NUKIDORA_LOG="json")
    text = "\n".join(entry["event"] for entry in found)
    assert status == 0
    for said in ("of an earlier version", "compiling the rules", "2 of 3 functions", "UserWarning: old",
                 "thread failed", "a library warns", "the server is up", "stopped"):  # fmt: skip
        assert said in text
    assert next(entry for entry in found if "of an earlier version" in entry["event"])["level"] == "warning"
    up = next(entry for entry in found if entry["event"] == "the server is up")
    assert up["data"] == str(tmp_path / "server-data")
    assert "ZeroDivisionError" in next(entry for entry in found if entry["event"] == "thread failed")["exception"]


@pytest.mark.slow
def test_errors_and_tracebacks_are_json(tmp_path: Path) -> None:
    file = tmp_path / "nukidora.toml"
    for in_file, flags, status, said in (
        ("", ("--colour", "blue"), 2, "unknown flag --colour"),
        ('[network]\nport = "many"', (), 2, '[network] port = "many"'),
        ('[network]\nhost = "nobody.invalid"', (), 2, "is not known"),
        ('[rooms]\nrules = "majsoul"', (), 1, "the program failed"),
    ):
        file.write_text(f'[logging]\nlog = "json"\n{in_file}\n')
        found, code = entries(tmp_path, *flags, "--settings", str(file))
        assert (code, said in found[-1]["event"]) == (status, True), found
        assert found[-1]["level"] == ("error" if status == 2 else "critical")
    assert "ZeroDivisionError" in found[-1]["exception"]
    found, code = entries(tmp_path, NUKIDORA_LOG="json", NUKIDORA_COLOUR="blue")
    assert (code, len(found)) == (2, 1)


def test_the_format_is_known_before_the_command_line_is_parsed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a=b.toml"
    file.write_text('[logging]\nlog = "json"\n[rooms]\nlength = "west"\n')
    for argv, wanted in (
        ([], "text"),
        (["--settings", str(file)], "json"),
        ([f"--settings={file}", "--colour"], "json"),
        (["token", "list", "--settings", "none.toml", "--settings", str(file)], "json"),
        (["--settings", str(file), "--settings="], "text"),
        (["--settings"], "text"),
    ):
        assert log_format(read_file(find_path(argv))) == wanted, argv
    monkeypatch.setenv("NUKIDORA_SETTINGS", str(file))
    assert log_format(read_file(find_path([]))) == "json"
    assert log_format(read_file(find_path(["--settings="]))) == "text"
    monkeypatch.setenv("NUKIDORA_LOG", "text")
    assert log_format(read_file(find_path([]))) == "text"
