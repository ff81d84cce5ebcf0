"""The code blocks of README and docs, and a place to run them as they stand.

Blocks of one language ``sh`` are run by bash in a fresh `Clone`: a folder that looks like a checkout. A block that
begins with the line `SECOND_TERMINAL` is run while the block before it runs. What stands in for something else:

* Python's sources are imported from this repository, so that no copy of them is compiled anew.
* ``python``, ``python3`` and ``nukidora`` run this interpreter; ``-m venv`` makes a folder to activate, no more.
* ``pip install`` checks its arguments, and registers the entry points of a package that is not nukidora.
* ``make`` says what it would do, and does not do it.
* Programs that ask are answered with Enter.
* The ports 8000 and 11600 become two free ones, so that blocks run at once, and beside a server.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from engine.machine_code import cache_root

REPOSITORY = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "agents", "arena", "server", "nukidora", "benchmarks")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEREDOC = re.compile(r"^cat > (\S+) <<'EOF'\n(.*?)^EOF$", re.MULTILINE | re.DOTALL)
SECOND_TERMINAL = "# in a second terminal"
PORTS = {"8000": "NUKIDORA_PORT", "11600": "NUKIDORA_MJAI_PORT"}
SERVER = re.compile(r"(-m |nukidora )server\b(?!.* token | prune\b| settings\b)")  # runs until it is ended
ENDED = (0, 130, 143, -signal.SIGTERM)  # exit codes of a program that was ended, and of its shell
PATIENCE = 120  # seconds until the program in the first terminal listens
MAKE_ENVIRONMENT = '[ "$1 $2" = "-m venv" ] && mkdir -p "$3/bin" && : > "$3/bin/activate" && exit'
SHIMS = {
    "python": f'{MAKE_ENVIRONMENT}\nexec {sys.executable} "$@"',
    "python3": f'{MAKE_ENVIRONMENT}\nexec {sys.executable} "$@"',
    "nukidora": f'exec {sys.executable} -m nukidora "$@"',
    "pip": f'exec {sys.executable} -m tests.support.markdown_blocks "$@"',
    "make": f'exec {shutil.which("make")} --dry-run "$@"',
}


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int  # of its first line
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks_of(page: str, language: str) -> list[Block]:
    """The blocks of a page in a language, in order."""
    text = (REPOSITORY / page).read_text(encoding="utf-8")
    found = (Block(page, text.count("\n", 0, m.start(2)) + 1, m[1], m[2]) for m in FENCE.finditer(text))
    return [block for block in found if block.language == language]


def files_of(page: str) -> dict[str, str]:
    """The files that the blocks of a page write, by name."""
    return {name: text for block in blocks_of(page, "sh") for name, text in HEREDOC.findall(block.text)}


def sessions(blocks: Iterable[Block]) -> list[list[Block]]:
    """Blocks that run together: one in the first terminal, and those that follow it in a second one."""
    grouped: list[list[Block]] = []
    for block in blocks:
        if block.text.startswith(SECOND_TERMINAL):
            grouped[-1].append(block)
        else:
            grouped.append([block])
    return grouped


class BlockError(AssertionError):
    """A block did not do what a reader expects."""


class Clone:
    """A folder that looks like a fresh checkout in which nukidora is installed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "nukidora"
        site, shims = folder / "site", folder / "bin"
        copy_checkout(self.folder)
        (self.folder / ".venv/bin").mkdir(parents=True)
        (self.folder / ".venv/bin/activate").touch()
        for made in (site, shims):
            made.mkdir()
        for name, script in SHIMS.items():
            (shims / name).write_text(f"#!/bin/sh\n{script}\n")
            (shims / name).chmod(0o755)
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.environment = os.environ | {
            "PATH": f"{shims}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(site), str(REPOSITORY)]),
            "NUKIDORA_CACHE": str(cache_root()),
            "BLOCKS_SITE": str(site),
            **{variable: self.ports[port] for port, variable in PORTS.items()},
        }

    def run(self, session: list[Block], timeout: float) -> str:
        """Run blocks that belong together; returns what they printed. Raises BlockError."""
        first, *others = session
        with self._terminal(first) as terminal:
            if others or SERVER.search(first.text):
                self._wait_until_it_listens(terminal)
            output = "".join(self._finish(block, timeout) for block in others)
            if not SERVER.search(first.text):
                terminal.wait(timeout)
        return terminal.output() + output

    def _finish(self, block: Block, timeout: float) -> str:
        with self._terminal(block) as terminal:
            terminal.wait(timeout)
        return terminal.output()

    @contextmanager
    def _terminal(self, block: Block) -> Iterator[Terminal]:
        text = re.sub(rf"\b({'|'.join(PORTS)})\b", lambda port: self.ports[port[0]], block.text)
        terminal = Terminal(block, text, self.folder, self.environment)
        try:
            yield terminal
        finally:
            terminal.end()
        terminal.check()

    def _wait_until_it_listens(self, terminal: Terminal) -> None:
        """Wait as a reader does: until the program names the address at which it listens."""
        deadline = time.monotonic() + PATIENCE
        while not any(port in terminal.output() for port in self.ports.values()):
            if terminal.process.poll() is not None or time.monotonic() > deadline:
                raise BlockError(f"{terminal.block}: does not say where it listens:\n{terminal.output()}")
            time.sleep(0.05)


class Terminal:
    """A shell that runs a block."""

    def __init__(self, block: Block, text: str, folder: Path, environment: dict[str, str]) -> None:
        self.block = block
        self._log = folder.parent / f"block-{block.line}.log"
        self._enter = subprocess.Popen(["yes", ""], stdout=subprocess.PIPE)
        with self._log.open("wb") as log:
            self.process = subprocess.Popen(
                ["bash", "-e", "-o", "pipefail", "-c", text],
                cwd=folder, env=environment, stdin=self._enter.stdout, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self._ended = False

    def output(self) -> str:
        """What the block has printed so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def wait(self, timeout: float) -> None:
        """Wait until the block has run. Raises BlockError if that takes too long."""
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            raise BlockError(f"{self.block}: still runs after {timeout:g} s:\n{self.output()}") from None

    def end(self) -> None:
        """End the block with all that it has started."""
        if self.process.poll() is None:
            self._ended = True
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait(30)
        self._enter.kill()
        self._enter.communicate()

    def check(self) -> None:
        """Raise BlockError if a command failed, or if a traceback or a warning was printed."""
        code, output = self.process.returncode, self.output()
        if code not in (ENDED if self._ended else (0,)):
            raise BlockError(f"{self.block}: exit code {code}:\n{output}")
        if found := re.search(r"Traceback|\w*Warning:", output):
            raise BlockError(f"{self.block}: {found[0]}:\n{output}")


def copy_checkout(target: Path) -> None:
    """Copy the files that git knows, but for the packages, which are imported from here."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        source = REPOSITORY / name
        if name.partition("/")[0] not in PACKAGES and source.exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target / name)


def free_ports(n: int) -> list[str]:
    """Different ports that nobody listens on."""
    opened = [socket.create_server(("127.0.0.1", 0)) for _ in range(n)]
    ports = [str(server.getsockname()[1]) for server in opened]
    for server in opened:
        server.close()
    return ports


def install(arguments: list[str], site: Path) -> None:
    """What `pip` does with its arguments here: check them. Raises ValueError, saying what is wrong."""
    command, *rest = arguments
    if command != "install":
        raise ValueError(f"pip {command} is not known here")
    while rest:
        word = rest.pop(0)
        if word == "-c":
            if not Path(word := rest.pop(0)).is_file():
                raise ValueError(f"-c {word}: no such file")
        elif word != "-e":
            install_project(word, site)


def install_project(target: str, site: Path) -> None:
    """Check that a project and its extras exist; register its entry points, if it is not nukidora."""
    found = re.fullmatch(r"(\.[^\[]*)(\[[\w,]+\])?", target)
    if found is None:
        raise ValueError(f"{target}: only projects in a folder can be installed, as in -e .")
    folder = Path(found[1])
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    known = project.get("optional-dependencies", {}).keys()
    if unknown := Requirement(project["name"] + (found[2] or "")).extras - known:
        raise ValueError(f"{target}: no such extra: {', '.join(sorted(unknown))}")
    if project["name"] == "nukidora":
        return
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"[{group}]\n{name} = {at}" for group, e in project["entry-points"].items() for name, at in e.items()]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")
    for module in folder.glob("*.py"):
        shutil.copy2(module, site / module.name)


if __name__ == "__main__":
    try:
        install(sys.argv[1:], Path(os.environ["BLOCKS_SITE"]))
    except (ValueError, OSError) as error:
        sys.exit(f"pip: {error}")
