"""The program ``nukidora``: runs the programs of all packages."""

from __future__ import annotations

import sys

from engine.common.program import BAD_ARGUMENTS, OK, python_is_too_old, start, version

# command -> module:function, what it does
COMMANDS = {
    "arena": ("arena.cli:main", "bots play each other, and tables compare their results"),
    "server": ("server.cli:main", "a game server for mjai bots"),
    "client": ("agents.client.cli:main", "plays a bot at a mjai server"),
    "console": ("agents.console.cli:main", "a table in the terminal, where you play"),
    "review": ("agents.review.cli:main", "what bots think of every decision in a recorded game"),
    "analyse": ("agents.analyse.cli:main", "what bots and the rules say about one position"),
    "pack": ("agents.pack.cli:main", "puts a bot into one file, which speaks mjai on stdin and stdout"),
    "bert": ("agents.bert.cli:main", "trains, exports and evaluates networks for the bots bert and cnn"),
    "linear": ("agents.linear.cli:main", "learns the weights of the bots linear and softmax, and shows them"),
    "rl": ("agents.rl.cli:main", "trains the networks of the bots residual and selfplay by reinforcement learning"),
    "search": ("agents.search.cli:main", "fits the model of hidden hands of the bot search"),
    "engine": ("engine.cli:main", "validates, converts and shows game records"),
    "warm-up": ("engine.warm_up:main", "compiles the rules and the bots to machine code, once"),
}


def usage() -> str:
    """Return the help of the program."""
    lines = [f"  {name:8} {text}" for name, (_, text) in COMMANDS.items()]
    return "\n".join(
        ["usage: nukidora COMMAND …", "", *lines, "", "nukidora COMMAND --help shows the options of a command."]
    )


def main() -> int:
    """Run a command and return its exit code."""
    if python_is_too_old():
        return BAD_ARGUMENTS
    command, *arguments = sys.argv[1:] or ["--help"]
    if command in ("-h", "--help"):
        print(usage())
        return OK
    if command == "--version":
        print(f"nukidora {version()}")
        return OK
    if command not in COMMANDS:
        print(f"nukidora: unknown command {command!r}: choose one of {', '.join(COMMANDS)}", file=sys.stderr)
        return BAD_ARGUMENTS
    return start(COMMANDS[command][0], arguments, launcher="nukidora ")
