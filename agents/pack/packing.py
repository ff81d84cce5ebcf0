"""The command ``python -m agents.pack``: packs a bot, and lets it play its first decision on this machine."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

from agents.external.mjai_bot import NONE, OPENING
from agents.pack.archive import write_archive
from agents.pack.contents import contents_of
from engine.common.options import Parser, describe_error
from engine.common.program import FAILED, OK

COMPILE_TIME, REPLY_TIME = 600.0, 60.0  # seconds that a packed bot may take on the machine that packs it


def run(parser: Parser, options: argparse.Namespace) -> int:
    """Pack a bot, let it play its first decision on this machine, and return the exit code."""
    output: Path = options.output
    with parser.reporting():
        contents = contents_of(options.bot)
    try:
        with tempfile.TemporaryDirectory(dir=output.parent, prefix=".pack-") as folder:
            tried = Path(folder) / output.name
            write_archive(contents, tried)
            fault, seconds = try_out(tried)
            if not fault:
                tried.replace(output)
    except OSError as error:
        print(f"{parser.short_name}: {describe_error(error)}", file=sys.stderr)
        return FAILED
    if fault:
        print(f"{parser.short_name}: {options.bot} does not play when packed: {fault}", file=sys.stderr)
        return FAILED
    print(f"{output}: {options.bot}, {output.stat().st_size / 1e6:.1f} MB; starts and replies in {seconds:.1f} s here")
    if contents.beside:
        print(f"with these files: {', '.join(map(str, contents.beside))}")
    print(f'it needs Python 3.11 and {", ".join(contents.needs.values())}; in the arena: "exec:python {output}"')
    return OK


def try_out(archive: Path) -> tuple[str, float]:
    """Let a packed bot compile, and take its first decision; return what is wrong, and the seconds for the latter.

    Raises OSError if it cannot be started.
    """
    command = [sys.executable, str(archive.absolute())]
    asked = json.dumps(OPENING).encode() + b"\n"
    try:
        prepared = subprocess.run([*command, "--prepare"], stdin=subprocess.DEVNULL, check=False, timeout=COMPILE_TIME)
        if prepared.returncode != OK:
            return f"it ended with exit code {prepared.returncode}", 0.0
        began = monotonic()
        replied = subprocess.run(command, input=asked, stdout=subprocess.PIPE, check=False, timeout=REPLY_TIME)
    except subprocess.TimeoutExpired as error:
        return f"no reply after {error.timeout:.0f} s", 0.0
    if replied.returncode != OK or not is_action(replied.stdout):
        return f"it replied {replied.stdout.decode(errors='replace')!r}, exit code {replied.returncode}", 0.0
    return "", monotonic() - began


def is_action(line: bytes) -> bool:
    """Whether a line is one mjai event of an action."""
    try:
        event = json.loads(line)
    except ValueError:
        return False
    return isinstance(event, dict) and event != NONE and "type" in event
