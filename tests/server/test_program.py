"""The server as a program: what it says when it starts, is up and stops, and where uvloop is missing."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from server import commands
from server.running import Running
from server.settings import Settings
from tests.conftest import DATA
from tests.support.server_program import variables

REPOSITORY = DATA.parent.parent
BLOCK = """\
the server is up; Ctrl-C stops it
  bots    mjsonp://127.0.0.1:11600/default or ws://127.0.0.1:8000/mjai/default{others}
  pages   http://127.0.0.1:8000
  data    {data}
  tokens  {tokens}
  try it  python -m agents.client rule mjsonp://127.0.0.1:11600/try+rule+rule{token}
"""


@pytest.mark.parametrize(
    ("host", "access", "others", "tokens", "token"),
    [
        ("127.0.0.1", "auto", "", "not needed: only this machine can connect", ""),
        ("0.0.0.0", "open", "X", "not needed: anybody who can connect may play", ""),
        (
            "0.0.0.0",
            "auto",
            "X",
            "needed to play; make one with python -m server token add NAME",
            " --name NAME --token TOKEN",
        ),
    ],
)
def test_a_server_that_is_up_says_where_and_how_to_play(
    host: str, access: str, others: str, tokens: str, token: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(host=host, access=access, data=tmp_path)  # type: ignore[arg-type]
    commands.announce(Running(None, host, 8000, 11600), settings)  # type: ignore[arg-type]
    elsewhere = others and " (and at all other addresses of this machine)"
    assert capsys.readouterr().out == BLOCK.format(data=tmp_path, others=elsewhere, tokens=tokens, token=token)


@pytest.mark.parametrize("host", ["::1", "::"])
async def test_addresses_of_ipv6_are_in_brackets_and_answer(host: str) -> None:
    listener = await asyncio.start_server(lambda reader, writer: writer.close(), host)
    port = listener.sockets[0].getsockname()[1]
    facts = commands.addresses(Running(None, host, 1, port), Settings(host=host))  # type: ignore[arg-type]
    found = re.match(r"mjsonp://\[(.+)\]:(\d+)/default or ws://\[\1\]:1/mjai/default", facts["bots"])
    assert found is not None
    async with listener:
        _, writer = await asyncio.open_connection(*found.groups())
        writer.close()


@contextmanager
def program(folder: Path, *words: str, **settings: object) -> Iterator[subprocess.Popen[str]]:
    """Run a program in a folder of its own; `settings` are a server's."""
    environment = os.environ | {"PYTHONPATH": str(REPOSITORY), **variables(**settings)}
    process = subprocess.Popen(
        [sys.executable, *words], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


# As ``python -m server``, where no uvloop is installed; a slow disk is no problem.
WITHOUT_UVLOOP = "import sys; sys.modules['uvloop'] = None; from engine.common.program import start; "
WITHOUT_UVLOOP += "sys.exit(start('tests.support.patient_server:main'))"
# Says when it begins: nobody can catch a Ctrl-C while Python itself starts.
BEGINNING = "import sys; from engine.common.program import start; print('begun', flush=True); "
BEGINNING += "sys.exit(start(sys.argv.pop(1)))"
ANY_PORTS = ("--port", "0", "--mjai-port", "0")


@pytest.mark.slow
def test_a_server_without_uvloop_serves_and_stops(tmp_path: Path) -> None:
    with program(tmp_path, "-c", WITHOUT_UVLOOP, *ANY_PORTS) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(6)]
        (pages,) = re.findall(r"pages +(\S+)", "".join(lines))
        assert httpx.get(f"{pages}/healthz", trust_env=False, timeout=60).json() == {"status": "ok"}
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out == "stopped; 0 games in play go on at the next start; data is in server-data\n"
    assert "Traceback" not in err
    assert "starting" in err.splitlines()[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", [("server.cli:main", *ANY_PORTS), ("agents.client.cli:main", "rule", "mjsonp://127.0.0.1:9/x")]
)
def test_ctrl_c_in_the_first_seconds_is_no_traceback(words: tuple[str, ...], tmp_path: Path) -> None:
    for tenths in (3, 6, 10, 15, 22):
        with program(tmp_path, "-c", BEGINNING, *words) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "begun\n"
            try:
                process.wait(tenths / 10)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=30)
        assert "Traceback" not in err, f"after {tenths / 10} s: {err}"


LOOP = """
import asyncio, signal, sys
from types import ModuleType
from engine.common.program import start
from server.commands import run

async def wait():
    {in_loop}
    print("begun", flush=True)
    await asyncio.sleep(30)

def main(arguments):
    {before}
    return run(wait())

sys.modules["m"] = module = ModuleType("m")
module.main = main
sys.exit(start("m:main"))
"""


def test_ctrl_c_in_the_last_import_before_the_event_loop_is_not_lost(tmp_path: Path) -> None:
    """Its import ignores KeyboardInterrupt, as that of packages written in C++ may."""
    ignores = "import signal\ntry: signal.raise_signal(signal.SIGINT)\nexcept KeyboardInterrupt: pass\n"
    (tmp_path / "ignores.py").write_text(ignores)
    with program(tmp_path, "-c", LOOP.format(before="import ignores", in_loop="pass")) as process:
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, "interrupted\n")


def test_ctrl_c_in_the_event_loop_cancels_its_coroutine_where_it_waits(tmp_path: Path) -> None:
    interrupt = "signal.raise_signal(signal.SIGINT)"
    with program(tmp_path, "-c", LOOP.format(before="pass", in_loop=interrupt)) as process:
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out, err) == (130, "begun\n", "interrupted\n")
