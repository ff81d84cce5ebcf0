"""The program of a packed bot: mjai on stdin and stdout, in every framing of `agents.external.subprocess_bot`.

A line that is an array of events gets one reply, and so does a line that is one event, unless the event says
``"can_act":false``. Events of all dialects are understood.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO

from agents.external.adapters import AgentBot
from agents.external.mjai_bot import NONE, BotError, MjaiBot, excerpt
from agents.pack.launcher import MANIFEST
from agents.registry import make
from engine.common.options import Parser, seat, seed
from engine.common.program import FAILED, OK
from engine.mjai.dialects import DIALECTS, write
from engine.mjai.messages import Message
from engine.mjai.reading import canonical
from engine.mjai.schema import NOT_OF_A_GAME
from engine.warm_up import compile_by_use

ROOT = Path(__file__).parents[2]  # where the archive has been unpacked

EPILOG = """\
One line in is one event, or an array of events; the reply is one line. At the first start on a machine the bot is
compiled to machine code, which takes up to a minute or two; --prepare does that in advance.
exit codes: 0 stdin has ended, 1 the bot failed or was sent an invalid game, 2 bad arguments or a package is missing
"""


def make_parser(name: str, bot: str) -> Parser:
    """The command line of the packed bot `bot` in the file `name`."""
    parser = Parser(prog=name, description=f"The mahjong bot {bot}: speaks mjai on stdin and stdout.", epilog=EPILOG)
    parser.add_argument(
        "seat", nargs="?", type=seat, metavar="SEAT",
        help="0 to 2, if start_game has no id: mjai.app and mjai-reviewer give it so",
    )  # fmt: skip
    parser.add_argument("--seed", type=seed, default=0, metavar="N", help="random seed of the bot (default 0)")
    parser.add_argument("--dialect", choices=DIALECTS, default="mjai3p", help="of its replies (default mjai3p)")
    parser.add_argument("--prepare", action="store_true", help="compile what is not compiled yet, and exit")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Play until stdin ends, and return the exit code."""
    manifest = json.loads((ROOT / MANIFEST).read_text(encoding="utf-8"))
    parser = make_parser(Path(sys.argv[0]).name, manifest["bot"])
    options = parser.parse_args(arguments)
    began, replies = monotonic(), os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a bot prints is not a reply
    sys.stdout = sys.stderr
    try:
        spec = packed_spec(manifest["spec"], ROOT)
        compile_by_use(AgentBot(make(spec, options.seed)).prepare)
        if options.prepare:
            print(f"{parser.prog}: ready after {monotonic() - began:.1f} s", file=sys.stderr)
        else:
            play(AgentBot(make(spec, options.seed)), sys.stdin.buffer, replies, options.dialect, options.seat)
    except (BotError, ValueError) as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return FAILED
    return OK


def packed_spec(parts: Sequence[str], root: Path) -> str:
    """The bot spec of `parts`: every second one is a path in the archive that has been unpacked at `root`."""
    return "".join(str(root / part) if number % 2 else part for number, part in enumerate(parts))


def play(bot: MjaiBot, lines: Iterable[bytes], replies: BinaryIO, dialect: str, known_seat: int | None = None) -> None:
    """Write the replies of `bot` to `lines`. Raises BotError, and ValueError for a line that is not an event.

    `known_seat` is its seat in games whose ``start_game`` names none.
    """
    unread: list[Message] = []
    for line in filter(bytes.strip, lines):
        events = events_in(line)
        for start in (each for each in events if each["type"] == "start_game" and known_seat is not None):
            start.setdefault("id", known_seat)
        unread += [each for each in events if each["type"] not in NOT_OF_A_GAME]
        if len(events) == 1 and events[0].get("can_act") is False:
            continue
        reply = bot.react(unread) if unread else NONE
        unread = []
        replies.write(json.dumps(write(reply, dialect), ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        replies.flush()


def events_in(line: bytes) -> list[Message]:
    """The canonical events of a line, one or an array, with the keys that concern the bot. Raises ValueError."""
    try:
        found: Any = json.loads(line)
        given = found if isinstance(found, list) else [found]
        return [canonical(each) | {key: each[key] for key in ("id", "can_act") if key in each} for each in given]
    except (ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"no event of mjai: {excerpt(line)}") from error
