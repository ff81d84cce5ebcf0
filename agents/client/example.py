"""A complete mjai bot in some forty lines of code, to start your own from.

    python -m agents.client.example localhost 11600 default

It needs nothing but Python: it wins when it can, sets norths aside, and otherwise discards the tile it has drawn.
"""

from __future__ import annotations

import json
import socket
import sys
from typing import Any

Message = dict[str, Any]


def choose(message: Message, seat: int) -> Message:
    """The reply to one message of the server; every message gets exactly one."""
    for wanted in ("hora", "nukidora"):
        for action in message.get("possible_actions", []):
            if action["type"] == wanted:
                return dict(action)
    if message["type"] == "tsumo" and message["actor"] == seat:
        return {"type": "dahai", "actor": seat, "pai": message["pai"], "tsumogiri": True}
    return {"type": "none"}


def play(host: str, port: int, room: str) -> None:
    """Join a room and play one game, then leave."""
    connection = socket.create_connection((host, port), 30)
    with connection, connection.makefile("rw", encoding="utf-8") as stream:
        seat = -1
        for line in stream:
            connection.settimeout(None)  # a server greets at once; a game may begin later
            message = json.loads(line)
            if message["type"] == "hello":
                reply: Message = {"type": "join", "name": "example", "room": room}
            else:
                seat = message.get("id", seat)  # start_game has our seat
                reply = choose(message, seat)
            if message["type"] in ("end_game", "error"):
                print(line.strip())
            stream.write(json.dumps(reply) + "\n")
            stream.flush()


if __name__ == "__main__":
    if len(sys.argv) != 4 or not sys.argv[2].isdigit():
        sys.exit("usage: python -m agents.client.example HOST PORT ROOM, such as localhost 11600 default")
    try:
        play(sys.argv[1], int(sys.argv[2]), sys.argv[3])
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except (OSError, ValueError) as error:
        sys.exit(f"no game at {sys.argv[1]}:{sys.argv[2]}: {error}; is a server of mjai there?")
