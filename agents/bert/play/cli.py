"""python -m agents.bert.play: connects a network to a mjai server over TCP, with the command line of wahaha."""

from __future__ import annotations

from collections.abc import Sequence

from agents.client import cli as client
from agents.client.address import PORTS, parse_url
from engine.common.options import Parser, port

SCHEME = "mjsonp"
EPILOG = """\
example:
  python -m agents.bert.play --host localhost --room default --port 11600 --name wahaha MODEL_PATH

It runs the following command, which can also use WebSocket, play many games, and speak other dialects:
  python -m agents.client bert:MODEL_PATH mjsonp://HOST:PORT/ROOM --name NAME
"""


def make_parser() -> Parser:
    """The command line."""
    parser = Parser(
        "agents.bert.play",
        description=__doc__,
        epilog=EPILOG,
    )
    parser.add_argument("model_path", metavar="MODEL_PATH", help="checkpoint, with model.onnx")
    parser.add_argument("--host", default="localhost", help="host of the server (default localhost)")
    parser.add_argument("--room", default="default", help="room to join (default: default)")
    parser.add_argument("--port", type=port, default=PORTS[SCHEME], help="port of the server")
    parser.add_argument("--name", help="name at the table (default: the bot's own)")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Play; returns the client's exit code."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    host = f"[{options.host}]" if ":" in options.host else options.host  # an IPv6 address
    url = f"{SCHEME}://{host}:{options.port}/{options.room}"
    with parser.reporting():
        parse_url(url)
    name = [] if options.name is None else [f"--name={options.name}"]
    return client.main([f"bert:{options.model_path}", url, *name])
