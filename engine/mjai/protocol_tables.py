"""The tables of docs/protocol.md, generated from the table of messages.

``python -m engine.mjai.protocol_tables docs/protocol.md`` updates the page. A table stands between the lines ``<!--
table NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

from engine.mjai import connection
from engine.mjai.connection import DEFAULT_DIALECT, DIALECTS
from engine.mjai.keys import REQUIRED, Key
from engine.mjai.kinds import MAX_EXT_BOT
from engine.mjai.schema import (
    CAN_ACT,
    COMMON,
    CONNECTION,
    DIALECT_ROWS,
    EVENTS,
    REPLIES,
    REPLY_TYPES,
    REQUESTS,
    EventMessage,
)

SHARED = 3  # messages that have a key make it one of several messages
BLOCK = re.compile(r"(?<=<!-- table )(\w+) -->\n.*?(?=<!-- end -->)", re.DOTALL)


def rows(*lines: Iterable[str]) -> str:
    """A Markdown table; the first line is its heading."""
    heading, *rest = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in (heading, ["---"] * len(heading), *rest))


def limits() -> str:
    """Return the table of limits that both sides of a connection share."""
    return rows(
        ("", ""),
        ("port of mjai over TCP, by default", str(connection.DEFAULT_PORT)),
        ("longest message of a bot", f"{connection.MAX_MESSAGE:,} bytes, without the line end"),
        ("longest `join`", f"{connection.MAX_JOIN:,} bytes"),
        ("largest `ext_bot`", f"{MAX_EXT_BOT:,} bytes of JSON"),
        ("time from `hello` to `join`, by default", f"{connection.JOIN_TIMEOUT:g} s"),
    )


def join() -> str:
    """The keys of ``join``."""
    return rows(
        ("key", "default", "value"),
        *((f"`{key.name}`", default_of(key), key.text) for key in CONNECTION["join"].keys),
    )


def default_of(key: Key) -> str:
    """The default of a key, as JSON."""
    return "" if key.default in (None, "") else f"`{json.dumps(key.default)}`"


def replies() -> str:
    """Return the table of a bot's replies."""
    return rows(
        ("reply", "meaning", "to"),
        *((names_of(row.type), row.text, row.when) for row in REPLIES.values()),
    )


def names_of(kind: str) -> str:
    """All names of a reply."""
    return " or ".join(f"`{name}`" for name, of in REPLY_TYPES.items() if of == kind)


def reply_keys() -> str:
    """The keys of replies; bold if required."""
    keys = [("every reply", key) for key in COMMON]
    keys += [(names_of(row.type), key) for row in REPLIES.values() for key in row.keys]
    return rows(
        ("reply", "key", "value"),
        *((name, f"**`{key.name}`**" if key.default is REQUIRED else f"`{key.name}`", key.text) for name, key in keys),
    )


def events() -> str:
    """The messages of a game, with their keys in order. Keys that many messages have are described once, at the top."""
    keys = {name: [key_cells(key) for key in row.keys] for name, row in EVENTS.items()}
    found = Counter(cells for of_message in keys.values() for cells in of_message)
    shared = [cells for cells, n in found.items() if n >= SHARED]
    lines = [("every message", *key_cells(CAN_ACT)), *(("several messages", *cells) for cells in shared)]
    for name, of_message in keys.items():
        own = [cells for cells in of_message if cells not in shared]
        names = [] if own == of_message else [key for key, _, _ in of_message]
        lines += [(f"**`{name}`**", " ".join(names), "", EVENTS[name].text), *(("", *cells) for cells in own)]
    return rows(("message", "key", "kind", "value"), *lines)


def server_messages() -> str:
    """The messages of a connection that a server sends."""
    return rows(
        ("message", "key", "kind", "value"),
        *(
            line
            for row in CONNECTION.values()
            if row.sender == "server"
            for line in event_lines(row.type, row.text, row.keys)
        ),
    )


def requests() -> str:
    """The messages of a bot that are no replies."""
    return rows(
        ("message", "meaning"),
        *((f"`{row.type}`", row.text) for row in CONNECTION.values() if row.type in REQUESTS),
    )


def event_lines(kind: str, text: str, keys: Iterable[Key]) -> list[tuple[str, str, str, str]]:
    """One line for the message and one for each key."""
    return [
        (f"**`{kind}`**", "", "", text),
        *(("", *key_cells(key)) for key in keys),
    ]


def key_cells(key: Key) -> tuple[str, str, str]:
    """The cells of a key: its name, its kind and what it means."""
    return f"`{key.name}`" + "?" * (key.default is None), key.kind.name, key.text


def dialects() -> str:
    """The keys that each dialect but the default writes, by message."""
    names = [name for name in DIALECTS if name != DEFAULT_DIALECT]
    return rows(
        ("message", *names),
        ("spoken by", *(DIALECT_ROWS[name].spoken_by for name in names)),
        *((f"`{row.type}`", *(written_keys(row, name) for name in names)) for row in EVENTS.values()),
    )


def written_keys(row: EventMessage, dialect: str) -> str:
    """The keys of a message in a dialect other than the default; its type if that has another name."""
    keys, rules = getattr(row, dialect), DIALECT_ROWS[dialect]
    record = [key.name for key in row.keys if key.scope is key.scope.RECORD]
    names = [rules.keys.get(key, key) for key in (record if keys is None else keys.split())]
    names = sorted(names) if rules.sorted_keys else names
    renamed = f"type `{rules.types[row.type]}`: " if row.type in rules.types else ""
    return renamed + (" ".join(f"`{name}`" for name in names) or "none")


TABLES: dict[str, Callable[[], str]] = {
    table.__name__: table for table in (limits, join, server_messages, replies, reply_keys, requests, events, dialects)
}


def update(page: str) -> str:
    """Return the page with every table updated. Raises KeyError for a table that is not in `TABLES`."""
    return BLOCK.sub(lambda found: f"{found[1]} -->\n\n{TABLES[found[1]]()}\n", page)


def main(path: Path) -> None:
    """Update a page."""
    path.write_text(update(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
